#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares what bisection.sh measured with what was computed, as TAP.

usage: bisection.py FOLDER [SPREAD]
       bisection.py --enough STEP	whether as much was measured as has to be

FOLDER/<step>/ holds label, cut (from `lab cut`), said.<node>.<rail> (from stream),
links.before and .after, and perhaps marks.before and .after (from `lab counters`).
"""

import fnmatch
import json
import pathlib
import re
import sys

# Of the computed goodput.  The last percents are lost to answers, which go the
# other way but share the processors; more, where the hash puts more queue pairs
# on one path than on the other, so that a link runs dry now and then.
LEAST, MOST = 0.85, 1.03
# Of the mean over the links that share a load.
LEAST_SHARE = 0.5
SAID = re.compile(r"^bytes (\d+) in (\d+)$", re.MULTILINE)


class Step:
    def __init__(self, folder):
        self.folder = folder
        self.label = (folder / "label").read_text().strip()
        self.cut = json.loads((folder / "cut").read_text())
        self.expected = self.cut["goodput_bytes"]

    @property
    def measured(self):
        """Payload bytes a second, of all senders."""
        total = 0
        for path in self.folder.glob("said.*"):
            match = SAID.search(path.read_text())
            if not match:
                return 0
            total += int(match[1]) * 1e6 / int(match[2])
        return total

    @property
    def ratio(self):
        return self.measured / self.expected if self.expected else 0

    def read(self, name):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else []

    def sent(self, glob):
        """{a>b: bytes} of the directions that match."""
        before = {(row["link"], row["from"]): row["bytes"] for row in self.read("links.before")}
        return {f"{row['from']}>{row['to']}": row["bytes"] - before[row["link"], row["from"]]
                for row in self.read("links.after")
                if fnmatch.fnmatchcase(f"{row['from']}>{row['to']}", glob)}

    def marked(self):
        """Packets that the watched link marked meanwhile; None: not watched."""
        rows = self.read("marks.after")
        return marks(rows) - marks(self.read("marks.before")) if rows else None


def marks(rows):
    return sum(qdisc.get("marked", 0) for row in rows for qdisc in row["qdiscs"])


def is_shared(sent):
    mean = sum(sent.values()) / len(sent) if sent else 0
    return bool(mean) and min(sent.values()) >= LEAST_SHARE * mean


def table(steps):
    yield f"{'step':44} {'Mbit/s':>8} {'expected':>9} {'measured':>9} {'ratio':>6}"
    yield f"{'':44} {'computed':>8} {'MB/s':>9} {'MB/s':>9}"
    for step in steps:
        yield (f"{step.label:44} {step.cut['rate_bits'] / 1e6:8.2f} {step.expected / 1e6:9.3f} "
               f"{step.measured / 1e6:9.3f} {step.ratio:6.3f}")


def results(steps, spread):
    """(passed, name) of each test."""
    for step in steps:
        yield (LEAST <= step.ratio <= MOST,
               f"{step.label}: {step.ratio:.3f} of what was computed")
    first = steps[0]
    for step in steps[1:]:
        if step.expected != first.expected and first.measured:
            fell = step.measured / first.measured
            wanted = step.expected / first.expected
            yield (LEAST * wanted <= fell <= wanted / LEAST,
                   f"{step.label}: {fell:.2f} of the first, as computed ({wanted:.2f})")
    if spread:
        yield is_shared(first.sent(spread)), f"all of {spread} share the load"
    for step in steps:
        marked = step.marked()
        if marked is not None:
            may_mark = "ECN" in step.label
            yield ((marked > 0) == may_mark,
                   f"{step.label}: {'packets were' if may_mark else 'nothing was'} marked")


def main(folder, spread=""):
    steps = [Step(path) for path in sorted(pathlib.Path(folder).iterdir())
             if (path / "label").exists()]
    for line in table(steps):
        print(f"# {line}")
    for way, sent in sorted(steps[0].sent(spread).items() if spread else ()):
        print(f"# {way}: {sent / 1e6:.2f} MB")
    found = list(results(steps, spread))
    print(f"1..{len(found)}")
    for number, (passed, name) in enumerate(found, 1):
        print(f"{'ok' if passed else 'not ok'} {number} - {name}")
    return 0 if found and all(passed for passed, _ in found) else 1


if __name__ == "__main__":
    if sys.argv[1] == "--enough":
        sys.exit(Step(pathlib.Path(sys.argv[2])).ratio < LEAST)
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Counts TAP and KTAP.  Pure: a log and an exit status in, totals out.

usage: tap_count.py [STATUS] <LOG
"""

import re
import sys
from dataclasses import dataclass, field

NODE = re.compile(r"^(node\d+)\| ?(.*)$")
RIG = re.compile(r"^rig\| ?(.*)$")
RESULT = re.compile(r"^( *)(not )?ok\b(?: +(\d+))?(?: +-)? *(.*)$")
DIRECTIVE = re.compile(r"(?<!\\)# *(skip|todo)\b *(.*)$", re.IGNORECASE)
PLAN = re.compile(r"^( *)1\.\.(\d+)\s*(?:# *(skip)\b *(.*))?", re.IGNORECASE)
BAIL = re.compile(r"^ *Bail out! *(.*)$")
TIMEOUT_STATUS = 124


@dataclass
class Count:
    passed: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)

    @property
    def failed(self):
        return len(self.failures)

    @property
    def skipped(self):
        return len(self.skips)


@dataclass
class Level:
    """The results at one depth of indentation since the last shallower one."""
    plan: int = None
    numbers: list = field(default_factory=list)
    failures: int = 0       # of the stream, when this began


class Stream:
    """What one speaker said: a node of the rig, or the suite itself."""

    def __init__(self, name, count):
        self.prefix = f"{name}: " if name else ""
        self.count = count
        self.levels = {}
        self.has_spoken = False
        self.failures = 0

    def fail(self, text):
        self.failures += 1
        self.count.failures.append(self.prefix + text)

    def close(self, depth):
        """Judge all levels at `depth` or deeper. Returns whether there were
        any, and whether anything failed in them."""
        inner = sorted((d for d in self.levels if d >= depth), reverse=True)
        begin = min((self.levels[d].failures for d in inner), default=self.failures)
        for key in inner:
            level = self.levels.pop(key)
            if level.plan is None:
                self.fail("results without a plan")
                continue
            for number in range(1, level.plan + 1):
                if number not in level.numbers:
                    self.fail(f"test {number} of {level.plan} did not report")
            for number in sorted(set(level.numbers)):
                if number > level.plan:
                    self.fail(f"test {number} is beyond the plan of {level.plan}")
                elif level.numbers.count(number) > 1:
                    self.fail(f"test {number} reported more than once")
        return bool(inner), self.failures > begin

    def level(self, depth):
        return self.levels.setdefault(depth, Level(failures=self.failures))

    def line(self, text):
        if match := BAIL.match(text):
            self.fail(f"bail out: {match[1]}".rstrip(": "))
            self.has_spoken = True
        elif match := PLAN.match(text):
            self.plan(match)
        elif (match := RESULT.match(text)) and self.is_result(match):
            self.result(match)

    def is_result(self, match):
        """'ok' begins prose too; a result has a number or stands in a plan."""
        return bool(match[3] or match[2] or len(match[1]) in self.levels)

    def plan(self, match):
        depth = len(match[1])
        known = self.levels.get(depth)
        if known and known.plan is not None:
            self.close(depth)
        self.level(depth).plan = int(match[2])
        self.has_spoken = True
        if match[3]:
            self.count.skips.append(self.prefix + (match[4].strip() or "everything"))

    def result(self, match):
        depth = len(match[1])
        has_children, is_told = self.close(depth + 1)
        level = self.level(depth)
        number = int(match[3]) if match[3] else len(level.numbers) + 1
        level.numbers.append(number)
        self.has_spoken = True
        directive = DIRECTIVE.search(match[4])
        name = match[4][:directive.start()] if directive else match[4]
        name = name.strip(" -") or f"test {number}"
        kind = directive[1].lower() if directive else ""
        if match[2]:
            # A test that is known to fail is a failing test; a parent only
            # repeats what its children said.
            if not is_told:
                self.fail(name)
        elif kind == "skip":
            self.count.skips.append(self.prefix + name)
        elif kind == "todo":
            self.fail(f"{name} (todo)")
        elif not has_children:
            self.count.passed += 1


def count(text, status=0):
    """Totals of a suite's log, given how the suite exited."""
    total = Count()
    streams = {}
    rig_findings = []
    for raw in text.splitlines():
        line = raw.rstrip("\r")
        if match := RIG.match(line):
            rig_findings.append(match[1])
            continue
        match = NODE.match(line)
        name, line = (match[1], match[2]) if match else ("", line)
        streams.setdefault(name, Stream(name, total)).line(line)
    for stream in streams.values():
        stream.close(0)
    if status == TIMEOUT_STATUS:
        total.failures.append("timed out")
    elif not any(stream.has_spoken for stream in streams.values()):
        total.failures.append(f"no results (exit status {status})")
    elif status and not total.failures:
        why = next((line for line in rig_findings if re.match(r"node \d+: ", line)), "")
        total.failures.append(f"exit status {status}, though no test failed: {why}".rstrip(": "))
    elif not total.passed and not total.failures and not total.skips:
        total.failures.append("a plan of no tests")
    return total


def main():
    status = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    total = count(sys.stdin.read(), status)
    for name in total.failures:
        print(f"failed: {name}")
    for name in total.skips:
        print(f"skipped: {name}")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())

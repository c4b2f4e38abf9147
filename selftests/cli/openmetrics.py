# SPDX-License-Identifier: GPL-2.0
"""A strict reader of metrics: OpenMetrics 1.0, and Prometheus' older format."""

import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"[0-9]+|[0-9]+\.[0-9]+(e[-+][0-9]+)?|[0-9]e[-+][0-9]+|\+Inf")
SUFFIXES = {
    "counter": ["_total"],
    "gauge": [""],
    "info": ["_info"],
    "histogram": ["_bucket", "_count", "_sum"],
}


class Family:
    """One family: its type and its samples, as (suffix, labels, value)."""

    def __init__(self, name):
        self.name = name
        self.type = None
        self.help = None
        self.unit = None
        self.samples = []

    def values(self, suffix="_total"):
        """{labels as a frozenset of pairs: value}"""
        return {frozenset(labels.items()): value
                for end, labels, value in self.samples if end == suffix}


def unescape(text):
    """A label's value as it was."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text)


def parse_labels(text):
    """{name: value} of what stands between the braces."""
    labels = {}
    at = 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text[at:]
        assert match[1] not in labels, f"label {match[1]} twice: {text}"
        labels[match[1]] = unescape(match[2])
        at = match.end()
        if at < len(text):
            assert text[at] == ",", text[at:]
            at += 1
            assert at < len(text), text
    return labels


def parse_sample(line):
    """Name, labels, value. No timestamps."""
    match = NAME.match(line)
    assert match, line
    rest = line[match.end():]
    labels = {}
    if rest.startswith("{"):
        end = rest.rindex("}")
        labels = parse_labels(rest[1:end])
        assert labels, line
        rest = rest[end + 1:]
    assert rest.startswith(" ") and NUMBER.fullmatch(rest[1:]), line
    value = int(rest[1:]) if rest[1:].isdigit() else float(rest[1:])
    return match[0], labels, value


def metadata(line, families):
    """A line that begins with a hash; returns the family that it is about."""
    _, kind, name, text = line.split(" ", 3)
    family = families[-1] if families else None
    if kind == "HELP":
        assert name not in [known.name for known in families], f"{name} twice"
        family = Family(name)
        families.append(family)
        family.help = text
    else:
        assert family and family.name == name and not family.samples, line
        if kind == "TYPE":
            assert family.type is None, line
            family.type = text
        else:
            assert kind == "UNIT" and family.unit is None, line
            assert name.endswith("_" + text), line
            family.unit = text
    return family


def check_histogram(family):
    """Buckets rise, the last is +Inf and equals the count; a sum."""
    rows = {}
    for end, labels, value in family.samples:
        labels = dict(labels)
        edge = labels.pop("le", None)
        row = rows.setdefault(frozenset(labels.items()), {"_bucket": []})
        if end == "_bucket":
            row[end].append((float(edge), value))
        else:
            row[end] = value
    for row in rows.values():
        edges = [edge for edge, _ in row["_bucket"]]
        counts = [count for _, count in row["_bucket"]]
        assert edges == sorted(set(edges)) and edges[-1] == float("inf"), row
        assert counts == sorted(counts) and counts[-1] == row["_count"], row
        assert "_sum" in row, row


def check_family(family, old):
    """Suffixes fit the type, no sample comes twice."""
    assert family.help and family.type, family.name
    kinds = {"counter": ["counter"], "gauge": ["gauge"], "histogram": ["histogram"]}
    if old:
        assert family.type in kinds, family.type
        if family.type == "counter":
            assert family.name.endswith("_total"), family.name
    else:
        assert family.type in SUFFIXES, family.type
        assert not family.name.endswith(("_total", "_info")), family.name
    seen = set()
    for end, labels, _ in family.samples:
        key = (end, frozenset(labels.items()))
        assert key not in seen, (family.name, key)
        seen.add(key)
    if family.type == "histogram":
        check_histogram(family)


def parse(text, old=False):
    """{name: Family}, or an AssertionError. @old is Prometheus' format."""
    assert text.endswith("\n"), "no newline at the end"
    lines = text.split("\n")[:-1]
    families = []
    if not old:
        assert lines[-1] == "# EOF", lines[-1]
        lines.pop()
    assert "# EOF" not in lines
    for line in lines:
        if line.startswith("#"):
            metadata(line, families)
            continue
        name, labels, value = parse_sample(line)
        family = families[-1]
        assert name.startswith(family.name), (name, family.name)
        end = name[len(family.name):]
        wanted = ["_bucket", "_count", "_sum"] if family.type == "histogram" else \
            [""] if old else SUFFIXES[family.type]
        assert end in wanted, (name, family.type)
        family.samples.append((end, labels, value))
    for family in families:
        check_family(family, old)
    return {family.name: family for family in families}

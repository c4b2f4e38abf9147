# SPDX-License-Identifier: GPL-2.0
"""What is compared with what, and what is hoped for."""

import re
from dataclasses import dataclass

import figures

SAMPLE = re.compile(r"^(?:node\d+\| )?sample (\S+) ?(.*)$")


@dataclass
class Row:
    """One line of the table.

    series: candidate and baseline, or one series of an absolute figure
    target: of the ratio (of the value where there is no baseline); by kernel
        where it is a dict; None: only told
    growth: how many times larger the candidate is; then the ratio is per byte
    """
    name: str
    unit: str
    series: tuple
    target: object = None
    better: str = "lower"
    growth: int = 0

    def target_for(self, kernel):
        return self.target.get(kernel) if isinstance(self.target, dict) else self.target


def against(name, unit, series, candidate, baseline, target=None, **rest):
    return Row(name, unit, (f"{series}/{candidate}", f"{series}/{baseline}"), target, **rest)


def growing(name, target=None):
    return Row(name, "", (f"{name}/1024m", f"{name}/1m"), target, growth=1024)


TWO_NODES = [
    against("perftest-write-bw", "MB/s", "perftest-write-bw", "bar", "host", 0.95, better="higher"),
    against("perftest-read-bw", "MB/s", "perftest-read-bw", "bar", "host", 0.95, better="higher"),
    against("perftest-write-lat", "us", "perftest-write-lat", "bar", "host", 1.05),
    *(against(f"copy-{way}-{size}", "", f"copy-{way}-{size}", "peerlane", "memcpy")
      for way in ("to", "from") for size in ("64", "4k", "1m")),
]

ONE_NODE = [
    against("reg-mr-256m-vs-4k", "", "reg-mr-256m", "bar", "4k", {"6.1": 1.1, "6.12": 2.2}),
    against("reg-mr-256m-vs-huge", "", "reg-mr-256m", "bar", "huge"),
    against("dereg-mr-256m-vs-4k", "", "dereg-mr-256m", "bar", "4k", 1.1),
    growing("reg-mr-growth", 1.1),
    against("region-open-mmap-64m-vs-4k", "", "region-open-mmap-64m", "bar", "4k", 1.0),
    against("region-open-mmap-64m-vs-huge", "", "region-open-mmap-64m", "bar", "huge"),
    growing("alloc-growth", 1.1),
    Row("region-export-64m", "", ("region-export-64m/bar",)),
    Row("ram-per-gib-bound", "bytes", ("ram-per-gib-bound/bar",), 4 << 20),
]

TABLE = TWO_NODES + ONE_NODE

# A nanosecond is an instruction where instructions are the clock.
UNITS = {"time": "ns", "instructions": "instructions"}


def read_samples(text):
    """Values by series, in the order in which they came."""
    samples = {}
    for line in text.splitlines():
        if match := SAMPLE.match(line.rstrip("\r")):
            samples.setdefault(match[1], []).append(float(match[2]))
    return samples


def figures_of(row, values, target):
    if row.growth:
        return figures.growth(values[0], values[1], row.growth, target)
    if len(values) == 1:
        return figures.absolute(values[0], target, row.better)
    return figures.compare(values[0], values[1], target, row.better)


def make(samples, kernel, clock, table):
    """(rows, what is missing)"""
    found, missing = [], []
    for row in table:
        lost = [series for series in row.series if not samples.get(series)]
        if lost:
            missing.append(f"{row.name}: no samples of {', '.join(lost)}")
            continue
        numbers = figures_of(row, [samples[series] for series in row.series],
                             row.target_for(kernel))
        found.append({"name": row.name, "kernel": kernel, "clock": clock,
                      "unit": row.unit or UNITS[clock], "better": row.better, **numbers})
    return found, missing

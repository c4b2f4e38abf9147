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
    once: too slow to be measured in each run
    """
    name: str
    unit: str
    series: tuple
    target: object = None
    better: str = "lower"
    growth: int = 0
    once: bool = False

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



def flow_cost(name, pattern, rival):
    return against(name, "", f"flow-cost-{pattern}", "peerlane", rival, 1.0)


# Those who count flows otherwise, and us, are held against packets that nobody
# counts; what is compared is what each adds.
FLOWS = [
    *(flow_cost(f"flow-cost-vs-{rival}", "messages", rival)
      for rival in ("conntrack", "ebpf", "ebpf-lru", "ebpf-qpn")),
    *(flow_cost(f"flow-cost-sends-vs-{rival}", "sends", rival)
      for rival in ("conntrack", "ebpf", "ebpf-lru", "ebpf-qpn")),
    *(flow_cost(f"flow-cost-other-udp-vs-{rival}", "other", rival)
      for rival in ("conntrack", "ebpf")),
    against("flow-cost-off", "", "flow-cost-off", "again", "never", 1.005),
    Row("flow-bytes", "bytes", ("flow-bytes/record",), 256),
    Row("flow-bytes-bucket", "bytes", ("flow-bytes/bucket",)),
]

FLOW_TABLES = [
    against("flow-lookup-64k", "", "flow-lookup", "64k", "1k", 1.1),
    against("flow-lookup-1m", "", "flow-lookup", "1m", "1k", 1.1),
    against("flow-dump-rate", "flows/s", "flow-dump-rate", "peerlane", "conntrack", 2.0,
            better="higher"),
]

FLOW_PERFTEST = [
    against("flow-perftest-sender", "", "flow-perftest-node1", "on", "off", 1.02),
    against("flow-perftest-receiver", "", "flow-perftest-node2", "on", "off", 1.02),
]

ENDPOINT = [
    *(against(f"put-bw-{size}", "MB/s", f"put-bw-{size}", "peerlane", "perftest", target,
              better="higher") for size, target in (("4k", None), ("64k", 0.95), ("1m", 0.95))),
    against("get-bw-1m", "MB/s", "get-bw-1m", "peerlane", "perftest", 0.95, better="higher"),
    against("put-latency", "us", "put-latency", "peerlane", "perftest", 1.15),
    against("put-latency-asleep", "us", "put-latency", "peerlane", "asleep", 1.15),
    against("put-latency-busy", "us", "put-latency", "busy", "perftest"),
    against("put-latency-memory", "us", "put-latency", "memory", "perftest"),
    against("put-latency-one-call", "us", "put-latency", "peerlane", "separate", 1.0),
]

# Of either node; one operation, or as many of 64 KiB as make a GiB.
ENDPOINT_COST = [
    *(against(f"{what}-{who}", "", f"{what}-node{node}", "peerlane", rival)
      for what in ("put-cpu-per-gib", "put-cost-4k")
      for node, who, rival in ((1, "sender", "send"), (2, "receiver", "write"))),
    against("put-cost-4k-list", "", "put-cost-4k-node1", "list", "send"),
    against("put-answer", "", "put-answer-node1", "peerlane", "send"),
    against("put-answer-one-call", "", "put-answer-node1", "peerlane", "separate", 1.0),
]

# Both in one process, in turn; name and bytes. Half of the ranks on each node.
MPI_SIZES = {"8": 8, "4k": 4 << 10, "1m": 1 << 20, "64m": 64 << 20}
MPI_RANKS = (2, 4, 8)
MPI = [against(f"allreduce-vs-mpi-{size}-n{ranks}", "us", f"allreduce-{ranks}-{count}",
               "peerlane", "mpi", 1.0, once=size == "64m")
       for ranks in MPI_RANKS for size, count in MPI_SIZES.items()]

# Packets of 64 KiB that get lost on a cable, in percent; nothing to compare with.
LOSS = [Row(f"allreduce-loss-{percent}-{which}", "us", (f"allreduce-loss-{percent}/{which}",))
        for percent in ("0", "0.01", "0.1", "1") for which in ("p50", "p99", "max")]

HOST_CPU = [against("allreduce-host-cpu-vs-mpi", "s/GiB", "allreduce-host-cpu-8", "peerlane", "mpi",
                    0.7)]

# What a ring takes at least where all links have the same limit; eight workers.
RING = [against(f"allreduce-vs-ring-bound-n8{how}", "s", f"allreduce-ring-n8{how}", "peerlane",
                "ring", target)
        for how, target in (("", 0.60), ("-one", 0.60), ("-colocated", 1.1))]

# On this machine itself: emulation knows nothing of the speed of memory.
REDUCE = [
    *(against(f"reduce-{kind}-vs-bandwidth", "GB/s", f"reduce-{kind}", "peerlane", "plain", 0.9,
              better="higher") for kind in ("f32", "bf16")),
]

TABLE = (TWO_NODES + ONE_NODE + FLOWS + FLOW_TABLES + FLOW_PERFTEST + ENDPOINT + ENDPOINT_COST
         + MPI + LOSS + HOST_CPU + RING + REDUCE)


def runs_of(name, runs):
    """How many samples a row is to have."""
    return 1 if next(row for row in TABLE if row.name == name).once else runs


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

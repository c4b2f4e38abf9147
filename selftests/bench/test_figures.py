#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of figures.py and of reading samples, in TAP."""

import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]

# pylint: disable=wrong-import-position
import figures  # noqa: E402
import rows  # noqa: E402
import tap  # noqa: E402


def raises(error, function, *arguments):
    try:
        function(*arguments)
    except error:
        return True
    return False


def near(one, other):
    return abs(one - other) < 1e-9


def test_median():
    """the median of an even number is between the middle two"""
    assert figures.median([4, 1, 3, 2]) == 2.5
    assert figures.median([9, 1, 5]) == 5


def test_spread():
    """spread is the range over the median"""
    assert near(figures.spread([90, 100, 120]), 0.3)
    assert figures.spread([7]) == 0
    assert figures.spread([0, 0]) == 0
    assert figures.spread([-1, 0, 1]) == float("inf")


def test_ratio_is_pairwise():
    """a run that was slow for both sides does not change the ratio"""
    calm = figures.compare([10, 10, 10], [5, 5, 5], None, "lower")
    busy = figures.compare([10, 100, 10], [5, 50, 5], None, "lower")
    assert calm["ratio"] == busy["ratio"] == 2
    assert busy["spread"] == 0


def test_ratio_is_not_of_medians():
    """the median of ratios is not the ratio of medians"""
    row = figures.compare([1, 2, 9], [1, 4, 3], None, "lower")
    assert row["ratio"] == 1 and row["value"] == 2 and row["baseline"] == 3


def test_unequal_runs():
    """runs without a partner, or with a baseline of 0, are left out"""
    assert figures.compare([2, 4, 6], [1, 2], None, "lower")["runs"] == 2
    assert figures.compare([2, 4], [0, 2], None, "lower")["ratio"] == 2
    assert raises(ValueError, figures.compare, [1], [0], None, "lower")


def test_lower_is_better():
    """at the target is good, above is not"""
    assert figures.compare([11], [10], 1.1, "lower")["ok"]
    assert not figures.compare([11.1], [10], 1.1, "lower")["ok"]


def test_higher_is_better():
    """at the target is good, below is not"""
    assert figures.compare([95], [100], 0.95, "higher")["ok"]
    assert not figures.compare([94], [100], 0.95, "higher")["ok"]


def test_no_target():
    """a row without a target is ok"""
    assert figures.compare([500], [1], None, "lower")["ok"]


def test_absolute():
    """without a baseline there is no ratio, and the target is of the value"""
    row = figures.absolute([3, 5, 4], 4, "lower")
    assert row["value"] == 4 and row["ratio"] is None and row["ok"]
    assert not figures.absolute([5], 4, "lower")["ok"]


def test_growth():
    """1.0 is cost in proportion, more is worse"""
    assert figures.growth([1024.0], [1.0], 1024, 1.1)["ratio"] == 1
    row = figures.growth([3072.0], [1.0], 1024, 1.1)
    assert row["ratio"] == 3 and not row["ok"]


def test_samples_are_read():
    """samples are told from other lines"""
    text = "node1| sample a/x 3\nnode1| # sample b/x 1\nrig| passed\nnode2| sample a/y 4.5\n"
    assert rows.read_samples(text) == {"a/x": [3.0], "a/y": [4.5]}


def test_bad_sample():
    """a sample without a number is an error, not a missing run"""
    assert raises(ValueError, rows.read_samples, "node1| sample a/x \n")
    assert raises(ValueError, rows.read_samples, "node1| sample a/x none\n")


def test_missing_series():
    """a row whose samples did not come is named"""
    found, missing = rows.make({"perftest-write-bw/bar": [1.0]}, "6.1", "time",
                               [row for row in rows.TABLE if row.name == "perftest-write-bw"])
    assert not found and missing == ["perftest-write-bw: no samples of perftest-write-bw/host"]


def test_whole_row():
    """a row has every key that is promised"""
    samples = {"perftest-write-bw/bar": [9.0] * 5, "perftest-write-bw/host": [10.0] * 5}
    found, missing = rows.make(samples, "6.1", "time",
                               [row for row in rows.TABLE if row.name == "perftest-write-bw"])
    assert not missing
    assert set(found[0]) == {"name", "kernel", "clock", "value", "unit", "baseline", "ratio",
                             "better", "target", "ok", "runs", "spread"}
    assert found[0]["ratio"] == 0.9 and not found[0]["ok"]


def test_targets_by_kernel():
    """a target may be another for each kernel, and none for unknown ones"""
    row = next(row for row in rows.TABLE if row.name == "reg-mr-256m-vs-4k")
    assert row.target_for("6.1") == 1.1 and row.target_for("6.12") == 2.2
    assert row.target_for("/some/folder") is None


def test_runs():
    """what is too slow is measured once"""
    assert rows.runs_of("allreduce-vs-mpi-64m-n8", 5) == 1
    assert rows.runs_of("allreduce-vs-mpi-1m-n8", 5) == 5


def test_names_are_unique():
    """no two rows have one name"""
    names = [row.name for row in rows.TABLE]
    assert len(names) == len(set(names))


def test_flow_costs_share_their_traffic():
    """what counting costs is compared for the same packets"""
    costs = [row for row in rows.FLOWS if row.name.startswith("flow-cost-")]
    assert len(costs) > 8
    for row in costs:
        assert len({series.partition("/")[0] for series in row.series}) == 1


def test_flow_rows():
    """the dump is better when faster, a record has a size and no rival"""
    samples = {"flow-dump-rate/peerlane": [30.0, 30.0], "flow-dump-rate/conntrack": [10.0, 20.0],
               "flow-bytes/record": [256.0]}
    found, missing = rows.make(samples, "6.12", "instructions",
                               [row for row in rows.FLOW_TABLES + rows.FLOWS
                                if row.name in ("flow-dump-rate", "flow-bytes")])
    assert not missing
    assert found[0]["ratio"] == 2.25 and found[0]["ok"] and found[0]["unit"] == "flows/s"
    assert found[1]["value"] == 256 and found[1]["ratio"] is None and found[1]["ok"]


if __name__ == "__main__":
    sys.exit(0 if tap.run(tap.tests_of([sys.modules[__name__]])) else 1)

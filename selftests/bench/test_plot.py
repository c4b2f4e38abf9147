#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of plot.py, in TAP."""

import pathlib
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]

# pylint: disable=wrong-import-position
import plot  # noqa: E402
import rows  # noqa: E402
import tap  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(name, value, baseline):
    return {"name": name, "value": value, "baseline": baseline}


def some():
    return [row("allreduce-vs-mpi-1m-n2", 20000.0, 40000.0), row("flow-bytes", 256, None),
            row("allreduce-vs-mpi-8-n2", 300.0, 200.0), row("allreduce-vs-mpi-4k-n2", 500.0, 900.0),
            row("allreduce-vs-mpi-8-n8", 900.0, 1500.0)]


def parsed(found):
    return xml.etree.ElementTree.fromstring(plot.svg(found))


def centres(root):
    return {circle[0].text: (float(circle.get("cx")), float(circle.get("cy")))
            for circle in root.iter(SVG + "circle")}


def test_rows_are_found():
    """sizes are in order, whatever order rows have, and other rows are left out"""
    assert plot.points(some()) == {
        2: [(8, 300.0, 200.0), (4096, 500.0, 900.0), (1 << 20, 20000.0, 40000.0)],
        8: [(8, 900.0, 1500.0)]}


def test_names_are_those_of_the_table():
    """each row of MPI is one of the picture"""
    found = [row(one.name, 1.0, 2.0) for one in rows.MPI]
    assert sum(len(line) for line in plot.points(found).values()) == len(rows.MPI) == 12


def test_a_line_for_each_side():
    """each number of ranks has a line of ours and one of MPI's"""
    lines = list(parsed(some()).iter(SVG + "polyline"))
    assert [bool(line.get("stroke-dasharray")) for line in lines] == [False, True] * 2
    assert len(lines[0].get("points").split()) == 3


def test_points_are_where_they_should_be():
    """larger is further to the right, slower is further up"""
    at = centres(parsed(some()))
    small, large = at["peerlane, 2 ranks, 8 B: 300 µs"], at["peerlane, 2 ranks, 1 MiB: 2e+04 µs"]
    rival = at["Open MPI, 2 ranks, 1 MiB: 4e+04 µs"]
    assert small[0] < large[0] == rival[0]
    assert small[1] > large[1] > rival[1]
    assert all(plot.TOP <= y <= plot.HEIGHT - plot.BOTTOM for _, y in at.values())


def test_one_size_is_enough():
    """a picture of one size, or of equal times, has no division by zero"""
    parsed([row("allreduce-vs-mpi-8-n2", 100.0, 100.0)])


def test_no_rows():
    """without rows there is no picture"""
    assert plot.svg([row("flow-bytes", 256, None)]) is None


def test_words():
    """times and sizes have the unit that suits them"""
    assert [plot.seconds(us) for us in (100, 1e3, 1e6)] == ["100 µs", "1 ms", "1 s"]
    assert [plot.size_text(size) for size in (8, 4096, 1 << 26)] == ["8 B", "4 KiB", "64 MiB"]


if __name__ == "__main__":
    sys.exit(0 if tap.run(tap.tests_of([sys.modules[__name__]])) else 1)

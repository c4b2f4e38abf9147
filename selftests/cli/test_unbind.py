# SPDX-License-Identifier: GPL-2.0
"""Unbinding that waits tells for whom."""

import json
import subprocess
import time

from command import binary, environment, peerlane


def test_waiting():
    """unbind: after 2 s a line for each region that holds the device, once"""
    start = time.monotonic()
    child = subprocess.Popen([binary(), "device", "unbind", "gpu0"], env=environment("slow"),
                             stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    first = child.stderr.readline().decode()
    took = time.monotonic() - start
    err = child.stderr.read()       # communicate() would lose what readline() buffered
    rest = child.stdout.read()
    child.wait(timeout=60)
    assert 1.9 < took < 4, took
    assert child.returncode == 0 and not rest
    assert first == ("peerlane: gpu0: waiting: region 1 (active, 67108864 bytes, "
                     "2 DMA attachments), last mapped by train (pid 4242)\n"), first
    assert err.decode() == ("peerlane: gpu0: waiting: region 2 (limbo, 4194304 bytes, "
                            "2 units pinned), last mapped by ib_write_bw (pid 77)\n"), err


def test_waiting_json():
    """unbind: with -json the lines are objects, stdout is one array"""
    done = peerlane("-j", "device", "unbind", "gpu0", fake="slow")
    notes = [json.loads(line) for line in done.err.decode().splitlines()]
    assert [list(note) for note in notes] == [["note"], ["note"]]
    assert "ib_write_bw (pid 77)" in notes[1]["note"]
    assert [device["name"] for device in done.json()] == ["gpu0"]


def test_waiting_for_nobody():
    """unbind: nobody to name is said as well"""
    done = peerlane("device", "unbind", "gpu0", fake="slow-alone")
    assert done.status == 0
    assert done.err == b"peerlane: gpu0: waiting: no region on it is listed\n", done.err


def test_fast():
    """unbind: a device that is free goes without a word and without a wait"""
    start = time.monotonic()
    done = peerlane("device", "unbind", "gpu0")
    assert (done.status, done.out, done.err) == (0, b"", b"")
    assert time.monotonic() - start < 1.5

# SPDX-License-Identifier: GPL-2.0
"""Colours, and what must not reach a terminal."""

import re

from command import on_terminal, peerlane

LISTS = ["device list", "device show gpu0", "device path gpu0 03:00.1", "region list"]
COLOR = re.compile(rb"\033\[(0|1|3[123])m")


def test_color_on_terminal():
    """terminal: colours, and none in a pipe"""
    for args in LISTS:
        assert COLOR.search(on_terminal(*args.split())), args
        assert b"\033" not in peerlane(*args.split()).out, args


def test_no_color():
    """terminal: NO_COLOR and TERM=dumb mean none"""
    for args in LISTS:
        assert b"\033" not in on_terminal(*args.split(), NO_COLOR="1"), args
        assert b"\033" not in on_terminal(*args.split(), TERM="dumb"), args
        assert b"\033" in on_terminal(*args.split(), NO_COLOR=""), args


def test_color_option():
    """terminal: -color decides over the rest"""
    assert b"\033" in peerlane("-c", "device").out
    assert b"\033" in peerlane("-color=always", "device", NO_COLOR="1").out
    assert b"\033" not in peerlane("-color=auto", "device").out
    assert b"\033" not in on_terminal("-color=never", "device")
    assert b"\033" not in peerlane("-j", "-color=always", "device").out


def test_color_does_not_shift():
    """terminal: a table with colours is aligned as one without"""
    for args in LISTS:
        colored = peerlane("-c", *args.split()).out
        assert COLOR.sub(b"", colored) == peerlane(*args.split()).out


def test_hostile_names():
    """terminal: no control character of a name gets through"""
    for args in ["device list", "device show x", "region list", "device path gpu0 03:00.1"]:
        for option in [[], ["-j"], ["-j", "-p"], ["-h"]]:
            done = peerlane(*option, *args.split(), fake="hostile")
            for byte in done.out + done.err:
                assert byte == 0x0a or 0x20 <= byte < 0x7f, (args, option, byte)
        on = COLOR.sub(b"", on_terminal(*args.split(), fake="hostile"))
        assert b"\033" not in on and b"\x9b" not in on, (args, on)


def test_rows_stay_rows():
    """terminal: a newline in a name does not make a row"""
    assert peerlane("region", fake="hostile").out.count(b"\n") == 4


def test_hostile_arguments():
    """terminal: nor of an argument in a message"""
    bad = "\033]0;x\007\n\u009b"
    for args in ([bad], ["device", "show", bad], ["region", "list", "pid", bad], ["-" + bad],
                 ["region", "list", "state", bad], ["device", "path", bad, bad + "1"]):
        for option in [[], ["-j"]]:
            done = peerlane(*option, *args)
            for byte in done.out + done.err:
                assert byte == 0x0a or 0x20 <= byte < 0x7f, (args, option, byte)


def test_aligned():
    """terminal: columns of numbers end, of words begin, in one place"""
    lines = peerlane("region").out.decode().splitlines()
    assert lines[0].index("LENGTH") + len("LENGTH") == \
        lines[4].index("9007199254740993") + len("9007199254740993")
    assert len({line.find("active") for line in lines if "active" in line}) == 1
    assert not any(line.endswith(" ") for line in lines)

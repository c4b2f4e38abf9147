# SPDX-License-Identifier: GPL-2.0
"""Shortened words, options, help."""

from command import peerlane

SAME = [
    ("device list", ["dev li", "d l", "device", "d", "device lis"]),
    ("device show gpu0", ["dev sh gpu0", "d s gpu0", "device show dev gpu0", "d s d gpu0"]),
    ("device path gpu0 03:00.1", ["d p gpu0 03:00.1"]),
    ("device bind 02:00.0 force", ["d b 02:00.0 f", "dev bind 02:00.0 forc"]),
    ("region list", ["reg", "r", "r l", "reg li"]),
    ("region list state limbo", ["r l s l", "reg list st lim"]),
    ("region list dev gpu0 pid 4242 state active", ["r l p 4242 s a d gpu0"]),
    ("-json device list", ["-j dev", "--json dev", "-js d l", "device list -json", "dev -j li"]),
    ("-json -pretty device list", ["-j -p dev", "-p -j dev", "dev --pretty --json"]),
    ("-human device list", ["-h dev", "--human dev", "-hum d l", "d l -h"]),
    ("-Numeric region list", ["-N reg", "-Num r l", "reg -N"]),
    ("version", ["v", "ver", "-V", "-Version", "--version", "-Ver"]),
    ("help", ["h", "-help", "--help", "-he"]),
    ("device help", ["d h", "dev he"]),
]

REFUSED = {
    "frob": "unknown",
    "device frob": "unknown",
    "region frob": "unknown",
    "region list frob 1": "unknown",
    "region list state frob": "unknown",
    "region list state re": "ambiguous: revoked, released",
    "region list state": "needs a value",
    "region list dev": "needs a value",
    "region list pid 1 pid 2": "twice",
    "region list dev gpu0 dev gpu0": "twice",
    "region list state limbo s active": "twice",
    "region list pid": "needs a value",
    "region list pid x": "no process id",
    "region list pid 0": "no process id",
    "region list pid 1x": "no process id",
    "region list pid 2147483648": "no process id",
    "region list pid 99999999999999999999": "no process id",
    "device list gpu0": "no argument",
    "device show": "one device",
    "device show gpu0 npu1": "one device",
    "device unbind": "one device",
    "device unbind gpu0 npu1": "one device",
    "device bind": "needs a PCI address",
    "device bind force": "needs a PCI address",
    "device path": "a target and an initiator",
    "device path gpu0": "a target and an initiator",
    "device path gpu0 1 2": "a target and an initiator",
    "version 1": "no argument",
    "help device": "no argument",
    "-x device": "unknown",
    "- device": "unknown",
    "-- device": "unknown",
    "-json=1 device": "unknown",
    "-color=blue device": "auto, always or never",
}


def test_short():
    """words: shortened words and options mean the same"""
    for full, shorts in SAME:
        want = peerlane(*full.split())
        for short in shorts:
            got = peerlane(*short.split())
            assert (got.status, got.out, got.err) == (want.status, want.out, want.err), short


def test_refused():
    """words: a wrong command line is refused: exit 1, a reason, no output"""
    for args, reason in REFUSED.items():
        done = peerlane(*args.split())
        assert done.status == 1 and not done.out, args
        assert reason in done.err.decode(), (args, done.err)
        assert done.err.startswith(b"peerlane: ") and done.err.count(b"\n") == 1, args


def test_refused_json():
    """words: with -json the reason is an object on stderr"""
    for args, reason in REFUSED.items():
        done = peerlane(*args.split(), "-j")
        assert done.status == 1 and not done.out, args
        (error,) = done.errors()
        assert list(error) == ["error", "errno", "exit"], error
        assert reason in error["error"] and error["errno"] is None and error["exit"] == 1, error


def test_empty_words():
    """words: an empty word is no prefix of everything"""
    for args in ([""], ["device", ""], ["region", "list", ""], ["region", "list", "state", ""]):
        done = peerlane(*args)
        assert done.status == 1 and b"unknown" in done.err, args


def test_candidates():
    """words: an unknown word is answered with those that exist"""
    assert b"device, region, help, version" in peerlane("frob").err
    assert b"list, show, bind, unbind, path" in peerlane("device", "frob").err


def test_no_arguments():
    """words: without arguments the usage, on stderr, exit 1"""
    done = peerlane()
    assert done.status == 1 and not done.out and done.err.startswith(b"Usage: peerlane")


def test_help_everywhere():
    """words: each command has help, on stdout, also without the module"""
    for line in peerlane("--list-cmds").out.decode().splitlines():
        done = peerlane(*line.split(), *([] if "help" in line or " " not in line else ["help"]),
                        fake="absent")
        assert done.status == 0 and not done.err, line
        if line != "version":
            assert done.out.startswith(b"Usage: peerlane"), line


def test_long_words():
    """words: a very long word is refused and printed whole"""
    word = "x" * 100000
    for args in ([word], ["device", word], ["device", "show", word], ["-" + word],
                 ["region", "list", "pid", word]):
        done = peerlane(*args)
        assert done.status == 1 and not done.out and len(done.err) < 200000, args[0][:20]

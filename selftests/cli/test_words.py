# SPDX-License-Identifier: GPL-2.0
"""Shortened words, options, help."""

from command import peerlane

SAME = [
    ("device list", ["dev li", "de l", "device", "de", "device lis"]),
    ("device show gpu0", ["dev sh gpu0", "de s gpu0", "device show dev gpu0", "de s d gpu0"]),
    ("device path gpu0 03:00.1", ["de p gpu0 03:00.1"]),
    ("device bind 02:00.0 force", ["de b 02:00.0 f", "dev bind 02:00.0 forc"]),
    ("region list", ["reg", "r", "r l", "reg li"]),
    ("region list state limbo", ["r l s l", "reg list st lim"]),
    ("region list dev gpu0 pid 4242 state active", ["r l p 4242 s a d gpu0"]),
    ("-json device list", ["-j dev", "--json dev", "-js de l", "device list -json", "dev -j li"]),
    ("-json -pretty device list", ["-j -p dev", "-p -j dev", "dev --pretty --json"]),
    ("-human device list", ["-h dev", "--human dev", "-hum de l", "de l -h"]),
    ("-Numeric region list", ["-N reg", "-Num r l", "reg -N"]),
    ("version", ["v", "ver", "-V", "-Version", "--version", "-Ver"]),
    ("help", ["h", "-help", "--help", "-he"]),
    ("device help", ["de h", "dev he"]),
    ("flow list", ["fl", "f lis", "flow"]),
    ("flow show src 10.0.0.1 congested", ["f sh sr 10.0.0.1 co", "f sh con src 10.0.0.1"]),
    ("flow list sort by ce top 2", ["f lis so ce to 2", "f lis top 2 by ce", "f lis sort ce top 2"]),
    ("flow list qpn 18", ["f lis qpn 0x12", "f lis q 18"]),
    ("flow watch interval 0.05 count 1", ["f w -i 0.05 --count 1",
                                          "f w --interval 0.05 -count 1"]),
    ("flow limit idle-timeout 5", ["f lim idle 5"]),
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
    "flow frob": "unknown",
    "flow li": "ambiguous: list, limit",
    "flow list frob 1": "unknown",
    "flow list interval 1": "unknown",
    "flow list src": "needs a value",
    "flow list src x": "no IP address",
    "flow list src 10.0.0.1 src 10.0.0.1": "twice",
    "flow list congested congested": "twice",
    "flow list qpn 0": "a number from 1 to 16777215",
    "flow list qpn 16777216": "a number from",
    "flow list qpn 1x": "a number from",
    "flow list pid 0": "a number from 1 to 2147483647",
    "flow list transport tcp": "no transport",
    "flow list point nowhere": "unknown",
    "flow list label 01234567890123456789012345678901": "1 to 31 bytes",
    "flow list min": "needs a value",
    "flow list min ce": "a counter and a value",
    "flow list min ce x": "a number",
    "flow list min rtt-p99 1": "cannot be selected",
    "flow list min frob 1": "unknown",
    "flow list sort": "needs a value",
    "flow list sort by": "needs a counter",
    "flow list sort by rtt": "ambiguous",
    "flow list top 0": "a number from 1",
    "flow list top 2 by": "needs a counter",
    "flow list sort by ce top 2 by bytes": "one too many",
    "flow watch interval 0": "no number of seconds",
    "flow watch interval nan": "no number of seconds",
    "flow watch interval 1e9": "no number of seconds",
    "flow watch count 0": "a number from 1",
    "flow label": "set LABEL",
    "flow label set": "a label of 1 to 31 bytes",
    "flow label set x": "which flows",
    "flow label clear": "which flows",
    "flow reset pid 1": "unknown",
    "flow reset top 1": "unknown",
    "flow pair 1": "no argument",
    "flow observe local": "\"on\" or \"off\"",
    "flow observe local maybe": "\"on\" or \"off\"",
    "flow observe dev on": "a device",
    "flow observe frob on": "unknown",
    "flow limit frob 1": "unknown",
    "flow limit idle-timeout": "needs a value",
    "flow limit idle-timeout 86401": "a number from 1 to 86400",
    "flow limit threshold-on 0%": "no share",
    "flow limit threshold-on 101%": "no share",
    "flow limit threshold-on 1000001": "a number from",
    "flow limit calm-windows 256": "a number from 1 to 255",
    "flow stats 1": "no argument",
    "flow tcp 1": "no argument",
    "events frob": "unknown",
    "events count x": "a number",
    "events timeout": "needs a value",
    "metrics frob": "unknown",
    "metrics print frob 1": "unknown",
    "metrics print top 0": "a number from 1 to 1000",
    "metrics print top": "needs a value",
    "metrics print by rtt-p99": "cannot be ordered",
    "metrics print format xml": "unknown",
    "metrics textfile": "needs a path",
    "metrics serve 127.0.0.1:x": "no ADDRESS:PORT",
    "group frob": "unknown",
    "group list frob 1": "unknown",
    "group list state frob": "unknown",
    "group list state jo": "ambiguous: joining, joined",
    "group list state": "needs a value",
    "group list pid 0": "no process id",
    "group list pid 1 pid 1": "twice",
    "group show 0": "no number of a group",
    "group show x": "unknown",
    "group top frob": "unknown",
    "group top 0": "no number of a group",
    "group top interval 0": "no number of seconds",
    "why": "needs the number of a group",
    "why x": "no number of a group",
    "why 0": "no number of a group",
    "why 77 frob": "unknown",
    "why 77 interval": "needs a value",
    "why 77 interval x": "a number of seconds from 0 to 3600",
    "why 77 interval 3601": "a number of seconds from 0 to 3600",
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
    error = peerlane("frob").err
    assert b"device, region, " in error and b"help, version" in error
    assert b"list, show, bind, unbind, path" in peerlane("device", "frob").err


def test_no_arguments():
    """words: without arguments the usage, on stderr, exit 1"""
    done = peerlane()
    assert done.status == 1 and not done.out and done.err.startswith(b"Usage: peerlane")


def test_help_everywhere():
    """words: each command has help, on stdout, also without the module"""
    for line in peerlane("--list-cmds").out.decode().splitlines():
        more = [] if "help" in line or line == "version" else ["help"]
        done = peerlane(*line.split(), *more, fake="absent")
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

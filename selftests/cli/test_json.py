# SPDX-License-Identifier: GPL-2.0
"""JSON: valid, the same keys always, exact numbers."""

from command import TOP, peerlane

DEVICE = {
    "name": str, "pci": str, "bar": int, "kind": str, "memtype": str, "numa_node": int,
    "bytes_total": int, "bytes_free": int, "bytes_limbo": int, "unit": int, "user_limit": int,
    "regions": int,
}
REGION = {
    "id": int, "device": str, "kind": str, "state": str, "length": int, "dev_offset": int,
    "uid": int, "user": str, "pid": int, "comm": str, "exports": int, "attachments": int,
    "mappings": int, "pinned_units": int, "mapper_pid": int, "mapper_comm": str,
}
PATH = {
    "target": str, "initiator": str, "reachable": bool, "path": str, "distance": int, "reason": str,
}
COMMANDS = {
    "device list": DEVICE,
    "device show gpu0": DEVICE,
    "device show npu1": DEVICE,
    "device bind 03:00.0": DEVICE,
    "device unbind gpu0": DEVICE,
    "device path gpu0 03:00.1": PATH,
    "device path gpu0 03:00.0": PATH,
    "device path gpu0 81:00.5": PATH,
    "region list": REGION,
    "version": {"command": str, "library": str},
}
SCENES = [None, "empty", "hostile"]


def check_object(thing, keys):
    """All keys, in order, each of its type or null."""
    assert list(thing) == list(keys), thing
    for key, kind in keys.items():
        assert thing[key] is None or type(thing[key]) is kind, (key, thing[key])


def test_keys():
    """json: one array of objects with the documented keys and types"""
    for args, keys in COMMANDS.items():
        for scene in SCENES:
            things = peerlane("-j", *args.split(), fake=scene).json()
            assert isinstance(things, list)
            for thing in things:
                check_object(thing, keys)


def test_every_command():
    """json: every command that prints data is in this test"""
    lines = peerlane("--list-cmds").out.decode().split("\n")
    wanted = {line for line in lines if line and "help" not in line}
    covered = {" ".join(args.split()[:2]) for args in COMMANDS}
    assert wanted == covered, wanted ^ covered


def test_pretty_is_the_same():
    """json: -pretty and -human change no value"""
    for args in COMMANDS:
        plain = peerlane("-j", *args.split()).json()
        assert peerlane("-j", "-p", "-h", *args.split()).json() == plain


def test_one_line():
    """json: without -pretty one line that ends in a newline"""
    for args in COMMANDS:
        out = peerlane("-j", *args.split()).out
        assert out.count(b"\n") == 1 and out.endswith(b"]\n")


def test_exact():
    """json: 64-bit numbers are exact"""
    device = peerlane("-j", "device", "show", "npu1").json()[0]
    assert device["bytes_total"] == 2**64 - 1
    assert device["bytes_free"] == 2**53 + 1
    region = peerlane("-j", "region").json()[3]
    assert region["id"] == 2**64 - 1 and region["dev_offset"] == 2**64 - 2
    assert region["exports"] == 2**32 - 1


def test_hostile_names():
    """json: names survive control characters and broken UTF-8"""
    regions = peerlane("-j", "region", fake="hostile").json()
    assert regions[0]["comm"] == "\x1b[2J\x1b]0;x\x07"
    assert regions[0]["mapper_comm"] == 'a\nb\tc\rd"\\'
    assert regions[1]["comm"] == "\u009b31m\x7f"
    assert regions[1]["mapper_comm"] == "\ufffd\ufffd\ufffdgr\u00fc\u00dfe\ufffd"
    assert regions[2]["comm"] == "0123456789abcdef"
    assert regions[2]["mapper_comm"] == "\U0001f600 \u202e rtl 012"


def test_key_names():
    """json: keys are fields of peerlane.h"""
    header = (TOP / "include/peerlane.h").read_text(encoding="utf-8")
    for key in [*DEVICE, *REGION]:
        assert key == "user" or f" {key};" in header or f" {key}[" in header, key

# SPDX-License-Identifier: GPL-2.0
"""A client that is not ours: the one that Linux has, from our specification."""

import contextlib
import ipaddress
import json
import os
import subprocess
import sys

import genl
import wire

YNL = os.environ["YNL"]
SPEC = str(genl.TREE / "Documentation/netlink/specs/peerlane.yaml")
sys.path.insert(0, YNL + "/tools/net/ynl/pyynl")

from lib import NlError, YnlFamily  # noqa: E402  pylint: disable=wrong-import-position

family = None


@contextlib.contextmanager
def client(space):
    """It reads the specification once, which is slow; its socket is of the namespace."""
    global family  # pylint: disable=global-statement
    fresh = genl.socket.socket(genl.socket.AF_NETLINK, genl.socket.SOCK_RAW, 16)
    with space:
        if not family:
            family = YnlFamily(SPEC, "")
            family.close()
        fresh.close()
        family.sock = genl.socket.socket(genl.socket.AF_NETLINK, genl.socket.SOCK_RAW, 16)
    for option in (genl.CAP_ACK, genl.EXT_ACK, genl.GET_STRICT):
        family.sock.setsockopt(genl.SOL_NETLINK, option, 1)
    try:
        yield family
    finally:
        family.close()


@contextlib.contextmanager
def observed(**options):
    with wire.wire(**options) as made, client(made) as ynl:
        yield made, ynl


def text_of(raw):
    return str(ipaddress.ip_address(raw))


def keys(rows):
    found = {(row["saddr"], row["daddr"], row.get("transport", "rc"), row.get("qpn", 0))
             for row in rows}
    assert len(found) == len(rows)
    return found


def test_info_get():
    with observed() as (made, ynl):
        wire.population(made)
        info = ynl.do("info-get", {})
        assert info["flows"] == info["created"] == 52, info
        assert info["idle-timeout"] == 600 and info["threshold-on"] == 10000, info
        assert info["packets"] == made.info()["packets"]


def test_observe_set_and_get():
    with observed(observe=False) as (made, ynl):
        assert ynl.dump("observe-get", {}) == []
        assert ynl.do("observe-set", {"point": "local-out", "enable": 1}) is None
        assert ynl.do("observe-set", {"point": "device", "ifindex": made.rx, "enable": 1}) is None
        assert ynl.dump("observe-get", {}) == [
            {"point": "local-out"}, {"point": "local-in"},
            {"point": "device", "ifindex": made.rx}]
        ynl.do("observe-set", {"point": "local-in", "enable": 0})
        assert ynl.dump("observe-get", {}) == [{"point": "device", "ifindex": made.rx}]


def test_flow_get_one():
    with observed() as (made, ynl):
        made.send([wire.frame(wire.address(1), wire.address(2), 7, ecn=wire.CE, dscp=26)] * 3 +
                  [wire.frame(wire.address6(1), wire.address6(2), 7)])
        made.settled(4)
        row = ynl.do("flow-get", {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "qpn": 7})
        assert (row["packets"], row["ce"], row["dscp"], row["ifindex"], row["point"]) == \
            (3, 3, 26, made.rx, "device"), row
        assert "transport" not in row and row["saddr"] == "10.0.0.1"
        row = ynl.do("flow-get", {"saddr": "fd00::1", "daddr": "fd00::2", "qpn": 7,
                                  "transport": "rc"})
        assert row["packets"] == 1 and row["daddr"] == "fd00::2", row


def test_flow_get_histogram():
    with observed() as (made, ynl):
        for _ in range(4):
            made.send(wire.round_trips(made, 1))
        made.settled(8)
        key = {"saddr": "10.0.0.201", "daddr": "10.0.0.202", "qpn": 0x900}
        row = ynl.do("flow-get", key)
        assert row["peer-qpn"] == 0x980 and row["pairing"] == "port", row
        assert row["rtt"]["samples"] >= 3 and "histogram" not in row["rtt"], row
        row = ynl.do("flow-get", {**key, "with-histogram": True})
        buckets = memoryview(row["rtt"]["histogram"]).cast("I")
        assert len(buckets) == 384 and sum(buckets) == row["rtt"]["samples"]
        assert row["reverse"]["packets"] == 4, row


def test_flow_get_dump():
    with observed() as (made, ynl):
        wire.population(made)
        mine = made.flows()
        rows = ynl.dump("flow-get", {})
        assert len(keys(rows)) == len(mine) == 52
        for row in rows:
            key = (ipaddress.ip_address(row["saddr"]).packed,
                   ipaddress.ip_address(row["daddr"]).packed,
                   genl.NUMBERS[f"PEERLANE_TRANSPORT_{row.get('transport', 'rc').upper()}"],
                   row["qpn"])
            for name in ("packets", "bytes", "ce", "cnp", "sport", "dscp", "gaps"):
                assert row.get(name) == mine[key].get(name), (name, row, mine[key])


def test_flow_get_filters():
    with observed() as (made, ynl):
        wire.population(made)
        wire.judged(made)
        ynl.do("flow-set", {"saddr": "10.0.0.1", "daddr": "10.0.0.101", "qpn": 0x100,
                            "label": "store"})
        everything = ynl.dump("flow-get", {})
        cases = (
            ({"ifindex": made.rx}, lambda row: True),
            ({"ifindex": made.rx + 1}, lambda row: False),
            ({"point": "device"}, lambda row: True),
            ({"point": "local-in"}, lambda row: False),
            ({"address": "10.0.0.101"}, lambda row: "10.0.0.101" in (row["saddr"], row["daddr"])),
            ({"address": "fd00::2"}, lambda row: "fd00::2" in (row["saddr"], row["daddr"])),
            ({"saddr": "10.0.0.2"}, lambda row: row["saddr"] == "10.0.0.2"),
            ({"daddr": "10.0.0.102"}, lambda row: row["daddr"] == "10.0.0.102"),
            ({"qpn": 0x980}, lambda row: 0x980 in (row["qpn"], row.get("peer-qpn"))),
            ({"transport": "ud"}, lambda row: row.get("transport") == "ud"),
            ({"transport": "rc"}, lambda row: "transport" not in row),
            ({"label": "store"}, lambda row: row.get("label") == "store"),
            ({"congested": True}, lambda row: "congested" in row),
            ({"min": [{"counter": "packets", "value": 20}]}, lambda row: row["packets"] >= 20),
            ({"min": [{"counter": "ce", "value": 3}, {"counter": "cnp", "value": 1}]},
             lambda row: row.get("ce", 0) >= 3 and row.get("cnp", 0) >= 1),
        )
        for select, matches in cases:
            want = [row for row in everything if matches(row)]
            have = ynl.dump("flow-get", {"filter": select})
            assert keys(have) == keys(want), select
        have = ynl.dump("flow-get", {"filter": {"top-by": "packets", "top": 3}})
        want = sorted((row["packets"] for row in everything), reverse=True)[:3]
        assert [row["packets"] for row in have] == want


def test_flow_set():
    with observed() as (made, ynl):
        wire.population(made)
        one = {"saddr": "10.0.0.1", "daddr": "10.0.0.101", "qpn": 0x100}
        assert ynl.do("flow-set", {**one, "label": "one", "peer-qpn": 0xabcdef}) == {"count": 1}
        row = ynl.do("flow-get", one)
        assert (row["label"], row["peer-qpn"], row["pairing"]) == ("one", 0xabcdef, "user"), row
        have = ynl.do("flow-set", {"filter": {"transport": "ud"}, "label": "datagrams"})
        assert have == {"count": 8}, have
        assert len(ynl.dump("flow-get", {"filter": {"label": "datagrams"}})) == 8
        ynl.do("flow-set", {"filter": {}, "label": ""})
        assert not any("label" in row for row in ynl.dump("flow-get", {}))


def test_flow_reset():
    with observed() as (made, ynl):
        packets = wire.population(made)
        rows = ynl.dump("flow-reset", {})
        assert sum(row["packets"] for row in rows) == packets
        assert not any("packets" in row for row in ynl.dump("flow-get", {}))
        assert ynl.do("info-get", {})["packets"] == packets


def test_limit_set():
    with observed(observe=False) as (_, ynl):
        ynl.do("limit-set", {"idle-timeout": 86400, "threshold-on": 1000000, "threshold-off": 1,
                             "calm-windows": 255})
        info = ynl.do("info-get", {})
        assert [info[name] for name in ("idle-timeout", "threshold-on", "threshold-off",
                                        "calm-windows")] == [86400, 1000000, 1, 255], info
        ynl.do("limit-set", {"calm-windows": 2})
        info = ynl.do("info-get", {})
        assert info["calm-windows"] == 2 and info["idle-timeout"] == 86400, info


def test_events():
    with observed() as (made, ynl):
        ynl.ntf_subscribe("events")
        made.genl.do("limit-set", {"calm-windows": 1})
        made.send([wire.frame(wire.address(1), wire.address(2), 7, psn=k, ecn=wire.CE)
                   for k in range(20)])
        got = []
        for message in ynl.poll_ntf(duration=8):
            got.append(message)
            if len(got) == 2:
                break
        assert [one["name"] for one in got] == ["event-ntf"] * 2, got
        on, off = (one["msg"] for one in got)
        assert (on["kind"], on["share"], on["sequence"]) == ("congestion-on", 1000000, 1), on
        assert (off["kind"], off["sequence"]) == ("congestion-off", 2), off
        assert on["flow"]["saddr"] == "10.0.0.1" and on["flow"]["qpn"] == 7, on


def test_errors_name_the_attribute():
    with observed() as (_, ynl):
        for name, values, number, where in (
                ("flow-get", {"saddr": "10.0.0.1"}, genl.errno.EINVAL, None),
                ("flow-get", {"saddr": b"12345", "daddr": b"1234", "qpn": 1}, genl.errno.EINVAL,
                 ".saddr"),
                ("flow-get", {"qpn": 0x1000000}, genl.errno.ERANGE, ".qpn"),
                ("limit-set", {"calm-windows": 256}, genl.errno.ERANGE, ".calm-windows"),
                ("observe-set", {"point": "none", "enable": 1}, genl.errno.EINVAL, ".point")):
            try:
                ynl.do(name, values)
            except NlError as error:
                extack = error.nl_msg.extack
                assert error.error == number, error
                assert extack["msg"], error
                assert extack.get("bad-attr") == where, error
            else:
                raise AssertionError(f"{name} {values} was taken")


def test_policies_that_the_kernel_tells():
    """What the kernel says that it takes is what the specification says."""
    with observed() as (_, ynl):
        for name, op in ynl.ops.items():
            for kind in ("do", "dump"):
                wanted = op.yaml.get(kind, {}).get("request", {}).get("attributes")
                if not wanted:
                    continue
                policy = ynl.get_policy(name, kind).to_dict()
                # One policy is for both kinds of flow-get.
                assert set(wanted) <= set(policy), (name, kind, policy)
                for one in wanted:
                    attribute = op.attr_set[one].yaml
                    told = policy[one]
                    checks = attribute.get("checks", {})
                    if attribute["type"] == "u32":
                        last = checks.get("max", 0xffffffff)
                        if "enum" in attribute:
                            last = len(ynl.consts[attribute["enum"]].entries) - 1
                        assert (told["min-value"], told["max-value"]) == \
                            (checks.get("min", 0), last), (name, one, told)
                    elif attribute["type"] == "string":
                        assert told["max-length"] == checks["max-len"], (name, one, told)
                    elif attribute["type"] == "binary":
                        assert (told["min-length"], told["max-length"]) == (4, 16), told


def test_program():
    """The same as a program, with the schema, for a user at a prompt."""
    with wire.wire() as made:
        made.send([wire.frame(wire.address(1), wire.address(2), 7)] * 2)
        made.settled(2)
        with made:
            output = subprocess.run(
                [sys.executable, YNL + "/tools/net/ynl/pyynl/cli.py", "--spec", SPEC, "--schema",
                 YNL + "/Documentation/netlink/genetlink.yaml", "--dump", "flow-get", "--json",
                 '{"filter": {"qpn": 7}}', "--output-json", "--subscribe", "events",
                 "--duration", "1"],
                stdout=subprocess.PIPE, check=True, timeout=120).stdout
        rows = json.loads(output.splitlines()[0])
        assert [row["packets"] for row in rows] == [2], rows
        assert rows[0]["saddr"] == text_of(wire.address(1))

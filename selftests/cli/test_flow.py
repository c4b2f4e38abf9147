# SPDX-License-Identifier: GPL-2.0
"""Flows and events: which, how they read, what is missing."""

import json
import re
import signal
import subprocess
import time

from command import binary, environment, headers, peerlane
from test_json import FLOW

NOTHING = b"no packets are observed"


def flows(*args, fake=None):
    """Addresses of the flows that are listed, source and destination."""
    done = peerlane("-j", "flow", "list", *args, fake=fake)
    assert done.status == 0, done.err
    return [f"{flow['saddr']}>{flow['daddr']}" for flow in done.json()]


GO, BACK = "10.0.0.1>10.0.0.2", "10.0.0.2>10.0.0.1"
LARGE, MIRRORED = "255.255.255.255>255.255.255.255", "2001:db8::1>2001:db8::2"


def test_filters():
    """flow: each filter, and several at once"""
    assert flows() == [GO, BACK, LARGE, MIRRORED]
    assert flows("src", "10.0.0.1") == [GO]
    assert flows("dst", "10.0.0.1") == [BACK]
    assert flows("address", "10.0.0.1") == [GO, BACK]
    assert flows("address", "2001:db8::2") == [MIRRORED]
    assert flows("qpn", "17") == [GO, BACK] and flows("qpn", "0xfffffe") == [MIRRORED]
    assert flows("transport", "ud") == [MIRRORED]
    assert flows("label", "rank 3") == [GO] and flows("label", "rank") == []
    assert flows("congested") == [GO]
    assert flows("point", "device") == [MIRRORED] and flows("point", "local-o") == [GO]
    assert flows("dev", "lo") == [MIRRORED]
    assert flows("pid", "4242") == [GO] and flows("pid", "1") == []
    assert flows("min", "ce", "1") == [GO, LARGE]
    assert flows("min", "ce", "1", "min", "packets", "200001") == [LARGE]
    assert flows("address", "10.0.0.1", "congested", "transport", "rc") == [GO]


def test_rdma_device():
    """flow: dev also takes an RDMA device, by this node's queue pairs"""
    assert flows("dev", "rxe0", fake="software") == [GO]
    assert flows("dev", "mlx5_0") == []
    done = peerlane("flow", "list", "dev", "no-such-device")
    assert done.status == 1 and b"no-such-device" in done.err and not done.out


def test_order():
    """flow: sort and top, by the kernel's counters and by others"""
    assert flows("sort", "by", "packets") == [LARGE, GO, BACK, MIRRORED]
    assert flows("sort", "packets") == [LARGE, GO, BACK, MIRRORED]
    assert flows("top", "2", "by", "bytes") == [LARGE, GO]
    assert flows("sort", "by", "bytes", "top", "2") == [LARGE, GO]
    assert flows("top", "2", "by", "reverse-rnr") == [LARGE, GO]
    assert flows("top", "1") == [LARGE]
    assert flows("top", "1", "pid", "4242") == [GO]
    assert len(flows("top", "5000", fake="many")) == 1000


def test_keys_are_fields():
    """flow: JSON keys are counters and fields of peerlane.h"""
    header = headers()
    added = {"local", "histogram", "elapsed", "since", "netdev"}
    for key in set(FLOW) - added:
        name = re.sub("^(rtt|reverse)_", "", key)
        assert re.search(rf"[ *]{name}(\[[^]]*\])?;", header), key


def test_nothing_observed():
    """flow: an empty list says how to begin, and only then"""
    for verb in ("list", "show", "watch count 1".split()[0]):
        args = [verb, "count", "1"] if verb == "watch" else [verb]
        done = peerlane("flow", *args, fake="unobserved")
        assert done.status == 0 and NOTHING in done.err, (verb, done.err)
        assert b"peerlane flow observe local on" in done.err
        assert NOTHING not in peerlane("flow", *args, fake="empty").err
        assert NOTHING not in peerlane("flow", *args).err
    assert peerlane("-j", "flow", fake="unobserved").json() == []


def test_incomplete():
    """flow: a dump that was cut short is shown, told, and exit 3"""
    for args in ("list", "show", "watch count 1", "reset"):
        done = peerlane("-j", "flow", *args.split(), fake="incomplete")
        assert done.status == 3 and len(done.json()) == 4, (args, done.status)
        assert "its shape" in done.errors()[0]["note"], args


def test_missed():
    """flow: packets that are in no flow are told"""
    done = peerlane("flow", fake="missed")
    assert done.status == 0 and b"13 packets are in no flow" in done.err, done.err
    assert b"3 packets are in no flow: memory" in done.err
    done = peerlane("flow", "watch", "interval", "0.05", "count", "3", fake="missed")
    assert b"1 more packets are in no flow" in done.err, done.err


def test_no_processes():
    """flow: flows are shown where processes are not known"""
    done = peerlane("-j", "flow", fake="no-processes")
    assert done.status == 0 and len(done.json()) == 4
    assert "processes are not known" in done.errors()[0]["note"]


def test_exact():
    """flow: numbers of 64 bits are exact"""
    flow = peerlane("-j", "flow", "list", "qpn", "0xffffff").json()[0]
    for key in ("packets", "bytes", "rtt_p99", "reverse_cnp", "rate_bytes", "missing"):
        assert flow[key] == 2**64 - 1, key
    done = peerlane("-h", "flow", "list", "qpn", "0xffffff")
    assert b"147Eb/s" in done.out, done.out


def test_hostile_names():
    """flow: labels and command names survive in JSON"""
    found = peerlane("-j", "flow", fake="hostile").json()
    assert found[0]["label"] == "\x1b[2J\x1b]0;x\x07\n\"\\"
    assert found[0]["comm"] == "a\x1b[31m\nb"
    assert found[1]["label"] == "y" * 32 and found[1]["transport"] == "unknown"
    assert found[2]["label"] == "\u009b31m\ufffd\ufffd\ufffdgr\u00fcn\x7f"


def test_histogram():
    """flow: show has the histogram, as buckets and as a picture"""
    flow = peerlane("-j", "flow", "show", "src", "10.0.0.1").json()[0]
    assert flow["histogram"][0] == {"low": 2176, "high": 2304, "samples": 400}
    assert sum(row["samples"] for row in flow["histogram"]) == 1007
    text = peerlane("flow", "show", "src", "10.0.0.1").out.decode()
    bars = re.findall(r"^ +([\d.]+\w+) \.\. ([\d.]+\w+) +(\d+) +[\d.]+%?(?:  (#+))?$", text, re.M)
    assert len(bars) == 7 and len(bars[0][3]) == 40 and bars[1][3] == "", text


def test_forgotten_while_shown():
    """flow: one that goes between list and show is left out"""
    done = peerlane("-j", "flow", "show", fake="forgotten")
    assert done.status == 0 and done.json() == []


# ---- watch ----------------------------------------------------------------

def watched(*args, fake=None):
    """One list of flows per interval."""
    done = peerlane("-j", "flow", "watch", *args, fake=fake)
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.decode("ascii").splitlines()]


def test_watch():
    """watch: nothing at first, then what was counted in between"""
    first, second = watched("src", "10.0.0.1", "interval", "0.2", "count", "2")
    assert first[0]["since"] is None and first[0]["elapsed"] is None
    flow = second[0]
    assert flow["since"]["packets"] == 1000 and flow["since"]["lost"] == 1
    assert flow["since"]["reverse_cnp"] == 3
    assert 0.15e9 < flow["elapsed"] < 10e9
    assert list(flow) == list(FLOW)


def test_watch_text():
    """watch: a dash at first, rates by the time that really went by"""
    done = peerlane("flow", "watch", "-i", "0.25", "--count", "2", "src", "10.0.0.1")
    head, titles, first, second, _, row = done.out.decode().splitlines()
    assert head == "interval -  flows 1  congested 1" and titles.startswith("SOURCE"), head
    columns = first.split()
    assert columns[5:13] == ["-"] * 8, first
    seconds = float(re.match(r"interval ([\d.]+)s", second)[1])
    packets = int(row.split()[6])
    assert 0.2 < seconds < 10 and abs(packets * seconds - 1000) < 30, (seconds, row)


def test_watch_reset():
    """watch: a counter that was set to zero is marked, never negative"""
    _, second, third = watched("src", "10.0.0.1", "interval", "0.05", "count", "3", fake="reset")
    assert second[0]["since"]["packets"] is None and second[0]["since"]["ce"] is None
    assert third[0]["since"]["packets"] == 1
    out = peerlane("flow", "watch", "interval", "0.05", "count", "2", fake="reset").out.decode()
    row = [line for line in out.splitlines() if line.startswith("10.0.0.1")][1].split()
    assert row[5] == "reset" and row[6] == "reset", row
    assert "1844674" not in out.split("interval")[2].split("\n")[2]


def test_watch_once():
    """watch: once is one whole interval"""
    (only,) = watched("src", "10.0.0.1", "-i", "0.1", "--once")
    assert only[0]["since"]["packets"] == 1000


def test_watch_ends_with_its_reader():
    """watch: it ends when nobody reads"""
    done = subprocess.run(f"{binary()} flow watch -i 0.05 | head -n 3", shell=True, check=False,
                          env=environment(), capture_output=True, timeout=60)
    assert done.stdout.count(b"\n") == 3, done


# ---- events ---------------------------------------------------------------

EVENT = {"kind": str, "resync": bool, "sequence": int, "time": int, "date": str, "share": int,
         "lost": int, "flow": dict, "group": dict}


def events(*args, fake=None):
    """Exit status, and events."""
    done = peerlane("-j", "events", *args, fake=fake)
    return done.status, [json.loads(line) for line in done.out.decode("ascii").splitlines()]


def test_events():
    """events: one JSON object a line, the same keys in each"""
    status, found = events("count", "3")
    assert status == 0 and [event["kind"] for event in found] == \
        ["congestion-on", "congestion-off", "congestion-on"]
    for event in found:
        assert list(event) == list(EVENT)
        assert all(event[key] is None or type(event[key]) is kind for key, kind in EVENT.items())
        assert list(event["flow"]) == list(FLOW)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["date"])
    assert [event["sequence"] for event in found] == [41, 42, 43]


GROUP_EVENT = {"group": int, "id": int, "by": str, "ranks": int, "rank": int, "aggregator": int,
               "lane": int, "cause": str, "errno": str, "fault_rank": int, "delay": int,
               "label": str, "reason": str}


def test_events_of_groups():
    """events: those of groups say who, and why"""
    status, found = events("count", "5", fake="groups")
    assert status == 0 and [event["kind"] for event in found] == \
        ["group-formed", "rank-late", "lane-left", "rank-in-time", "group-ended"], found
    for event in found:
        assert list(event) == list(EVENT) and event["flow"] is None, event
        assert list(event["group"]) == list(GROUP_EVENT), event
    late, left, ended = (found[k]["group"] for k in (1, 2, 4))
    assert late["by"] == "aggregator" and late["rank"] == 3 and late["delay"] == 4100000, late
    assert left["cause"] == "silent" and (left["aggregator"], left["lane"]) == (1, 2), left
    assert ended["cause"] == "late" and ended["fault_rank"] == 3 and ended["errno"] == "ETIMEDOUT"
    text = peerlane("events", "count", "5", fake="groups").out
    for line in (b"group 77  4 ranks  rank 0 group 1", b"rank 3 by 4.10ms, which costs 31.00%",
                 b"lane 2 between rank 0 and aggregator 1: silent",
                 b"late (ETIMEDOUT): rank 3 is late in operation 7, 1 missing"):
        assert line in text, text
    assert b"\033" not in text, text


def test_events_of_groups_are_not_for_all():
    """events: who may not see those of groups is told so, and sees the others"""
    done = peerlane("events", "count", "3", fake="denied-groups")
    assert done.status == 0 and b"CAP_NET_ADMIN" in done.err and done.out.count(b"\n") == 3, done


def test_events_current():
    """events: current begins with what is so already"""
    status, found = events("current", "count", "1")
    assert status == 0 and found[0]["resync"] is True and found[0]["sequence"] == 0
    assert b"(since before)" in peerlane("events", "current", "count", "1").out


def test_events_lost():
    """events: lost ones are events too, and exit 3"""
    status, found = events("count", "3", fake="lost")
    assert status == 3
    assert found[1]["kind"] == "lost" and found[1]["lost"] == 57 and found[1]["flow"] is None
    assert b"lost            57 events" in peerlane("events", "count", "3", fake="lost").out


def test_events_timeout():
    """events: a timeout is exit 0, or 2 if more were waited for"""
    assert events("timeout", "0.2")[0] == 0
    status, found = events("count", "9", "timeout", "0.2")
    assert status == 2 and len(found) == 3


def test_events_unloaded():
    """events: the end of the module is exit 4"""
    done = peerlane("events", fake="unloaded")
    assert done.status == 4 and b"unloaded" in done.err and done.out.count(b"\n") == 3


def test_events_signal():
    """events: each is written at once; SIGINT ends well"""
    child = subprocess.Popen([binary(), "events"], env=environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    for _ in range(3):
        assert b"congestion" in child.stdout.readline()
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err


# ---- changes ----------------------------------------------------------------

def test_label():
    """label: by the kernel's filters, by processes; never all by accident"""
    assert peerlane("-j", "flow", "label", "set", "job 1", "congested").json() == [{"labelled": 1}]
    assert peerlane("flow", "label", "set", "job 1", "pid", "4242").out == b"1\n"
    assert peerlane("flow", "label", "clear", "all").out == b"4\n"
    assert peerlane("flow", "label", "set", "x", "pid", "4242", fake="forgotten").out == b"0\n"
    done = peerlane("flow", "label", "set", "x", "pid", "4242", fake="incomplete")
    assert done.status == 3 and b"left out" in done.err
    done = peerlane("flow", "label", "set", "x")
    assert done.status == 1 and b'or the word "all"' in done.err
    done = peerlane("flow", "label", "set", "full", "all")
    assert done.status == 1 and b"ENOSPC" in done.err


def test_reset():
    """reset: prints what was"""
    found = peerlane("-j", "flow", "reset", "congested").json()
    assert [flow["packets"] for flow in found] == [200000]
    assert len(peerlane("-j", "flow", "reset").json()) == 4
    assert len(peerlane("-j", "flow", "reset", "all").json()) == 4
    assert list(found[0]) == list(FLOW)


def test_rights():
    """flow: a right that is missing is exit 1 with the reason"""
    for args in ("reset", "label clear all", "pair", "observe local on", "limit idle-timeout 9"):
        done = peerlane("flow", *args.split(), fake="user")
        assert done.status == 1 and b"CAP_NET_ADMIN" in done.err and not done.out, args


def test_observe():
    """observe: on and off; what is so already is no failure"""
    for args in ("local on", "local off", "dev eth2 on", "dev eth2 off"):
        done = peerlane("flow", "observe", *args.split())
        assert (done.status, done.out, done.err) == (0, b"", b""), args
        done = peerlane("flow", "observe", *args.split(), fake="already")
        assert done.status == 0 and b"already" in done.err, args
    done = peerlane("flow", "observe", "dev", "eth9", "on")
    assert done.status == 1 and b"ENODEV" in done.err


def test_limit():
    """limit: shares in percent and in millionths"""
    for args in ("threshold-on 1%", "threshold-on 10000", "idle-timeout 30 calm-windows 5"):
        done = peerlane("flow", "limit", *args.split())
        assert (done.status, done.out, done.err) == (0, b"", b""), (args, done.err)
    done = peerlane("flow", "limit", "threshold-on", "1%", "threshold-off", "2%")
    assert done.status == 1 and b"above threshold-on" in done.err

# SPDX-License-Identifier: GPL-2.0
"""Congestion as it is told: when it begins, when it ends, and what was not told."""

import contextlib
import errno
import time

import genl
import wire

ON, OFF = 1, 2
KEY = {"saddr": wire.address(1), "daddr": wire.address(2), "qpn": 7}
ENDS = wire.address(1), wire.address(2), 7
LIMITS = {"threshold-on": 500000, "threshold-off": 200000, "calm-windows": 2}


@contextlib.contextmanager
def listened(limits=None, receive=None):
    with wire.wire() as made, made.socket(receive=receive) as sock:
        sock.subscribe()
        made.genl.do("limit-set", {**LIMITS, **(limits or {})})
        made.next_psn = 0
        yield made, sock


def load(made, percent, seconds):
    """Traffic of which that share is marked, evenly."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        made.send([wire.frame(*ENDS, psn=made.next_psn + k,
                              ecn=wire.CE if k * percent // 100 != (k + 1) * percent // 100
                              else wire.ECT0) for k in range(20)])
        made.next_psn += 20
        time.sleep(0.02)


def kinds(events):
    return [event["kind"] for event in events]


def test_begins_at_the_upper_threshold():
    with listened() as (made, sock):
        load(made, 40, 3)
        assert sock.events(0) == []
        assert "congested" not in made.flow(**KEY)
        load(made, 60, 3)
        events = sock.events(0)
        assert kinds(events) == [ON], events
        assert 500000 <= events[0]["share"] <= 650000, events
        assert made.flow(**KEY)["congested"]
        assert len(made.flows({"congested": True})) == 1


def test_between_the_thresholds_nothing_changes():
    with listened() as (made, sock):
        load(made, 80, 2.5)
        assert kinds(sock.events(0)) == [ON]
        for percent in (30, 45, 70, 30):
            load(made, percent, 1.3)
        assert sock.events(0) == []


def test_ends_after_calm_windows():
    with listened({"calm-windows": 3}) as (made, sock):
        load(made, 80, 2.5)
        # Two calm ones, and one that is not: it begins anew.
        load(made, 0, 1.5)
        load(made, 30, 1.5)
        assert kinds(sock.events(0)) == [ON]
        load(made, 0, 5.5)
        events = sock.events(0)
        assert kinds(events) == [OFF], events
        assert "congested" not in made.flow(**KEY)


def test_ends_when_the_flow_is_silent():
    with listened() as (made, sock):
        load(made, 100, 2.5)
        begin = time.monotonic()
        assert kinds(sock.events(6, count=2)) == [ON, OFF]
        # Windows are seconds of the clock, and the sweep comes once in one.
        assert 1 < time.monotonic() - begin < 6
        assert "congested" not in made.flow(**KEY)


def test_ends_when_the_flow_is_forgotten():
    """However long calm would have to be."""
    with listened({"calm-windows": 255}) as (made, sock):
        load(made, 100, 2.5)
        assert kinds(sock.events(3, count=1)) == [ON]
        made.genl.do("limit-set", {"idle-timeout": 1})
        events = sock.events(8, count=1)
        assert kinds(events) == [OFF], events
        flow = events[0]["flow"]
        assert (flow["saddr"], flow["daddr"], flow["qpn"]) == ENDS
        # It is gone, so nothing is told but its name.
        assert flow.get("age", 0) < 60000 and flow.get("idle", 0) < 60000, flow
        assert "flows" not in made.info()


def test_few_packets_are_no_congestion():
    with listened() as (made, sock):
        for psn in range(7):
            made.send([wire.frame(*ENDS, psn=psn, ecn=wire.CE)])
        made.settled(7)
        assert sock.events(3) == []


def test_content():
    with listened() as (made, sock):
        made.send([wire.frame(*ENDS)])
        made.settled(1)
        made.genl.do("flow-set", {**KEY, "label": "hot"})
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        load(made, 100, 2)
        event, = sock.events(5, count=1)
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        assert before < event["time"] < after and event["sequence"] == 1, event
        flow = event["flow"]
        assert (flow["label"], flow["ifindex"], flow["point"]) == ("hot", made.rx, genl.DEVICE)
        assert flow["ce"] == flow["packets"] - 1 and flow["congested"], flow
        assert event["share"] > 800000 and event["kind"] == ON, event


def crowd(count, first=0):
    """One flow after the other: packets of one that fall into two windows may be too few."""
    return [wire.frame(wire.address(3), wire.address(1000 + first + k), 7, ecn=wire.CE, psn=psn)
            for k in range(count) for psn in range(12)]


def consecutive(events, first=1):
    numbers = [event["sequence"] for event in events]
    assert numbers == list(range(first, first + len(numbers))), numbers


def test_numbers_are_consecutive():
    count = 150
    with listened({"calm-windows": 1}, receive=1 << 22) as (made, sock):
        # From both processors, and the sweep
        pids = [wire.child(lambda k=k: [made.send(crowd(count, k * count)) for _ in range(2)])
                for k in range(2)]
        for pid in pids:
            wire.reap(pid)
        events = sock.events(6, count=100000)
        consecutive(events)
        last = {}
        for event in events:
            key = wire.key_of(event["flow"])
            assert event["kind"] == (OFF if last.get(key) == ON else ON), event
            last[key] = event["kind"]
        assert len(last) == 2 * count, len(last)
        assert set(last.values()) == {OFF} and not made.flows({"congested": True})
        assert made.info()["event-sequence"] == len(events)


def test_reader_too_slow_notices():
    count = 150
    with listened(receive=4096) as (made, sock):
        made.send(crowd(count))
        # Begun and ended, while nobody reads.
        assert wire.wait_until(lambda: made.info().get("event-sequence", 0) >= count)
        assert wire.wait_until(lambda: not made.flows({"congested": True}))
        total = made.info()["event-sequence"]
        try:
            sock.events(1)
        except OSError as error:
            assert error.errno == errno.ENOBUFS
        else:
            raise AssertionError("nothing was said of what did not fit")
        got = [event["sequence"] for event in sock.events(1)]
        made.send(crowd(1, first=900))
        last, = sock.events(5, count=1)
        # In order, and the hole in it is as large as what was lost.
        assert got == list(range(1, len(got) + 1)), got
        assert last["sequence"] == total + 1 > len(got) + 1, (last, total, len(got))


def test_each_namespace_hears_of_its_own():
    with listened() as (made, sock), listened() as (other, ear):
        load(made, 100, 2)
        assert kinds(sock.events(3, count=1)) == [ON]
        assert ear.events(0) == []
        other.next_psn = 0
        load(other, 100, 2)
        events = ear.events(3, count=1)
        assert kinds(events) == [ON] and events[0]["sequence"] == 1, events

# SPDX-License-Identifier: GPL-2.0
"""Limits of the table: who goes, who stays, and what is not counted is counted."""

import contextlib
import errno
import os
import time

import genl
import wire
from test_dump import frames_of, keys_of, nothing_left, parameter

LIMIT = 32


@contextlib.contextmanager
def small(limit=LIMIT):
    nothing_left()
    with parameter("max_flows", limit), wire.wire() as made:
        yield made


def fill(made, count=LIMIT):
    """One flow after the other, so that each is older than the next."""
    for frame in frames_of(count):
        made.send([frame])
        time.sleep(0.02)
    made.settled(count)


def test_oldest_idle_flow_goes_first():
    with small() as made:
        fill(made)
        time.sleep(1.2)
        for k in range(10):
            made.send(frames_of(1, first=100 + k))
            info = made.settled(LIMIT + k + 1)
            have = set(made.flows())
            assert have == keys_of(LIMIT - k - 1, first=k + 1) | keys_of(k + 1, first=100), \
                f"{k + 1} new ones took the room of {keys_of(LIMIT) - have}"
        assert info["evicted"] == 10 and "missed-full" not in info, info


def test_busy_flows_stay():
    with small() as made:
        fill(made)
        # All were seen just now, each new one finds no room.
        sent = LIMIT
        for _ in range(3):
            made.send(frames_of(LIMIT) + frames_of(5, first=100))
            sent += LIMIT + 5
        info = made.settled(sent)
        assert set(made.flows()) == keys_of(LIMIT)
        assert info["missed-full"] == 15 and "evicted" not in info, info


def test_each_packet_is_in_a_flow_or_missed():
    with small() as made:
        sent = 0
        for k in range(40):
            frames = frames_of(20, first=7 * k) + frames_of(3)
            made.send(frames)
            sent += len(frames)
            time.sleep(0.05)
        info = made.settled(sent)
        missed = info.get("missed-full", 0)
        assert info["packets"] + missed == sent and missed, info
        assert info["flows"] <= LIMIT
        # The flows that are there, and those that went
        have = sum(row["packets"] for row in made.flows().values())
        assert have <= info["packets"]
        assert info["created"] == info["flows"] + info.get("evicted", 0), info


def test_limit_is_of_all_namespaces_together():
    with small() as made, wire.wire() as other:
        made.send(frames_of(20))
        made.settled(20)
        other.send(frames_of(20))
        info = other.settled(20)
        assert (info["flows"], info["missed-full"]) == (12, 8), info


def test_limit_raised_at_run_time():
    with small() as made:
        made.send(frames_of(40))
        assert made.settled(40)["flows"] == LIMIT
        with parameter("max_flows", 64):
            made.send(frames_of(40))
            assert made.settled(80)["flows"] == 40


def test_idle_flows_are_forgotten():
    with wire.wire() as made:
        made.genl.do("limit-set", {"idle-timeout": 1})
        made.send(frames_of(100))
        made.settled(100)
        end = time.monotonic() + 6
        while time.monotonic() < end and made.info()["flows"] > 1:
            made.send(frames_of(1, first=500))
            time.sleep(0.2)
        info = made.info()
        assert set(made.flows()) == keys_of(1, first=500)
        assert (info["flows"], info["expired"]) == (1, 100), info
        assert info["packets"] >= 101


def test_histograms_at_most():
    with parameter("max_histograms", 2), wire.wire() as made:
        count = 5
        for _ in range(4):
            made.send(wire.round_trips(made, count))
        info = made.settled(8 * count)
        rows = [row["rtt"] for row in made.flows().values() if "rtt" in row]
        samples = {row["samples"] for row in rows}
        assert len(rows) == info["histograms"] == 2 and len(samples) == 1, (rows, info)
        assert info["missed-histogram"] == 3 * samples.pop(), info


FAULT = "/sys/kernel/debug/failslab/"


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def fail_slab(**values):
    if not os.path.exists(FAULT):
        raise wire.Skip("no failslab in this kernel")
    for name, value in values.items():
        write(FAULT + name.replace("_", "-"), value)


def test_short_of_memory_is_counted():
    slab = "/sys/kernel/slab/peerlane_flow/failslab"
    fail_slab(verbose=0, cache_filter="Y", ignore_gfp_wait="N", interval=1, times=7)
    with wire.wire() as made:
        write(slab, 1)
        write(FAULT + "probability", 100)
        try:
            made.send(frames_of(20))
            info = made.settled(20)
        finally:
            write(FAULT + "probability", 0)
            write(slab, 0)
        assert (info["missed-memory"], info["flows"], info["packets"]) == (7, 13, 13), info


def test_short_of_memory_in_each_request():
    """At the first allocation, at the second, and so on, until there are no more."""
    fail_slab(verbose=0, cache_filter="N", ignore_gfp_wait="N", probability=0)
    for other in ("fail_page_alloc", "fail_usercopy"):
        write(f"/sys/kernel/debug/{other}/verbose", 0)
    key = {"saddr": wire.address(1), "daddr": wire.address(1000), "qpn": 7}
    local = {"point": genl.LOCAL_IN, "enable": 1}
    requests = (("info-get", {}), ("flow-get", {**key, "with-histogram": True}),
                ("flow-set", {**key, "label": "new"}), ("limit-set", {"calm-windows": 2}),
                ("flow-get", None), ("flow-reset", None), ("observe-get", None),
                ("flow-get", {"filter": {"top-by": 0, "top": 1024}}), ("observe-set", local))
    # The last: copies from the user fail, too
    allowed = {errno.ENOMEM, errno.ENOBUFS, errno.EFAULT}
    with wire.wire() as made:
        made.send(frames_of(50))
        made.settled(50)
        for name, values in requests:
            nth, is_over = 0, False
            while not is_over:
                nth += 1
                assert nth < 200, name
                is_over = short_of(made, nth, name, values, allowed)
                if name == "flow-set":
                    made.genl.do("flow-set", {**key, "label": ""})
                elif name == "observe-set" and not is_over:
                    end_of_local(made)
            print(f"# {name}: {nth - 1} places")
            assert nth > 1
        made.genl.do("observe-set", {**local, "enable": 0})
        assert set(made.flows()) == keys_of(50)


def end_of_local(made):
    """It was done if only the answer was short of memory."""
    try:
        made.genl.do("observe-set", {"point": genl.LOCAL_IN, "enable": 0})
    except genl.Error as error:
        assert error.name == "ESRCH", error


def short_of(made, nth, name, values, allowed):
    """Whether so many allocations are not made; else the request fails, or does without."""
    is_dump = values is None or "filter" in values
    with made.socket() as sock:
        sock.family()
        sock.arm = nth
        try:
            if is_dump:
                sock.dump(name, values)
            else:
                sock.do(name, values)
        except genl.Error as error:
            assert error.number in allowed, f"{name} {nth}: {error}"
        except OSError as error:
            assert error.errno in allowed, f"{name} {nth}: {error}"
        return not sock.has_failed


def test_flows_of_one_namespace_are_not_seen_in_another():
    with wire.wire() as made, wire.wire() as other:
        made.send(frames_of(10))
        made.settled(10)
        other.send(frames_of(5, first=50))
        other.settled(5)
        assert set(made.flows()) == keys_of(10) and set(other.flows()) == keys_of(5, first=50)
        genl.refused("ENOENT", other.flow, wire.address(1), wire.address(1000), 7)
        assert other.genl.do("flow-set", {"filter": {}, "label": "here"}) == {"count": 5}
        other.genl.dump("flow-reset")
        assert made.flow(wire.address(1), wire.address(1000), 7)["packets"] == 1
        assert not any("label" in row for row in made.flows().values())
        with genl.Socket() as first:
            assert first.dump("flow-get") == []


def test_namespace_that_goes_frees_its_flows():
    nothing_left()
    with wire.wire() as made:
        made.send(frames_of(1000))
        made.settled(1000)
        made.genl.do("flow-set", {"filter": {}, "label": "all"})
        assert wire.flows_of_all() == 1000
    assert wire.wait_until(lambda: wire.flows_of_all() == 0)

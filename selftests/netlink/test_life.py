# SPDX-License-Identifier: GPL-2.0
"""Devices, namespaces and the module itself, which go while they are in use."""

import errno
import os
import struct
import subprocess
import time

import genl
import wire
from genl import refused
from test_dump import frames_of, keys_of, nothing_left, read_some


def endless(made, count=50):
    while True:
        made.send(frames_of(count))


def observed(made):
    return [row.get("ifindex", 0) for row in made.genl.dump("observe-get")]


# ---- devices --------------------------------------------------------------------

def test_device_is_deleted():
    with wire.wire() as made:
        made.send(frames_of(5))
        made.settled(5)
        assert observed(made) == [made.rx]
        made.ip("link del recv0")
        assert observed(made) == []
        rows = made.flows()
        assert set(rows) == keys_of(5)
        assert not any("ifindex" in row for row in rows.values())
        genl.refused("ENODEV", made.genl.do, "observe-set",
                     {"point": genl.DEVICE, "ifindex": made.rx, "enable": 0})


def test_device_is_deleted_under_traffic():
    with wire.wire(pairs=3) as made:
        for k in (1, 2):
            made.observe(device=f"recv{k}")

        def traffic():
            while True:
                for end in range(3):
                    try:
                        made.send(frames_of(20), end)
                    except OSError:
                        pass

        pid = wire.child(traffic)
        for k in (1, 0, 2):
            time.sleep(0.3)
            made.ip(f"link del recv{k}")
        wire.reap(pid, ends_by_itself=False)
        assert observed(made) == []


def test_device_goes_to_another_namespace():
    with wire.wire() as made, wire.wire(observe=False) as other:
        made.send(frames_of(5))
        made.settled(5)
        other.ip("link del send0")
        with made:
            subprocess.run(["ip", "link", "set", "recv0", "netns",
                            f"/proc/{os.getpid()}/fd/{other.file}"], check=True)
        assert observed(made) == []
        other.ip("link set recv0 up")
        made.send(frames_of(5))
        time.sleep(0.3)
        assert made.info()["packets"] == 5
        # There it is as any other.
        other.observe()
        made.send(frames_of(3))
        other.settled(3)
        assert made.info()["packets"] == 5 and set(other.flows()) == keys_of(3)


def test_place_of_a_device_that_another_takes():
    """What was counted at the first is not told to be of the second."""
    with wire.wire(pairs=2) as made:
        made.send(frames_of(4))
        made.settled(4)
        made.observe(0)
        made.observe(device="recv1")
        second = made.index("recv1")
        made.send(frames_of(2, first=10), end=1)
        made.settled(6)
        rows = made.flows()
        told = {key: row.get("ifindex") for key, row in rows.items()}
        assert told == {**{key: None for key in keys_of(4)},
                        **{key: second for key in keys_of(2, first=10)}}, told
        assert set(made.flows({"ifindex": second})) == keys_of(2, first=10)
        assert set(made.flows({"point": 0})) == keys_of(4)


def test_flow_of_a_device_that_went_is_counted_elsewhere_at_once():
    with wire.wire(pairs=2) as made:
        made.observe(device="recv1")
        made.send(frames_of(4))
        made.send(frames_of(4), end=1)
        assert made.settled(8)["elsewhere"] == 4
        made.observe(0)
        made.send(frames_of(4), end=1)
        info = made.settled(12)
        assert (info["packets"], info["elsewhere"]) == (8, 4), info


def test_observed_and_not_under_traffic():
    with wire.wire() as made:
        pid = wire.child(lambda: endless(made))
        for _ in range(30):
            made.observe(0)
            made.observe()
            made.genl.do("observe-set", {"point": genl.LOCAL_IN, "enable": 1})
            made.genl.do("observe-set", {"point": genl.LOCAL_OUT, "enable": 0})
        wire.reap(pid, ends_by_itself=False)
        assert observed(made) == [made.rx] and set(made.flows()) == keys_of(50)


def with_checksum(data):
    """A frame that the kernel delivers: it looks at the one of the IP header."""
    words = struct.unpack(">10H", data[14:34])
    total = sum(words)
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    return data[:24] + struct.pack(">H", ~total & 0xffff) + data[26:]


def test_what_passed_while_nobody_looked_is_not_lost():
    ends = wire.address(1), wire.address(2)

    def talk(first):
        made.send([with_checksum(wire.frame(*ends, 7, psn=psn))
                   for psn in range(first, first + 20)])

    def observe(enable):
        made.genl.do("observe-set", {"point": genl.LOCAL_IN, "enable": enable})

    with wire.wire(observe=False) as made:
        # Where frames of wire.frame() go
        made.ip("link set recv0 address 02:00:00:00:00:02", "address add 10.0.0.2/8 dev recv0")
        observe(1)
        talk(0)
        made.settled(20)
        observe(0)
        observe(1)
        talk(5000)
        # Then what is missing counts as lost.
        time.sleep(0.2)
        talk(5020)
        made.settled(60)
        flow = made.flow(*ends, 7)
        assert flow["packets"] == 60 and not flow.get("lost") and not flow.get("missing"), flow


# ---- namespaces -------------------------------------------------------------------

def test_namespace_goes_while_observed_and_dumped():
    nothing_left()
    with wire.wire() as made:
        made.send(frames_of(500))
        made.settled(500)
        sock = made.socket(receive=4096)
        sock.start("flow-get")
        rows = read_some(sock)
    # All that holds it now is the socket, whose dump goes on.
    rows += sock.finish("flow-get")
    assert set(wire.by_key(rows)) == keys_of(500)
    sock.start("flow-get")
    read_some(sock)
    assert wire.flows_of_all() == 500
    sock.close()
    assert wire.wait_until(lambda: wire.flows_of_all() == 0)


def test_namespace_goes_under_traffic():
    nothing_left()
    for _ in range(3):
        made = wire.Wire()
        pid = wire.child(lambda made=made: endless(made))
        time.sleep(0.3)
        made.close()
        wire.reap(pid, ends_by_itself=False)
        assert wire.wait_until(lambda: wire.flows_of_all() == 0)


def test_namespace_goes_with_events_on_their_way():
    for _ in range(5):
        with wire.wire() as made:
            made.genl.do("limit-set", {"threshold-off": 1, "threshold-on": 1})
            made.send([wire.frame(wire.address(1), wire.address(1000 + k), 7, ecn=wire.CE)
                       for _ in range(9) for k in range(100)])
            time.sleep(1)
            made.send(frames_of(100))


# ---- the module --------------------------------------------------------------------

def unload():
    return subprocess.run(["rmmod", "peerlane"], stderr=subprocess.PIPE,
                          check=False).returncode == 0


def load():
    subprocess.run(["insmod", os.environ["MODULE"], *os.environ["MODULE_PARAMS"].split()],
                   check=True)
    genl.Socket.families.clear()


def test_unloaded_while_it_observes():
    with wire.wire() as made, made.socket() as ear:
        ear.subscribe()
        made.genl.do("observe-set", {"point": genl.LOCAL_IN, "enable": 1})
        made.genl.do("limit-set", {"threshold-off": 1, "threshold-on": 1})
        pid = wire.child(lambda: endless(made))
        time.sleep(1.2)
        assert unload()
        time.sleep(0.3)
        # The family is gone; who listens hears nothing.
        refused("ENOENT", made.genl.do, "info-get")
        load()
        assert made.info() and observed(made) == []
        made.observe()
        assert wire.wait_until(lambda: len(made.flows()) == 50)
        wire.reap(pid, ends_by_itself=False)
        # Groups are those of the family that was.
        made.observe(0)


def test_not_unloaded_while_a_dump_runs():
    with wire.wire() as made, made.socket(receive=4096) as sock:
        made.send(frames_of(500))
        made.settled(500)
        sock.start("flow-get")
        rows = read_some(sock)
        assert not unload()
        rows += sock.finish("flow-get")
        assert set(wire.by_key(rows)) == keys_of(500)
        sock.start("flow-reset")
        read_some(sock)
        assert not unload()
        sock.close()
        assert unload()
        load()


def test_loaded_and_unloaded_with_readers():
    """A reader that asks all the time gets answers, or that there is nobody."""
    def reader():
        while True:
            with genl.Socket() as sock:
                try:
                    sock.families.clear()
                    sock.dump("flow-get")
                    sock.do("info-get")
                    sock.dump("observe-get")
                except genl.Error as error:
                    # The last: of a dump, while the module goes
                    assert error.number in (errno.ENOENT, errno.EOPNOTSUPP,
                                            errno.EPROTONOSUPPORT), error

    pids = [wire.child(reader) for _ in range(2)]
    for _ in range(6):
        assert wire.wait_until(unload, seconds=10)
        load()
    for pid in pids:
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "a reader has failed"
        wire.reap(pid, ends_by_itself=False)

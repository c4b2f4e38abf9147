# SPDX-License-Identifier: GPL-2.0
"""Events of groups: who hears them, and that they never are too many.

No RDMA device is needed: a group that cannot be joined ends, which is an event.
"""

import array
import contextlib
import errno
import fcntl
import os
import socket
import struct

import genl
import wire

IOC, CREATE, JOIN = 0xe900, 0x27, 0x61
ENDED = 4
NOBODY = 0xffffffff


def call(file, command, buffer):
    """The error number, or 0."""
    try:
        fcntl.ioctl(file, IOC | command, buffer)
        return 0
    except OSError as error:
        return error.errno


def fail_to_join(number, label=b"", join=True):
    """A group of one rank whose aggregator is where no RDMA device leads; the error."""
    create = bytearray(208)
    struct.pack_into("=I", create, 0, len(create))
    struct.pack_into("=16sQII", create, 24, b"secret of a test", number, 2, 5)
    struct.pack_into("=i", create, 92, -1)
    create[160:160 + len(label)] = label
    control = os.open("/dev/peerlane/control", os.O_RDWR | os.O_CLOEXEC)
    assert call(control, CREATE, create) == 0
    os.close(control)
    group = struct.unpack_from("=i", create, 200)[0]
    address = array.array("B", struct.pack("=HH", socket.AF_INET, socket.htons(18517)) +
                          bytes([127, 0, 0, 1]) + bytes(20))
    args = bytearray(72)
    struct.pack_into("=I", args, 0, len(args))
    struct.pack_into("=QI", args, 24, address.buffer_info()[0], 1)
    error = call(group, JOIN, args) if join else 0
    os.close(group)
    return error


@contextlib.contextmanager
def listened(**options):
    space = wire.Space()
    with space.socket(**options) as sock:
        space.ip("link set lo up")
        sock.subscribe("groups")
        try:
            yield space, sock
        finally:
            space.close()


def test_a_group_that_cannot_be_joined_says_why():
    with listened() as (space, sock):
        with space:
            number = fail_to_join(77, b"layer 3")
        event, = sock.events(10, count=1)
        group = event["group"]
        assert event["kind"] == ENDED and event["sequence"] == 1 and event["time"], event
        assert (group["number"], group["rank"], group["ranks"]) == (77, 2, 5), group
        assert group["label"] == "layer 3" and group["file"], group
        assert number and group["error"] == number, (number, group)
        assert group["cause"] and group["fault-rank"] == NOBODY and group["reason"], group
        assert "at-aggregator" not in group and "flow" not in event, event
        assert sock.do("info-get")["group-event-sequence"] == 1


def test_one_that_was_never_to_be_joined_is_no_event():
    with listened() as (space, sock):
        with space:
            fail_to_join(78, join=False)
        assert sock.events(1) == []
        assert "group-event-sequence" not in sock.do("info-get")


def test_events_of_flows_are_another_group():
    with listened() as (space, sock), space.socket() as other:
        other.subscribe()
        with space:
            fail_to_join(79)
        assert len(sock.events(10, count=1)) == 1
        assert other.events(0.5) == []


def test_each_namespace_hears_of_its_own_groups():
    with listened() as (space, sock), listened() as (other, ear):
        with space:
            fail_to_join(80)
        assert len(sock.events(10, count=1)) == 1
        assert ear.events(0.5) == []
        with other:
            fail_to_join(81)
        event, = ear.events(10, count=1)
        assert event["group"]["number"] == 81 and event["sequence"] == 1, event


def test_a_user_may_not_hear_of_groups():
    with listened() as (space, _):
        def user():
            space.enter()
            wire.become_nobody()
            with genl.Socket() as sock:
                sock.subscribe()
                try:
                    sock.subscribe("groups")
                except OSError as error:
                    assert error.errno == errno.EPERM, error
                else:
                    raise AssertionError("everybody hears of all users' groups")

        wire.in_child(user)


def test_too_many_are_counted_and_not_told():
    count = 700
    with listened(receive=1 << 22) as (space, sock), space.socket() as other:
        with space:
            for number in range(count):
                fail_to_join(1000 + number)
        assert other.do("info-get")["group-event-sequence"] == count
        events = sock.events(1, count=count)
        numbers = [event["sequence"] for event in events]
        assert numbers == sorted(set(numbers)), numbers
        took = (events[-1]["time"] - events[0]["time"]) / 1e9
        # 512 in each five seconds that it took
        assert len(events) <= 512 * (took // 5 + 2), (len(events), took)
        print(f"# {len(events)} of {count} in {took:.1f} s")
        assert len(events) < count or took > 3, (len(events), took)

# SPDX-License-Identifier: GPL-2.0
"""Who may do what: reading is for all, what costs the machine is for its root."""

import os

import genl
import wire
from genl import refused
from test_dump import frames_of

KEY = {"saddr": wire.address(1), "daddr": wire.address(1000), "qpn": 7}
LABEL = {**KEY, "label": "mine"}
LOCAL = {"point": genl.LOCAL_OUT, "enable": 1}


def read_all(sock, flows):
    assert sock.do("info-get").get("flows", 0) == flows
    assert len(sock.dump("flow-get")) == flows
    sock.dump("observe-get")
    if flows:
        sock.do("flow-get", {**KEY, "with-histogram": True})


def may_change_flows(sock):
    assert sock.do("flow-set", LABEL) == {"count": 1}
    assert sock.do("flow-set", {"filter": {}, "label": ""})
    assert sock.dump("flow-reset")


def may_not_change_flows(sock):
    refused("EPERM", sock.do, "flow-set", LABEL)
    refused("EPERM", sock.do, "flow-set", {**KEY, "peer-qpn": 1})
    refused("EPERM", sock.dump, "flow-reset")
    refused("EPERM", sock.do, "flow-set", {})


def may_not_configure(sock, index):
    refused("EPERM", sock.do, "observe-set", LOCAL)
    refused("EPERM", sock.do, "observe-set", {"point": genl.DEVICE, "ifindex": index, "enable": 1})
    refused("EPERM", sock.do, "observe-set", {"point": genl.DEVICE, "ifindex": index, "enable": 0})
    refused("EPERM", sock.do, "limit-set", {"calm-windows": 1})
    refused("EPERM", sock.do, "limit-set", {})


def test_root_may_do_all():
    with wire.wire() as made:
        made.send(frames_of(3))
        made.settled(3)
        read_all(made.genl, 3)
        may_change_flows(made.genl)
        made.genl.do("limit-set", {"calm-windows": 1})
        made.genl.do("observe-set", LOCAL)


def test_user_may_read():
    with wire.wire() as made:
        made.send(frames_of(3))
        made.settled(3)

        def user():
            made.enter()
            wire.become_nobody()
            with genl.Socket() as sock:
                read_all(sock, 3)
                may_not_change_flows(sock)
                may_not_configure(sock, made.rx)

        wire.in_child(user)
        assert "label" not in made.flow(**KEY)
        assert len(made.genl.dump("observe-get")) == 1


def test_user_may_receive_events():
    with wire.wire() as made:
        made.genl.do("limit-set", {"threshold-off": 1, "threshold-on": 1})

        def user():
            made.enter()
            wire.become_nobody()
            with genl.Socket() as sock:
                sock.subscribe()
                made.send([wire.frame(*KEY.values(), ecn=wire.CE)] * 20)
                assert sock.events(5, count=1)

        wire.in_child(user)


def test_socket_of_root_in_the_hands_of_a_user():
    """It is asked who made the socket and who sends: both."""
    with wire.wire() as made:
        made.send(frames_of(3))
        made.settled(3)

        def user():
            wire.become_nobody()
            may_not_change_flows(made.genl)
            may_not_configure(made.genl, made.rx)

        wire.in_child(user)


class Container:
    """A process that is root of a user namespace, and of a network namespace in it."""

    def __init__(self, run):
        self.run = run
        self.ready, self.begin = os.pipe(), os.pipe()
        self.pid = wire.child(self.main)
        os.close(self.ready[1])
        os.close(self.begin[0])
        assert os.read(self.ready[0], 1) == b"r", "no user namespace"
        for name, text in (("setgroups", "deny"), ("uid_map", "0 65534 1"),
                           ("gid_map", "0 65534 1")):
            with open(f"/proc/{self.pid}/{name}", "w", encoding="ascii") as file:
                file.write(text)
        self.file = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY)

    def main(self):
        os.close(self.ready[0])
        os.close(self.begin[1])
        wire.become_nobody()
        wire.check(wire.libc.unshare(wire.CLONE_NEWUSER | wire.CLONE_NEWNET))
        # Its files belong to root until it may be looked at again.
        wire.check(wire.libc.prctl(4, 1, 0, 0, 0))
        os.write(self.ready[1], b"r")
        assert os.read(self.begin[0], 1) == b"b"
        assert os.getuid() == 0
        self.run()

    def finish(self):
        os.write(self.begin[1], b"b")
        os.close(self.begin[1])
        os.close(self.ready[0])
        wire.reap(self.pid)


def test_root_of_a_container():
    def run():
        with genl.Socket() as sock:
            read_all(sock, 3)
            may_change_flows(sock)
            may_not_configure(sock, 2)

    container = Container(run)
    made = wire.Wire(file=container.file)
    made.send(frames_of(3))
    made.settled(3)
    container.finish()
    assert made.flow(**KEY).get("packets") is None
    made.close()


def test_root_of_a_container_with_nothing_observed():
    def run():
        with genl.Socket() as sock:
            read_all(sock, 0)
            refused("ENOENT", sock.do, "flow-set", LABEL)
            assert sock.dump("flow-reset") == []
            may_not_configure(sock, 1)

    container = Container(run)
    os.close(container.file)
    container.finish()


def test_root_of_a_container_is_nobody_elsewhere():
    with wire.wire() as made:
        made.send(frames_of(3))
        made.settled(3)

        def run():
            # A socket that was made in the other namespace, handed in
            may_not_change_flows(made.genl)
            may_not_configure(made.genl, made.rx)
            read_all(made.genl, 3)

        container = Container(run)
        os.close(container.file)
        container.finish()

# SPDX-License-Identifier: GPL-2.0
"""The family by bare sockets: also what no decent client sends.

Numbers are those of the header; names are those of the specification.
"""

import errno
import os
import pathlib
import random
import re
import select
import socket
import struct

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = TREE / "include/uapi/peerlane_netlink.h"

REQUEST, MULTI, ACK, ECHO, DUMP_INTR, ROOT, DUMP = 1, 2, 4, 8, 0x10, 0x100, 0x300
CAPPED, ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
GENL_CTRL, CTRL_GETFAMILY = 0x10, 3
SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK, GET_STRICT = 270, 1, 10, 11, 12
NESTED = 0x8000
SO_RCVBUFFORCE = 33


def enumerators(path=HEADER):
    """{name: number} of all enumerators and plain numbers of the header."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    found = {name: int(value, 0) for name, value in
             re.findall(r"#define\s+(\w+)\s+(0x[0-9a-f]+|\d+)\b", text)}
    for body in re.findall(r"\benum\b[^{;]*\{(.*?)\}", text, flags=re.S):
        number = -1
        for entry in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (part.strip() for part in entry.partition("="))
            words = value.strip("()").split()
            if not words:
                number += 1
            elif words[0].isdigit():
                number = int(words[0])
            else:
                number = found[words[0]] - int(words[2])
            found[name] = number
    return found


NUMBERS = enumerators()


def names_of(prefix):
    """{number: name} of enumerators that begin so."""
    return {number: name[len(prefix):].lower().replace("_", "-")
            for name, number in NUMBERS.items() if name.startswith(prefix)
            if not name.endswith("_MAX") or name == "PEERLANE_COUNTER_RTT_MAX"}


SETS = {name: names_of(f"PEERLANE_A_{name.upper()}_") for name in
        ("info", "reverse", "rtt", "min", "filter", "flow", "observe", "limit", "group", "event")}
COMMANDS = {name: number for number, name in names_of("PEERLANE_CMD_").items()}
COUNTERS = {name: number for number, name in names_of("PEERLANE_COUNTER_").items()}
NESTS = {("flow", "rtt"): "rtt", ("flow", "reverse"): "reverse", ("event", "flow"): "flow",
         ("event", "group"): "group"}
TEXTS = {"label", "reason"}
RAW = {"saddr", "daddr", "address", "histogram"}
DEVICE, LOCAL_OUT, LOCAL_IN = 3, 1, 2


NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}


class Error(Exception):
    """An answer of the kernel: number and name of the error, its text."""

    def __init__(self, number, text):
        super().__init__(f"{NAMES.get(number, number)}: {text}")
        self.number = number
        self.name = NAMES.get(number, str(number))
        self.text = text


# ---- attributes --------------------------------------------------------------

def raw(kind, data=b""):
    """An attribute with any bytes in it."""
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def number_of(group, name):
    return next(number for number, have in SETS[group].items() if have == name)


SIZES = {"enable": 1, "value": 8}


def encode(group, values):
    """Attributes of {name: value}; a list is an attribute that repeats."""
    out = b""
    for name, value in values.items():
        kind = number_of(group, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                out += raw(kind | NESTED, encode(name, one))
            elif one is True:
                out += raw(kind)
            elif isinstance(one, str):
                out += raw(kind, one.encode() + b"\0")
            elif isinstance(one, int):
                out += raw(kind, one.to_bytes(SIZES.get(name, 4), "little"))
            else:
                out += raw(kind, one)
    return out


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        assert length >= 4, data
        yield kind & 0x3fff, data[at + 4:at + length]
        at += length + 3 & ~3


def decode(group, data):
    out = {}
    for kind, value in attributes(data):
        name = SETS[group][kind]
        assert name not in out, f"{name} twice"
        if (group, name) in NESTS:
            out[name] = decode(NESTS[group, name], value)
        elif name in TEXTS:
            assert value.endswith(b"\0")
            out[name] = value[:-1].decode()
        elif name in RAW:
            out[name] = bytes(value)
        else:
            out[name] = int.from_bytes(value, "little") if value else True
    return out


# ---- messages ----------------------------------------------------------------

def disarm(file):
    """Whether a failure has come. These two copy to and from the user, and may fail."""
    try:
        has_failed = int(os.pread(file, 16, 0)) == 0
    except OSError:
        has_failed = False
    try:
        os.pwrite(file, b"0", 0)
    except OSError:
        os.pwrite(file, b"0", 0)
    return has_failed


class Socket:
    """A socket in the namespace that the caller is in."""
    families = {}

    def __init__(self, receive=None):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 16)
        self.sock.bind((0, 0))
        self.sock.settimeout(30)
        self.sock.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        if receive:
            self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, receive)
        self.sequence = 0
        self.held = []
        self.warning = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    # -- out

    # Which allocation of the next request fails, and whether one did
    arm = 0
    has_failed = False

    def send(self, family, command, body, flags, *, reserved=0, version=1, header=True):
        self.sequence += 1
        head = struct.pack("=BBH", command, version, reserved) if header else b""
        data = struct.pack("=IHHII", 16 + len(head) + len(body), family, flags, self.sequence,
                           0) + head + body
        if not self.arm:
            self.sock.send(data)
            return
        with open("/proc/thread-self/fail-nth", "r+b", buffering=0) as nth:
            os.pwrite(nth.fileno(), b"%d" % self.arm, 0)
            try:
                self.sock.send(data)
            finally:
                self.has_failed = disarm(nth.fileno())

    def resolve(self):
        """Number of the family and those of its groups, as the kernel has them now."""
        waits, self.waits_for_ack = self.waits_for_ack, False
        self.send(GENL_CTRL, CTRL_GETFAMILY, raw(2, b"peerlane\0"), REQUEST)
        found = dict(attributes(self.answers()[0][1][4:]))
        self.waits_for_ack = waits
        groups = [dict(attributes(one)) for _, one in attributes(found.get(7, b""))]
        return struct.unpack("=H", found[1])[0], \
            {one[1].rstrip(b"\0").decode(): struct.unpack("=I", one[2])[0] for one in groups}

    def family(self):
        if "peerlane" not in self.families:
            self.families["peerlane"] = self.resolve()
        return self.families["peerlane"][0]

    def subscribe(self, group="events"):
        self.sock.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, self.resolve()[1][group])

    # -- in

    def receive(self, size=1 << 16):
        """Messages of one datagram, as (type, flags, sequence, body)."""
        data = self.sock.recv(size)
        at = 0
        while at + 16 <= len(data):
            length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data, at)
            yield kind, flags, sequence, data[at + 16:at + length]
            at += length + 3 & ~3

    def judge(self, flags, body):
        """Raises the error that an answer tells, and keeps the text of a success."""
        number = -struct.unpack_from("=i", body)[0]
        text = ""
        if flags & ACK_TLVS:
            at = 20
            if number and not flags & CAPPED:
                at = 4 + struct.unpack_from("=I", body, 4)[0]
            for kind, value in attributes(body[at:]):
                if kind == 1:
                    text = value.rstrip(b"\0").decode()
        self.warning = text
        if number:
            raise Error(number, text)

    def answers(self, size=1 << 16):
        """All answers to the last request, as (flags, body)."""
        got = []
        while True:
            for kind, flags, sequence, body in self.receive(size):
                if sequence != self.sequence:
                    continue
                if kind == NLMSG_ERROR:
                    self.judge(flags, body)
                    return got
                if kind == NLMSG_DONE:
                    self.interrupted |= bool(flags & DUMP_INTR)
                    number = -struct.unpack_from("=i", body)[0]
                    if number:
                        at = [v for k, v in attributes(body[4:]) if k == 1]
                        raise Error(number, at[0].rstrip(b"\0").decode() if at else "")
                    return got
                self.interrupted |= bool(flags & DUMP_INTR)
                got.append((flags, body))
                if not flags & MULTI and not self.waits_for_ack:
                    return got

    interrupted = False
    waits_for_ack = False

    # -- calls

    def do(self, name, values=None, *, body=None, command=None, flags=REQUEST | ACK, **header):
        """One request; the reply as a dictionary, or None."""
        group = name.split("-")[0]
        self.waits_for_ack = bool(flags & ACK)
        if body is None:
            body = encode(group, values or {})
        self.send(self.family(), COMMANDS[name] if command is None else command, body, flags,
                  **header)
        got = self.answers()
        return decode(group, got[0][1][4:]) if got else None

    def burst(self, name, requests):
        """Many requests in one datagram; each must succeed and have a reply."""
        data = b""
        for values in requests:
            body = struct.pack("=BBH", COMMANDS[name], 1, 0) + encode(name.split("-")[0], values)
            data += struct.pack("=IHHII", 16 + len(body), self.family(), REQUEST, 0, 0) + body
        self.sock.send(data)
        left = len(requests)
        while left:
            for kind, flags, _, body in self.receive():
                if kind == NLMSG_ERROR:
                    self.judge(flags, body)
                left -= 1

    def start(self, name, values=None, *, body=None):
        """Ask for a dump; its answers wait in the socket."""
        group = name.split("-")[0]
        self.interrupted = False
        self.waits_for_ack = False
        if body is None:
            body = encode(group, values or {})
        self.send(self.family(), COMMANDS[name], body, REQUEST | DUMP)

    def finish(self, name, size=1 << 16):
        group = name.split("-")[0]
        return [decode(group, body[4:]) for _, body in self.answers(size)]

    def dump(self, name, values=None, *, body=None, size=1 << 16):
        self.start(name, values, body=body)
        return self.finish(name, size)

    def events(self, seconds, count=1000):
        """Events until there are so many, or time is over."""
        got = []
        while len(got) < count and select.select([self.sock], [], [], seconds)[0]:
            got += [decode("event", body[4:]) for _, _, _, body in self.receive()]
        return got


def refused(name, call, *arguments, **more):
    """The text of the error; it has to be that one."""
    try:
        call(*arguments, **more)
    except Error as error:
        assert error.name == name, f"{error} in place of {name}"
        return error.text
    raise AssertionError(f"no error in place of {name}")

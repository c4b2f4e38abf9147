# SPDX-License-Identifier: GPL-2.0
"""A namespace with two ends of a wire, and RoCE packets to send through it.

What is sent by "send0" arrives at "recv0", where the module looks at it. No other
node is needed, and each packet is ours.
"""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess
import time

import genl

CLONE_NEWNET, CLONE_NEWUSER = 0x40000000, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)

SEND_ONLY, WRITE_ONLY, ACKNOWLEDGE, UD_SEND, CNP = 0x04, 0x0a, 0x11, 0x64, 0x81
NOT_ECT, ECT0, CE = 0, 2, 3


class Skip(Exception):
    """The test cannot run here; the text says why."""


def check(ret):
    if ret < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


# ---- packets -----------------------------------------------------------------

def address(number):
    """An IPv4 address as 4 bytes."""
    return struct.pack(">I", 0x0a000000 + number)


def address6(number):
    return bytes.fromhex("fd00") + bytes(10) + struct.pack(">I", number)


def frame(saddr, daddr, qpn, *, opcode=SEND_ONLY, psn=0, ecn=NOT_ECT, dscp=0, sport=0xc000,
          ack=False, extra=b"", payload=b"data"):
    """An Ethernet frame; nobody looks at its checksums."""
    message = struct.pack(">BBHII", opcode, 0x40, 0xffff, qpn, ack << 31 | psn & 0xffffff)
    message += extra + payload + b"icrc"
    udp = struct.pack(">HHHH", sport, 4791, 8 + len(message), 0) + message
    tos = dscp << 2 | ecn
    if len(saddr) == 4:
        kind = 0x0800
        head = struct.pack(">BBHHHBBH", 0x45, tos, 20 + len(udp), 1, 0x4000, 64, 17, 0)
    else:
        kind = 0x86dd
        head = struct.pack(">IHBB", 6 << 28 | tos << 20, len(udp), 17, 64)
    return bytes.fromhex("020000000002" "020000000001") + struct.pack(">H", kind) + \
        head + saddr + daddr + udp


def acknowledge(saddr, daddr, qpn, psn, syndrome=0x1f):
    return frame(saddr, daddr, qpn, opcode=ACKNOWLEDGE, psn=psn,
                 extra=struct.pack(">I", syndrome << 24 | 1), payload=b"")


def notification(saddr, daddr, qpn):
    return frame(saddr, daddr, qpn, opcode=CNP, payload=bytes(16))


def bytes_of(data):
    return len(data) - 14


# ---- namespaces --------------------------------------------------------------

class Space:
    """A network namespace, new or one that is open; `with space:` is in it."""

    def __init__(self, file=None):
        self.home = []
        self.file = file
        if file is not None:
            return
        home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        check(libc.unshare(CLONE_NEWNET))
        self.file = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        check(libc.setns(home, CLONE_NEWNET))
        os.close(home)

    def enter(self):
        """For good."""
        check(libc.setns(self.file, CLONE_NEWNET))

    def __enter__(self):
        self.home.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        check(libc.setns(self.file, CLONE_NEWNET))
        return self

    def __exit__(self, *_):
        home = self.home.pop()
        check(libc.setns(home, CLONE_NEWNET))
        os.close(home)

    def ip(self, *lines):
        """Lines of ip-link(8) and the like."""
        with self:
            subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)

    def index(self, device):
        with self:
            return socket.if_nametoindex(device)

    def socket(self, **options):
        with self:
            return genl.Socket(**options)

    def close(self):
        """The namespace goes, if nobody else is in it."""
        if self.file is not None:
            os.close(self.file)
        self.file = None


class Wire(Space):
    """A namespace with the two ends, observed at one."""

    def __init__(self, *, pairs=1, observe=True, file=None):
        super().__init__(file)
        self.ip(*(f"link add name send{k} type veth peer name recv{k}" for k in range(pairs)),
                *(f"link set {end}{k} up" for k in range(pairs) for end in ("send", "recv")))
        self.genl = self.socket()
        self.rx = self.index("recv0")
        self.outs = []
        with self:
            for k in range(pairs):
                out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
                out.bind((f"send{k}", 0))
                self.outs.append(out)
        if observe:
            self.observe()

    def observe(self, enable=1, device="recv0"):
        self.genl.do("observe-set", {"point": genl.DEVICE, "ifindex": self.index(device),
                                     "enable": enable})

    def send(self, frames, end=0):
        out = self.outs[end]
        for data in frames:
            out.send(data)

    def flow(self, saddr, daddr, qpn, **more):
        return self.genl.do("flow-get", {"saddr": saddr, "daddr": daddr, "qpn": qpn, **more})

    def flows(self, select=None, **more):
        """A dump by (saddr, daddr, transport, qpn); none twice."""
        rows = self.genl.dump("flow-get", {"filter": select, **more} if select else more)
        return by_key(rows)

    def info(self):
        return self.genl.do("info-get")

    def settled(self, packets, seconds=20):
        """info-get once so many packets were seen."""
        end = time.monotonic() + seconds
        while True:
            info = self.info()
            seen = sum(info.get(name, 0) for name in
                       ("packets", "missed-full", "missed-memory", "elsewhere"))
            if seen >= packets:
                return info
            assert time.monotonic() < end, f"{seen} of {packets} packets were seen: {info}"
            time.sleep(0.05)

    def close(self):
        for out in self.outs:
            out.close()
        self.genl.close()
        super().close()


def key_of(row):
    return row["saddr"], row["daddr"], row.get("transport", 0), row.get("qpn", 0)


def by_key(rows):
    found = {key_of(row): row for row in rows}
    assert len(found) == len(rows), f"{len(rows) - len(found)} flows are told twice"
    return found


@contextlib.contextmanager
def wire(**options):
    made = Wire(**options)
    try:
        yield made
    finally:
        made.close()


def population(made):
    """Flows of many kinds, none like another; returns how many packets they have."""
    frames = []
    # NAKs: for a PSN, for others, receiver not ready; and the two bits of congestion
    refusals = {6: 0x60, 7: 0x61, 8: 0x62, 9: 0x23}
    bits = {12: 0x80, 13: 0x40}
    for k in range(48):
        v6 = k % 4 == 3
        ends = [(address6 if v6 else address)(number) for number in (1 + k % 5, 101 + k % 3)]
        opcode = UD_SEND if k % 6 == 5 else SEND_ONLY
        for psn in range(k + 1):
            ecn = CE if psn < k // 4 else ECT0 if psn < k // 2 else NOT_ECT
            frames.append(frame(*ends, 0x100 + k, opcode=opcode, psn=psn, ecn=ecn, dscp=k,
                                sport=0xc000 + k, payload=bytes(4 * (k % 7)),
                                extra=bytes(8) if opcode == UD_SEND else b""))
        frames += [notification(*ends, 0x100 + k)] * (k % 3)
        if k in refusals:
            frames += [acknowledge(*ends, 0x100 + k, 0, refusals[k])] * (k - 5)
        if k in bits:
            frames.append(frame(*ends, bits[k] << 24 | 0x100 + k, psn=k + 1))
        # Left out, and sent again
        if opcode == SEND_ONLY and k % 5 == 0:
            frames.append(frame(*ends, 0x100 + k, psn=k + 3))
        if opcode == SEND_ONLY and k % 8 == 0:
            frames.append(frame(*ends, 0x100 + k, psn=0))
    for _ in range(3):
        frames += round_trips(made)
    made.send(frames)
    made.settled(len(frames))
    # What is missing that long is lost.
    time.sleep(0.3)
    return len(frames)


def judged(made):
    """Wait until it is known which flows are congested, and will stay so."""
    made.genl.do("limit-set", {"calm-windows": 255})
    time.sleep(2.5)
    assert made.genl.dump("flow-get", {"filter": {"congested": True}})


def round_trips(made, count=2):
    """Requests and their answers, of pairs that the source port tells."""
    frames = []
    made.psn = getattr(made, "psn", -1) + 1
    for k in range(count):
        one, other = address(201), address(202 + k)
        frames.append(frame(one, other, 0x900 + k, psn=made.psn, ack=True, sport=0xd000 + k))
        frames.append(acknowledge(other, one, 0x980 + k, made.psn).replace(
            struct.pack(">HH", 0xc000, 4791), struct.pack(">HH", 0xd000 + k, 4791)))
    return frames


# ---- processes ---------------------------------------------------------------

def child(run):
    """Number of a process that does it; its failure is told by reap()."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        run()
        status = 0
    except BaseException as error:  # pylint: disable=broad-except
        print(f"# in a child: {error!r}", flush=True)
    finally:
        os._exit(status)
    return 0


def reap(pid, seconds=60, ends_by_itself=True):
    if not ends_by_itself:
        os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0 or not ends_by_itself, f"a child failed: {status:#x}"
            return
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError("a child took too long")
        time.sleep(0.01)


def in_child(run):
    reap(child(run))


def become_nobody():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            return value
        time.sleep(0.05)


def flows_of_all():
    """Records there are in all namespaces, of the module's debugfs file."""
    with open("/sys/kernel/debug/peerlane/counts", encoding="ascii") as file:
        lines = dict(line.split() for line in file)
    return int(lines["flows"])


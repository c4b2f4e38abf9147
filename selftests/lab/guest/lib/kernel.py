# SPDX-License-Identifier: GPL-2.0
"""System calls that Python does not know yet."""

import contextlib
import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
NETNS = "/run/netns"

LIBC = ctypes.CDLL(None, use_errno=True)


def check(status, what):
    if status:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags):
    check(LIBC.unshare(flags), "unshare")


def setns(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        check(LIBC.setns(fd, 0), f"setns {path}")
    finally:
        os.close(fd)


def mount(source, target, kind=None, flags=0, data=None):
    words = [word.encode() if word else None for word in (str(source), str(target), kind)]
    check(LIBC.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None),
          f"mount {target}")


def unmount(target):
    check(LIBC.umount2(str(target).encode(), MNT_DETACH), f"umount {target}")


def add_namespace(name):
    """As `ip netns add`, of which each is a process."""
    path = f"{NETNS}/{name}"
    with open(path, "x", encoding="ascii"):
        pass
    unshare(CLONE_NEWNET)
    mount("/proc/thread-self/ns/net", path, flags=MS_BIND)


def drop_namespace(name):
    unmount(f"{NETNS}/{name}")
    os.unlink(f"{NETNS}/{name}")


@contextlib.contextmanager
def home():
    """Back to today's network namespace at the end."""
    fd = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        yield
    finally:
        check(LIBC.setns(fd, CLONE_NEWNET), "setns")
        os.close(fd)

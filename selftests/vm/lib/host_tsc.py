# SPDX-License-Identifier: GPL-2.0
"""How fast this machine's time stamp counter runs, which emulated guests see as it is.

A guest would measure it against timers that are late on a busy machine; one that
took it for ten times slower has waits that are ten times shorter (seen: 214 MHz
by the PIT, 2445 MHz in truth).
"""

import ctypes
import mmap
import platform
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
READ = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"
SECONDS = 0.1
TRIES = 20


def reader():
    """A function that returns the counter, and the page that holds it."""
    page = mmap.mmap(-1, mmap.PAGESIZE,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(READ)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_uint64)(place), page


def take(read):
    """Nanoseconds and ticks of one moment: of several tries, the least disturbed."""
    best = None
    for _ in range(TRIES):
        before = time.monotonic_ns()
        ticks = read()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, ticks)
    return best[1:]


def khz():
    """Of an x86 machine, to some ten parts in a million; else None."""
    if platform.machine() != "x86_64":
        return None
    read, _page = reader()
    begin, first = take(read)
    time.sleep(SECONDS)
    end, last = take(read)
    return round((last - first) * 1_000_000 / (end - begin))

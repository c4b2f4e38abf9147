# SPDX-License-Identifier: GPL-2.0
"""Run the functions test_* of modules, with TAP on standard output.

A test is announced to the kernel's log, so that a splat is pinned to it, and has
failed if it leaves files open. Namespaces go in their own time, so that no flow is
left is asked once, at the end.
"""

import gc
import importlib
import os
import signal
import sys
import time
import traceback

import wire

BOUND = 200     # seconds for one test


def announce(name):
    with open("/dev/kmsg", "w", encoding="utf-8") as log:
        log.write(f"peerlane-test: netlink.{name}\n")


def open_files():
    return len(os.listdir("/proc/self/fd"))


def late(_number, _frame):
    raise TimeoutError(f"more than {BOUND} s")


def run_one(test):
    files = open_files()
    signal.alarm(BOUND)
    try:
        test()
        gc.collect()
        assert open_files() == files, f"{open_files() - files} files are left open"
    finally:
        signal.alarm(0)


def run(tests):
    good = True
    print(f"TAP version 14\n1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        name = test.__name__.removeprefix("test_")
        announce(name)
        begin = time.monotonic()
        try:
            run_one(test)
            line = f"ok {number} - {name}"
        except wire.Skip as why:
            line = f"ok {number} - {name} # SKIP {why}"
        except Exception:  # pylint: disable=broad-except
            for text in traceback.format_exc().splitlines():
                print(f"# {text}"[:1000])
            line = f"not ok {number} - {name}"
            good = False
        took = time.monotonic() - begin
        print(f"# {name}: {took:.1f} s\n{line}" if took > 5 else line, flush=True)
    return good


def test_no_flow_is_left_behind():
    assert wire.wait_until(lambda: not wire.flows_of_all()), wire.flows_of_all()


def main(names):
    signal.signal(signal.SIGALRM, late)
    tests = []
    for name in names:
        module, _, one = name.partition(".")
        found = vars(importlib.import_module(f"test_{module}"))
        tests += [value for key, value in found.items()
                  if key.startswith("test_") and callable(value) and one in key]
    return 0 if run([*tests, test_no_flow_is_left_behind]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

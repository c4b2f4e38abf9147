# SPDX-License-Identifier: GPL-2.0
"""Run test functions and print TAP."""

import traceback


class Skip(Exception):
    """The test cannot run here; the text says why."""


def tests_of(modules):
    """Functions named test_*, in the order in which they are written."""
    found = []
    for module in modules:
        for name, value in vars(module).items():
            if name.startswith("test_") and callable(value):
                found.append(value)
    return found


def run(tests):
    """Returns whether all passed."""
    good = True
    print("TAP version 13")
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        name = test.__doc__ or test.__name__
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except Exception:
            good = False
            print(f"not ok {number} - {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line!r}"[:2000], flush=True)
    return good

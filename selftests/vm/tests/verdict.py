#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The verdict alone, on logs made up for it: what each fault comes to when
nothing else is wrong."""

import pathlib
import sys
import unittest

RIG = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(RIG / "lib"))

import verdict  # noqa: E402 pylint: disable=wrong-import-position

GOOD_CONTROL = ["n hello", "n start", "n exit 0", "n taint 0 12288", "n passed"]
GOOD_CONSOLE = """\
[    0.000000] Linux version 6.1.0
[    1.000000] peerlane-rig: start n
[    2.000000] loading out-of-tree module taints kernel
{}[    9.000000] peerlane-rig: end n
"""


def control(lines, allowed_taint=()):
    said = verdict.Control("n")
    for line in lines:
        said.line(line)
    return verdict.judge_control(said, allowed_taint)


def console(middle="", text=GOOD_CONSOLE):
    patterns = verdict.read_patterns((RIG / "splat.patterns").read_text())
    allow = verdict.read_patterns((RIG / "splat.allow").read_text())
    return verdict.judge_console(text.format(middle), "n", True, patterns, allow)


def ktap(text):
    return verdict.read_ktap(text)


class ControlTest(unittest.TestCase):
    def test_good(self):
        self.assertEqual(control(GOOD_CONTROL), [])

    def test_each_step_is_needed(self):
        for missing in range(len(GOOD_CONTROL)):
            if missing not in (0, 1):  # implied by the later ones
                lines = GOOD_CONTROL[:missing] + GOOD_CONTROL[missing + 1:]
                self.assertTrue(control(lines), lines)

    def test_nothing(self):
        self.assertIn("infrastructure", control([])[0])

    def test_wrong_nonce(self):
        found = control(GOOD_CONTROL[:-1] + ["m passed"])
        self.assertIn("not this run's", found[0])
        self.assertTrue(control(GOOD_CONTROL + ["m passed"]))

    def test_taint(self):
        lines = [line.replace("12288", "12800") for line in GOOD_CONTROL]
        self.assertIn("bits 9", control(lines)[0])

    def test_taint_allowed(self):
        def found(after, allowed):
            lines = [line.replace("12288", str(after)) for line in GOOD_CONTROL]
            return control(lines, allowed)
        test, warned = 12288 | 1 << 18, 12288 | 1 << 18 | 1 << 9
        self.assertIn("bits 18", found(test, [])[0])
        self.assertIn("bits 18", found(test, [17, 19])[0])
        self.assertEqual(found(test, [18]), [])
        self.assertEqual(found(test, [18, 18]), [])
        # Not a bit more than was asked for
        self.assertIn("bits 9)", found(warned, [18])[0])

    def test_exit(self):
        self.assertEqual(control([line.replace("exit 0", "exit 7") for line in GOOD_CONTROL]),
                         ["the script exited 7"])


class ConsoleTest(unittest.TestCase):
    def test_good(self):
        self.assertEqual(console(), [])

    def test_splat_is_pinned(self):
        found = console("[ 3.0] peerlane-test: one\n[ 4.0] peerlane-test: two\n"
                        "[ 4.1] WARNING: CPU: 0 PID: 1 at x.c:1\n[ 4.2] Call Trace:\n")
        self.assertEqual(found, ["splat during test two: [ 4.1] WARNING: CPU: 0 PID: 1 at x.c:1"])

    def test_expected_splat(self):
        text = ("[ 3.0] peerlane-test: one\n[ 3.0] peerlane-expect: DMAR: \\[DMA Write\n"
                "[ 3.1] DMAR: [DMA Write NO_PASID] fault addr 0x1000\n")
        self.assertEqual(console(text), [])
        # Only that one, only in that test, and it must come.
        self.assertEqual(len(console(text + "[ 3.2] BUG: x\n")), 1)
        self.assertEqual(len(console(text.replace("DMA Write NO", "DMA Read NO"))), 2)
        self.assertIn("splat during test two", console(
            text + "[ 4.0] peerlane-test: two\n[ 4.1] DMAR: [DMA Write] fault\n")[0])
        self.assertIn("test one: expected, but did not come", console(
            "[ 3.0] peerlane-test: one\n[ 3.0] peerlane-expect: Oops\n"
            "[ 4.0] peerlane-test: two\n")[0])

    def test_allowed_splat(self):
        text = "[ 3.0] peerlane-test: one\n[ 3.0] peerlane-allow: Call Trace:\n"
        self.assertEqual(console(text), [])
        self.assertEqual(console(text + "[ 3.1] Call Trace:\n"), [])
        self.assertEqual(len(console(text + "[ 3.1] WARNING: x\n[ 3.2] Call Trace:\n")), 1)
        self.assertEqual(len(console(
            text + "[ 4.0] peerlane-test: two\n[ 4.1] Call Trace:\n")), 1)

    def test_expected_everything(self):
        for pattern in (".*", "x*", "["):
            found = console(f"[ 3.0] peerlane-test: one\n[ 3.0] peerlane-expect: {pattern}\n"
                            "[ 3.1] WARNING: x\n")
            self.assertEqual(len(found), 2, pattern)

    def test_known_splats(self):
        for line in ("BUG: KASAN: use-after-free in f", "general protection fault, probably for",
                     "UBSAN: array-index-out-of-bounds", "INFO: possible recursive locking detected",
                     "WARNING: possible circular locking dependency detected",
                     "WARNING: suspicious RCU usage", "Oops: 0000 [#1]",
                     "BUG: sleeping function called from invalid context",
                     "refcount_t: underflow; use-after-free.", "kmemleak: 3 new suspected memory leaks",
                     "INFO: task x:1 blocked for more than 120 seconds.",
                     "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
                     "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
                     "rcu: INFO: rcu_preempt self-detected stall on CPU", "Call Trace:",
                     "list_del corruption. prev->next should be",
                     "Kernel panic - not syncing: x", "BUG: unable to handle page fault for address"):
            self.assertEqual(len(console(f"[ 3.0] {line}\n")), 1, line)

    def test_missing(self):
        self.assertTrue(verdict.judge_console(None, "n", True, None, None))
        self.assertTrue(console(text="{}"))
        self.assertTrue(console(text=GOOD_CONSOLE.replace("end n", "end m")))

    def test_empty_pattern_file(self):
        with self.assertRaises(ValueError):
            verdict.read_patterns("# nothing\n")


class KtapTest(unittest.TestCase):
    def test_good(self):
        read = ktap("KTAP version 1\n1..3\nok 1 a\nok 2 b # SKIP no card\nnot ok 3 c # TODO later\n")
        self.assertEqual((read.findings, read.passed, read.skipped), ([], 1, 1))

    def test_missing_result(self):
        self.assertIn("1 of 3 planned tests did not report: 2",
                      ktap("1..3\nok 1 a\nok 3 c\n").findings[0])

    def test_not_ok(self):
        self.assertEqual(ktap("1..1\nnot ok 1 a\n").findings, ["script: not ok: a"])

    def test_no_plan(self):
        self.assertIn("without a plan", ktap("KTAP version 1\nok 1 a\n").findings[0])
        self.assertIn("without a plan", ktap("ok 1 a\n").findings[0])

    def test_repeated(self):
        self.assertTrue(ktap("1..2\nok 1 a\nok 1 a\nok 2 b\n").findings)

    def test_two_documents(self):
        read = ktap("TAP version 13\n1..1\nok 1 a\nTAP version 13\n1..2\nok 1 a\nok 2 b\n")
        self.assertEqual((read.findings, read.passed), ([], 3))

    def test_nested(self):
        good = "1..1\n  1..2\n  ok 1 x\n  ok 2 y\nok 1 all\n"
        self.assertEqual((ktap(good).findings, ktap(good).passed), ([], 2))
        self.assertTrue(ktap(good.replace("  ok 2 y\n", "")).findings)
        self.assertTrue(ktap(good.replace("  ok 2 y", "  not ok 2 y")).findings)

    def test_trailing_plan(self):
        self.assertEqual(ktap("ok 1 a\nok 2 b\n1..2\n").findings, [])

    def test_bail_out(self):
        self.assertTrue(ktap("1..1\nok 1 a\nBail out! no memory\n").findings)

    def test_prose(self):
        self.assertEqual(ktap("ok then\nnothing here\n").findings, [])


if __name__ == "__main__":
    unittest.main()

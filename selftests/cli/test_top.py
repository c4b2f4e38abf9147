# SPDX-License-Identifier: GPL-2.0
"""flow top and group top: on a terminal, by their keys."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from command import binary, environment, peerlane

# Sequences of xterm; what is left is text, though not where it stands.
SEQUENCE = re.compile(rb"\033(\[[0-9;?]*[a-zA-Z]|\([B0]|[=>78])")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *args, of="flow", fake=None, size=(24, 250), **env):
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.got = b""
        self.child = subprocess.Popen(
            [binary(), of, "top", *args], env=environment(fake, **env), stdin=self.slave,
            stdout=self.slave, stderr=subprocess.PIPE, start_new_session=True)

    def resize(self, rows, columns):
        """As a window does; the child is told by signal()."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """What comes within that time, or nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            block = os.read(self.master, 65536)
        except OSError:
            return False
        self.got += block
        return bool(block)

    def expect(self, pattern, seconds=20):
        """Wait until @pattern is on the screen; what came before is forgotten."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = SEQUENCE.sub(b"", self.got)
            if re.search(pattern, text):
                self.got = b""
                return text
            self.read(0.2)
        raise AssertionError((pattern, SEQUENCE.sub(b"", self.got)))

    def press(self, keys):
        """Type."""
        os.write(self.master, keys)

    def end(self):
        """Exit status and standard error; everything that was written stays in got."""
        end = time.monotonic() + 30
        while self.child.poll() is None and time.monotonic() < end:
            self.read(0.1)
        while self.read(0.1):
            pass
        err = self.child.stderr.read()
        self.child.wait(timeout=10)
        return self.child.returncode, err

    def close(self):
        """Whatever happened."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        self.child.stderr.close()
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def top(*args, **more):
    """flow top, until the block ends."""
    terminal = Terminal(*args, **more)
    try:
        yield terminal
    finally:
        terminal.close()


def test_screen():
    """top: totals, titles, flows, keys; q gives the terminal back as it was"""
    with top() as screen:
        text = screen.expect(rb"q quit")
        assert b"flows 4  congested 1" in text and b"missed packets 0" in text, text
        assert b"SOURCE" in text and b"PACKETS/S" in text and b"LABEL" in text
        assert b"10.0.0.1#17" in text and b"ib_write_bw(4242)" in text and b"rank 3" in text
        assert termios.tcgetattr(screen.slave) != screen.before
        screen.press(b"q")
        status, err = screen.end()
        assert (status, err) == (0, b""), (status, err)
        assert termios.tcgetattr(screen.slave) == screen.before
        assert b"\033[?1049l" in screen.got


def test_rates():
    """top: rates from the second reading on"""
    with top("-i", "0.3", "src", "10.0.0.1") as screen:
        screen.expect(rb"10\.0\.0\.1#17.*  -  .*q quit")
        screen.expect(rb"[0-9.]+Mb/s")


def test_sort():
    """top: s and S go through the orders, r turns them round"""
    with top("-i", "60") as screen:
        screen.expect(rb"by rate .*q quit")
        screen.press(b"s")
        screen.expect(rb"packets")
        screen.press(b"S")
        screen.expect(rb"rate")
        screen.press(b"r")
        screen.expect(rb"smallest first")
        screen.press(b"q")
        assert screen.end()[0] == 0


def test_sort_argument():
    """top: it begins with the order that was asked for"""
    with top("sort", "by", "ce") as screen:
        screen.expect(rb"by ce .*q quit")


def test_pause():
    """top: p holds the screen, p again goes on"""
    with top("-i", "0.1", "src", "10.0.0.1") as screen:
        screen.expect(rb"q quit")
        screen.press(b"p")
        screen.expect(rb"PAUSED")
        time.sleep(0.5)
        while screen.read(0.1):
            pass
        screen.got = b""
        assert not screen.read(0.6), screen.got
        screen.press(b"p")
        assert screen.read(5)


def test_find():
    """top: f finds by text, Escape ends that; letters are no keys meanwhile"""
    with top("-i", "60") as screen:
        screen.expect(rb"q quit")
        screen.press(b"f")
        screen.expect(rb"find: _")
        screen.press(b"2001:q\x7f\r")
        screen.expect(rb"\(2001:\)")
        screen.press(b"\x0c")
        screen.press(b"\033")
        screen.expect(rb"10\.0\.0\.1#17")
        screen.press(b"c")
        screen.expect(rb"\(only\)")
        screen.press(b"?")
        screen.expect(rb"arrows")
        screen.press(b"q")
        assert screen.end()[0] == 0


def test_resize():
    """top: any size, also while it runs"""
    with top("-i", "60", fake="many", size=(10, 80)) as screen:
        screen.expect(rb"q quit")
        for rows, columns in ((40, 200), (3, 20), (1, 1), (2, 500), (24, 80)):
            screen.resize(rows, columns)
            screen.child.send_signal(signal.SIGWINCH)
            time.sleep(0.3)
            screen.press(b"\033[B\033[6~\033[5~\033[H")
            while screen.read(0.2):
                pass
            assert screen.child.poll() is None, (rows, columns)
        screen.got = b""
        screen.press(b"h")
        screen.expect(rb"next/last")
        screen.press(b"q")
        assert screen.end()[0] == 0


def test_scroll():
    """top: rows below the screen can be reached"""
    with top("-i", "60", fake="many", size=(10, 160)) as screen:
        screen.expect(rb"10\.9\.0\.0 ")
        screen.press(b"\033[6~\x0c")
        screen.expect(rb"10\.9\.0\.7")
        screen.press(b"\033OH\x0c")
        screen.expect(rb"10\.9\.0\.0")


def test_missed():
    """top: what is in no flow is on the screen"""
    with top(fake="missed") as screen:
        screen.expect(rb"missed packets 1[5-9].*q quit")
    with top("top", "2", fake="many") as screen:
        screen.expect(rb"FIRST ROWS ONLY")
    with top(fake="incomplete") as screen:
        screen.expect(rb"INCOMPLETE")
    with top(fake="unobserved") as screen:
        screen.expect(rb"no packets are observed")


def test_hostile():
    """top: no control character of a label or a command gets through"""
    with top(fake="hostile") as screen:
        text = screen.expect(rb"q quit")
        assert b"\\x1b[2J" in text, text
        screen.press(b"q")
        screen.end()
        assert b"\033[2J\033]0" not in screen.got and b"\033]0;x" not in screen.got


def test_color():
    """top: colours, and none with NO_COLOR"""
    with top() as screen:
        screen.expect(rb"")
        time.sleep(0.5)
        while screen.read(0.2):
            pass
        assert b"\033[31m" in screen.got or b"\033[91m" in screen.got, screen.got
    with top(NO_COLOR="1") as screen:
        time.sleep(0.5)
        while screen.read(0.2):
            pass
        assert b"q quit" in screen.got
        assert not re.search(rb"\033\[(?:\d+;)*3[1-7]m", screen.got), screen.got


def test_signals():
    """top: SIGTERM and SIGINT end it, and the terminal is as it was"""
    for number in (signal.SIGTERM, signal.SIGINT):
        with top() as screen:
            screen.expect(rb"q quit")
            screen.child.send_signal(number)
            status, _ = screen.end()
            assert status == 0, (number, status)
            assert termios.tcgetattr(screen.slave) == screen.before


def test_hangup():
    """top: it ends when its terminal goes"""
    screen = Terminal("-i", "0.2")
    try:
        screen.expect(rb"q quit")
        os.close(screen.master)
        os.close(screen.slave)
        screen.child.send_signal(signal.SIGHUP)
        screen.child.wait(timeout=20)
    finally:
        screen.master, screen.slave = pty.openpty()
        screen.close()


def test_no_screen():
    """top: where there is no full screen it says so and goes line by line"""
    for term, reason in (("dumb", b"cannot place text"), ("no-such-terminal", b"not known here"),
                         ("", b"TERM is not set")):
        with top("count", "1", TERM=term) as screen:
            status, err = screen.end()
            assert status == 0 and reason in err and b'as "flow watch"' in err, (term, err)
            assert b"interval -" in screen.got and b"\033[?1049h" not in screen.got
    done = peerlane("flow", "top", "count", "1")
    assert done.status == 0 and b"no terminal" in done.err and b"interval -" in done.out
    done = peerlane("-j", "flow", "top", "count", "1")
    assert done.status == 0 and len(done.json()) == 4


def test_absent():
    """top: without the module no screen is begun"""
    with top(fake="absent") as screen:
        status, err = screen.end()
        assert status == 4 and b"not loaded" in err and not screen.got


def test_group_screen():
    """group top: ranks with their rates and lateness; s, r, p and f work, q ends it"""
    with top("77", "-i", "0.3", of="group", fake="growing") as screen:
        text = screen.expect(rb"q quit")
        assert b"by WAIT" in text and b"ranks 3" in text and b"WAIT*" in text, text
        assert b"train(4242)" in text and b"10.0.0.4:40001" in text and b"joined" in text, text
        screen.expect(rb"[0-9.]+[kM]?B/s")
        screen.press(b"p")
        screen.expect(rb"PAUSED")
        screen.press(b"s\x0c")
        screen.expect(rb"by P99")
        screen.press(b"r\x0c")
        screen.expect(rb"smallest first")
        screen.press(b"f40001\r\x0c")
        screen.expect(rb"\(40001\)")
        screen.press(b"q")
        status, err = screen.end()
        assert (status, err) == (0, b""), (status, err)
        assert termios.tcgetattr(screen.slave) == screen.before


def test_group_hostile():
    """group top: no control character of a peer or a command gets through"""
    with top("18446744073709551615", of="group", fake="hostile") as screen:
        text = screen.expect(rb"q quit")
        assert b"\\x1b[2J" in text and b"\\x1b]0;x" in text, text
        screen.press(b"q")
        screen.end()
        assert b"\033[2J\033]0" not in screen.got and b"\033]0;x" not in screen.got


def test_group_lines():
    """group top: without a terminal tables, or JSON, one reading after another"""
    done = peerlane("group", "top", "77", "interval", "0.1", "count", "2", fake="growing")
    assert done.status == 0 and done.out.count(b"GROUP") == 2 and b"no terminal" in done.err, done.err
    done = peerlane("-j", "group", "top", "interval", "0.1", "count", "2", fake="growing")
    first, second = [json.loads(line) for line in done.out.splitlines()]
    assert [rank["rank"] for rank in first] == [0, 1, 3] == [rank["rank"] for rank in second]
    for rank in first + second:
        assert list(rank) == ["group", "rank", "state", "where", "ops_per_s", "sent_per_s",
                              "received_per_s", "wait_ns", "late_p99_ns"], rank
    assert first[0]["ops_per_s"] is None and second[0]["ops_per_s"] == 0, second[0]
    assert second[2]["wait_ns"] == 6000000 and second[1]["wait_ns"] == 20000, second
    assert peerlane("group", "top", "77", fake="absent").status == 4

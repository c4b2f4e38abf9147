# SPDX-License-Identifier: GPL-2.0
"""Run the command under test."""

import json
import os
import pty
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
OUT = Path()


class Result:
    """What one call of the command did."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def json(self):
        """Standard output; U+FFFD or invalid bytes would not pass ascii."""
        return json.loads(self.out.decode("ascii"))

    def errors(self):
        """Objects on standard error, one a line."""
        return [json.loads(line) for line in self.err.decode("ascii").splitlines()]


def headers():
    """What the library declares: peerlane.h and the files that it brings."""
    include = TOP / "include"
    return "".join(path.read_text(encoding="utf-8")
                   for path in [include / "peerlane.h", *include.glob("peerlane/*.h")])


def environment(fake=None, **more):
    """The library with canned answers, and nothing of the caller's taste."""
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LD_LIBRARY_PATH": str(OUT / "asan/lib"),
        "ASAN_OPTIONS": "detect_leaks=1:exitcode=99",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TERM": "xterm",
    }
    if fake:
        env["FAKE"] = fake
    env.update(more)
    return env


def binary():
    """The command with sanitizers."""
    return str(OUT / "asan/bin/peerlane")


def peerlane(*args, fake=None, stdout=subprocess.PIPE, **env):
    """Run it with @args."""
    done = subprocess.run([binary(), *args], env=environment(fake, **env), stdout=stdout,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert done.returncode != 99, done.stderr.decode(errors="replace")
    assert b"runtime error" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout or b"", done.stderr)


def on_terminal(*args, fake=None, **env):
    """Run it with a terminal as standard output; what the terminal got."""
    master, slave = pty.openpty()
    try:
        peerlane(*args, fake=fake, stdout=slave, **env)
        os.close(slave)
        slave = None
        got = b""
        while True:
            try:
                block = os.read(master, 65536)
            except OSError:     # EIO: no writer is left
                return got
            if not block:
                return got
            got += block
    finally:
        os.close(master)
        if slave is not None:
            os.close(slave)

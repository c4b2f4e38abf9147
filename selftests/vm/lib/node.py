# SPDX-License-Identifier: GPL-2.0
"""One virtual machine: its process, its folder, what it has said so far."""

import ctypes
import os
import shlex
import signal
import subprocess

import machine
import verdict

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    """Even a runner that is killed outright leaves no machine behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def spawn(command, log):
    with open(log, "ab") as err:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                preexec_fn=die_with_parent, start_new_session=True)


def end_process(process):
    if process and process.poll() is None:
        process.kill()
    if process:
        process.wait(timeout=20)


class Tail:
    """Whole lines of a file that grows."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.rest = b""

    def lines(self, final=False):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            data = b""
        self.offset += len(data)
        *whole, self.rest = (self.rest + data).split(b"\n")
        if final and self.rest:
            whole, self.rest = [*whole, self.rest], b""
        return [line.decode(errors="replace").rstrip("\r") for line in whole]


class Node:
    def __init__(self, options, number, folder, nonce):
        self.options = options
        self.number = number
        self.folder = folder
        self.nonce = nonce
        self.process = None
        self.is_cut = False
        self.restarts = 0
        self.reset()

    def reset(self):
        self.control = verdict.Control(self.nonce)
        self.output_tail = Tail(self.folder / "output")
        self.control_tail = Tail(self.folder / "control")
        self.output = []
        self.started = None
        for name in ("console", "output", "control"):
            (self.folder / name).unlink(missing_ok=True)

    def prepare(self, files):
        """files: the text of each file that the node's init reads."""
        (self.folder / "in/reply").mkdir(parents=True)
        (self.folder / "out").mkdir()
        for name, text in files.items():
            (self.folder / "in" / name).write_text(text)
        if self.options.nvme:
            with open(self.folder / "nvme0", "wb") as file:
                file.truncate(256 << 20)

    def start(self, kernel, initrd, hub, now):
        command = machine.command(self.options, self.number, self.folder, kernel, initrd, hub)
        (self.folder / "qemu.command").write_text(shlex.join(command) + "\n")
        self.reset()
        self.started = now
        self.process = spawn(command, self.folder / "qemu.log")

    def stop(self):
        end_process(self.process)

    def cut_power(self):
        self.is_cut = True
        self.stop()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def has_spoken(self):
        return self.control.has("hello")

    @property
    def can_arrive(self):
        """Whether its script may still come to a barrier."""
        return self.is_running and not self.control.has("exit")

    def read_control(self):
        """New genuine (verb, rest) pairs."""
        said = map(self.control.line, self.control_tail.lines())
        return [pair for pair in said if pair]

    def read_output(self, final=False):
        lines = self.output_tail.lines(final)
        self.output += lines
        return lines

    def reply(self, request, status, out, err):
        """The status file comes last and by rename: it says the rest is there."""
        folder = self.folder / "in/reply"
        (folder / f"{request}.out").write_bytes(out)
        (folder / f"{request}.err").write_bytes(err)
        (folder / f"{request}.tmp").write_text(f"{status}\n")
        os.rename(folder / f"{request}.tmp", folder / f"{request}.rc")

    def console(self):
        try:
            return (self.folder / "console").read_text(errors="replace")
        except FileNotFoundError:
            return None

    def state(self):
        if not self.has_spoken:
            return "was booting"
        if not self.control.has("start"):
            return "was getting ready"
        if not self.control.has("exit"):
            return "was running the script"
        return "was unloading the module"

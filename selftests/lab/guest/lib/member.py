# SPDX-License-Identifier: GPL-2.0
"""One node of the lab: its namespaces, its script, what it has said."""

import os
import pathlib
import shlex
import signal
import time

import builder
import kernel
import verdict

CGROUP = pathlib.Path("/sys/fs/cgroup")
# What belongs to the machine and a new /sys would hide.
SYS_MOUNTS = (("debugfs", "/sys/kernel/debug", "debugfs"),
              ("tracefs", "/sys/kernel/tracing", "tracefs"),
              ("cgroup2", "/sys/fs/cgroup", "cgroup2"))
GID_PATIENCE = 10


def gid_index(device):
    """Of the RoCE v2 address made from IPv4; the kernel adds it in its own time."""
    port = pathlib.Path(f"/sys/class/infiniband/{device}/ports/1")
    end = time.monotonic() + GID_PATIENCE
    while time.monotonic() < end:
        for index in range(16):
            try:
                gid = (port / f"gids/{index}").read_text()
                kind = (port / f"gid_attrs/types/{index}").read_text()
            except OSError:
                continue
            if gid.startswith("0000:0000:0000:0000:0000:ffff:") and "v2" in kind:
                return str(index)
        time.sleep(0.05)
    return ""


class Member:
    def __init__(self, node, environment, command):
        self.number = node.number
        self.name = node.name
        self.environment = environment
        self.command = command
        self.process = None
        self.rest = b""
        self.lines = []         # of TAP
        self.last = ""          # of any kind
        self.status = None
        self.cgroup = CGROUP / "lab" / node.name
        self.folder = builder.FOLDER / node.name

    # -- in the child, before the script -----------------------------------

    def enter(self):
        kernel.setns(f"{kernel.NETNS}/{self.name}")
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS)
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.check(kernel.LIBC.sethostname(self.name.encode(), len(self.name)), "sethostname")
        kernel.mount("sysfs", "/sys", "sysfs")
        for source, target, kind in SYS_MOUNTS:
            if os.path.isdir(target):
                try:
                    kernel.mount(source, target, kind)
                except OSError:
                    pass  # the kernel has none
        kernel.mount("shm", "/dev/shm", "tmpfs")
        kernel.mount(builder.FOLDER / "hosts", "/etc/hosts", flags=kernel.MS_BIND)
        builder.write(self.cgroup / "cgroup.procs", os.getpid())

    def become(self):
        """Never returns."""
        os.setsid()
        self.enter()
        devices = self.environment["RDMA_DEVS"].split()
        gids = [gid_index(device) for device in devices]
        self.environment.update(RDMA_GID=gids[0], RDMA_GIDS=" ".join(gids))
        lines = [f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()
                 if value != os.environ.get(name)]
        builder.write(self.folder / "env", "\n".join(lines) + "\n")
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(self.command[0], self.command, self.environment)

    # -- in the parent ---------------------------------------------------------

    def start(self):
        """A fork of this process: a new Python takes longer than all of this."""
        self.cgroup.mkdir(parents=True)
        self.output, write_end = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.dup2(write_end, 1)
                os.dup2(write_end, 2)
                null = os.open("/dev/null", os.O_RDONLY)
                os.dup2(null, 0)
                self.become()
            except BaseException as error:  # pylint: disable=broad-except
                os.write(2, f"lab: {self.name}: {error}\n".encode())
            os._exit(126)
        os.close(write_end)
        os.set_blocking(self.output, False)
        builder.write(self.folder / "pid", self.pid)

    @property
    def is_running(self):
        return self.status is None

    def read(self):
        """Show what it has said since."""
        while True:
            try:
                data = os.read(self.output, 65536)
            except BlockingIOError:
                return
            if not data:
                return
            *whole, self.rest = (self.rest + data).split(b"\n")
            for line in whole:
                self.show(line)

    def show(self, data):
        line = data.decode(errors="replace").rstrip("\r")
        self.last = line
        print(f"{self.name}| {line}")
        if verdict.PLAN.match(line) or verdict.VERSION.match(line) or verdict.RESULT.match(line) \
                or line.startswith("Bail out!"):
            self.lines.append(line)

    def has_ended(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(pid)

    def end(self):
        """What it left behind goes, too; then nobody can say any more."""
        builder.write(self.cgroup / "cgroup.kill", 1)
        if self.status is None:
            _, status = os.waitpid(self.pid, 0)
            self.status = os.waitstatus_to_exitcode(status)
        self.read()
        if self.rest:
            self.show(self.rest)
            self.rest = b""
        os.close(self.output)

# SPDX-License-Identifier: GPL-2.0
"""Makes a cluster of namespaces in this machine, and takes it away."""

import os
import pathlib
import subprocess

import kernel
import plan

FOLDER = pathlib.Path("/run/lab")
# In a namespace, in one shell: a batch of each program that has something to do.
APPLY = 'for p in ip tc rdma; do [ ! -s "$1/$p" ] || $p -b "$1/$p" || exit; done'
PARALLEL = os.cpu_count() or 1
MODULES = {"rxe": ("crc32_generic", "rdma_rxe"), "siw": ("siw",)}


class BuildError(Exception):
    pass


def run(command, **options):
    answer = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if answer.returncode:
        raise BuildError(f"{command[0]}: {(answer.stderr + answer.stdout).strip()[-2000:]}")
    return answer.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(text))


class Builder:
    def __init__(self, topology, wire, transport):
        self.topology = topology
        self.wire = wire
        self.transport = transport
        self.names = []

    def build(self):
        FOLDER.mkdir()
        kernel.mount("lab", FOLDER, "tmpfs")
        os.makedirs(kernel.NETNS, exist_ok=True)
        write("/proc/sys/net/core/netdev_max_backlog", 100000)
        self.load_modules()
        batches = plan.namespaces(self.topology, self.wire, self.transport)
        with kernel.home():
            for name, batch in batches.items():
                self.add(name, batch)
        write(FOLDER / "links", "\n".join(plan.links(self.topology, self.wire)) + "\n")
        # From an empty namespace, for a name that exists where ip runs is refused.
        run(["ip", "-batch", FOLDER / "links"],
            preexec_fn=lambda: kernel.unshare(kernel.CLONE_NEWNET))
        self.apply(list(batches))

    def load_modules(self):
        """What is built in, or no longer a module, is not found; what is really
        missing shows when an RDMA device is made."""
        names = (*MODULES[self.transport], "ib_uverbs", "rdma_ucm")
        subprocess.run(["modprobe", "-qa", *names], check=False)

    def add(self, name, batch):
        kernel.add_namespace(name)
        self.names.append(name)
        for path, value in batch.sysctls.items():
            self.sysctl(path, value)
        folder = FOLDER / name
        folder.mkdir()
        for program in ("ip", "tc", "rdma"):
            lines = getattr(batch, program)
            if lines:
                write(folder / program, "\n".join(lines) + "\n")

    @staticmethod
    def sysctl(path, value):
        try:
            write(f"/proc/sys/{path}", value)
        except FileNotFoundError:
            # Before 6.11 all switches decide alike.
            if not path.endswith("hash_seed"):
                raise

    def apply(self, names):
        """As many namespaces at once as there are processors."""
        waiting, running = list(names), {}
        while waiting or running:
            while waiting and len(running) < PARALLEL:
                name = waiting.pop(0)
                running[name] = self.start(name)
            name, process = next(iter(running.items()))
            _, err = process.communicate()
            del running[name]
            if process.returncode:
                raise BuildError(f"{name}: {err.strip()[-2000:]}")

    @staticmethod
    def start(name):
        return subprocess.Popen(
            ["sh", "-c", APPLY, "lab", FOLDER / name], text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=lambda: kernel.setns(f"{kernel.NETNS}/{name}"))

    def drop(self):
        """RDMA devices one by one and first: rxe's own way out, when its network
        device goes, races with that of a neighbour."""
        lines = [line.replace("link add", "link delete").split(" type ")[0]
                 for node in self.topology.nodes
                 for line in plan.rdma_links(self.topology, node, self.transport)]
        write(FOLDER / "rdma", "\n".join(lines) + "\n")
        run(["rdma", "-b", FOLDER / "rdma"])
        for name in self.names:
            kernel.drop_namespace(name)

# SPDX-License-Identifier: GPL-2.0
"""What the host does when a script on a node says `host NAME [ARG...]`."""

import hashlib
import json
import os
import signal
import subprocess

import machine
from qmp import Qmp, QmpError

HELP = """\
built-in host actions:
  bar-read NODE BAR OFFSET LEN        the bytes in the file behind a BAR
  bar-sha256 NODE BAR OFFSET LEN      their SHA-256 in hex
  bar-fill NODE BAR OFFSET LEN BYTE   write LEN times BYTE there
  device-del ID [NODE]                hot-unplug bar0, nvme0, edu0; waits for the guest
  device-add ID [NODE]                plug it in again, in the same slot
  link-down [NODE], link-up [NODE]    the node's network cable
  node-kill NODE                      cut a node's power; its script need not finish
  qmp NODE COMMAND [KEY=VALUE...]     any QEMU command; prints its answer
NODE is the calling node where it may be left out.  Numbers may be 0x… or have
a suffix K, M, G.  Any other NAME runs the --host-hook command with NAME and the
arguments, and NODE, NODES, BARFILE_<bar> (of the calling node),
BARFILE_<node>_<bar>, QMP (a socket), QMP_<node> and RIG_DIR in its environment."""

# For one hook, or for one unplug that waits for the guest's driver.
BOUND = 75


class ActionError(Exception):
    """The action failed; the text goes to the caller's stderr."""


def parse_size(text):
    units = {"K": 10, "M": 20, "G": 30}
    shift = units.get(text[-1:].upper(), 0)
    try:
        value = int(text[:-1] if shift else text, 0) << shift
    except ValueError as error:
        raise ActionError(f"not a number: {text}") from error
    if value < 0:
        raise ActionError(f"negative: {text}")
    return value


class Host:
    def __init__(self, options, nodes):
        self.options = options
        self.nodes = nodes
        self.actions = {
            "bar-read": (self.bar_read, 4, 4), "bar-sha256": (self.bar_sha256, 4, 4),
            "bar-fill": (self.bar_fill, 5, 5), "device-del": (self.device_del, 1, 2),
            "device-add": (self.device_add, 1, 2), "link-down": (self.link_down, 0, 1),
            "link-up": (self.link_up, 0, 1), "node-kill": (self.node_kill, 1, 1),
            "qmp": (self.qmp, 2, 99),
        }

    def call(self, caller, name, arguments):
        """(exit status, stdout, stderr), the last two as bytes."""
        try:
            if name not in self.actions:
                return self.hook(caller, name, arguments)
            action, least, most = self.actions[name]
            if not least <= len(arguments) <= most:
                raise ActionError(f"{name}: wrong number of arguments\n{HELP}")
            return 0, action(caller, *arguments), b""
        except (ActionError, QmpError, OSError) as error:
            return 1, b"", f"host {name}: {error}\n".encode()

    def node(self, text):
        if text not in {str(node.number) for node in self.nodes}:
            raise ActionError(f"no node {text}")
        return self.nodes[int(text) - 1]

    def bar_range(self, node, bar, offset, length):
        node = self.node(node)
        if not bar.isdigit() or int(bar) >= self.options.bars:
            raise ActionError(f"no BAR {bar}")
        offset, length = parse_size(offset), parse_size(length)
        if offset + length > self.options.bar_size << 20:
            raise ActionError("beyond the end of the BAR")
        return machine.bar_file(node.folder, bar), offset, length

    def bar_read(self, _caller, *place):
        path, offset, length = self.bar_range(*place)
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def bar_sha256(self, caller, *place):
        return hashlib.sha256(self.bar_read(caller, *place)).hexdigest().encode() + b"\n"

    def bar_fill(self, _caller, node, bar, offset, length, byte):
        path, offset, length = self.bar_range(node, bar, offset, length)
        value = parse_size(byte)
        if value > 255:
            raise ActionError(f"not a byte: {byte}")
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(bytes([value]) * length)
        return b""

    def device_del(self, caller, name, node=None):
        node = self.node(node) if node else caller
        with Qmp(node.folder / "qmp", BOUND) as monitor:
            monitor.execute("device_del", id=name)
            try:
                monitor.wait_event("DEVICE_DELETED", device=name)
            except QmpError as error:
                raise ActionError(f"the guest did not let go of {name} within {BOUND} s") from error
        return b""

    def device_add(self, caller, name, node=None):
        node = self.node(node) if node else caller
        arguments = machine.slot_device(self.options, name)
        if arguments is None:
            raise ActionError(f"no slot for a device {name}")
        with Qmp(node.folder / "qmp") as monitor:
            if "memdev" in arguments:
                # QEMU 7.2 aborts when an ivshmem device meets memory that an
                # unplugged one has had; the same file in a new object will do.
                memory = arguments["memdev"]
                monitor.execute("object-del", id=memory)
                monitor.execute("object-add", **machine.bar_memory(self.options, node.folder, name))
            monitor.execute("device_add", **arguments)
        return b""

    def set_link(self, caller, node, is_up):
        node = self.node(node) if node else caller
        with Qmp(node.folder / "qmp") as monitor:
            monitor.execute("set_link", name="nic0", up=is_up)
        return b""

    def link_down(self, caller, node=None):
        return self.set_link(caller, node, False)

    def link_up(self, caller, node=None):
        return self.set_link(caller, node, True)

    def node_kill(self, _caller, node):
        self.node(node).cut_power()
        return b""

    def qmp(self, _caller, node, command, *pairs):
        arguments = dict(pair.partition("=")[::2] for pair in pairs)
        with Qmp(self.node(node).folder / "qmp") as monitor:
            return (json.dumps(monitor.execute(command, **arguments)) + "\n").encode()

    def hook_environment(self, caller):
        environment = dict(os.environ, NODE=str(caller.number), NODES=str(len(self.nodes)),
                           QMP=str(caller.folder / "qmp-hook"),
                           RIG_DIR=str(caller.folder.parent))
        for node in self.nodes:
            environment[f"QMP_{node.number}"] = str(node.folder / "qmp-hook")
            for bar in range(self.options.bars):
                path = str(machine.bar_file(node.folder, bar))
                environment[f"BARFILE_{node.number}_{bar}"] = path
                if node is caller:
                    environment[f"BARFILE_{bar}"] = path
        return environment

    def hook(self, caller, name, arguments):
        if not self.options.host_hook:
            raise ActionError(f"no such action, and no --host-hook\n{HELP}")
        # A group of its own, so that nothing of it stays behind.
        with subprocess.Popen(
                ["bash", "-c", f'{self.options.host_hook} "$@"', "host-hook", name, *arguments],
                env=self.hook_environment(caller), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=BOUND)
                return process.returncode & 255, out, err
            except subprocess.TimeoutExpired as error:
                raise ActionError(f"the hook took more than {BOUND} s") from error
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

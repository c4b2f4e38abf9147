# SPDX-License-Identifier: GPL-2.0
"""All nodes of a run: start, watch, serve, end, judge."""

import secrets
import shlex
import sys
import threading
import time

import barrier
import host
import initramfs
import machine
import node as nodes_module
import verdict

PERIOD = 0.03


def say(text):
    print(f"rig| {text}", flush=True)


class Cluster:
    def __init__(self, options, folder, kernel, release, rig):
        self.options = options
        self.folder = folder
        self.kernel = kernel
        self.release = release
        self.rig = rig
        self.nonce = secrets.token_hex(8)
        self.hub = None
        self.barriers = barrier.Barriers()
        self.threads = []
        self.overdue = []
        self.nodes = []
        for number in range(1, options.nodes + 1):
            place = folder / f"n{number}"
            place.mkdir()
            self.nodes.append(nodes_module.Node(options, number, place, self.nonce))
        self.host = host.Host(options, self.nodes)

    # -- start ------------------------------------------------------------

    def environment(self, number):
        options = self.options
        tree = options.tree
        values = {
            "NODE": number, "NODES": options.nodes, "RIG_NONCE": self.nonce,
            "KERNEL_DIR": self.kernel, "TREE": tree, "BARS": options.bars,
            "BAR_SIZE": options.bar_size << 20,
            "LD_LIBRARY_PATH": tree / "build/lib",
            "PATH": f"{self.rig / 'guest/bin'}:{tree / 'build/bin'}:/usr/local/sbin:"
                    "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        }
        for k in range(1, options.nodes + 1):
            values[f"NODE_IP_{k}"] = machine.network_address(k)
        private = {
            "RIG_INIT": self.rig / "guest/init", "NODE_IP": machine.network_address(number),
            "RIG_NVME": "yes" if options.nvme else "",
            "RIG_RDMA": "" if options.no_rdma else "yes",
            "RIG_MODULE": options.module or "", "RIG_PARAMS": " ".join(options.param),
            "RIG_BIND": "yes" if options.bind else "", "RIG_BARS": options.bars,
            "RIG_CWD": options.cwd,
        }
        lines = [f"export {name}={shlex.quote(str(value))}" for name, value in values.items()]
        lines += [f"{name}={shlex.quote(str(value))}" for name, value in private.items()]
        return lines

    def guest_files(self, number):
        """What the node's init reads, by name of file."""
        addresses = [f"{machine.network_address(k)} node{k}"
                     for k in range(1, self.options.nodes + 1)]
        files = {
            "env": self.environment(number),
            "command": ["RIG_COMMAND=(" + shlex.join(map(str, self.options.command)) + ")"],
            "paths": map(str, self.options.paths),
            "hosts": ["127.0.0.1 localhost", *addresses],
        }
        return {name: "\n".join(lines) + "\n" for name, lines in files.items()}

    def start(self):
        now = time.monotonic()
        self.deadline = now + self.options.timeout
        self.initrd = self.folder / "initrd"
        groups = ["base", "net"]
        groups += ["nvme"] if self.options.nvme else []
        groups += [] if self.options.no_rdma else ["rdma"]
        self.initrd.write_bytes(initramfs.build(self.kernel, self.release, self.rig, groups))
        if self.options.nodes > 1:
            self.start_hub()
        for node in self.nodes:
            node.prepare(self.guest_files(node.number))
            self.start_node(node)

    def start_hub(self):
        self.hub = nodes_module.spawn(machine.hub_command(self.options.nodes, self.folder),
                                      self.folder / "hub.log")
        last = self.folder / f"port{self.options.nodes}"
        for _ in range(200):
            if last.exists():
                return
            if self.hub.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("the network hub did not start: " + (self.folder / "hub.log").read_text())

    def start_node(self, node):
        node.start(self.kernel, self.initrd, self.folder, time.monotonic())

    # -- watch ------------------------------------------------------------

    def watch(self):
        while any(node.is_running for node in self.nodes):
            time.sleep(PERIOD)
            self.poll()
            if time.monotonic() >= self.deadline:
                self.overdue = [node for node in self.nodes if node.is_running]
                break
        self.stop()
        self.poll(final=True)

    def poll(self, final=False):
        for node in self.nodes:
            # Asked first: what a dead node wrote is all there to be read.
            was_running = node.is_running
            for verb, rest in node.read_control():
                if verb == "request":
                    self.request(node, rest)
            for line in node.read_output(final or not was_running):
                print(f"node{node.number}| {line}", flush=True)
            if not final:
                self.check_boot(node, was_running)
        self.check_barriers()

    def check_boot(self, node, was_running):
        """Infrastructure fails now and then before there is a guest to speak
        of; once init has spoken, every failure is the guest's own."""
        if node.has_spoken or node.is_cut or node.restarts:
            return
        stuck = time.monotonic() - node.started > self.options.boot_bound
        if not was_running or stuck:
            say(f"node {node.number} {'is stuck' if stuck else 'ended'} before its init spoke; "
                "starting it once more")
            node.stop()
            node.restarts += 1
            self.start_node(node)

    def request(self, node, text):
        try:
            request, name, *arguments = shlex.split(text)
        except ValueError:
            return
        if name == "barrier":
            self.barriers.arrive(arguments[0], node.number, request,
                                 time.monotonic() + float(arguments[1]))
            return
        thread = threading.Thread(target=self.serve, args=(node, request, name, arguments),
                                  daemon=True)
        self.threads.append(thread)
        thread.start()

    def serve(self, node, request, name, arguments):
        try:
            answer = self.host.call(node, name, arguments)
        except Exception as error:  # pylint: disable=broad-except # the guest waits
            answer = (1, b"", f"host {name}: {error!r}\n".encode())
        node.reply(request, *answer)

    def check_barriers(self):
        members = {node.number: node.can_arrive for node in self.nodes if not node.is_cut}
        for number, request, err in self.barriers.settle(members, time.monotonic()):
            self.nodes[number - 1].reply(request, 1 if err else 0, b"", err)

    # -- end --------------------------------------------------------------

    def stop(self):
        for node in self.nodes:
            node.stop()
        nodes_module.end_process(self.hub)
        for thread in self.threads:
            thread.join(timeout=host.BOUND + 5)

    def judge(self):
        """(findings by node, totals of test results)."""
        patterns = verdict.read_patterns((self.rig / "splat.patterns").read_text())
        allow = verdict.read_patterns((self.rig / "splat.allow").read_text())
        findings = {}
        plans = 0
        totals = {"passed": 0, "failed": 0, "skipped": 0}
        for node in self.nodes:
            ktap = verdict.read_ktap("\n".join(node.output))
            plans += ktap.plans
            for name in totals:
                totals[name] += getattr(ktap, name)
            found = verdict.judge_console(node.console(), self.nonce, node.control.has("taint"),
                                          patterns, allow)
            if not node.is_cut:
                found += ktap.findings
                found += self.timeout_findings(node) or verdict.judge_control(
                    node.control, self.options.allow_taint)
            findings[node.number] = found
        if self.options.ktap and not plans:
            findings[1].append("no script printed a plan (1..N)")
        return findings, totals

    def timeout_findings(self, node):
        if node not in self.overdue:
            return []
        console = (node.console() or "").splitlines()
        last = [f"        console| {line}" for line in console[-12:]]
        last += [f"        output | {line}" for line in node.output[-6:]]
        return ["\n".join([f"timeout after {self.options.timeout} s: node {node.number} had not "
                           f"finished, it {node.state()}; its last lines:", *last])]

    def report(self, elapsed):
        findings, totals = self.judge()
        boots = [node for node in self.nodes if not node.has_spoken]
        for node in boots:
            log = (node.folder / "qemu.log")
            if log.exists() and log.read_text().strip():
                findings[node.number].append("QEMU said: " + log.read_text().strip())
        for number, found in findings.items():
            for finding in found:
                say(f"node {number}: {finding}")
        if any(totals.values()):
            say("tests: {passed} passed, {failed} failed, {skipped} skipped".format(**totals))
        is_red = any(findings.values())
        say(f"{'FAILED' if is_red else 'passed'}: {self.options.nodes} node(s), kernel "
            f"{self.release}, {elapsed:.0f} s")
        sys.stdout.flush()
        return 1 if is_red else 0

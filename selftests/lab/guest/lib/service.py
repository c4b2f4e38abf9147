# SPDX-License-Identifier: GPL-2.0
"""What nodes ask for while they run: barriers, and the lab command."""

import json
import os
import shlex
import time

import address
import barrier
import builder
import facts
import kernel
import plan
import wire as wires
from topology import TopologyError


class ServiceError(Exception):
    pass


def rows_text(rows):
    """JSON, a row a line."""
    return "[" + ",\n ".join(map(json.dumps, rows)) + "]\n"


class Service:
    def __init__(self, topology, wire, message):
        self.topology = topology
        self.wire = wire
        self.message = message
        self.rates = {link: wire.rate * link.rate for link in topology.links}
        self.is_down = set()    # devices
        self.nonce = os.environ["RIG_NONCE"]
        self.barriers = barrier.Barriers()
        self.settings = {}      # of netem, by end of a link
        self.rest = b""
        self.port = builder.FOLDER / "port"
        self.reply_folder = builder.FOLDER / "reply"
        self.reply_folder.mkdir()
        os.mkfifo(self.port)
        # For writing too: so it never comes to an end.
        self.fd = os.open(self.port, os.O_RDWR | os.O_NONBLOCK)
        self.verbs = {"links": self.links, "counters": self.counters, "set": self.set,
                      "cut": self.cut, "down": self.down, "up": self.up}

    # -- requests -----------------------------------------------------------

    def read(self):
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            self.request(line.decode(errors="replace"))

    def request(self, line):
        nonce, _, identity, *words = shlex.split(line)
        if nonce != self.nonce or not words:
            return
        if words[0] == "barrier":
            # The number of the node leads the identity.
            self.barriers.arrive(words[1], int(identity.split("-")[0]), identity,
                                 time.monotonic() + float(words[2]))
            return
        try:
            if words[0] not in self.verbs:
                raise ServiceError(f"no verb {words[0]}")
            self.reply(identity, 0, self.verbs[words[0]](*words[1:]), "")
        except (ServiceError, TopologyError, builder.BuildError, ValueError, TypeError,
                OSError) as error:
            self.reply(identity, 1, "", f"lab {words[0]}: {error}\n")

    def reply(self, identity, status, out, err):
        """The status comes last and by rename: it says the rest is there."""
        for suffix, text in (("out", out), ("err", err), ("tmp", f"{status}\n")):
            builder.write(self.reply_folder / f"{identity}.{suffix}", text)
        os.rename(self.reply_folder / f"{identity}.tmp", self.reply_folder / f"{identity}.rc")

    def settle(self, members):
        for _, identity, err in self.barriers.settle(members, time.monotonic()):
            self.reply(identity, 1 if err else 0, "", err.decode())

    # -- links ----------------------------------------------------------------

    def directions(self, name):
        """(link, sender) of `a-b`, which is both directions, or of `a>b`."""
        link = self.topology.find_link(name.replace(">", "-"))
        if ">" not in name:
            return [(link, end) for end in link.ends]
        return [(link, self.topology.device(name.split(">")[0]))]

    def links(self):
        return rows_text(plan.describe_links(self.topology, self.wire))

    def cut(self, pattern="across"):
        """With what is set and down now."""
        if pattern not in facts.PATTERNS:
            raise ServiceError(f"no pattern {pattern}; there are {' '.join(facts.PATTERNS)}")
        rates = {link: rate for link, rate in self.rates.items()
                 if not self.is_down & set(link.ends)}
        return json.dumps(facts.of_pattern(self.topology, self.wire, self.message, pattern,
                                           rates)) + "\n"

    def set(self, name, *words):
        """lab set LINK loss 1 delay 5: from now on, with what was set before."""
        if not words or len(words) % 2:
            raise ServiceError("usage: lab set LINK WORD VALUE [WORD VALUE...]")
        pairs = dict(zip(words[::2], words[1::2]))
        unknown = set(pairs) - {*wires.WORDS, "rate"}
        if unknown:
            raise ServiceError(f"no setting {unknown.pop()}; there are rate {' '.join(wires.WORDS)}")
        for link, end in self.directions(name):
            self.set_end(link, end, dict(pairs))
        return ""

    def set_end(self, link, end, pairs):
        interface = address.interface(link, end)
        rate = pairs.pop("rate", None)
        lines = []
        if rate:
            rate = wires.parse_rate(rate)
            self.rates[link] = rate
            lines.append(f"qdisc change dev {interface} parent 1:1 handle 10: "
                         f"{wires.tbf(self.wire, rate)}")
        if pairs:
            known = self.settings.setdefault((link, end), {
                word: getattr(self.wire, word, "") for word in wires.WORDS})
            known.update(pairs)
            lines.append(f"qdisc change dev {interface} root handle 1: {wires.netem(known)}")
        builder.run(["tc", "-n", end.name, "-batch", "-"], input="\n".join(lines) + "\n")

    # -- whole devices ------------------------------------------------------------

    def down(self, name):
        """All links of a device, at both ends: neighbours stop using it."""
        return self.turn(name, "down")

    def up(self, name):
        """With the routes that its going down took away."""
        return self.turn(name, "up")

    def turn(self, name, state):
        device = self.topology.device(name)
        for link in self.topology.links_of(device):
            for end in link.ends:
                builder.run(["ip", "-n", end.name, "link", "set",
                             address.interface(link, end), state])
        if state == "down":
            self.is_down.add(device)
        else:
            self.is_down.discard(device)
            builder.run(["ip", "-n", name, "-force", "-batch", builder.FOLDER / name / "ip"])
        return ""

    # -- counters -------------------------------------------------------------------

    def counters(self, *names):
        """Of all links, bytes and packets; of named ones, what tc says too."""
        if not names:
            return rows_text(self.all_bytes())
        rows = []
        for name in names:
            for link, end in self.directions(name):
                interface = address.interface(link, end)
                row = self.row(link, end, self.device_bytes(end))
                text = builder.run(["tc", "-n", end.name, "-s", "-j", "qdisc", "show",
                                    "dev", interface])
                row["qdiscs"] = json.loads(text)
                rows.append(row)
        return rows_text(rows)

    def all_bytes(self):
        rows = []
        for device in self.topology.devices:
            known = self.device_bytes(device)
            rows += [self.row(link, device, known) for link in self.topology.links_of(device)]
        return rows

    @staticmethod
    def row(link, end, known):
        sent, packets = known[address.interface(link, end)]
        return {"link": link.name, "from": end.name, "to": link.peer(end).name,
                "bytes": sent, "packets": packets}

    @staticmethod
    def device_bytes(device):
        """{interface: (bytes, packets) sent}, without starting a program."""
        with kernel.home():
            kernel.setns(f"{kernel.NETNS}/{device.name}")
            with open("/proc/thread-self/net/dev", encoding="ascii") as file:
                rows = [line.replace(":", " ").split() for line in file.readlines()[2:]]
        return {row[0]: (int(row[9]), int(row[10])) for row in rows}

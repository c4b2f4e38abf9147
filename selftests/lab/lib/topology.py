# SPDX-License-Identifier: GPL-2.0
"""What a cluster consists of: nodes, switches and the links between them.
Pure; a file in topo/ fills one in."""

import importlib.util
import pathlib
from dataclasses import dataclass

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "topo"
NAME_MAX = 15       # of a network interface, which is named after its peer


class TopologyError(Exception):
    """The wish cannot be built; the text says why."""


@dataclass(frozen=True)
class Device:
    name: str
    number: int     # of a node, from 1; of a switch, in order of making
    is_node: bool


@dataclass(frozen=True)
class Link:
    index: int
    ends: tuple     # two Devices
    rate: float     # as a multiple of --rate, each way
    cost: int       # what routing counts for it
    rail: int       # of the node's NIC at its end, from 1; 0 between switches

    @property
    def name(self):
        return f"{self.ends[0].name}-{self.ends[1].name}"

    def peer(self, device):
        return self.ends[1] if self.ends[0] == device else self.ends[0]

    def side(self, device):
        return self.ends.index(device)


class Topology:
    def __init__(self, name, picture=""):
        self.name = name
        self.picture = picture
        self.nodes = []
        self.switches = []
        self.links = []

    # -- for the files in topo/ --------------------------------------------

    def node(self):
        device = Device(f"node{len(self.nodes) + 1}", len(self.nodes) + 1, True)
        self.nodes.append(device)
        return device

    def switch(self, name):
        if not name.replace("_", "").isalnum() or name.startswith("node"):
            raise TopologyError(f"{name!r} is no name for a switch")
        device = Device(name, len(self.switches) + 1, False)
        self.switches.append(device)
        return device

    def link(self, one, other, *, rate=1.0, cost=1):
        """A cable; each direction carries rate times --rate."""
        rails = [1 + sum(device in link.ends for link in self.links)
                 for device in (one, other) if device.is_node]
        if len(set(rails)) > 1:
            raise TopologyError(f"{one.name}-{other.name} joins two different rails")
        self.links.append(Link(len(self.links), (one, other), rate, cost,
                               rails[0] if rails else 0))

    # -- questions -----------------------------------------------------------

    @property
    def devices(self):
        return self.nodes + self.switches

    def links_of(self, device):
        return [link for link in self.links if device in link.ends]

    def nics(self, node):
        """The node's links, the first rail's first."""
        return self.links_of(node)

    @property
    def rails(self):
        return max(link.rail for link in self.links)

    def device(self, name):
        for device in self.devices:
            if device.name == name:
                return device
        raise TopologyError(f"no device {name}; there are "
                            + " ".join(device.name for device in self.devices))

    def find_link(self, name):
        for link in self.links:
            if name in (link.name, "-".join(reversed(link.name.split("-")))):
                return link
        raise TopologyError(f"no link {name}; there are "
                            + " ".join(link.name for link in self.links))

    def halves(self):
        """The nodes on either side of the middle."""
        middle = len(self.nodes) // 2
        return self.nodes[:middle], self.nodes[middle:]

    def check(self):
        names = [device.name for device in self.devices]
        if len(set(names)) != len(names):
            raise TopologyError("two devices have the same name")
        long = [name for name in names if len(name) > NAME_MAX]
        if long:
            raise TopologyError(f"{long[0]}: a name has at most {NAME_MAX} characters")
        if len({frozenset(link.ends) for link in self.links}) != len(self.links):
            raise TopologyError("two links join the same devices")
        counts = {len(self.nics(node)) for node in self.nodes}
        if len(counts) != 1 or 0 in counts:
            raise TopologyError("every node must have the same number of links, at least one")


def available():
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name):
    """The module of a topology: one of topo/, or a file of the user's."""
    path = pathlib.Path(name) if "/" in name else FOLDER / f"{name}.py"
    if not path.is_file():
        raise TopologyError(f"no topology {name}; there are {' '.join(available())}, "
                            "or give a path")
    spec = importlib.util.spec_from_file_location("topology_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(name, nodes=None, rails=None):
    """A checked Topology; nodes and rails None: as many as the file likes."""
    module = load(name)
    topology = Topology(pathlib.Path(name).stem, module.__doc__ or "")
    fixed = {"nodes": nodes or module.NODES}
    if hasattr(module, "RAILS"):
        fixed["rails"] = rails or module.RAILS
    elif rails not in (None, 1):
        raise TopologyError(f"{name} has one rail")
    module.build(topology, **fixed)
    topology.check()
    return topology

# SPDX-License-Identifier: GPL-2.0
"""What has to be said to ip, tc and rdma to build a cluster.  Pure.

Starting a program takes a tenth of a second under emulation, so all of it is
batches: one that makes the links, and one of each kind in each namespace."""

from dataclasses import dataclass, field

import address
import routing
import wire as wires

RAIL_TABLE = 100

# Before there are interfaces, so that these never speak IPv6 by themselves.
SYSCTLS = {
    "net/ipv6/conf/all/disable_ipv6": 1,
    "net/ipv6/conf/default/disable_ipv6": 1,
}
SWITCH_SYSCTLS = {
    "net/ipv4/ip_forward": 1,
    # The ports count too, so that queue pairs of two nodes take several paths.
    "net/ipv4/fib_multipath_hash_policy": 1,
}


@dataclass
class Batches:
    """Of one namespace, in the order of execution."""
    sysctls: dict = field(default_factory=dict)
    ip: list = field(default_factory=list)
    tc: list = field(default_factory=list)
    rdma: list = field(default_factory=list)


def hash_seed(switch):
    """Of a switch's own: with one for all, the second switch of a path would
    decide as the first did, and leave half of its links idle."""
    return 0x9e3779b1 * switch.number & 0xffffffff


def links(topology, wire):
    """For an ip -batch outside of all namespaces."""
    for link in topology.links:
        one, other = link.ends
        yield (f"link add {address.interface(link, one)} netns {one.name} mtu {wire.mtu} "
               f"address {address.mac(link, one)} type veth "
               f"peer name {address.interface(link, other)} netns {other.name} mtu {wire.mtu} "
               f"address {address.mac(link, other)}")


def ends(topology, device):
    """Addresses, and who is at the other end: nobody has to ask for that."""
    yield "link set lo up"
    for link in topology.links_of(device):
        name, peer = address.interface(link, device), link.peer(device)
        yield f"address add {address.with_length(link, device)} dev {name}"
        yield f"link set {name} up"
        yield (f"neigh replace {address.of(link, peer)} lladdr {address.mac(link, peer)} "
               f"dev {name} nud permanent")


def node_routes(topology, node):
    nics = topology.nics(node)
    for link in nics:
        via = f"via {address.of(link, link.peer(node))} dev {address.interface(link, node)}"
        if address.is_direct(link):
            yield f"route replace {address.of(link, link.peer(node))} dev " \
                  f"{address.interface(link, node)} src {address.of(link, node)}"
        elif len(nics) == 1:
            yield f"route replace default {via}"
        else:
            # By the NIC that an address belongs to; without one, by the rail.
            yield f"route replace 10.{link.rail}.0.0/16 {via}"
            yield f"route replace default {via} table {RAIL_TABLE + link.rail}"
            yield f"rule add from {address.of(link, node)} table {RAIL_TABLE + link.rail}"


def switch_routes(switch, table):
    for node, rail, ways in table:
        hops = [f"nexthop via {address.of(link, link.peer(switch))} "
                f"dev {address.interface(link, switch)}" for link in ways]
        yield f"route replace {address.subnet(node.number, rail)} " + " ".join(hops)


def rdma_links(topology, node, transport):
    for link in topology.nics(node):
        name = address.rdma_device(transport, node.number, link.rail, topology.rails)
        yield f"link add {name} type {transport} netdev {address.interface(link, node)}"


def namespaces(topology, wire, transport):
    """{name: Batches}."""
    tables = routing.tables(topology)
    found = {}
    for device in topology.devices:
        batches = found[device.name] = Batches(dict(SYSCTLS))
        batches.ip += ends(topology, device)
        if device.is_node:
            batches.ip += node_routes(topology, device)
            batches.rdma += rdma_links(topology, device, transport)
        else:
            batches.sysctls.update(SWITCH_SYSCTLS)
            batches.sysctls["net/ipv4/fib_multipath_hash_seed"] = hash_seed(device)
            batches.ip += switch_routes(device, tables[device])
        for link in topology.links_of(device):
            batches.tc += wires.lines(wire, address.interface(link, device), link.rate)
    return found


def environment(topology, node, transport):
    """What a script finds, but for what only the running node knows."""
    devices = [address.rdma_device(transport, node.number, link.rail, topology.rails)
               for link in topology.nics(node)]
    nics = [address.interface(link, node) for link in topology.nics(node)]
    values = {
        "NODE": node.number, "NODES": len(topology.nodes), "TOPO": topology.name,
        "NODE_IP": address.node(node.number),
        "RDMA_DEV": devices[0], "RDMA_DEVS": " ".join(devices),
        "NETDEV": nics[0], "NETDEVS": " ".join(nics),
    }
    for other in topology.nodes:
        values[f"NODE_IP_{other.number}"] = address.node(other.number)
        for link in topology.nics(other):
            values[f"NODE_IP_{other.number}_{link.rail}"] = address.node(other.number, link.rail)
    return {name: str(value) for name, value in values.items()}


def hosts(topology):
    """The text of /etc/hosts."""
    rows = ["127.0.0.1 localhost"]
    rows += [f"{address.node(node.number)} {node.name}" for node in topology.nodes]
    rows += [f"{address.node(node.number, link.rail)} {node.name}-{link.rail}"
             for node in topology.nodes for link in topology.nics(node)]
    return "\n".join(rows) + "\n"


def describe_links(topology, wire):
    """What `lab links` prints."""
    return [{"name": link.name, "rate_bits": round(wire.rate * link.rate),
             "ends": [{"device": end.name, "namespace": end.name,
                       "interface": address.interface(link, end),
                       "address": address.of(link, end)} for end in link.ends]}
            for link in topology.links]

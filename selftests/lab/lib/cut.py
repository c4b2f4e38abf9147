# SPDX-License-Identifier: GPL-2.0
"""How much fits across a cluster.  Pure.

The bisection is the smallest cut between the two halves of the nodes: what all
links across it carry in one direction.  What arrives of that is payload times
payload / (payload + headers), with for a packet of RoCE v2

    Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + invariant CRC 4 = 58 bytes

(what the shaper counts: the link's preamble, gap and checksum do not exist
here) and, once in a message of WRITEs, the RETH of 16 bytes."""

from collections import deque

PACKET_HEADER = 14 + 20 + 8 + 12 + 4
RETH = 16
# What of a network device's MTU is not the RDMA payload, RETH included.
IP_OVERHEAD = PACKET_HEADER - 14 + RETH
RDMA_MTUS = (4096, 2048, 1024, 512, 256)


def rdma_mtu(mtu):
    """The largest RDMA MTU that a network device with this MTU carries."""
    return next((size for size in RDMA_MTUS if size + IP_OVERHEAD <= mtu), None)


def efficiency(mtu, message):
    """Payload bytes over bytes on the link, for WRITEs of message bytes."""
    packets = -(-message // rdma_mtu(mtu))
    return message / (message + packets * PACKET_HEADER + RETH)


def capacities(topology, rates, ends):
    """{device: {peer: rate}} without nodes that are no ends, for they pass
    nothing on; rates: {link: bit/s} of the links that are up."""
    graph = {device: {} for device in topology.devices if device in ends or not device.is_node}
    for link in topology.links:
        one, other = link.ends
        if one in graph and other in graph and link in rates:
            graph[one][other] = graph[other][one] = rates[link]
    return graph


def grow_path(graph, sources, goals):
    """The shortest way with room from a source to a goal, or None."""
    came = dict.fromkeys(sources)
    queue = deque(sources)
    while queue:
        device = queue.popleft()
        if device in goals:
            path = [device]
            while came[path[-1]] is not None:
                path.append(came[path[-1]])
            return path[::-1], came
        for peer, room in graph[device].items():
            if room > 1e-9 and peer not in came:
                came[peer] = device
                queue.append(peer)
    return None, came


def smallest(topology, rates, sources, goals):
    """(bit/s, links) of the smallest cut from sources to goals."""
    graph = capacities(topology, rates, {*sources, *goals})
    total = 0
    while True:
        path, reached = grow_path(graph, list(sources), set(goals))
        if path is None:
            break
        steps = list(zip(path, path[1:]))
        room = min(graph[a][b] for a, b in steps)
        for a, b in steps:
            graph[a][b] -= room
            graph[b][a] += room
        total += room
    links = [link for link in topology.links if link in rates
             and set(link.ends) <= graph.keys() and (link.ends[0] in reached) != (link.ends[1] in reached)]
    return total, links

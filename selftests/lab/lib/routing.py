# SPDX-License-Identifier: GPL-2.0
"""Which links lead to which NIC: all that are on a shortest path.  Pure."""

import heapq


def distances(topology, goal):
    """{switch: cost of its cheapest way to the switch goal}; nodes pass
    nothing on."""
    found = {}
    heap = [(0, goal.name, goal)]
    while heap:
        cost, _, device = heapq.heappop(heap)
        if device in found:
            continue
        found[device] = cost
        for link in topology.links_of(device):
            peer = link.peer(device)
            if not peer.is_node and peer not in found:
                heapq.heappush(heap, (cost + link.cost, peer.name, peer))
    return found


def next_links(topology, goal):
    """{switch: its links on shortest paths to the switch goal}."""
    cost = distances(topology, goal)
    return {switch: [link for link in topology.links_of(switch)
                     if link.peer(switch) in cost
                     and cost[link.peer(switch)] + link.cost == cost[switch]]
            for switch in cost if switch != goal}


def tables(topology):
    """{switch: [(node, rail, links)]} for each NIC not directly at it."""
    routes = {switch: [] for switch in topology.switches}
    known = {}
    for node in topology.nodes:
        for nic in topology.nics(node):
            goal = nic.peer(node)
            if goal.is_node:
                continue
            if goal not in known:
                known[goal] = next_links(topology, goal)
            for switch, links in known[goal].items():
                routes[switch].append((node, nic.rail, links))
    return routes

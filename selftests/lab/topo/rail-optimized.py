# SPDX-License-Identifier: GPL-2.0
"""
         spine1        spine2
          │   ╲        ╱   │
          │     ╲    ╱     │       every rail switch to every spine
        rail1   rail2   ... railK
        │││ │   │││ │
        ││└─┼───┼┼┼─┼── ...        NIC r of every node to rail switch r
       node1 node2 node3 ... nodeN

Each node has K NICs (--rails, 2).  From NIC r to NIC r of another node there is
one switch on the way; from rail to rail the spines are, where the links have
half of what the nodes have: N/2 each (as one link of that rate).  Bisection
within rails: K NICs of each node of one half.
"""

from topology import TopologyError

NODES = 4
RAILS = 2
SPINES = 2


def build(topo, nodes, rails):
    if not 2 <= rails <= 8 or nodes < 2:
        raise TopologyError("rail-optimized has 2 to 8 rails, and 2 nodes or more")
    switches = [topo.switch(f"rail{r + 1}") for r in range(rails)]
    for _ in range(nodes):
        node = topo.node()
        for switch in switches:
            topo.link(node, switch)
    for s in range(SPINES):
        spine = topo.switch(f"spine{s + 1}")
        for switch in switches:
            topo.link(switch, spine, rate=nodes / 2 / SPINES)

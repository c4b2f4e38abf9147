# SPDX-License-Identifier: GPL-2.0
"""
         spine1      spine2
          │ │ ╲      ╱ │ │
          │  ╲  ╲  ╱  ╱  │         every leaf has a link to every spine
          │   ╲  ╱╲  ╱   │
         leaf1  leaf2  leaf3 ...
        ╱╱ ╲╲   ╱╱╲╲   ╱╱ ╲╲
        4 nodes  each

All links are alike, so a leaf has twice as much to its nodes as to the spines:
it is oversubscribed 2:1.  Bisection: 2 links for each leaf of one half.
"""

from topology import TopologyError

NODES = 8
NODES_PER_LEAF = 4
SPINES = 2


def build(topo, nodes):
    leaves = nodes // NODES_PER_LEAF
    if nodes % NODES_PER_LEAF or leaves < 2 or leaves % 2:
        raise TopologyError("leaf-spine has 8, 16, 24 ... nodes")
    spines = [topo.switch(f"spine{s + 1}") for s in range(SPINES)]
    for number in range(leaves):
        leaf = topo.switch(f"leaf{number + 1}")
        for _ in range(NODES_PER_LEAF):
            topo.link(topo.node(), leaf)
        for spine in spines:
            topo.link(leaf, spine)

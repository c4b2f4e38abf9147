# SPDX-License-Identifier: GPL-2.0
"""
              spine1   spine2
               │   ╲   ╱   │
               │     ╳     │
               │   ╱   ╲   │
     node1 ── leaf1     leaf2 ── node2
               │
             node3, for what leaf1 mirrors

Two nodes that talk, with equal paths between them, and one that is told.
"""

from topology import TopologyError

NODES = 3


def build(topo, nodes):
    if nodes != NODES:
        raise TopologyError(f"{NODES} nodes")
    leaves = [topo.switch("leaf1"), topo.switch("leaf2")]
    for leaf in (*leaves, leaves[0]):
        topo.link(topo.node(), leaf)
    for number in (1, 2):
        spine = topo.switch(f"spine{number}")
        for leaf in leaves:
            topo.link(leaf, spine)

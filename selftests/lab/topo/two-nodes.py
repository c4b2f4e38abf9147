# SPDX-License-Identifier: GPL-2.0
"""
    node1 ────── node2

One cable.  Its bisection is the cable.
"""

from topology import TopologyError

NODES = 2


def build(topo, nodes):
    if nodes != 2:
        raise TopologyError("two-nodes has two nodes")
    topo.link(topo.node(), topo.node())

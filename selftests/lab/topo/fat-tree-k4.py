# SPDX-License-Identifier: GPL-2.0
"""
             core1_1  core1_2     core2_1  core2_2
                ╲ each agg<pod>_<i> to core<i>_1 and core<i>_2 ╱

      agg1_1  agg1_2      agg2_1  agg2_2      agg3_1 ...     agg4_1 ...
        │  ╲  ╱  │          │  ╲  ╱  │
        │  ╱  ╲  │          │  ╱  ╲  │
     edge1_1  edge1_2    edge2_1  edge2_2     edge3_1 ...    edge4_1 ...
       ╱ ╲      ╱ ╲        ╱ ╲      ╱ ╲
      1   2    3   4      5   6    7   8       9 ... 12      13 ... 16

The fat tree of 4-port switches: 16 nodes, 20 switches.  Full bisection: each
half of the nodes can send to the other at the full rate of its NICs.
"""

from topology import TopologyError

NODES = 16
PODS = 4
HALF = 2        # of a switch's ports face up


def build(topo, nodes):
    if nodes != NODES:
        raise TopologyError(f"fat-tree-k4 has {NODES} nodes")
    cores = [[topo.switch(f"core{i + 1}_{j + 1}") for j in range(HALF)] for i in range(HALF)]
    for pod in range(1, PODS + 1):
        aggs = [topo.switch(f"agg{pod}_{i + 1}") for i in range(HALF)]
        for number in range(HALF):
            edge = topo.switch(f"edge{pod}_{number + 1}")
            for _ in range(HALF):
                topo.link(topo.node(), edge)
            for agg in aggs:
                topo.link(edge, agg)
        for agg, group in zip(aggs, cores):
            for core in group:
                topo.link(agg, core)

# SPDX-License-Identifier: GPL-2.0
"""
           group 1                    group 2
     ┌───────────────┐          ┌───────────────┐
     │  r1_1 ── r1_2 ├──────────┤ r2_1 ── r2_2  │    3 routers in a group, each
     │     ╲    ╱    │          │     ╲   ╱     │    joined to the others; one
     │      r1_3     │          │     r2_3      │    global link between any
     └───┬───────┬───┘          └───┬───────┬───┘    two of the 4 groups; one
         │       └───────────╳──────┘       │        node at each router
     ┌───┴───────────┐          ┌───────────┴───┐
     │    group 3    ├──────────┤    group 4    │
     └───────────────┘          └───────────────┘

Routing is minimal: at most one global link, and one local link on either side
of it, hence the cost of a global link.  Bisection: the 4 global links between
groups {1, 2} and {3, 4}.
"""

from topology import TopologyError

NODES = 12
GROUPS = 4
ROUTERS = GROUPS - 1
GLOBAL_COST = 3


def build(topo, nodes):
    routers_total = GROUPS * ROUTERS
    if nodes % routers_total:
        raise TopologyError(f"dragonfly has {routers_total}, {2 * routers_total} ... nodes")
    groups = []
    for g in range(1, GROUPS + 1):
        group = [topo.switch(f"r{g}_{r + 1}") for r in range(ROUTERS)]
        for router in group:
            for _ in range(nodes // routers_total):
                topo.link(topo.node(), router)
        for i, router in enumerate(group):
            for other in group[i + 1:]:
                topo.link(router, other)
        groups.append(group)
    for i in range(GROUPS):
        for j in range(i + 1, GROUPS):
            topo.link(groups[i][j - 1], groups[j][i], cost=GLOBAL_COST)

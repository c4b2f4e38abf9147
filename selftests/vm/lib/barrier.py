# SPDX-License-Identifier: GPL-2.0
"""Where nodes wait for each other.  Pure."""


class Barriers:
    def __init__(self):
        self.arrived = {}       # by name: {node: (request, deadline)}

    def arrive(self, name, node, request, deadline):
        self.arrived.setdefault(name, {})[node] = (request, deadline)

    def settle(self, members, now):
        """members: {node: whether it may still come}.  Yields (node, request,
        error) for each that waits no longer; no error: all have come."""
        for name, arrived in list(self.arrived.items()):
            awaited = [node for node in members if node not in arrived]
            gone = [node for node in awaited if not members[node]]
            if not awaited:
                why = ""
            elif gone:
                why = f"node {gone[0]} has ended"
            elif any(now >= deadline for _, deadline in arrived.values()):
                why = f"node {', '.join(map(str, awaited))} did not come in time"
            else:
                continue
            del self.arrived[name]
            err = f"barrier {name}: {why}\n".encode() if why else b""
            for node, (request, _) in arrived.items():
                yield node, request, err

# SPDX-License-Identifier: GPL-2.0
"""What a topology promises, for those who measure it.  Pure."""

import cut


def across(topology, rates):
    """From all nodes of one half to all of the other."""
    return cut.smallest(topology, rates, *topology.halves())


def inside(topology, rates):
    """From each odd node to the next one: nothing but their NICs."""
    links = [link for node in topology.nodes[::2] for link in topology.nics(node)]
    return sum(rates.get(link, 0) for link in links), links


def cross(topology, rates):
    """From rail to next rail, from one half to the other.  Each direction of a
    link between switches has one rail's traffic, so the rails add up."""
    sources, goals = topology.halves()
    total, links = 0, []
    for rail in range(topology.rails):
        one = topology.nics(sources[0])[rail].peer(sources[0])
        other_rail = (rail + 1) % topology.rails
        other = topology.nics(goals[0])[other_rail].peer(goals[0])
        ends = [(sum(rates.get(topology.nics(node)[rail], 0) for node in sources),
                 [topology.nics(node)[rail] for node in sources]),
                (sum(rates.get(topology.nics(node)[other_rail], 0) for node in goals),
                 [topology.nics(node)[other_rail] for node in goals]),
                cut.smallest(topology, rates, [one], [other])]
        least = min(ends, key=lambda pair: pair[0])
        total += least[0]
        links += least[1]
    return total, links


PATTERNS = {"across": across, "inside": inside, "cross": cross}


def of_pattern(topology, wire, message, pattern="across", rates=None):
    """What `lab cut` prints; rates: {link: bit/s} of what is up now."""
    if rates is None:
        rates = {link: wire.rate * link.rate for link in topology.links}
    total, links = PATTERNS[pattern](topology, rates)
    efficiency = cut.efficiency(wire.mtu, message)
    return {
        "pattern": pattern, "links": [link.name for link in links],
        "halves": [[node.number for node in half] for half in topology.halves()],
        "rate_bits": round(total), "message": message, "efficiency": round(efficiency, 5),
        "goodput_bytes": round(total / 8 * efficiency),
    }

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The parts of the lab that need no machine: topologies, addresses, routes, the
smallest cut, the words for tc."""

import json
import pathlib
import sys
import tempfile
import unittest

LAB = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(LAB / "lib"), str(LAB / "tests")]

# pylint: disable=wrong-import-position,missing-function-docstring,missing-class-docstring
import address  # noqa: E402
import bisection  # noqa: E402
import cut  # noqa: E402
import facts  # noqa: E402
import plan  # noqa: E402
import routing  # noqa: E402
import topology  # noqa: E402
import wire  # noqa: E402

MEGABIT = 1e6
# Links across the middle, in links of factor 1, as each file says in words.
BISECTIONS = {
    ("two-nodes", None, None): 1, ("leaf-spine", 8, None): 2, ("leaf-spine", 16, None): 4,
    ("fat-tree-k4", None, None): 8, ("rail-optimized", 4, 2): 4, ("rail-optimized", 8, 4): 16,
    ("dragonfly", None, None): 4,
}


def made():
    return [topology.make(*key) for key in BISECTIONS]


def smallest(topo):
    rates = {link: link.rate * MEGABIT for link in topo.links}
    return cut.smallest(topo, rates, *topo.halves())


class Topologies(unittest.TestCase):
    def test_bisection(self):
        for key, links in BISECTIONS.items():
            with self.subTest(key):
                self.assertAlmostEqual(smallest(topology.make(*key))[0], links * MEGABIT)

    def test_cut_links_carry_the_cut(self):
        for topo in made():
            with self.subTest(topo.name):
                total, links = smallest(topo)
                self.assertAlmostEqual(sum(link.rate for link in links) * MEGABIT, total)

    def test_sizes(self):
        topo = topology.make("fat-tree-k4")
        self.assertEqual((len(topo.nodes), len(topo.switches), len(topo.links)), (16, 20, 48))
        self.assertEqual(topology.make("rail-optimized", 4, 3).rails, 3)

    def test_what_cannot_be(self):
        for arguments in (("leaf-spine", 6), ("two-nodes", 3), ("fat-tree-k4", 8),
                          ("dragonfly", 5), ("two-nodes", 2, 2), ("nothing",)):
            with self.subTest(arguments), self.assertRaises(topology.TopologyError):
                topology.make(*arguments)

    def test_every_file_has_its_picture(self):
        for name in topology.available():
            self.assertRegex(topology.make(name).picture, r"(?s)[│─].*[Bb]isection")


class Facts(unittest.TestCase):
    def megabits(self, pattern, *key, without=()):
        topo = topology.make(*key)
        rates = {link: link.rate * MEGABIT for link in topo.links
                 if not {end.name for end in link.ends} & set(without)}
        return facts.of_pattern(topo, wire.Wire(MEGABIT), 16384, pattern, rates)["rate_bits"] / 1e6

    def test_patterns(self):
        self.assertEqual(self.megabits("inside", "leaf-spine", 8), 4)
        self.assertEqual(self.megabits("cross", "rail-optimized", 4, 2), 4)

    def test_what_is_down_counts_no_more(self):
        self.assertEqual(self.megabits("across", "leaf-spine", 8, without=["spine2"]), 1)
        self.assertEqual(self.megabits("cross", "rail-optimized", 4, 2, without=["spine1"]), 2)
        self.assertEqual(self.megabits("across", "fat-tree-k4", without=["core1_1"]), 6)

    def test_payload(self):
        found = facts.of_pattern(topology.make("two-nodes"), wire.Wire(8e6), 16384)
        self.assertEqual(found["goodput_bytes"], round(1e6 * 16384 / 16632))


class Measurements(unittest.TestCase):
    """Made-up ones: what is a pass, and what is not."""

    def step(self, number, label, expected, measured, sent=(1, 1), marked=None):
        folder = self.folder / str(number)
        folder.mkdir()
        (folder / "label").write_text(label + "\n")
        (folder / "cut").write_text(json.dumps({"goodput_bytes": expected, "rate_bits": 0}))
        for node, value in enumerate(measured):
            (folder / f"said.{node}.1").write_text(
                f"ready\nbytes {value} in 1000000\n" if value else "ready\n")
        for name, factor in (("before", 1), ("after", 2)):
            (folder / f"links.{name}").write_text(json.dumps(
                [{"link": f"a-b{k}", "from": "a", "to": f"b{k}", "bytes": factor * value}
                 for k, value in enumerate(sent)]))
            if marked is not None:
                (folder / f"marks.{name}").write_text(json.dumps(
                    [{"qdiscs": [{"kind": "red", "marked": (factor - 1) * marked}]}]))
        return bisection.Step(folder)

    def verdicts(self, *steps, spread=""):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            made_up = [self.step(number, *step) for number, step in enumerate(steps)]
            return [passed for passed, _ in bisection.results(made_up, spread)]

    def test_ratio(self):
        self.assertEqual(self.verdicts(("across", 100, [48, 48])), [True])
        self.assertEqual(self.verdicts(("across", 100, [40, 40])), [False])
        self.assertEqual(self.verdicts(("across", 100, [60, 60])), [False])

    def test_sender_that_said_nothing(self):
        self.assertEqual(self.verdicts(("across", 100, [100, 0])), [False])

    def test_what_does_not_fall(self):
        self.assertEqual(self.verdicts(("across", 100, [99]), ("less", 50, [49])), [True] * 3)
        self.assertEqual(self.verdicts(("across", 100, [99]), ("less", 50, [99])),
                         [True, False, False])

    def test_spread(self):
        for sent, passed in (((10, 9), True), ((10, 3), False), ((10, 0), False), ((0, 0), False)):
            self.assertEqual(self.verdicts(("across", 9, [9], sent), spread="a>b*"), [True, passed])
        self.assertEqual(self.verdicts(("across", 9, [9]), spread="nothing"), [True, False])

    def test_marks(self):
        for label, marked, passed in (("ECN", 5, True), ("ECN", 0, False), ("no", 0, True),
                                      ("no", 5, False)):
            self.assertEqual(self.verdicts((label, 9, [9], (1,), marked)), [True, passed])


class Addresses(unittest.TestCase):
    def test_each_address_is_there_once(self):
        for topo in made():
            ends = [(link, end) for link in topo.links for end in link.ends]
            for part in (address.of, address.mac):
                found = [part(link, end) for link, end in ends]
                self.assertEqual(len(set(found)), len(found), topo.name)

    def test_each_interface_is_there_once(self):
        for topo in made():
            for device in topo.devices:
                names = [address.interface(link, device) for link in topo.links_of(device)]
                self.assertEqual(len(set(names)), len(names))

    def test_ends_share_a_subnet(self):
        link = next(link for link in topology.make("leaf-spine").links if link.rail == 0)
        one, other = (address.of(link, end).rsplit(".", 1) for end in link.ends)
        self.assertEqual(one[0], other[0])
        self.assertEqual(int(one[1]) // 4, int(other[1]) // 4)


class Routes(unittest.TestCase):
    def test_every_packet_arrives(self):
        """Whatever next hop is taken, the way ends, and at the right switch."""
        for topo in made():
            tables = {switch.name: {(node.number, rail): links for node, rail, links in rows}
                      for switch, rows in routing.tables(topo).items()}
            for node in topo.nodes:
                for nic in topo.nics(node):
                    goal = nic.peer(node)
                    for switch in topo.switches:
                        self.follow(topo, tables, switch, goal, (node.number, nic.rail))

    def follow(self, topo, tables, switch, goal, key):
        ahead = {switch}
        for _ in range(len(topo.switches)):
            ahead = {link.peer(at) for at in ahead - {goal} for link in tables[at.name][key]}
            if not ahead:
                return
        self.fail(f"{topo.name}: a loop from {switch.name} to {goal.name}")

    def ways(self, name, switch, node):
        topo = topology.make(name)
        return sorted(link.peer(topo.device(switch)).name
                      for other, _, links in routing.tables(topo)[topo.device(switch)]
                      if other.name == node for link in links)

    def test_equal_costs(self):
        self.assertEqual(self.ways("leaf-spine", "leaf1", "node8"), ["spine1", "spine2"])
        self.assertEqual(self.ways("fat-tree-k4", "edge1_1", "node16"), ["agg1_1", "agg1_2"])
        self.assertEqual(self.ways("fat-tree-k4", "agg1_1", "node3"), ["edge1_2"])

    def test_dragonfly_is_minimal(self):
        """A second global link in place of two local ones is no way."""
        topo = topology.make("dragonfly")
        cost = routing.distances(topo, topo.device("r1_1"))
        self.assertEqual(max(cost.values()), 5)


class Plans(unittest.TestCase):
    def setUp(self):
        self.wire = wire.Wire(8e6)

    def test_node_with_rails_answers_by_the_rail(self):
        topo = topology.make("rail-optimized", 4, 2)
        lines = plan.namespaces(topo, self.wire, "rxe")["node3"].ip
        self.assertIn("rule add from 10.2.3.1 table 102", lines)
        self.assertIn("route replace default via 10.2.3.2 dev eth1 table 102", lines)

    def test_names_of_rdma_devices(self):
        topo = topology.make("rail-optimized", 4, 2)
        names = [line.split()[2] for batches in plan.namespaces(topo, self.wire, "siw").values()
                 for line in batches.rdma]
        self.assertEqual(len(set(names)), 8)
        self.assertEqual(plan.environment(topo, topo.nodes[1], "siw")["RDMA_DEVS"], "siw2_1 siw2_2")

    def test_switches_decide_differently(self):
        topo = topology.make("fat-tree-k4")
        seeds = {batches.sysctls.get("net/ipv4/fib_multipath_hash_seed")
                 for batches in plan.namespaces(topo, self.wire, "rxe").values()}
        self.assertEqual(len(seeds - {None}), 20)

    def test_every_end_has_its_rate(self):
        topo = topology.make("leaf-spine")
        batches = plan.namespaces(topo, self.wire, "rxe")
        rates = [line for name in batches for line in batches[name].tc if " tbf rate 8000000bit" in line]
        self.assertEqual(len(rates), 2 * len(topo.links))


class Wires(unittest.TestCase):
    def test_rates(self):
        self.assertEqual([wire.parse_rate(text) for text in ("8", "500k", "1.5m", "2mbit")],
                         [8e6, 5e5, 1.5e6, 2e6])
        for text in ("", "0", "fast", "-1"):
            self.assertRaises(ValueError, wire.parse_rate, text)

    def test_netem(self):
        text = wire.netem({"loss": "5", "delay": "2.5", "duplicate": "1%"})
        self.assertTrue(text.endswith("delay 2.5ms loss 5% duplicate 1%"))
        self.assertIn("delay 10ms reorder 25%", wire.netem({"reorder": "25"}))
        self.assertRaises(ValueError, wire.netem, {"loss": "101"})

    def test_ecn(self):
        self.assertEqual(len(list(wire.lines(wire.Wire(1e6), "eth0", 1))), 2)
        self.assertIn("ecn", list(wire.lines(wire.Wire(1e6, ecn=True), "eth0", 1))[2])

    def test_overhead(self):
        self.assertEqual([cut.rdma_mtu(size) for size in (4200, 4156, 4155, 1500, 200)],
                         [4096, 4096, 2048, 1024, None])
        self.assertAlmostEqual(cut.efficiency(4200, 16384), 16384 / (16384 + 4 * 58 + 16))
        self.assertAlmostEqual(cut.efficiency(1500, 1), 1 / 75)


if __name__ == "__main__":
    unittest.main(verbosity=0)

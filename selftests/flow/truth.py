# SPDX-License-Identifier: GPL-2.0
"""What a table of flows must say, computed from captures.

Written from the netlink specification, with all the memory and hindsight that
the kernel's record of a flow has no room for: each PSN that was left out is
remembered, and that a packet is one sent again is taken from a capture made
where it was sent, in which the copy that arrived is found by its IP
identification.
"""

from collections import Counter
import ipaddress
import re

import capture

TIMED = ("frame.time_epoch", "ip.id", "infiniband.cm.req", "infiniband.cm.req.localqpn",
         "infiniband.cm.rep", "infiniband.cm.rep.remotecommid", "infiniband.cm.rep.localqpn")
TRANSPORTS = ("rc", "uc", "rd", "ud", "cnp", "xrc", "vendor6", "vendor7")
WITH_SEQUENCE = ("rc", "uc", "xrc")
WITH_MORE = {0x00, 0x01, 0x06, 0x07, 0x0d, 0x0e}    # packets as long as the path MTU
READ_REQUEST, COMPARE_SWAP, FETCH_ADD = 0x0c, 0x13, 0x14
WITH_OWN_ANSWER = (READ_REQUEST, COMPARE_SWAP, FETCH_ADD)
RESPONSES = range(0x0d, 0x13)
READ_RESPONSES = range(0x0d, 0x11)
MODULUS = 1 << 24
NEW_CONNECTION = 1 << 16
# The module takes what comes later than 50 ms for sent again.
SURELY_LATE = 40_000_000
RNR, NAK = 1, 3


def nanoseconds(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])


class Packet(dict):
    """What capture.read() says, and when; with what its flow is found by."""

    def __init__(self, seen):
        super().__init__(capture.read(seen))
        self.time = nanoseconds(seen["frame.time_epoch"])
        self.cm = {name.rpartition("infiniband.cm.")[2]: value for name, value in seen.items()
                   if name.startswith("infiniband.cm.")}
        self.identity = (self["saddr"], self["daddr"], self["dqpn"], seen.get("ip.id"),
                         self["opcode"], self["psn"])
        self.operation = self["opcode"] & 0x1f
        self.transport = TRANSPORTS[self["opcode"] >> 5]
        self.is_response = self.operation in RESPONSES

    @property
    def aeth_class(self):
        return self.get("aeth_syndrome", 0) >> 5 & 3

    @property
    def asks_for_answer(self):
        return self["ack_request"] or self.operation in WITH_OWN_ANSWER


def packets_of(captures):
    """All RoCE packets of captures of one node, in the order of their times."""
    packets = []
    for name in captures:
        fields = (*capture.FIELDS, *TIMED)
        packets += [Packet(seen) for seen in capture.tshark(name, fields, "udp.dstport == 4791")
                    if "infiniband.bth" in seen]
    return sorted(packets, key=lambda packet: packet.time)


def ahead(psn, of):
    distance = (psn - of) % MODULUS
    return distance - MODULUS if distance >= MODULUS // 2 else distance


class Flow:
    """One direction. PSNs in here count on beyond 24 bits."""

    def __init__(self, key, is_sender):
        self.key = key
        self.is_sender = is_sender
        self.count = Counter()
        self.peer = None            # the flow in the other direction
        self.next = None            # of requests
        self.next_response = None
        self.left_out = {}          # and since when
        self.is_slow = False        # some came so late that they may count as lost
        self.responses = set()      # that the other direction has asked for
        self.responses_left_out = set()
        self.marker = None
        self.asked = False
        self.burst = None           # where what is sent again goes on
        self.round_trips = []
        self.ports = set()

    # -- counters of any packet -------------------------------------------

    def see(self, packet, mtu, again):
        count = self.count
        count["packets"] += 1
        count["bytes"] += packet["length"]
        count["ect"] += packet["ecn"] != 0
        count["ce"] += packet["ecn"] == 3
        count["sport"] = packet["sport"]
        count["dscp"] = packet["dscp"]
        self.ports.add(packet["sport"])
        if packet["opcode"] == capture.CNP:
            count["cnp"] += 1
            return
        count["fecn"] += packet["fecn"]
        count["becn"] += packet["becn"]
        if packet.transport not in WITH_SEQUENCE:
            return
        if packet.operation in WITH_MORE and packet["payload"] >= 256:
            count["pmtu"] = packet["payload"]
        if packet.is_response:
            self.response(packet, again)
        else:
            self.request(packet, mtu, again)

    def sent_again(self, packet):
        self.count["retransmitted"] += 1
        self.count["retransmitted_bytes"] += packet["length"]

    # -- requests ----------------------------------------------------------

    def numbers(self, packet, mtu):
        if packet.operation != READ_REQUEST:
            return 1
        return max(1, -(-packet.get("dma_length", 0) // mtu))

    def request(self, packet, mtu, again):
        numbers = self.numbers(packet, mtu)
        distance = 0 if self.next is None else ahead(packet["psn"], self.next % MODULUS)
        if self.next is None or abs(distance) >= NEW_CONNECTION:
            self.count["lost"] += len(self.left_out)
            self.left_out.clear()
            self.marker = None
            self.next, distance = packet["psn"] + MODULUS, 0
        psn = self.next + distance
        if packet.operation == READ_REQUEST and self.peer:
            self.peer.responses.update(range(psn, psn + numbers))
        if distance < 0:
            self.old_request(packet, psn, numbers, again)
            return
        if distance:
            self.count["gaps"] += 1
            self.left_out.update(dict.fromkeys(range(self.next, psn), packet.time))
        self.next = psn + numbers
        self.burst = None
        if self.marker is None and packet.asks_for_answer:
            self.marker = (psn, packet.time, packet.operation in WITH_OWN_ANSWER)

    def old_request(self, packet, psn, numbers, again):
        """@again: it is known to be one sent again, or not to be one; or None."""
        came = [self.left_out.pop(one) for one in range(psn, psn + numbers) if one in self.left_out]
        if came and again is False:
            self.count["reordered"] += len(came)
            self.is_slow |= packet.time - min(came) > SURELY_LATE
            return
        self.count["lost"] += len(came)
        self.sent_again(packet)
        if self.marker and psn <= self.marker[0]:
            self.marker = None
        if self.burst is None or psn < self.burst:
            if not self.asked and self.peer and self.peer.count["packets"]:
                self.count["timeouts"] += 1
            self.asked = False
        self.burst = psn + numbers

    # -- responses, and what they mean for the requests ---------------------

    def response(self, packet, again):
        syndrome = packet.get("aeth_syndrome")
        if packet.aeth_class == NAK:
            self.count["nak_other" if syndrome & 0x1f else "nak_sequence"] += 1
        if packet.aeth_class == RNR:
            self.count["rnr"] += 1
        gap = packet.operation in READ_RESPONSES and self.read_response(packet, again)
        if self.peer:
            self.peer.answered(packet, gap)

    def read_response(self, packet, again):
        """Does it leave some out?"""
        if not self.peer or self.peer.next is None:
            return False
        psn = self.peer.next + ahead(packet["psn"], self.peer.next % MODULUS)
        if self.next_response is None:
            self.next_response = psn
        if psn < self.next_response:
            came = psn in self.responses_left_out
            self.responses_left_out.discard(psn)
            if came and again is False:
                self.count["reordered"] += 1
                return False
            self.count["lost"] += came
            self.sent_again(packet)
            return False
        missing = set(range(self.next_response, psn)) & self.responses
        self.next_response = psn + 1
        self.responses_left_out |= missing
        self.count["gaps"] += bool(missing)
        return bool(missing)

    def answered(self, packet, gap):
        if packet.aeth_class in (RNR, NAK) or gap:
            self.marker = None
            # After other refusals, nothing is sent any more.
            self.asked |= gap or packet.aeth_class == RNR or not packet["aeth_syndrome"] & 0x1f
            return
        if self.next is None or not self.marker:
            return
        marked, since, has_own_answer = self.marker
        behind = self.next + ahead(packet["psn"], self.next % MODULUS) - marked
        if behind < 0:
            return
        self.marker = None
        if behind and has_own_answer:
            self.asked = True       # for what did not come
            return
        self.round_trips.append(packet.time - since)

    # -- at the end -----------------------------------------------------------

    def finish(self):
        self.count["lost"] += len(self.left_out) + len(self.responses_left_out)
        if self.is_sender:
            for name in ("gaps", "lost", "reordered"):
                self.count[name] = 0


def percentile(ordered, permille):
    return ordered[(len(ordered) * permille + 999) // 1000 - 1]


# ---- which two directions belong together ------------------------------------

def address_of(gid):
    """perftest prints the bytes of a GID in decimal."""
    address = ipaddress.IPv6Address(bytes(int(part) for part in gid.split(":")))
    return str(address.ipv4_mapped or address)


def pairs_of_log(text):
    """Both ends' (address, QPN), as perftest prints them."""
    found = {"local": [], "remote": []}
    for end, qpn, gid in re.findall(r"(local|remote) address:.*?QPN (0x[0-9a-f]+).*?\n?\s*GID: ([\d:]+)",
                                    text):
        found[end].append((address_of(gid), int(qpn, 16)))
    return set(zip(found["local"], found["remote"]))


def pairs_of_messages(packets):
    """The same, from messages of the connection manager."""
    asked, pairs = {}, set()
    for packet in packets:
        cm = packet.cm
        if "req.localqpn" in cm:
            asked[packet["saddr"], int(cm["req"], 0)] = int(cm["req.localqpn"], 0)
        if "rep.localqpn" in cm:
            qpn = asked.get((packet["daddr"], int(cm["rep.remotecommid"], 0)))
            pairs.add(((packet["daddr"], qpn), (packet["saddr"], int(cm["rep.localqpn"], 0))))
    return {pair for pair in pairs if pair[0][1] is not None}


# ---- all of it ------------------------------------------------------------------

class Truth:
    def __init__(self, packets, pairs, addresses, mtu, again):
        self.flows = {}
        self.partner = {**dict(pairs), **{other: one for one, other in pairs}}
        self.addresses = addresses
        for packet in packets:
            self.flow(packet).see(packet, mtu, again.get(packet.identity))
        for flow in self.flows.values():
            flow.finish()

    def flow(self, packet):
        ends, qpn = (packet["saddr"], packet["daddr"]), packet["dqpn"]
        if packet["opcode"] == capture.CNP:
            for transport in TRANSPORTS:
                if (*ends, transport, qpn) in self.flows:
                    return self.flows[(*ends, transport, qpn)]
        return self.flow_of((*ends, packet.transport, qpn))

    def flow_of(self, key):
        if key in self.flows:
            return self.flows[key]
        flow = self.flows[key] = Flow(key, key[0] in self.addresses)
        if peer := self.reverse(key):
            flow.peer = self.flow_of(peer)
            flow.peer.peer = flow
        return flow

    def reverse(self, key):
        saddr, daddr, transport, qpn = key
        partner = self.partner.get((daddr, qpn))
        if partner and partner[0] == saddr and transport in WITH_SEQUENCE:
            return (daddr, saddr, transport, partner[1])
        return None


def sent_again(packets, addresses, mtu):
    """Which of the packets that others have sent were sent again."""
    flows, answered, again = {}, {}, {}
    for packet in packets:
        if packet["saddr"] not in addresses or packet.transport not in WITH_SEQUENCE:
            continue
        key = (packet["saddr"], packet["daddr"], packet.transport, packet["dqpn"])
        if packet.operation in READ_RESPONSES:
            before = answered.setdefault(key, set())
            again[packet.identity] = packet["psn"] in before
            before.add(packet["psn"])
        elif not packet.is_response:
            flow = flows.setdefault(key, Flow(key, True))
            count = flow.count["retransmitted"]
            flow.request(packet, mtu, None)
            again[packet.identity] = flow.count["retransmitted"] > count
    return again


def mtu_of(packets):
    """The path MTU: what packets carry that are followed by more."""
    return max((packet["payload"] for packet in packets if packet.operation in WITH_MORE),
               default=4096)

# SPDX-License-Identifier: GPL-2.0
"""Captures of RoCE v2, as tshark reads them.

What tshark does not take apart (FECN, BECN, immediate data) is taken from the
bytes that it prints.
"""

import subprocess

# All that tshark is asked for; of each, what it sees first in a packet.
FIELDS = (
    "frame.number", "eth.type", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "ip.dsfield.ecn",
    "ip.dsfield.dscp", "ipv6.tclass.ecn", "ipv6.tclass.dscp", "ip.len", "ipv6.plen",
    "udp.srcport", "udp.dstport", "udp.length",
    "infiniband.bth", "infiniband.bth.opcode", "infiniband.bth.se", "infiniband.bth.m",
    "infiniband.bth.padcnt", "infiniband.bth.tver", "infiniband.bth.p_key",
    "infiniband.bth.destqp", "infiniband.bth.a", "infiniband.bth.psn",
    "infiniband.rdeth", "infiniband.deth", "infiniband.deth.q_key", "infiniband.deth.srcqp",
    "infiniband.reth", "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen",
    "infiniband.aeth", "infiniband.aeth.syndrome", "infiniband.aeth.msn",
    "infiniband.immdt", "infiniband.ieth", "infiniband.atomiceth", "infiniband.atomicacketh",
)
EXTENSIONS = ("rdeth", "deth", "reth", "aeth", "immdt", "ieth", "atomiceth", "atomicacketh")
CNP = 0x81
CNP_BYTES = 16


def number(text):
    """Numbers as tshark prints them."""
    named = {"True": 1, "False": 0}
    return named[text] if text in named else int(text, 0)


def byte_string(text):
    return bytes.fromhex(text.replace(":", ""))


def tshark(capture, fields=FIELDS, show=""):
    """A dictionary of what is there for each packet."""
    command = ["tshark", "-n", "-r", capture, "-Y", show, "-T", "fields", "-E", "occurrence=f"]
    for field in fields:
        command += ["-e", field]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout
    return [{field: value for field, value in zip(fields, line.split("\t")) if value}
            for line in output.splitlines()]


def read_ip(seen):
    if "ip.src" in seen:
        source, name, fields = "ip", "dsfield", {"length": number(seen["ip.len"])}
    else:
        source, name, fields = "ipv6", "tclass", {"length": 40 + number(seen["ipv6.plen"])}
    return dict(fields, saddr=seen[f"{source}.src"], daddr=seen[f"{source}.dst"],
                ecn=number(seen[f"{source}.{name}.ecn"]),
                dscp=number(seen[f"{source}.{name}.dscp"]), sport=number(seen["udp.srcport"]))


def read_bth(seen):
    names = {"opcode": "opcode", "solicited": "se", "migrated": "m", "pad": "padcnt",
             "tver": "tver", "pkey": "p_key", "dqpn": "destqp", "ack_request": "a", "psn": "psn"}
    fields = {ours: number(seen[f"infiniband.bth.{theirs}"]) for ours, theirs in names.items()}
    congestion = byte_string(seen["infiniband.bth"])[4]
    return dict(fields, fecn=congestion >> 7, becn=congestion >> 6 & 1)


def read_extensions(seen):
    names = {"qkey": "deth.q_key", "sqpn": "deth.srcqp", "va": "reth.va", "rkey": "reth.r_key",
             "dma_length": "reth.dmalen", "aeth_syndrome": "aeth.syndrome", "aeth_msn": "aeth.msn"}
    # tshark also calls what is in an AtomicETH reth.va.
    fields = {ours: number(seen[f"infiniband.{theirs}"]) for ours, theirs in names.items()
              if f"infiniband.{theirs.partition('.')[0]}" in seen}
    for ours, theirs in (("imm", "immdt"), ("ieth_rkey", "ieth")):
        if f"infiniband.{theirs}" in seen:
            fields[ours] = int.from_bytes(byte_string(seen[f"infiniband.{theirs}"]), "big")
    if "infiniband.atomiceth" in seen or "infiniband.atomicacketh" in seen:
        fields["atomic"] = 1
    return fields


def read_payload(seen, fields):
    headers = 8 + 12 + sum(len(byte_string(seen[f"infiniband.{name}"])) for name in EXTENSIONS
                           if f"infiniband.{name}" in seen)
    if fields["opcode"] == CNP:
        headers += CNP_BYTES
    datagram = number(seen["udp.length"])
    return {"payload": datagram - headers - 4 - fields["pad"],
            "payload_offset": fields["length"] - datagram + headers}


def read(seen):
    """What a packet says, under the names that roce_dump prints."""
    if seen.get("udp.dstport") != "4791":
        return {"verdict": "other"}
    fields = {"verdict": "packet", **read_ip(seen), **read_bth(seen), **read_extensions(seen)}
    return {**fields, **read_payload(seen, fields)}

# SPDX-License-Identifier: GPL-2.0
"""JSON: valid, the same keys always, exact numbers."""

from command import headers, peerlane

DEVICE = {
    "name": str, "pci": str, "bar": int, "kind": str, "memtype": str, "numa_node": int,
    "bytes_total": int, "bytes_free": int, "bytes_limbo": int, "unit": int, "user_limit": int,
    "regions": int,
}
REGION = {
    "id": int, "device": str, "kind": str, "state": str, "length": int, "dev_offset": int,
    "uid": int, "user": str, "pid": int, "comm": str, "exports": int, "attachments": int,
    "mappings": int, "pinned_units": int, "mapper_pid": int, "mapper_comm": str,
}
ENDPOINT = {
    "id": int, "state": str, "local": str, "peer": str, "rdma_device": str, "path": str,
    "lanes": int, "depth": int, "outstanding": int, "slots": int, "exposed": int, "granted": int,
    "keys": int, "bytes_put": int, "bytes_get": int, "ops_done": int, "ops_failed": int,
    "uid": int, "pid": int, "comm": str, "label": str, "errno": str, "reason": str,
}
GROUP = {
    "id": int, "group": int, "rank": int, "ranks": int, "state": str, "aggregators": int,
    "segment": int, "window": int, "block": int, "lanes": int,
    "placement": dict, "lanes_left": int, "depth": int,
    "outstanding": int, "slots": int, "ops_done": int, "ops_failed": int, "segments": int,
    "bytes_sent": int, "bytes_received": int, "uid": int, "pid": int, "comm": str, "label": str,
    "errno": str, "cause": str, "fault_rank": int, "reason": str,
}
FLOW = {
    "saddr": str, "daddr": str, "transport": str, "qpn": int, "peer_qpn": int, "pairing": str,
    "label": str, "point": str, "ifindex": int, "netdev": str, "sport": int, "dscp": int,
    "pmtu": int, "congested": bool, "local": str, "device": str, "pid": int, "comm": str,
    "packets": int, "bytes": int, "ect": int, "ce": int, "cnp": int, "fecn": int, "becn": int,
    "nak_sequence": int, "nak_other": int, "rnr": int, "retransmitted": int,
    "retransmitted_bytes": int, "gaps": int, "lost": int, "reordered": int, "timeouts": int,
    "rate_bytes": int, "rate_packets": int, "rtt_max": int, "missing": int, "age": int, "idle": int,
    "rtt_samples": int, "rtt_min": int, "rtt_mean": int, "rtt_p50": int, "rtt_p99": int,
    "reverse_packets": int, "reverse_bytes": int, "reverse_cnp": int, "reverse_becn": int,
    "reverse_nak_sequence": int, "reverse_nak_other": int, "reverse_rnr": int,
    "histogram": list, "elapsed": int, "since": dict,
}
LIMITS = {"idle_timeout": int, "threshold_on": int, "threshold_off": int, "calm_windows": int}
STATS = LIMITS | {name: int for name in (
    "flows flow_limit flow_size buckets histograms histogram_limit histogram_size created expired "
    "evicted packets bytes missed_full missed_memory missed_histogram fragments truncated "
    "malformed aggregated elsewhere events_lost event_sequence group_events").split()}
TCP = {"saddr": str, "sport": int, "daddr": str, "dport": int, "device": str, "lqpn": int, "pid": int,
       "comm": str} | {name: int for name in (
           "state mss cwnd unacked lost reordering srtt rttvar min_rtt bytes_sent "
           "bytes_retransmitted bytes_acked bytes_received segments_out segments_in retransmitted "
           "delivered delivered_ce reordered pacing_rate delivery_rate").split()}
PATH = {
    "target": str, "initiator": str, "reachable": bool, "path": str, "distance": int, "reason": str,
}
FINDING = {
    "id": str, "severity": str, "subject": str, "message": str, "seen": str, "remedy": str,
}
COMMANDS = {
    "device list": DEVICE,
    "device show gpu0": DEVICE,
    "device show npu1": DEVICE,
    "device bind 03:00.0": DEVICE,
    "device unbind gpu0": DEVICE,
    "device path gpu0 03:00.1": PATH,
    "device path gpu0 03:00.0": PATH,
    "device path gpu0 81:00.5": PATH,
    "region list": REGION,
    "doctor": FINDING,
    "flow list": FLOW,
    "flow show": FLOW,
    "flow watch count 1": FLOW,
    "flow top count 1": FLOW,
    "endpoint list": ENDPOINT,
    "endpoint show": ENDPOINT,
    "group list": GROUP,
    "flow reset": FLOW,
    "flow label clear all": {"labelled": int},
    "flow pair": {"paired": int},
    "flow observe": {"point": str, "ifindex": int, "device": str},
    "flow limit": LIMITS,
    "flow stats": STATS,
    "flow tcp": TCP,
    "version": {"command": str, "library": str},
}
# Those that print another form: JSON lines, objects of two kinds, or no JSON.
OTHERS = {"events", "metrics print", "metrics textfile", "metrics serve", "bench put", "bench get",
          "bench lat", "bench allreduce", "aggregator", "group show",
          "group top", "why"}
SCENES = [None, "empty", "hostile"]


def check_object(thing, keys):
    """All keys, in order, each of its type or null."""
    assert list(thing) == list(keys), thing
    for key, kind in keys.items():
        assert thing[key] is None or type(thing[key]) is kind, (key, thing[key])


def test_keys():
    """json: one array of objects with the documented keys and types"""
    for args, keys in COMMANDS.items():
        for scene in SCENES:
            things = peerlane("-j", *args.split(), fake=scene).json()
            assert isinstance(things, list)
            for thing in things:
                check_object(thing, keys)


def test_every_command():
    """json: every command that prints data is in this test"""
    lines = peerlane("--list-cmds").out.decode().split("\n")
    wanted = {line for line in lines if line and "help" not in line}
    covered = {" ".join(args.split()[:2]) for args in COMMANDS}
    assert wanted == covered | OTHERS, wanted ^ (covered | OTHERS)


def test_pretty_is_the_same():
    """json: -pretty and -human change no value"""
    for args in COMMANDS:
        plain = peerlane("-j", *args.split()).json()
        assert peerlane("-j", "-p", "-h", *args.split()).json() == plain


def test_one_line():
    """json: without -pretty one line that ends in a newline"""
    for args in COMMANDS:
        out = peerlane("-j", *args.split()).out
        assert out.count(b"\n") == 1 and out.endswith(b"]\n")


def test_exact():
    """json: 64-bit numbers are exact"""
    device = peerlane("-j", "device", "show", "npu1").json()[0]
    assert device["bytes_total"] == 2**64 - 1
    assert device["bytes_free"] == 2**53 + 1
    region = peerlane("-j", "region").json()[3]
    assert region["id"] == 2**64 - 1 and region["dev_offset"] == 2**64 - 2
    assert region["exports"] == 2**32 - 1


def test_hostile_names():
    """json: names survive control characters and broken UTF-8"""
    regions = peerlane("-j", "region", fake="hostile").json()
    assert regions[0]["comm"] == "\x1b[2J\x1b]0;x\x07"
    assert regions[0]["mapper_comm"] == 'a\nb\tc\rd"\\'
    assert regions[1]["comm"] == "\u009b31m\x7f"
    assert regions[1]["mapper_comm"] == "\ufffd\ufffd\ufffdgr\u00fc\u00dfe\ufffd"
    assert regions[2]["comm"] == "0123456789abcdef"
    assert regions[2]["mapper_comm"] == "\U0001f600 \u202e rtl 012"


def test_key_names():
    """json: keys are fields of peerlane.h"""
    header = headers()
    for key in [*DEVICE, *REGION]:
        assert key == "user" or f" {key};" in header or f" {key}[" in header, key

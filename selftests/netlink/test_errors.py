# SPDX-License-Identifier: GPL-2.0
"""Requests that are wrong, by mistake or on purpose: which error, and its text."""

import errno
import os
import struct

import genl
import wire
from genl import raw, refused

FLOW = {name: number for number, name in genl.SETS["flow"].items()}
FILTER = {name: number for number, name in genl.SETS["filter"].items()}
OBSERVE = {name: number for number, name in genl.SETS["observe"].items()}
LIMIT = {name: number for number, name in genl.SETS["limit"].items()}
KEY = {"saddr": wire.address(1), "daddr": wire.address(2), "qpn": 7}
DO = ("flow-get", "flow-set", "observe-set", "limit-set")


def u32(kind, value):
    return raw(kind, struct.pack("=I", value))


def has_no_texts(is_dump):
    return is_dump and os.uname().release.startswith("6.1.")


def expect(cases):
    """(name, error, request, body): each must be refused so, with a text."""
    with wire.wire() as made:
        made.send([wire.frame(KEY["saddr"], KEY["daddr"], 7)] * 3)
        made.settled(3)
        for name, error, request, body in cases:
            call = made.genl.dump if name == "dump" or request == "flow-reset" else made.genl.do
            body = genl.encode(request.split("-")[0], body) if isinstance(body, dict) else body
            try:
                text = refused(error, call, request, body=body)
            except AssertionError as wrong:
                raise AssertionError(f"{name} {request} {body.hex(' ')}: {wrong}") from wrong
            # 6.1 does not give start() of a dump a place for one.
            assert text or has_no_texts(call == made.genl.dump), \
                f"{name} {request} {body.hex(' ')}: no text"
        # Nothing of it had a consequence.
        assert made.info()["packets"] == 3
        assert len(made.flows()) == 1


def test_attributes_missing():
    key = {name: {k: v for k, v in KEY.items() if k != name} for name in KEY}
    expect([("do", "EINVAL", "flow-get", one) for one in key.values()] +
           [("do", "EINVAL", "flow-set", {**one, "label": "x"}) for one in key.values()] +
           [("do", "EINVAL", "flow-get", {}),
            ("do", "EINVAL", "flow-set", {}),
            ("do", "EINVAL", "flow-set", KEY),
            ("do", "EINVAL", "flow-set", {"filter": {}}),
            ("do", "EINVAL", "observe-set", {}),
            ("do", "EINVAL", "observe-set", {"point": genl.DEVICE, "enable": 1}),
            ("do", "EINVAL", "observe-set", {"point": genl.LOCAL_OUT}),
            ("do", "EINVAL", "observe-set", {"enable": 1})])


def test_lengths_wrong():
    cases = []
    for length in (0, 1, 3, 17, 64):
        cases += [("do", "ERANGE", "flow-get", {**KEY, "saddr": bytes(length)}),
                  ("dump", "ERANGE", "flow-get", {"filter": {"address": bytes(length)}})]
    for length in (5, 8, 15):
        cases += [("do", "EINVAL", "flow-get", {**KEY, "daddr": bytes(length)}),
                  ("do", "EINVAL", "flow-set", {**KEY, "saddr": bytes(length), "label": "x"}),
                  ("dump", "EINVAL", "flow-get", {"filter": {"saddr": bytes(length)}}),
                  ("dump", "EINVAL", "flow-reset", {"filter": {"daddr": bytes(length)}})]
    for length in (0, 1, 2, 3, 5, 8):
        cases += [("do", "EINVAL", "flow-get", {**KEY, "qpn": bytes(length)}),
                  ("do", "EINVAL", "observe-set", {"point": bytes(length), "enable": 1}),
                  ("do", "EINVAL", "limit-set", {"calm-windows": bytes(length)}),
                  ("dump", "EINVAL", "flow-get", {"filter": {"top": bytes(length)}})]
    cases += [("do", "EINVAL", "observe-set", {"point": genl.LOCAL_OUT, "enable": bytes(4)}),
              ("dump", "ERANGE", "flow-get", {"with-histogram": b"\1"}),
              ("dump", "ERANGE", "flow-get", {"filter": {"congested": bytes(4)}}),
              ("dump", "EINVAL", "flow-get",
               {"filter": {"min": [{"counter": 0, "value": bytes(4)}]}})]
    expect(cases)


def test_values_out_of_range():
    expect([
        ("do", "ERANGE", "flow-get", {**KEY, "qpn": 0x1000000}),
        ("do", "ERANGE", "flow-get", {**KEY, "qpn": 0xffffffff}),
        ("do", "ERANGE", "flow-get", {**KEY, "transport": 8}),
        ("do", "ERANGE", "flow-set", {**KEY, "peer-qpn": 0x1000000}),
        ("do", "ERANGE", "observe-set", {"point": 4, "enable": 1}),
        ("do", "ERANGE", "observe-set", {"point": genl.LOCAL_IN, "enable": 2}),
        ("do", "ERANGE", "observe-set", {"point": genl.DEVICE, "ifindex": 0, "enable": 1}),
        ("do", "EINVAL", "observe-set", {"point": 0, "enable": 1}),
        ("do", "EINVAL", "observe-set", {"point": genl.LOCAL_IN, "ifindex": 1, "enable": 1}),
        *(("do", "ERANGE", "limit-set", {name: value}) for name, value in (
            ("idle-timeout", 0), ("idle-timeout", 86401), ("threshold-on", 0),
            ("threshold-on", 1000001), ("threshold-off", 0), ("threshold-off", 1000001),
            ("calm-windows", 0), ("calm-windows", 256), ("calm-windows", 0xffffffff))),
        ("do", "EINVAL", "limit-set", {"threshold-on": 5, "threshold-off": 6}),
        ("do", "EINVAL", "limit-set", {"threshold-off": 10001}),
        ("do", "EINVAL", "limit-set", {"threshold-on": 999}),
        *(("dump", "ERANGE", "flow-get", {"filter": {name: value}}) for name, value in (
            ("ifindex", 0), ("point", 4), ("qpn", 0x1000000), ("transport", 8), ("top", 0),
            ("top", 1025), ("top-by", 19))),
        ("dump", "ERANGE", "flow-get", {"filter": {"min": [{"counter": 19, "value": 1}]}}),
    ])


def test_attributes_unknown():
    cases = []
    for kind in (0, FLOW["pad"], FLOW["packets"], FLOW["count"], FLOW["count"] + 1, 1000, 0x3fff):
        for request in DO:
            cases.append(("do", "EINVAL", request, u32(kind, 1)
                          if kind not in (1, 3) or request[0] == "f" else u32(1000, 1)))
        cases += [("dump", "EINVAL", "flow-get", u32(kind, 1)),
                  ("dump", "EINVAL", "flow-reset", u32(kind, 1)),
                  ("do", "EINVAL", "info-get", u32(kind, 1)),
                  ("dump", "EINVAL", "observe-get", u32(kind, 1))]
    for kind in (0, FILTER["top"] + 1, 500):
        cases.append(("dump", "EINVAL", "flow-get",
                      raw(FLOW["filter"] | genl.NESTED, u32(kind, 1))))
    expect(cases)


def test_attributes_of_other_requests():
    """A dump that took a key for nothing would be one of every flow, or reset them all."""
    key = genl.encode("flow", KEY)
    select = genl.encode("flow", {"filter": {"qpn": 8}})
    histogram = genl.encode("flow", {"with-histogram": True})
    label = genl.encode("flow", {"label": "x"})
    expect([("dump", "EINVAL", "flow-get", genl.encode("flow", {name: value}))
            for name, value in {**KEY, "transport": 0}.items()] +
           [("dump", "EINVAL", "flow-reset", genl.encode("flow", {name: value}))
            for name, value in {**KEY, "transport": 0}.items()] +
           [("do", "EINVAL", "flow-get", key + select),
            ("do", "EINVAL", "flow-get", key + label),
            ("dump", "EINVAL", "flow-get", label),
            ("dump", "EINVAL", "flow-reset", label),
            ("do", "EINVAL", "flow-set", key + label + histogram)])


def test_key_and_filter_together():
    expect([("do", "EINVAL", "flow-set", {**KEY, "filter": {}, "label": "x"}),
            ("do", "EINVAL", "flow-set", {"qpn": 7, "filter": {}, "label": "x"})])


def test_nested_garbage():
    nest = FLOW["filter"] | genl.NESTED
    cut = struct.pack("=HH", 200, FILTER["qpn"])
    expect([
        ("dump", "EINVAL", "flow-get", raw(FLOW["filter"], u32(FILTER["qpn"], 7))),
        ("dump", "EINVAL", "flow-get", raw(nest, cut)),
        ("dump", "EINVAL", "flow-get", raw(nest, b"\xff" * 64)),
        ("dump", "EINVAL", "flow-get", raw(nest, b"\0" * 16)),
        ("dump", "EINVAL", "flow-get", raw(nest, u32(FILTER["min"] | genl.NESTED, 0xffffffff))),
        ("dump", "EINVAL", "flow-get", raw(nest, u32(FILTER["min"], 0))),
        ("dump", "EINVAL", "flow-get", raw(nest, raw(FILTER["min"] | genl.NESTED))),
        ("dump", "EINVAL", "flow-get", {"filter": {"min": [{"counter": 1}]}}),
        ("dump", "EINVAL", "flow-get", {"filter": {"min": [{"value": 1}]}}),
        ("do", "EINVAL", "flow-set", raw(nest, b"\xff" * 64) + raw(FLOW["label"], b"x\0")),
        ("do", "EINVAL", "flow-get", struct.pack("=HH", 100, FLOW["saddr"]) + bytes(8)),
        ("do", "EINVAL", "limit-set", b"\xff" * 12),
    ])


def test_minimums():
    one = {"counter": 0, "value": 1}
    with wire.wire() as made:
        made.send([wire.frame(KEY["saddr"], KEY["daddr"], 7)] * 3)
        made.settled(3)
        assert len(made.flows({"min": [one] * 8})) == 1
        text = refused("EINVAL", made.genl.dump, "flow-get", {"filter": {"min": [one] * 9}})
        assert "8" in text or has_no_texts(True)


def test_top_needs_top_by():
    expect([("dump", "EINVAL", "flow-get", {"filter": {"top": 3}}),
            ("dump", "EINVAL", "flow-get", {"filter": {"top-by": 0}}),
            ("dump", "EINVAL", "flow-reset", {"filter": {"top-by": 0, "top": 3}}),
            ("do", "EINVAL", "flow-set", {"filter": {"top-by": 0, "top": 3}, "label": "x"}),
            ("do", "EINVAL", "flow-set", {"filter": {"qpn": 7}, "peer-qpn": 5})])


def test_header():
    with wire.wire() as made:
        calls = [("info-get", {}), ("flow-get", KEY), ("limit-set", {"calm-windows": 1})]
        for name, values in calls:
            refused("EINVAL", made.genl.do, name, values, reserved=1)
            refused("EINVAL", made.genl.do, name, values, flags=genl.REQUEST | genl.ACK | 0x400)
        for command in (0, genl.COMMANDS["event-ntf"], 9, 255):
            refused("EOPNOTSUPP", made.genl.do, "info-get", body=b"", command=command)
        # A kind of request that the operation does not have
        refused("EOPNOTSUPP", made.genl.dump, "info-get", {})
        refused("EOPNOTSUPP", made.genl.dump, "limit-set", {})
        refused("EOPNOTSUPP", made.genl.do, "observe-get", {})
        refused("EOPNOTSUPP", made.genl.do, "flow-reset", {})
        # Not even a header
        refused("EINVAL", made.genl.do, "info-get", body=b"", header=False)


def test_labels_of_31_bytes():
    with wire.wire() as made:
        made.send([wire.frame(KEY["saddr"], KEY["daddr"], 7)])
        made.settled(1)
        assert made.genl.do("flow-set", {**KEY, "label": "x" * 31}) == {"count": 1}
        assert made.flow(**KEY)["label"] == "x" * 31
        assert len(made.flows({"label": "x" * 31})) == 1
        for label in ("x" * 32, "x" * 33, "x" * 4000):
            refused("EINVAL", made.genl.do, "flow-set", {**KEY, "label": label})
            refused("EINVAL", made.genl.dump, "flow-get", {"filter": {"label": label}})
        refused("EINVAL", made.genl.do, "flow-set", {**KEY, "label": b"no end"})
        refused("EINVAL", made.genl.do, "flow-set", {**KEY, "label": b""})
        assert made.flow(**KEY)["label"] == "x" * 31


def test_labels_at_most_4096():
    with wire.wire() as made:
        many = 4097
        made.send([wire.frame(wire.address(1), wire.address(2), k + 1) for k in range(many)])
        made.settled(many)
        for first in range(0, many - 1, 64):
            made.genl.burst("flow-set", [{**KEY, "qpn": k + 1, "label": f"label {k}"}
                                         for k in range(first, first + 64)])
        last = {**KEY, "qpn": many}
        assert refused("ENOSPC", made.genl.do, "flow-set", {**last, "label": "one more"})
        # One that there is needs no room, and one that nobody has makes room.
        made.genl.do("flow-set", {**last, "label": "label 7"})
        made.genl.do("flow-set", {**KEY, "qpn": 9 + 1, "label": ""})
        made.genl.do("flow-set", {**last, "label": "one more"})
        assert made.flow(**last)["label"] == "one more"


def test_label_of_a_filter_that_matches_nothing():
    with wire.wire() as made:
        made.send([wire.frame(KEY["saddr"], KEY["daddr"], 7)])
        made.settled(1)
        assert made.genl.do("flow-set", {"filter": {"qpn": 99}, "label": "nobody"}) == {}


def test_devices_at_most_16():
    with wire.wire(pairs=9, observe=False) as made:
        names = [f"{end}{k}" for k in range(9) for end in ("send", "recv")]
        for name in names[:16]:
            made.observe(device=name)
        for name in names[16:]:
            assert "16" in refused("ENOSPC", made.observe, device=name)
        assert len(made.genl.dump("observe-get")) == 16
        made.observe(0, device=names[5])
        made.observe(device=names[16])
        told = {row["ifindex"] for row in made.genl.dump("observe-get")}
        assert told == {made.index(name) for name in names[:17] if name != names[5]}


def test_observed_twice():
    with wire.wire() as made:
        assert refused("EEXIST", made.observe)
        local = {"point": genl.LOCAL_OUT, "enable": 1}
        made.genl.do("observe-set", local)
        assert refused("EEXIST", made.genl.do, "observe-set", local)
        assert refused("EEXIST", made.genl.do, "observe-set", {**local, "point": genl.LOCAL_IN})


def test_not_observed():
    with wire.wire(observe=False) as made:
        assert refused("ESRCH", made.observe, 0)
        assert refused("ESRCH", made.genl.do, "observe-set",
                       {"point": genl.LOCAL_IN, "enable": 0})
        made.observe()
        made.observe(0)
        assert refused("ESRCH", made.observe, 0)


def test_no_such_device():
    with wire.wire(observe=False) as made:
        for index in (999, 0x7fffffff, 0x80000000, 0xffffffff):
            for enable in (0, 1):
                assert refused("ENODEV", made.genl.do, "observe-set",
                               {"point": genl.DEVICE, "ifindex": index, "enable": enable})


def test_no_such_flow():
    with wire.wire(observe=False) as made:
        for _ in range(2):
            assert refused("ENOENT", made.genl.do, "flow-get", KEY)
            assert refused("ENOENT", made.genl.do, "flow-set", {**KEY, "label": "x"})
            assert made.genl.dump("flow-get") == [] and made.genl.dump("flow-reset") == []
            # Once more with a table that is empty
            if _ == 0:
                made.observe()


def test_success_has_no_text():
    with wire.wire(observe=False) as made:
        calls = [("observe-set", {"point": genl.DEVICE, "ifindex": made.rx, "enable": 1}),
                 ("observe-set", {"point": genl.LOCAL_IN, "enable": 1}),
                 ("observe-set", {"point": genl.DEVICE, "ifindex": made.rx, "enable": 0}),
                 ("observe-set", {"point": genl.LOCAL_IN, "enable": 0}),
                 ("limit-set", {"calm-windows": 1}), ("info-get", {})]
        for name, values in calls:
            made.genl.do(name, values)
            assert not made.genl.warning, f"{name} {values}: {made.genl.warning}"


def test_random_bytes():
    """No request, however odd, is more than refused; the seed is in the log."""
    seed = struct.unpack("=I", os.urandom(4))[0]
    print(f"# seed {seed}")
    state = genl.random.Random(seed)
    allowed = {errno.EINVAL, errno.ERANGE, errno.EOPNOTSUPP, errno.ENOENT, errno.EEXIST,
               errno.ESRCH, errno.ENODEV}
    with wire.wire() as made:
        made.send([wire.frame(KEY["saddr"], KEY["daddr"], 7)])
        made.settled(1)
        for _ in range(600):
            name = state.choice([*DO, "info-get", "flow-reset", "observe-get"])
            body = b""
            for _ in range(state.randrange(6)):
                kind = state.randrange(42) | state.choice([0, 0, genl.NESTED])
                body += raw(kind, state.randbytes(state.choice([0, 1, 4, 4, 8, 16, 20])))
            try:
                if name in ("flow-reset", "observe-get") or state.random() < 0.3:
                    made.genl.dump(name, body=body)
                else:
                    made.genl.do(name, body=body)
            except genl.Error as error:
                assert error.number in allowed, f"{name} {body.hex(' ')}: {error}"
        assert made.info()["packets"] == 1

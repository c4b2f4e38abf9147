# SPDX-License-Identifier: GPL-2.0
"""Dumps: each flow once, all of them, and right; or it is said that they are not."""

import contextlib
import time

import genl
import wire


@contextlib.contextmanager
def parameter(name, value):
    """A parameter of the module, until the end."""
    path = f"/sys/module/peerlane/parameters/{name}"
    with open(path, encoding="ascii") as file:
        before = file.read()
    set_parameter(name, value)
    try:
        yield
    finally:
        set_parameter(name, before.strip())


def set_parameter(name, value):
    with open(f"/sys/module/peerlane/parameters/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


def frames_of(count, first=0, **more):
    return [wire.frame(wire.address(1), wire.address(1000 + k), 7, **more)
            for k in range(first, first + count)]


def keys_of(count, first=0):
    return {(wire.address(1), wire.address(1000 + k), 0, 7) for k in range(first, first + count)}


def read_some(sock, datagrams=1):
    """So many datagrams of a dump that goes on."""
    rows = []
    for _ in range(datagrams):
        for kind, flags, _, body in sock.receive():
            assert kind not in (genl.NLMSG_DONE, genl.NLMSG_ERROR), "the dump has come to its end"
            assert not flags & genl.DUMP_INTR
            rows.append(genl.decode("flow", body[4:]))
    return rows


def nothing_left():
    """Namespaces of earlier tests have gone."""
    assert wire.wait_until(lambda: wire.flows_of_all() == 0)


# ---- once and all ----------------------------------------------------------------

def test_small_receive_buffer():
    with wire.wire() as made, made.socket(receive=4096) as small:
        made.send(frames_of(700))
        made.settled(700)
        small.start("flow-get")
        time.sleep(0.2)
        rows = wire.by_key(small.finish("flow-get", size=8192))
        assert set(rows) == keys_of(700) and not small.interrupted


def test_dump_left_half_way():
    with wire.wire() as made:
        made.send(frames_of(500))
        made.settled(500)
        for _ in range(8):
            with made.socket(receive=4096) as sock:
                sock.start("flow-get", {"with-histogram": True})
                read_some(sock)
            with made.socket(receive=4096) as sock:
                sock.start("flow-get", {"filter": {"top-by": 0, "top": 400}})
                read_some(sock)
        assert len(made.flows()) == 500


def test_two_dumps_at_once():
    with wire.wire() as made, made.socket(receive=8192) as one, made.socket(receive=8192) as other:
        made.send(frames_of(600))
        made.settled(600)
        one.start("flow-get")
        other.start("flow-get")
        rows = [], []
        for _ in range(4):
            rows[0].extend(read_some(one))
            rows[1].extend(read_some(other))
        for have, sock in zip(rows, (one, other)):
            assert set(wire.by_key(have + sock.finish("flow-get"))) == keys_of(600)


def test_second_dump_of_a_socket_is_refused():
    with wire.wire() as made, made.socket(receive=65536) as sock:
        made.send(frames_of(300))
        made.settled(300)
        sock.start("flow-get")
        genl.refused("EBUSY", sock.dump, "flow-get")


def churn(made, count, seconds):
    """Keeps the first flows alive, while others come and go by thousands."""
    alive, first = frames_of(count), 10000
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        made.send(alive)
        made.send(frames_of(200, first=first))
        first += 200


def that_lived(made, keys, begin):
    """Those that were not forgotten and made anew: a slow machine is slow to send."""
    now = made.flows()
    for key in keys & set(now):
        if now[key].get("age", 0) / 1000 + 2 > time.monotonic() - begin:
            yield key


def test_flows_that_live_are_told_once():
    count, seconds = 200, 12
    with wire.wire() as made:
        made.genl.do("limit-set", {"idle-timeout": 2})
        made.send(frames_of(count))
        begin = time.monotonic()
        pid = wire.child(lambda: churn(made, count, seconds))
        whole, gone = 0, set()
        end = time.monotonic() + seconds - 1
        with made.socket(receive=16384) as sock:
            while time.monotonic() < end:
                rows = sock.dump("flow-get")
                if sock.interrupted:
                    continue
                whole += 1
                keys = set(wire.by_key(rows))
                missing = list(that_lived(made, keys_of(count) - keys, begin))
                assert not missing, f"{len(missing)} are not told"
                gone |= keys
        wire.reap(pid)
        info = made.info()
        print(f"# {whole} dumps, {len(gone)} flows, {info['expired']} expired")
        assert whole >= 2 and info.get("expired", 0) > 0 and len(gone) > count + 200


# ---- or it is said -----------------------------------------------------------------

def forget_all(made):
    made.genl.do("limit-set", {"idle-timeout": 1})
    assert wire.wait_until(lambda: "flows" not in made.info())
    made.genl.do("limit-set", {"idle-timeout": 600})


@contextlib.contextmanager
def many_dumps(count=3000):
    """Dumps that stop at many places of buckets that have several flows each."""
    with parameter("max_flows", 1024), wire.wire() as made, contextlib.ExitStack() as stack:
        assert made.info()["buckets"] == 1024
        set_parameter("max_flows", 100000)
        made.send(frames_of(count))
        made.settled(count)
        socks = [stack.enter_context(made.socket(receive=4096)) for _ in range(6)]
        for number, sock in enumerate(socks):
            sock.start("flow-get")
            read_some(sock, number + 1)
        yield made, socks


def finish_all(socks):
    """How many were interrupted."""
    for sock in socks:
        sock.answers()
    return sum(sock.interrupted for sock in socks)


def test_dump_whose_place_has_gone_is_interrupted():
    with many_dumps() as (made, socks):
        forget_all(made)
        count = finish_all(socks)
        print(f"# {count} of {len(socks)}")
        assert count


def test_dump_whose_place_was_made_anew_is_interrupted():
    """The flow it stopped at is there, but at another place of its bucket."""
    with many_dumps() as (made, socks):
        forget_all(made)
        made.send(reversed(frames_of(3000)))
        made.settled(6000)
        count = finish_all(socks)
        print(f"# {count} of {len(socks)}")
        assert count


def test_dump_without_changes_is_not_interrupted():
    with wire.wire() as made, made.socket(receive=4096) as sock:
        made.send(frames_of(800))
        made.settled(800)
        sock.start("flow-get")
        rows = read_some(sock)
        # Others that come are no reason, nor is traffic.
        made.send(frames_of(1500))
        made.settled(2300)
        keys = set(wire.by_key(rows + sock.finish("flow-get")))
        assert not sock.interrupted and keys_of(800) <= keys <= keys_of(1500)


# ---- the right ones ------------------------------------------------------------------

def counter(row, name):
    if name == "rtt-max":
        return row.get("rtt", {}).get("longest", 0)
    return row.get(name, 0)


def test_top_is_the_top_of_all():
    with wire.wire() as made:
        wire.population(made)
        rows = list(made.flows().values())
        kinds = 0
        for name, number in genl.COUNTERS.items():
            if name.startswith("rate"):
                continue
            kinds += any(counter(row, name) for row in rows)
            want = sorted((counter(row, name) for row in rows), reverse=True)
            for top in (1, 2, 7, 51, 52, 1024):
                have = made.genl.dump("flow-get", {"filter": {"top-by": number, "top": top}})
                wire.by_key(have)
                assert [counter(row, name) for row in have] == want[:top], (name, top)
        assert kinds >= 14, kinds


def test_top_with_a_filter():
    with wire.wire() as made:
        wire.population(made)
        rows = [row["packets"] for row in made.flows().values() if len(row["saddr"]) == 4 and
                row["packets"] >= 5 and row.get("transport") == 3]
        have = made.genl.dump("flow-get", {"filter": {
            "transport": 3, "top-by": 0, "top": 5, "min": [{"counter": 0, "value": 5}]}})
        have = [row["packets"] for row in have if len(row["saddr"]) == 4]
        assert have == sorted(rows, reverse=True)[:len(have)]


def test_filters_are_as_filtered_by_hand():
    with wire.wire(pairs=2) as made:
        made.observe(device="recv1")
        second = made.index("recv1")
        made.send([wire.frame(wire.address(1), wire.address(250), 0x777)] * 3, end=1)
        made.settled(3)
        total = wire.population(made)
        assert made.settled(total + 3)["packets"] == total + 3
        wire.judged(made)
        made.genl.do("flow-set", {"filter": {"saddr": wire.address(2)}, "label": "two"})
        rows = list(made.flows().values())
        assert len(rows) == 53

        def ends(row):
            return row["saddr"], row["daddr"]

        cases = [
            ({}, lambda row: True),
            ({"ifindex": made.rx}, lambda row: row["ifindex"] == made.rx),
            ({"ifindex": second}, lambda row: row["ifindex"] == second),
            ({"ifindex": 9999}, lambda row: False),
            ({"point": genl.DEVICE}, lambda row: True),
            ({"point": genl.LOCAL_IN}, lambda row: False),
            ({"label": "two"}, lambda row: row.get("label") == "two"),
            ({"label": ""}, lambda row: "label" not in row),
            ({"congested": True}, lambda row: "congested" in row),
            ({"address": wire.address(1), "qpn": 0x777},
             lambda row: wire.address(1) in ends(row) and row["qpn"] == 0x777),
        ]
        for number in (1, 2, 3, 101, 250, 99):
            for make in (wire.address, wire.address6):
                address = make(number)
                cases += [({"address": address}, lambda row, a=address: a in ends(row)),
                          ({"saddr": address}, lambda row, a=address: row["saddr"] == a),
                          ({"daddr": address}, lambda row, a=address: row["daddr"] == a)]
        mapped = bytes(10) + b"\xff\xff" + wire.address(1)
        cases.append(({"saddr": mapped}, lambda row: row["saddr"] == wire.address(1)))
        for qpn in (0x100, 0x980, 0x900, 5):
            cases.append(({"qpn": qpn}, lambda row, q=qpn: q in (row["qpn"], row.get("peer-qpn"))))
        for transport in range(8):
            cases.append(({"transport": transport},
                          lambda row, t=transport: row.get("transport", 0) == t))
        for name, number in genl.COUNTERS.items():
            for value in (0, 1, 5, 300):
                if name.startswith("rate"):
                    continue
                cases.append(({"min": [{"counter": number, "value": value}]},
                              lambda row, n=name, v=value: counter(row, n) >= v))
        for filters, matches in cases:
            want = {wire.key_of(row) for row in rows if matches(row)}
            assert set(made.flows(filters)) == want, filters


# ---- resets ----------------------------------------------------------------------------

def test_reset_takes_what_the_filter_means():
    with wire.wire() as made:
        total = wire.population(made)
        rows = made.flows()
        mine = made.genl.dump("flow-reset", {"filter": {"saddr": wire.address(3)}})
        assert {wire.key_of(row) for row in mine} == \
            {key for key in rows if key[0] == wire.address(3)} and mine
        for row in mine:
            assert row["packets"] == rows[wire.key_of(row)]["packets"]
        for key, row in made.flows().items():
            assert row.get("packets", 0) == (0 if key[0] == wire.address(3) else
                                             rows[key]["packets"])
        assert made.info()["packets"] == total


def test_reset_loses_nothing_under_traffic():
    flows, rounds = 150, 60
    with wire.wire() as made:
        frames = frames_of(flows, ecn=wire.CE)
        size = wire.bytes_of(frames[0])

        def traffic():
            for _ in range(rounds):
                made.send(frames)

        made.send(frames)
        made.settled(flows)
        sums = {"packets": 0, "bytes": 0, "ce": 0}
        pid = wire.child(traffic)
        resets = highest = 0

        def add(rows):
            wire.by_key(rows)
            for row in rows:
                for name in sums:
                    sums[name] += row.get(name, 0)

        total = flows * (rounds + 1)
        while made.info()["packets"] < total:
            rows = made.genl.dump("flow-reset")
            assert not made.genl.interrupted
            add(rows)
            resets += 1
            # Neither back nor ahead, whatever is being reset.
            with made.socket() as sock:
                packets = sock.do("info-get")["packets"]
            assert highest <= packets <= total, (highest, packets, total)
            highest = packets
        wire.reap(pid)
        add(made.genl.dump("flow-get"))
        print(f"# {resets} resets")
        assert resets > 1
        assert sums == {"packets": total, "bytes": total * size, "ce": total}, sums
        assert (made.info()["packets"], made.info()["bytes"]) == (total, total * size)


def test_totals_never_go_back():
    """While flows are reset and forgotten all the time."""
    flows, seconds = 300, 6
    with wire.wire() as made:
        made.send(frames_of(flows) * 3)
        made.settled(flows * 3)

        def resets():
            end = time.monotonic() + seconds
            with made.socket() as sock:
                while time.monotonic() < end:
                    # No time is lost with reading what it tells.
                    sock.start("flow-reset")
                    while not any(kind == genl.NLMSG_DONE for kind, *_ in sock.receive()):
                        pass
                    made.send(frames_of(flows))

        pid = wire.child(resets)
        highest = samples = 0
        end = time.monotonic() + seconds - 0.5
        while time.monotonic() < end:
            packets = made.info()["packets"]
            assert packets >= highest, f"{packets} after {highest}"
            highest = packets
            samples += 1
        wire.reap(pid)
        print(f"# {samples} samples")
        assert samples > 5

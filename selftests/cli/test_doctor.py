# SPDX-License-Identifier: GPL-2.0
"""peerlane doctor: what it makes of what the library tells."""

from command import peerlane

SHORT = ("interval", "0.05")

# scene: severities of the checks that are not ok; the others have to be ok
SCENES = {
    None: {},
    "slow": {"link-rate": "warning", "mtu": "warning", "pci-link": "warning", "iommu": "note"},
    "infiniband": {"port-state": "warning", "ecn": None},
    "software": {"pfc": "note", "mtu": "note"},
    "container": {"port-readable": "unknown"},
    "other-netns": {"netdev": "unknown", "rdma-netns": "note"},
    "no-verbs": {},
    "ipv6-only": {},
    "link-local": {"gid": "warning"},
    "roce-v1": {"gid": "problem"},
    "losing": {"loss": "warning", "timeouts": "warning", "receiver": "warning", "ecn": "note"},
    "past": {"loss": "note", "timeouts": "note", "receiver": "note", "ecn": "note"},
    "cleared": {"loss": "note"},
    "no-counters": {"loss": "unknown", "timeouts": "unknown", "receiver": "unknown",
                    "ecn": "unknown"},
    "no-dcb": {"pfc": "unknown"},
    "pfc-off": {"pfc": "problem", "pause-storm": "unknown"},
    "pfc-wrong": {"pfc": "problem"},
    "pfc-many": {"pfc": "warning"},
    "global-pause": {"pfc": "warning", "global-pause": "warning"},
    "pcp": {"dscp-trust": "problem"},
    "old-kernel": {"dscp-trust": "unknown", "dscp-map": "note"},
    "unmapped": {"dscp-map": "warning", "pfc": "problem"},
    "one-class": {"ets": "warning"},
    "starved": {"ets": "warning"},
    "strict": {"ets": "note"},
    "storm": {"pause-storm": "problem"},
    "storm-no-time": {"pause-storm": "problem"},
    "pausing": {"pause-sent": "problem"},
    "vanish": {"pause-storm": "unknown"},
    "bare": {"rdma-device": "problem", "module": "warning", "memlock": "warning",
             "kernel-config": "unknown"},
    "small-kernel": {"kernel-device-pages": "problem", "kernel-dmabuf": "problem",
                     "kernel-dcb": "warning", "kernel-p2pdma": "note", "kernel-ingress": "note"},
}


def doctor(scene, *args):
    """Findings, and the exit status."""
    done = peerlane("-json", "doctor", *args, fake=scene)
    assert not done.err, done.err
    return done.json(), done.status


def make_test(scene, wanted):
    """One test function per scene."""
    def test():
        findings, status = doctor(scene, *SHORT)
        got = {each["id"]: each["severity"] for each in findings}
        bad = {name: what for name, what in got.items() if what != "ok"}
        for name, what in wanted.items():
            if what is None:
                assert name not in got, name
                continue
            assert bad.pop(name, None) == what, (name, got)
        assert not bad, bad
        serious = {"warning", "problem"} & set(got.values())
        assert status == (2 if serious else 0), status
        for each in findings:
            assert list(each) == ["id", "severity", "subject", "message", "seen", "remedy"], each
            assert each["message"] and each["seen"] and each["subject"], each
            assert each["remedy"] or each["severity"] not in serious, each
    test.__doc__ = f"doctor: {scene or 'a healthy node'}"
    return test


for case, what_is_wrong in SCENES.items():
    globals()[f"test_{case or 'healthy'}".replace("-", "_")] = make_test(case, what_is_wrong)


def test_bond():
    """doctor: each member of a bond is looked at"""
    findings, status = doctor("bond", *SHORT)
    pfc = {each["subject"]: each["severity"] for each in findings if each["id"] == "pfc"}
    assert pfc == {"mlx5_0/1 eth2": "ok", "mlx5_0/1 eth3": "problem"}, pfc
    assert status == 2


def test_dscp():
    """doctor: PFC is wanted for the priority of the DSCP that was named"""
    for dscp, severity in (("26", "ok"), ("0", "problem")):
        findings, _ = doctor(None, "dscp", dscp, *SHORT)
        assert [each["severity"] for each in findings if each["id"] == "pfc"] == [severity]
    findings, _ = doctor("old-kernel", "dscp", "34", *SHORT)
    (pfc,) = [each for each in findings if each["id"] == "pfc"]
    assert pfc["severity"] == "problem" and "priority 4" in pfc["message"], pfc
    assert "4:on" in pfc["remedy"], pfc


def test_filter():
    """doctor: only the device, or port, that was named"""
    for words, ports in ((["dev", "mlx5_1"], {"mlx5_1/1"}), (["dev", "mlx5_0/1"], {"mlx5_0/1"}),
                         (["dev", "mlx5_0/2"], set()), ([], {"mlx5_0/1", "mlx5_1/1"})):
        findings, _ = doctor("two", *words, *SHORT)
        got = {each["subject"].split()[0] for each in findings} - {"node"}
        assert got == ports, (words, got)


def test_one_sample():
    """doctor: interval 0 takes one sample and says nothing of pause frames"""
    findings, status = doctor("losing", "interval", "0")
    got = {each["id"]: each["severity"] for each in findings}
    assert "pause-storm" not in got and got["loss"] == "note" and status == 0, got


def test_all():
    """doctor: what is ok is printed when asked for"""
    short = peerlane("doctor", *SHORT).out.decode().splitlines()
    everything = peerlane("doctor", "all", *SHORT).out.decode().splitlines()
    assert len(short) == 1 and short[0] == everything[-1]
    assert sum(line.startswith("ok ") for line in everything) > 15


def test_refused():
    """doctor: a wrong command line is refused"""
    for words in ("dev", "dscp 64", "dscp x", "dscp -1", "interval x", "interval nan", "frob 1",
                  "dev mlx5_0/0", "dev mlx5_0/x", "interval 3601", "dscp", "d 1"):
        done = peerlane("doctor", *words.split())
        assert done.status == 1 and done.err and not done.out, words
    assert peerlane("doctor", fake="denied").status == 1

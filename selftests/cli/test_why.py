# SPDX-License-Identifier: GPL-2.0
"""peerlane why: what it makes of what the library tells."""

from command import peerlane


def why(*args, fake=None):
    """Findings, and the exit status."""
    done = peerlane("-json", "why", *args, fake=fake)
    return done.json(), done.status


def of(findings, name):
    """The only one with that id."""
    (one,) = [each for each in findings if each["id"] == name]
    return one


def test_interval():
    """why: what came in the interval is what counts, and what it costs is told"""
    findings, status = why("77", "interval", "0.3", fake="growing")
    assert status == 2, findings
    late = of(findings, "late")
    assert late["rank"] == 3 and late["subject"] == "rank 3" and late["weight"] >= 10, late
    assert "% of the time" in late["message"] and "of 100 segments in 0." in late["seen"], late
    assert "6ms after the first on average (the next latest 20us)" in late["seen"], late


def test_well():
    """why: where nobody is late the exit status is 0, and it is said"""
    done = peerlane("why", "77", "interval", "0", fake="well")
    assert done.status == 0 and b"no rank makes the others wait" in done.out, done.out
    findings, status = why("77", "interval", "0", fake="well")
    assert status == 0, findings
    assert not [each for each in findings if each["severity"] in ("warning", "problem")], findings


def test_absent_ranks():
    """why, group top: who has not joined is a problem, who left is none"""
    findings, status = why("77", "interval", "0", fake="forming")
    assert status == 2 and of(findings, "joining")["rank"] == 1, findings
    assert of(findings, "joining")["severity"] == "problem", findings
    assert of(findings, "left")["rank"] == 3 and of(findings, "left")["severity"] == "note", findings
    done = peerlane("-j", "group", "top", "77", "count", "1", fake="forming")
    assert [rank["state"] for rank in done.json()] == ["joined", "joining", "left"], done.out


def test_order():
    """why: the worst come first, then what weighs most; each has its fields"""
    findings, _ = why("77", "interval", "0", fake="marked")
    weights = [each["weight"] for each in findings]
    assert weights == sorted(weights, reverse=True), findings
    for each in findings:
        assert list(each) == ["id", "severity", "subject", "message", "seen", "remedy", "rank",
                              "weight"], each
        assert each["message"] and each["seen"], each
        assert each["remedy"] or each["severity"] not in ("warning", "problem"), each


def test_flows():
    """why: the flow of a late rank is told with it, and one of nobody is not"""
    findings, status = why("77", "interval", "0", fake="marked")
    late = of(findings, "late")
    assert "its flow to aggregator 5 has 2.00% CE marks, 31 packets sent again" in late["message"], late
    assert status == 2 and of(findings, "flow")["rank"] == 3
    assert of(findings, "pci-path")["rank"] == 0, findings


def test_missing():
    """why: what is not known is said, with how to know it"""
    unseen = of(why("77", "interval", "0", fake="unobserved")[0], "flows-seen")
    assert unseen["severity"] == "unknown" and "flow observe local on" in unseen["remedy"], unseen
    foreign = of(why("77", "interval", "0", fake="foreign")[0], "lateness-seen")
    assert "may not be looked at" in foreign["seen"] and "root" in foreign["remedy"], foreign


def test_refused():
    """why: no group, no module, no right: an error and no verdict"""
    for group, fake, status in (("78", None, 1), ("77", "absent", 4), ("77", "denied", 1)):
        done = peerlane("why", group, "interval", "0", fake=fake)
        assert done.status == status and not done.out and done.err, (group, fake, done.err)

# SPDX-License-Identifier: GPL-2.0
"""Whole output of each command, compared with golden/."""

from pathlib import Path

from command import peerlane

GOLDEN = Path(__file__).parent / "golden"

# name: arguments, and what the library answers
CASES = {
    "device-list": ("device list", None),
    "device-list-json": ("-json device list", None),
    "device-list-pretty": ("-json -pretty device list", None),
    "device-list-human": ("-human device list", None),
    "device-list-empty": ("device list", "empty"),
    "device-list-empty-json": ("-json device list", "empty"),
    "device-list-hostile": ("device list", "hostile"),
    "device-list-hostile-human": ("-human device list", "hostile"),
    "device-list-hostile-json": ("-json device list", "hostile"),
    "device-show": ("device show gpu0", None),
    "device-show-bare": ("device show dev npu1", None),
    "device-show-json": ("-json device show 01:00.0", None),
    "device-show-hostile": ("device show x", "hostile"),
    "device-show-unknown": ("device show gpu9", None),
    "device-show-unknown-json": ("-json device show gpu9", None),
    "device-bind": ("device bind 0000:03:00.0", None),
    "device-bind-json": ("-json device bind 0000:03:00.0 0000:04:00.0", None),
    "device-bind-busy": ("device bind 02:00.0 03:00.0", None),
    "device-bind-busy-json": ("-json device bind 02:00.0 03:00.0", None),
    "device-bind-force": ("device bind 02:00.0 force", None),
    "device-bind-no-function": ("device bind 0000:ff:1f.7", None),
    "device-unbind": ("device unbind gpu0", None),
    "device-unbind-json": ("-json device unbind gpu0", None),
    "device-unbind-refused": ("device unbind npu1", None),
    "device-unbind-leaving": ("-json device unbind 01:00.0", "leaving"),
    "device-unbind-gone": ("device unbind gpu0", "leaving"),
    "device-path": ("device path gpu0 03:00.1", None),
    "device-path-json": ("-json device path gpu0 03:00.1", None),
    "device-path-root-port": ("device path gpu0 03:00.2", None),
    "device-path-host-bridge": ("device path gpu0 03:00.3", None),
    "device-path-iommu": ("device path gpu0 03:00.4", None),
    "device-path-none": ("device path gpu0 81:00.5", None),
    "device-path-none-json": ("-json device path gpu0 81:00.5", None),
    "device-path-unknown": ("device path gpu0 03:00.0", None),
    "device-path-unknown-json": ("-json device path gpu0 03:00.0", None),
    "device-path-no-device": ("device path gpu9 03:00.0", None),
    "device-path-hostile": ("device path gpu0 03:00.1", "hostile"),
    "device-help": ("device help", None),
    "device-bind-help": ("device bind help", None),
    "doctor": ("doctor all interval 0", None),
    "doctor-json": ("-json doctor interval 0", None),
    "doctor-slow": ("doctor interval 0", "slow"),
    "doctor-pfc-wrong": ("doctor interval 0", "pfc-wrong"),
    "doctor-software": ("doctor interval 0", "software"),
    "doctor-bare": ("doctor", "bare"),
    "doctor-hostile": ("doctor interval 0 all", "hostile"),
    "doctor-hostile-json": ("-json doctor interval 0", "hostile"),
    "doctor-help": ("doctor help", None),
    "region-list": ("region list", None),
    "region-list-json": ("-json region list", None),
    "region-list-human": ("-human region list", None),
    "region-list-numeric": ("-Numeric region list pid 4242", None),
    "region-list-numeric-json": ("-Numeric -json region list pid 4242", None),
    "region-list-device": ("region list dev gpu0", None),
    "region-list-device-pci": ("region list dev 01:00.0 state limbo", None),
    "region-list-device-unknown": ("region list dev gpu9", None),
    "region-list-device-idle": ("region list dev npu1", None),
    "region-list-mapper": ("region list pid 77", None),
    "region-list-state": ("region list state active pid 78", None),
    "region-list-empty": ("region list", "empty"),
    "region-list-empty-json": ("-json region list", "empty"),
    "region-list-hostile": ("region list", "hostile"),
    "region-list-hostile-json": ("-json region list", "hostile"),
    "region-help": ("region help", None),
    "endpoint-list": ("endpoint list", None),
    "endpoint-list-human": ("-human endpoint list state connected", None),
    "endpoint-list-json": ("-json -pretty endpoint list pid 4242", None),
    "endpoint-list-empty": ("endpoint list", "empty"),
    "endpoint-list-hostile": ("endpoint list", "hostile"),
    "endpoint-list-hostile-json": ("-json endpoint list", "hostile"),
    "endpoint-list-wrong": ("endpoint list state open", None),
    "endpoint-show": ("endpoint show", None),
    "endpoint-show-one": ("-human endpoint show 2", None),
    "endpoint-show-json": ("-json endpoint show 18446744073709551615", None),
    "endpoint-show-none": ("endpoint show 7", None),
    "endpoint-show-hostile": ("endpoint show", "hostile"),
    "endpoint-help": ("endpoint help", None),
    "group-list": ("group list", None),
    "group-list-human": ("-human group list state joined", None),
    "group-list-json": ("-json -pretty group list pid 4243", None),
    "group-list-empty": ("group list", "empty"),
    "group-list-hostile": ("group list", "hostile"),
    "group-list-hostile-json": ("-json group list", "hostile"),
    "group-list-wrong": ("group list state open", None),
    "group-show": ("group show", None),
    "group-show-one": ("-human group show 77 pid 4242", None),
    "group-show-json": ("-json group show 0x4d pid 4242", None),
    "group-show-none": ("group show 78", None),
    "group-show-foreign": ("group show 77", "foreign"),
    "group-show-hostile": ("group show", "hostile"),
    "group-help": ("group help", None),
    "why": ("why 77 interval 0 all", None),
    "why-json": ("-json why 77 interval 0", None),
    "why-well": ("why 77 interval 0", "well"),
    "why-marked": ("why 0x4d interval 0", "marked"),
    "why-unobserved": ("why 77 interval 0", "unobserved"),
    "why-foreign": ("why 77 interval 0", "foreign"),
    "why-none": ("why 78 interval 0", None),
    "why-hostile": ("why 18446744073709551615 interval 0", "hostile"),
    "why-hostile-json": ("-json why 18446744073709551615 interval 0", "hostile"),
    "why-help": ("why help", None),
    "aggregator": ("aggregator --memory 16m --secret x", None),
    "aggregator-incomplete": ("-human aggregator -m 16m --secret x", "incomplete"),
    "aggregator-off": ("aggregator --memory 16m --secret x", "off"),
    "aggregator-no-address": ("-json aggregator --memory 16m --listen 10.0.0.9 --secret x", None),
    "aggregator-wrong": ("-json aggregator --memory 1k", None),
    "aggregator-help": ("aggregator help", None),
    "bench-help": ("bench help", None),
    "bench-wrong": ("-json bench put -s 0", None),
    "flow-list": ("flow list", None),
    "flow-list-human": ("-human flow list", None),
    "flow-list-json": ("-json flow list", None),
    "flow-list-pretty": ("-json -pretty flow list congested", None),
    "flow-list-empty": ("flow list", "empty"),
    "flow-list-unobserved": ("flow list", "unobserved"),
    "flow-list-unobserved-json": ("-json flow list", "unobserved"),
    "flow-list-incomplete": ("flow list congested", "incomplete"),
    "flow-list-missed": ("flow list congested", "missed"),
    "flow-list-hostile": ("flow list", "hostile"),
    "flow-list-hostile-json": ("-json flow list", "hostile"),
    "flow-show": ("flow show src 10.0.0.1", None),
    "flow-show-human": ("-human flow show src 10.0.0.1", None),
    "flow-show-json": ("-json flow show src 10.0.0.1", None),
    "flow-show-all": ("flow show", None),
    "flow-show-hostile": ("flow show", "hostile"),
    "flow-watch": ("flow watch count 1", None),
    "flow-reset": ("flow reset congested", None),
    "flow-observe": ("flow observe", None),
    "flow-observe-hostile": ("flow observe", "hostile"),
    "flow-limit": ("flow limit", None),
    "flow-limit-refused": ("flow limit threshold-on 1% threshold-off 2%", None),
    "flow-stats": ("flow stats", None),
    "flow-stats-missed": ("flow stats", "missed"),
    "flow-tcp": ("flow tcp", None),
    "flow-tcp-human": ("-human flow tcp", None),
    "flow-tcp-json": ("-json flow tcp", None),
    "flow-help": ("flow help", None),
    "events-help": ("events help", None),
    "metrics-help": ("metrics help", None),
    "help": ("help", None),
    "version-json": ("-json version", None),
    "list-cmds": ("--list-cmds", None),
}


def shown(args, fake):
    """One call as text."""
    done = peerlane(*args.split(), fake=fake)
    text = f"$ peerlane {args}\n" + done.out.decode("ascii")
    for line in done.err.decode("ascii").splitlines():
        text += f"[stderr] {line}\n"
    return text + f"[exit {done.status}]\n"


def write_all():
    """Replace golden/ by what the command prints now."""
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for name, (args, fake) in CASES.items():
        (GOLDEN / f"{name}.txt").write_text(shown(args, fake), encoding="ascii")


def make_test(name, args, fake):
    """One test function per case."""
    def test():
        want = (GOLDEN / f"{name}.txt").read_text(encoding="ascii")
        got = shown(args, fake)
        assert got == want, f"\nwant: {want}\ngot: {got}"
    test.__doc__ = f"golden: {name}"
    return test


for case, what in CASES.items():
    globals()[f"test_{case.replace('-', '_')}"] = make_test(case, *what)


def test_no_stray_golden():
    """golden: no file without a case"""
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)

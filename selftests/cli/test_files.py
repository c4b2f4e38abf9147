# SPDX-License-Identifier: GPL-2.0
"""What is installed beside the command, and the sources."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import command
import openmetrics
from command import TOP, environment, peerlane
from tap import Skip

PAGES = ["peerlane.8", "peerlane-aggregator.8", "peerlane-bench.8", "peerlane-device.8",
         "peerlane-doctor.8", "peerlane-endpoint.8", "peerlane-events.8", "peerlane-flow.8",
         "peerlane-group.8", "peerlane-metrics.8", "peerlane-region.8", "peerlane-why.8",
         "peerlane.4", "peerlane-netlink.7"]


def output(*args, **more):
    """Standard output and error of a tool, and its status."""
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    return done.returncode, done.stdout


def need(tool):
    """The tool, or a skip."""
    if not shutil.which(tool):
        raise Skip(f"no {tool}")


def page(name):
    """Text of a page as it is read."""
    return (TOP / "Documentation/man" / name).read_text(encoding="ascii")


def complete(*words):
    """What bash offers after these words; the last one is being typed."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _peerlane; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    env = environment()
    env["PATH"] = f"{command.OUT}/asan/bin:{env['PATH']}"
    status, text = output("bash", "-c", script, "bash",
                          str(TOP / "utils/completion/peerlane.bash"), "peerlane", *words, env=env)
    assert status == 0, text
    return [line for line in text.splitlines() if line]


def test_completion_commands():
    """completion: offers every command of every object"""
    wanted = {}
    for line in peerlane("--list-cmds").out.decode().splitlines():
        name, _, verb = line.partition(" ")
        wanted.setdefault(name, set()).update([verb] if verb else [])
    assert set(complete("")) == set(wanted)
    for name, verbs in wanted.items():
        assert set(complete(name, "")) == verbs or not verbs, name
    assert set(complete("doctor", "")) == {"dev", "dscp", "interval", "all", "help"}


def test_completion_words():
    """completion: prefixes, filters, states, options"""
    assert complete("dev") == ["device"]
    assert complete("-j", "dev") == ["device"]
    assert complete("device", "un") == ["unbind"]
    assert complete("region", "list", "") == ["dev", "pid", "state"]
    assert complete("region", "list", "state", "re") == ["revoked", "released"]
    assert "4242" in complete("region", "list", "pid", "")
    assert complete("region", "list", "state", "limbo", "p") == ["pid"]
    assert "-json" in complete("-")


def test_completion_flow():
    """completion: filters of flows and their values, words of events and metrics"""
    assert {"src", "dst", "pid", "sort", "congested"} <= set(complete("flow", "list", ""))
    assert complete("flow", "list", "src", "10.0.0.1") == ["10.0.0.1"]
    assert "17" in complete("flow", "show", "qpn", "") and "ud" in complete("flow", "list", "transport", "")
    assert complete("flow", "list", "sort", "by", "ret") == ["retransmitted", "retransmitted-bytes"]
    assert "interval" in complete("flow", "watch", "congested", "")
    assert "interval" not in complete("flow", "list", "")
    assert complete("flow", "label", "") == ["set", "clear"]
    assert "all" in complete("flow", "label", "set", "x", "")
    assert complete("flow", "observe", "") == ["local", "dev"]
    assert complete("flow", "observe", "local", "") == ["on", "off"]
    assert "lo" in complete("flow", "observe", "dev", "")
    assert complete("flow", "observe", "dev", "lo", "") == ["on", "off"]
    assert complete("flow", "limit", "id") == ["idle-timeout"]
    assert set(complete("events", "")) == {"current", "count", "timeout", "help"}
    assert complete("metrics", "print", "format", "p") == ["prometheus"]
    assert "interval" in complete("metrics", "textfile", "x", "")


def test_completion_endpoint():
    """completion: endpoints and their filters, options of bench"""
    assert complete("endpoint", "list", "") == ["pid", "state"]
    assert complete("endpoint", "list", "state", "c") == ["connecting", "connected", "closed"]
    assert complete("endpoint", "list", "pid", "") == ["4242"]
    assert complete("endpoint", "show", "2") == ["2"]
    assert complete("bench", "") == ["put", "get", "lat", "allreduce", "help"]
    assert complete("bench", "put", "host", "--hi") == ["--histogram"]
    assert complete("bench", "put", "-s", "64") == ["64k"]


def test_completion_group():
    """completion: groups, options of aggregator and of allreduce"""
    assert complete("group", "list", "state", "j") == ["joining", "joined"]
    assert complete("group", "show", "7") == ["77"]
    assert complete("group", "list", "pid", "424") == ["4242", "4243"]
    assert complete("group", "top", "77", "i") == ["interval"]
    assert complete("why", "7") == ["77"]
    assert complete("why", "77", "") == ["interval", "all"]
    assert complete("bench", "allreduce", "--tr") == ["--trace"]
    assert complete("aggregator", "--me") == ["--memory"]
    assert complete("bench", "allreduce", "--in") == ["--in-place"]
    assert complete("bench", "allreduce", "--type", "b") == ["bf16"]


def test_man_bench():
    """man: every option and JSON key of bench is described"""
    text = page("peerlane-bench.8")
    for option in re.findall(r"--([a-z-]+)", peerlane("bench", "help").out.decode()):
        assert re.search(rf"^\.It Fl .*-{option}\b", text, re.M), option
    for name in ("bench_report.c", "bench_reduce_report.c"):
        source = (TOP / "utils" / name).read_text(encoding="ascii")
        for key in re.findall(r'"([a-z_]+)"', source):
            if key not in ("put", "get", "lat"):
                assert re.search(rf"\b{key}\b", text), key


def test_man_aggregator():
    """man: every option and JSON key of aggregator is described"""
    text = page("peerlane-aggregator.8")
    for option in re.findall(r"--([a-z-]+)", peerlane("aggregator", "help").out.decode()):
        assert re.search(rf"^\.It Fl .*-{option}\b", text, re.M), option
    for line in peerlane("aggregator", "-m", "1m", "-j", "--secret", "x").out.splitlines():
        for key in json.loads(line):
            assert re.search(rf"^\.Li {key}\b", text, re.M), key


def test_completion_lint():
    """completion: shellcheck"""
    need("shellcheck")
    status, text = output("shellcheck", "-s", "bash", str(TOP / "utils/completion/peerlane.bash"))
    assert status == 0, text


def test_man_lint():
    """man: mandoc has no warning"""
    need("mandoc")
    for name in PAGES:
        status, text = output("mandoc", "-T", "lint", "-W", "warning",
                              str(TOP / "Documentation/man" / name))
        assert status == 0 and not text, text


def test_man_sections():
    """man: EXAMPLES, and EXIT STATUS for commands"""
    for name in PAGES:
        assert name.endswith(".7") or ".Sh EXAMPLES\n" in page(name), name
        assert not name.endswith(".8") or ".Sh EXIT STATUS\n" in page(name), name


def test_man_complete():
    """man: every command, option and JSON key is described"""
    for line in peerlane("--list-cmds").out.decode().splitlines():
        name, _, verb = line.partition(" ")
        if verb and verb != "help":
            assert f".Ss peerlane {name} {verb}\n" in page(f"peerlane-{name}.8"), line
    for option in ["json", "pretty", "human", "Numeric", "color", "Version", "help", "list-cmds"]:
        assert f"Fl {option}" in page("peerlane.8"), option
    for args, name in [("device list", "peerlane-device.8"), ("region list", "peerlane-region.8"),
                       ("device path gpu0 03:00.1", "peerlane-device.8"),
                       ("endpoint list", "peerlane-endpoint.8"), ("group list", "peerlane-group.8"),
                       ("flow list", "peerlane-flow.8"), ("flow stats", "peerlane-flow.8"),
                       ("flow tcp", "peerlane-flow.8"), ("flow observe", "peerlane-flow.8"),
                       ("flow label clear all", "peerlane-flow.8"),
                       ("flow pair", "peerlane-flow.8")]:
        for key in peerlane("-j", *args.split()).json()[0]:
            assert re.search(rf"^\.(.*[ ,])?Li (.* )?{key}\b", page(name), re.M), (args, key)
    for key in json.loads(peerlane("-j", "events", "count", "1").out):
        assert f"Li {key} " in page("peerlane-events.8"), key


def test_man_metrics():
    """man: every family of metrics is described"""
    text = page("peerlane-metrics.8")
    for name in openmetrics.parse(peerlane("metrics").out.decode("utf-8")):
        if name.startswith("peerlane_port_hw_"):
            name = "peerlane_port_hw_NAME"
        short = re.sub("^peerlane_flow(s?)_", "_", name)
        assert name in text or f"{short}_total" in text, name


def test_man_parameters():
    """man: every module parameter is in peerlane.4 and in the modprobe file"""
    sources = list((TOP / "kmod").glob("*.c"))
    if not sources:
        raise Skip("no kmod")
    names = set()
    for source in sources:
        text = source.read_text(encoding="utf-8")
        names.update(re.findall(r"^module_param(?:_named)?\((\w+),", text, re.M))
    options = (TOP / "utils/modprobe/peerlane.conf").read_text(encoding="ascii")
    for name in names:
        assert f".It Va {name}\n" in page("peerlane.4"), name
        assert f"options peerlane {name}=" in options, name
    assert set(re.findall(r"options peerlane (\w+)=", options)) == names


def rules():
    """Lines of the udev rule that do something."""
    text = (TOP / "utils/udev/60-peerlane.rules").read_text(encoding="ascii")
    return text, [line for line in text.splitlines() if line and line[0] != "#"]


def test_udev_mode():
    """udev: group peerlane, mode 0660, nothing for others anywhere"""
    text, lines = rules()
    assert lines == ['SUBSYSTEM=="peerlane", GROUP="peerlane", MODE="0660"']
    for mode in re.findall(r'MODE[:]?="?(\d+)', text):
        assert int(mode, 8) & 0o007 == 0, mode


def udev_complaints(text):
    """What udev says about a rule file with this text."""
    path = Path("/run/udev/rules.d/60-peerlane-selftest.rules")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(text, encoding="ascii")
        _, said = output("udevadm", "test", "--action=add", "/sys/class/net/lo")
    finally:
        path.unlink()
    about = [line for line in said.splitlines() if path.name in line]
    if not about:
        raise Skip("udevadm test does not read rules here")
    return [line for line in about
            if "Reading rules file" not in line and "Unknown group 'peerlane'" not in line]


def test_udev_read():
    """udev: the rule is read without complaint, a wrong one is not"""
    need("udevadm")
    if os.geteuid() or not os.path.isdir("/sys/class/net/lo"):
        raise Skip("needs root and sysfs")
    status, said = output("udevadm", "verify", "--resolve-names=never",
                          str(TOP / "utils/udev/60-peerlane.rules"))
    assert status == 0 or "Unknown command" in said, said     # udev < 254 has none
    text, _ = rules()
    assert not udev_complaints(text), udev_complaints(text)
    assert udev_complaints(text + 'SUBSYSTEM=="peerlane", MOOD="0660"\n')


def test_sysusers():
    """sysusers: makes the group"""
    need("systemd-sysusers")
    root = command.OUT / "sysusers"
    shutil.rmtree(root, ignore_errors=True)
    (root / "etc").mkdir(parents=True)
    status, text = output("systemd-sysusers", f"--root={root}",
                          str(TOP / "utils/sysusers.d/peerlane.conf"))
    assert status == 0, text
    assert "\npeerlane:x:" in "\n" + (root / "etc/group").read_text(encoding="ascii")


def test_modprobe():
    """modprobe: the file is all comments, and is read without complaint"""
    path = TOP / "utils/modprobe/peerlane.conf"
    for line in path.read_text(encoding="ascii").splitlines():
        assert not line or line.startswith("#"), line


def test_install():
    """install: all files, with their modes, and no search path in the command"""
    root = command.OUT / "root"
    wanted = {
        "usr/sbin/peerlane": 0o755,
        "usr/lib/udev/rules.d/60-peerlane.rules": 0o644,
        "usr/lib/sysusers.d/peerlane.conf": 0o644,
        "usr/lib/modprobe.d/peerlane.conf": 0o644,
        "usr/share/bash-completion/completions/peerlane": 0o644,
        **{f"usr/share/man/man{name[-1]}/{name}": 0o644 for name in PAGES},
    }
    found = {str(path.relative_to(root)): path.stat().st_mode & 0o7777
             for path in root.rglob("*") if path.is_file()}
    assert found == wanted, found
    _, text = output("readelf", "-d", str(root / "usr/sbin/peerlane"))
    assert "RUNPATH" not in text and "RPATH" not in text, text
    assert "[libpeerlane.so.0]" in text, text


def test_build_tree():
    """build: the command in the build tree finds the library beside it"""
    env = environment()
    del env["LD_LIBRARY_PATH"]
    status, text = output(str(command.OUT / "plain/bin/peerlane"), "-V", env=env)
    assert status == 0 and "libpeerlane 9.8.7" in text, text
    wanted = (TOP / "VERSION").read_text(encoding="ascii").strip()
    assert text.startswith(f"peerlane {wanted},"), text


def test_sources():
    """sources: SPDX, 500 lines at most, public API only"""
    paths = [path for path in (TOP / "utils").rglob("*") if path.is_file()]
    assert len(paths) > 10
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "SPDX-License-Identifier: GPL-2.0" in "\n".join(text.split("\n")[:2]), path
        assert text.count("\n") <= 500, path
        for include in re.findall(r'#include [<"]([^>"]+)', text):
            assert "uapi" not in include and "private" not in include \
                and not include.startswith(("linux/", "../", "sys/ioctl")), (path, include)

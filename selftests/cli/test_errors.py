# SPDX-License-Identifier: GPL-2.0
"""What the library refuses: exit status and message."""

import os
import shutil
import subprocess
import tempfile

from command import binary, environment, peerlane

CALLS = ["device list", "device show gpu0", "device bind 03:00.0", "device unbind gpu0",
         "device path gpu0 03:00.1", "region list", "flow list", "flow show", "flow watch count 1",
         "flow reset", "flow label clear all", "flow pair", "flow observe", "flow limit", "flow stats",
         "flow tcp", "events count 1", "endpoint list", "endpoint show", "bench put", "bench get",
         "bench lat 10.0.0.2 --secret x", "group list", "group show", "aggregator -m 16m --secret x",
         "bench allreduce --rank 0 --size 1 -a 10.0.0.1 --secret x"]
SCENES = {
    "absent": (4, "ENOENT", "the peerlane module is not loaded"),
    "denied": (1, "EACCES", "Permission denied"),
    "interrupted": (3, "EMSGSIZE", "it grows too fast"),
    "silent": (1, "EIO", "Input/output error"),
}


def test_status():
    """errors: exit status and the library's reason, for each command"""
    for scene, (status, _, reason) in SCENES.items():
        for args in CALLS:
            done = peerlane(*args.split(), fake=scene)
            assert done.status == status, (scene, args, done.status)
            assert not done.out and reason in done.err.decode(), (scene, args, done.err)
            assert done.err.count(b"\n") == 1, (scene, args, done.err)


def test_status_json():
    """errors: the same with -json, as an object on stderr"""
    for scene, (status, name, reason) in SCENES.items():
        for args in CALLS:
            done = peerlane("-j", *args.split(), fake=scene)
            assert done.status == status and not done.out, (scene, args)
            (error,) = done.errors()
            assert error["errno"] == name and error["exit"] == status, error
            assert reason in error["error"], error


def test_absent_said_once():
    """errors: an absent module is told once, not per address"""
    done = peerlane("device", "bind", "1:0.0", "2:0.0", "3:0.0", fake="absent")
    assert done.status == 4 and done.err.count(b"\n") == 1


def test_no_function_is_not_absent():
    """errors: ENOENT for a PCI function is exit 1 while the module is there"""
    assert peerlane("device", "bind", "0000:ff:1f.7").status == 1
    assert peerlane("device", "bind", "0000:ff:1f.7", fake="absent").status == 4


def test_partial_bind():
    """errors: one refused address does not hide the others"""
    done = peerlane("-j", "device", "bind", "03:00.0", "02:00.0", "04:00.0")
    assert done.status == 1
    assert [device["pci"] for device in done.json()] == ["03:00.0", "04:00.0"]
    assert [error["errno"] for error in done.errors()] == ["EBUSY"]


def test_full_disk():
    """errors: a write error on stdout is exit 1"""
    for args in CALLS:
        if args == "device unbind gpu0" or args.startswith(("bench", "aggregator")):
            continue
        with open("/dev/full", "wb") as full:
            done = peerlane(*args.split(), stdout=full)
        assert done.status == 1 and b"No space left" in done.err, (args, done.err)


def test_hint_to_others():
    """errors: who is not root is told that an empty list may be his own only"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tool = shutil.copy(binary(), folder)
        env = environment("empty")
        shutil.copy(f"{env['LD_LIBRARY_PATH']}/libpeerlane.so.0", folder)
        env["LD_LIBRARY_PATH"] = folder
        user = None if os.geteuid() else 65534
        done = subprocess.run([tool, "region"], env=env, user=user, capture_output=True,
                              check=False)
    assert done.returncode == 0 and b"root sees those of all users" in done.stderr, done.stderr

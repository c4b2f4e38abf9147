# SPDX-License-Identifier: GPL-2.0
"""Both sides of peerlane bench; their connection is a TCP one of this host."""

import contextlib
import json
import os
import pty
import signal
import socket
import subprocess
import time

from command import binary, environment, peerlane

SECRET = {"PEERLANE_SECRET": "words of a test"}


def free_port():
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def listens(port):
    """Whether somebody waits there; looked up, as a try would be a peer."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        return any(line.split()[1].endswith(f":{int(port):04X}") and line.split()[3] == "0A"
                   for line in table.readlines()[1:])


@contextlib.contextmanager
def server(port, *args, fake=None, **env):
    """The side that waits."""
    with subprocess.Popen([binary(), "bench", "put", "-p", port, *args],
                          env=environment(fake, **{**SECRET, **env}), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            for _ in range(200):
                if listens(port) or process.poll() is not None:
                    break
                time.sleep(0.05)
            yield process
            process.err = process.communicate(timeout=60)[1].decode()
        finally:
            process.kill()
    assert "ERROR: AddressSanitizer" not in process.err and "runtime error" not in process.err, process.err


def measure(*args, fake=None, served=(), status=0):
    """What the connecting side did, after the other one ended well."""
    port = free_port()
    with server(port, *served, fake=fake) as process:
        done = peerlane("bench", args[0], "10.0.0.2", "-p", port, *args[1:], fake=fake, **SECRET)
    assert done.status == status, (done.status, done.err)
    assert process.returncode == 0, process.err
    return done


def rows(*args, **more):
    """The same as JSON."""
    return measure(*args, "-j", **more).json()


def test_put():
    """bench put: every byte arrives, and is counted"""
    (row,) = rows("put", "-s", "4k", "-n", "500", "--check")
    assert row["test"] == "put" and row["size"] == 4096 and row["ops"] == 500
    assert row["bytes"] == 500 * 4096 and row["wrong_bytes"] == 0
    assert row["bytes_per_second"] == row["bytes"] * 10**9 // row["ns"]
    times = row["latency_ns"]
    assert times["min"] <= times["p50"] <= times["p99"] <= times["p99_9"] <= times["max"]


def test_get():
    """bench get: likewise"""
    (row,) = rows("get", "-s", "64k", "-n", "50", "--check", served=("--device", "gpu0"))
    assert row["ops"] == 50 and row["wrong_bytes"] == 0


def test_both_ways():
    """bench -b: both sides send, and both are checked"""
    (row,) = rows("put", "-s", "4k", "-n", "100", "-b", "--check", "--flush")
    assert row["ops"] == 200 and row["bytes"] == 200 * 4096 and row["wrong_bytes"] == 0


def test_several_sizes():
    """bench -s: one row for each size, in their order"""
    assert [row["size"] for row in rows("put", "-s", "64k,8,4k", "-n", "10", "--check")] == \
        [65536, 8, 4096]


def test_fewer_operations_than_room():
    """bench --check: only what was written is looked at"""
    (row,) = rows("put", "-s", "8,64k", "-n", "1", "--check")[:1]
    assert row["ops"] == 1 and row["wrong_bytes"] == 0


def test_lists():
    """bench -l: one call begins a whole list"""
    (row,) = rows("put", "-s", "8", "-n", "640", "-t", "64", "-l", "16")
    assert row["ops"] == 640 and row["calls"] <= 60, row


def test_separate():
    """bench --separate: beginning and waiting are two calls"""
    (one,) = rows("put", "-s", "8", "-n", "200", "-t", "1")
    (two,) = rows("put", "-s", "8", "-n", "200", "-t", "1", "--separate")
    assert one["calls"] == 200 and two["calls"] == 400, (one["calls"], two["calls"])


def test_quiet():
    """bench --quiet: few are told to be done, and all are counted"""
    (row,) = rows("put", "-s", "8", "-n", "100", "-t", "32", "--quiet", "8", "--histogram")
    told = sum(bucket["samples"] for bucket in row["histogram"])
    assert row["ops"] == 100 and 12 <= told <= 14, (row["ops"], told)


def test_lat():
    """bench lat: each put is answered, by one call"""
    (row,) = rows("lat", "-n", "200", "--check")
    assert row["ops"] == 200 and row["size"] == 8 and row["calls"] <= 210, row


def test_lat_memory():
    """bench lat --poll-memory: the answer is seen in memory"""
    (row,) = rows("lat", "-n", "20", "--poll-memory")
    assert row["ops"] == 20


def test_lat_flush():
    """bench lat --flush: put and flush are one call"""
    (row,) = rows("lat", "-n", "50", "--flush", "--check")
    assert row["ops"] == 50 and row["calls"] <= 55, row


def test_duration():
    """bench -D: ends by time"""
    begin = time.monotonic()
    (row,) = rows("put", "-s", "8", "-D", "1")
    assert row["ns"] >= 10**9 and time.monotonic() - begin < 20


def test_table():
    """bench: a table for people, and a histogram"""
    lines = measure("put", "-s", "4k", "-n", "100", "--histogram").out.decode().splitlines()
    assert lines[0].split()[:4] == ["SIZE", "OPS", "MiB/s", "OPS/s"], lines
    assert lines[1].split()[:2] == ["4096", "100"], lines
    assert lines[3] == "4096 bytes" and any("#" in line for line in lines[4:]), lines


def test_wrong_bytes():
    """bench --check: a wrong byte is exit 2"""
    done = measure("put", "-s", "4k", "-n", "10", "--check", fake="corrupt", status=2)
    assert b"bytes are wrong" in done.err, done.err
    assert not measure("put", "-s", "4k", "-n", "10", fake="corrupt").err


def test_other_secret():
    """bench: another secret is refused, and the right one is served after it"""
    port = free_port()
    with server(port) as process:
        done = peerlane("bench", "put", "10.0.0.2", "-p", port, PEERLANE_SECRET="wrong")
        assert done.status == 1 and b"another secret" in done.err, done.err
        assert peerlane("bench", "put", "10.0.0.2", "-p", port, "-n", "1", **SECRET).status == 0
    assert process.returncode == 0, process.err


def test_made_secret():
    """bench: who waits makes a secret up, and says it"""
    port = free_port()
    with server(port, PEERLANE_SECRET="") as process:
        words = process.stderr.readline().decode().split()
        assert len(words[-1]) == 32 and words[-2] == "secret", words
        done = peerlane("bench", "put", "10.0.0.2", "-p", port, "-n", "1", "--secret", words[-1])
        assert done.status == 0, done.err


def test_no_secret():
    """bench: who connects has to know it"""
    done = peerlane("bench", "put", "10.0.0.2")
    assert done.status == 1 and b"a secret is needed" in done.err, done.err


def test_nobody():
    """bench: nobody listens"""
    done = peerlane("bench", "put", "10.0.0.2", "-p", free_port(), **SECRET)
    assert done.status == 1 and b"nobody listens there" in done.err and not done.out, done.err


def test_no_memory_here():
    """bench: the reason when this side has no memory"""
    port = free_port()
    with server(port) as process:
        done = peerlane("bench", "put", "10.0.0.2", "-p", port, "--device", "gpu9", **SECRET)
        assert done.status == 1 and b"no memory device gpu9" in done.err, done.err
    assert process.returncode == 0, process.err


def test_no_memory_there():
    """bench: the reason when the other side has none"""
    port = free_port()
    with server(port, "--device", "gpu9") as process:
        done = peerlane("bench", "put", "10.0.0.2", "-p", port, **SECRET)
        assert done.status == 1 and b"the other side: no memory device gpu9" in done.err, done.err
    assert process.returncode == 1, process.err


def test_interrupt():
    """bench: an interrupt prints what there is, exit 3; the other side ends well"""
    port = free_port()
    with server(port) as waiting:
        with subprocess.Popen([binary(), "bench", "put", "h", "-p", port, "-j", "-D", "60"],
                              env=environment(None, **SECRET), stdout=subprocess.PIPE) as process:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            (row,) = json.loads(process.communicate(timeout=30)[0])
    assert process.returncode == 3 and row["ops"] > 0, (process.returncode, row)
    assert waiting.returncode == 0, waiting.err


def test_progress():
    """bench: a terminal is shown how far it is, and left with an empty line"""
    port = free_port()
    master, slave = pty.openpty()
    with server(port):
        with subprocess.Popen([binary(), "bench", "put", "h", "-p", port, "-D", "2"],
                              env=environment(None, **SECRET), stdout=subprocess.DEVNULL,
                              stderr=slave) as process:
            process.wait(timeout=60)
    said = os.read(master, 65536)
    os.close(master)
    os.close(slave)
    assert b"\r65536 bytes: " in said and said.endswith(b"\r\x1b[K"), said


def test_server_interrupted():
    """bench: an interrupt ends who waits for nothing"""
    with server(free_port()) as process:
        process.send_signal(signal.SIGINT)
    assert process.returncode == 1 and "Interrupted" in process.err, process.err


def test_server_ends():
    """bench: the other side's end is told, with what was measured before"""
    port = free_port()
    with server(port) as waiting:
        with subprocess.Popen([binary(), "bench", "put", "h", "-p", port, "-j", "-s", "8,64k", "-n", "1"],
                              env=environment(None, **SECRET), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            assert process.wait(timeout=30) == 0
        assert waiting.wait(timeout=30) == 0
    with server(port) as waiting:
        with subprocess.Popen([binary(), "bench", "put", "h", "-p", port, "-D", "60"],
                              env=environment(None, **SECRET), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            time.sleep(1)
            waiting.kill()
            _, said = process.communicate(timeout=30)
    assert process.returncode == 1 and said, (process.returncode, said)


def test_usage():
    """bench: a wrong command line is exit 1, one line, nothing on stdout"""
    for args, reason in [("-x", "unknown"), ("-s", "needs a value"), ("-s 0", "sizes"),
                         ("-n 1 -D 1", "exclude"), ("a b", "one host"), ("--device=", "empty")]:
        done = peerlane("bench", "put", *args.split(), **SECRET)
        assert done.status == 1 and not done.out, (args, done.out)
        assert reason in done.err.decode() and done.err.count(b"\n") == 1, (args, done.err)


def test_help():
    """bench: help in every form"""
    texts = {peerlane("bench", *args.split()).out
             for args in ("help", "--help", "-h", "-help")}
    assert len(texts) == 1 and b"--histogram" in texts.pop()
    assert b"--histogram" in peerlane("bench", "put", "help").out
    assert b"--histogram" in peerlane("bench", "put", "--help").out

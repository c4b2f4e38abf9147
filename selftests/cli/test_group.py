# SPDX-License-Identifier: GPL-2.0
"""peerlane aggregator and peerlane bench allreduce, against canned answers."""

import json
import signal
import subprocess
import tempfile
from pathlib import Path

from command import binary, environment, peerlane

SECRET = {"PEERLANE_SECRET": "words of a test"}
ALONE = ("bench", "allreduce", "--rank", "0", "--size", "1", "-a", "10.0.0.1")


def rows(*args, **more):
    """What a group of one rank measured."""
    done = peerlane(*ALONE, "-j", *args, **SECRET, **more)
    assert done.status == 0, done.err
    return done.json()


def test_sizes():
    """allreduce: sizes grow by the factor, each with its count"""
    got = rows("-b", "8", "-e", "4k", "-f", "8", "-n", "3", "-w", "0")
    assert [row["size"] for row in got] == [8, 64, 512, 4096], got
    assert [row["count"] for row in got] == [2, 16, 128, 1024], got
    assert all(row["ops"] == 3 and row["errors"] is None for row in got), got


def test_figures():
    """allreduce: algbw is size by time; the bus of one rank is idle; bytes are counted"""
    (row,) = rows("-b", "1m", "-n", "4", "--check")
    assert abs(row["algbw"] - row["size"] / row["time_ns"]) < 1e-6 * row["algbw"]
    assert row["busbw"] == 0 and row["errors"] == 0, row
    assert row["wire_sent"] == row["wire_received"] == 1 << 20, row
    times = row["latency_ns"]
    assert times["min"] <= times["p50"] <= times["p99"] <= times["max"], row


def test_trace():
    """allreduce --trace: Chrome's events, one slice an operation, its phases within"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rank0.json"
        rows("-b", "4k", "-e", "8k", "-n", "3", "-w", "1", "--group", "9", "--trace", str(path))
        events = json.loads(path.read_text(encoding="ascii"))
    names = [event for event in events if event["ph"] == "M"]
    assert names[0]["args"]["name"] == "rank 0 of 1, group 9", names
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) + len(names) == len(events) and len(slices) == 3 * 6, events
    for event in slices:
        assert event["pid"] == 0 and event["tid"] == 0, event
        assert event["ts"] >= 0 and event["dur"] >= 0, event
    before = 0
    for number in range(6):
        whole, submit, wait = slices[3 * number:3 * number + 3]
        assert [one["name"] for one in (whole, submit, wait)] == ["all-reduce", "submit", "wait"]
        assert whole["args"] == {"operation": number, "bytes": 4096 if number < 3 else 8192}, whole
        assert whole["ts"] >= before and submit["ts"] == whole["ts"], whole
        ends = [one["ts"] + one["dur"] for one in (whole, submit, wait)]
        assert abs(submit["ts"] + submit["dur"] - wait["ts"]) < 0.01, (submit, wait)
        assert abs(ends[0] - ends[2]) < 0.01, (whole, wait)
        before = ends[0] - 0.01


def test_trace_of_no_place():
    """allreduce --trace: a file that cannot be made is said before the group is joined"""
    done = peerlane(*ALONE, "--trace", "/proc/no/such", "-n", "1", **SECRET)
    assert done.status == 1 and b"/proc/no/such: " in done.err and not done.out, done.err
    done = peerlane(*ALONE, "--trace", "/dev/full", "-n", "1", **SECRET)
    assert done.status == 1 and b"No space left" in done.err, done.err


def test_types():
    """allreduce: each type and operation is checked"""
    for kind in "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64".split():
        ops = ["sum", "avg", "min", "max", "prod"]
        if "f" not in kind:
            ops += ["band", "bor", "bxor"]
        for op in ops:
            (row,) = rows("-b", "20000", "-n", "1", "-w", "0", "--check", "--type", kind,
                          "--op", op, "--in-place")
            assert row["errors"] == 0 and row["type"] == kind and row["op"] == op, row


def test_wrong():
    """allreduce --check: a wrong element is exit 2; unchecked it is not seen"""
    done = peerlane(*ALONE, "-b", "64k", "-n", "1", "--check", fake="corrupt", **SECRET)
    assert done.status == 2 and b"1 elements are wrong" in done.err, done.err
    assert rows("-b", "64k", "-n", "1", fake="corrupt")[0]["errors"] is None


def test_table():
    """allreduce: rank 0 prints a table as nccl-tests do"""
    done = peerlane(*ALONE, "-b", "1m", "-n", "2", "--check", **SECRET)
    lines = done.out.decode().splitlines()
    assert lines[0] == "all-reduce, 1 ranks, out of place", lines
    assert lines[1].split()[:9] == "SIZE COUNT TYPE OP WAY TIME ALGBW BUSBW ERRORS".split(), lines
    assert lines[2].split()[:5] == ["1048576", "262144", "f32", "sum", "shared"], lines


def test_placement():
    """allreduce --placement: who computes, and how many operations were replicated"""
    (row,) = rows("-b", "8", "-n", "4", "-w", "0", "--placement", "replicated")
    assert row["placement"] == "replicated" and row["ops_replicated"] == row["ops"] == 4, row
    (row,) = rows("-b", "8", "-n", "4")
    assert row["placement"] == "auto" and row["ops_replicated"] == 0, row
    done = peerlane(*ALONE, "-b", "8", "-n", "2", "--placement", "replicated", **SECRET)
    assert done.out.decode().splitlines()[2].split()[4] == "replicated", done.out


def test_launchers():
    """allreduce: rank, size and aggregators of whoever started it"""
    for env in ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
                {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, {"RANK": "0", "WORLD_SIZE": "1"},
                {"PEERLANE_RANK": "0", "PEERLANE_SIZE": "1"}):
        done = peerlane("bench", "allreduce", "-j", "-n", "1", PEERLANE_AGGREGATORS="10.0.0.1",
                        **SECRET, **env)
        assert done.status == 0 and done.json()[0]["ranks"] == 1, done.err
    done = peerlane("bench", "allreduce", "-a", "x", PEERLANE_RANK="4", PEERLANE_SIZE="4", **SECRET)
    assert done.status == 1 and b"PEERLANE_RANK is \"4\"" in done.err, done.err


def test_missing():
    """allreduce: what is missing is said"""
    for args, env, reason in (
            (["-a", "x"], SECRET, b"which rank is this?"),
            (["--rank", "0", "--size", "1"], SECRET, b"where are the aggregators?"),
            (["--rank", "0", "--size", "1", "-a", "x"], {}, b"a secret is needed")):
        done = peerlane("bench", "allreduce", *args, **env)
        assert done.status == 1 and reason in done.err and not done.out, (args, done.err)


def test_refusals():
    """allreduce: the library's reason, when nobody listens, comes, or is late"""
    for args, fake, reason in (
            (ALONE[2:-1] + ("nobody",), None, b"nobody listens at 10.0.0.9:18517 (ECONNREFUSED)"),
            (("--rank", "0", "--size", "2", "-a", "x"), None, b"rank 1 did not join"),
            (ALONE[2:], "late", b"operation 7: rank 3 is late"),
            (ALONE[2:], "memlock", b"RLIMIT_MEMLOCK")):
        done = peerlane("bench", "allreduce", *args, fake=fake, **SECRET)
        assert done.status == 1 and reason in done.err and not done.out, (args, done.err)


def test_usage():
    """allreduce: a wrong command line is exit 1, one line, nothing on stdout"""
    for args, reason in [
            ("-x", "unknown"), ("-b", "needs a value"), ("-b 0", "-b is a size"), ("-e x", "-e is a size"),
            ("-b 8 -e 4", "-e is less"), ("-b 2", "less than one element"), ("-f 1", "factor"),
            ("-n 0", "-n is"), ("--size 0", "--size is"), ("--size 1025", "--size is"),
            ("--rank -1", "--rank is"), ("--rank 2 --size 2", "counted from 0"), ("--rank 0", "both"),
            ("--size 2", "both"), ("--type f31", "--type is"), ("--op mean", "--op is"),
            ("--op bor", "of integers"), ("--segment 5000", "--segment is"), ("--window 0", "--window is"),
            ("--block 1", "--block is"), ("--placement forest", "--placement is"),
            ("--device=", "empty"), ("--aggregator=", "--aggregator is"),
            ("-a " + "x" * 4095, "--aggregator is")]:
        done = peerlane("bench", "allreduce", *args.split(), **SECRET)
        assert done.status == 1 and not done.out, (args, done.out)
        assert reason in done.err.decode() and done.err.count(b"\n") == 1, (args, done.err)


def test_aggregator_usage():
    """aggregator: likewise"""
    for args, reason in [
            ("", "--memory SIZE"), ("-x", "unknown"), ("--memory", "needs a value"),
            ("-m 1k", "at least 64k"), ("-m 0", "is a size"), ("-m 99999t", "is a size"),
            ("-m 1m x", "only options"),
            ("-m 1m --max-groups 0", "--max-groups"), ("-m 1m --timeout 99", "--timeout"),
            ("-m 1m --join-timeout x", "--join-timeout"), ("-m 1m --backlog 1025", "--backlog"),
            ("-m 1m --listen=", "empty"), ("-m 1m --secret=", "empty")]:
        done = peerlane("aggregator", *args.split(), **SECRET)
        assert done.status == 1 and not done.out, (args, done.out)
        assert reason in done.err.decode() and done.err.count(b"\n") == 1, (args, done.err)


def test_aggregator_json():
    """aggregator -j: one object a line, and who was late"""
    done = peerlane("aggregator", "-m", "16m", "-j", **SECRET)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["event"] for line in lines] == ["listening", "formed", "formed", "ended", "ended",
                                                 "closed"], lines
    late, well = lines[3], lines[4]
    assert late["errno"] == "ETIMEDOUT" and late["rank"] == 3 and late["cause"] == "late", late
    assert [rank["rank"] for rank in late["lateness"]] == [0, 1, 3], late
    assert late["late"].startswith("rank 3 was late: last to 90% of the segments"), late
    assert well["errno"] is None and well["rank"] is None and well["lateness"] == [], well
    assert done.status == 1, done.status


def test_aggregator_interrupt():
    """aggregator: an interrupt ends it well; without a secret it makes one up, and says it"""
    with subprocess.Popen([binary(), "aggregator", "--memory", "1m"],
                          env=environment("waiting"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert line == b"listening at [::]:18517, with 16777216 bytes for groups\n", line
    assert process.returncode == 0 and b"the secret is " in err, err
    assert len(err.split()[-1]) == 32, err

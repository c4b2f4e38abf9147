# SPDX-License-Identifier: GPL-2.0
"""Metrics: their format, their number, the file, the server."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import openmetrics
from command import binary, environment, peerlane

OTHER = frozenset({"src": "other", "dst": "other", "transport": "other", "qpn": "other"}.items())
TOTALS = ["packets", "bytes", "ect", "ce", "cnp", "fecn", "becn", "nak_sequence", "nak_other", "rnr",
          "retransmitted", "retransmitted_bytes", "gaps", "lost", "reordered", "timeouts"]


def families(*args, fake=None, status=0):
    """What "metrics print" says, read."""
    done = peerlane("metrics", *args, fake=fake)
    assert done.status == status, (done.status, done.err)
    return openmetrics.parse(done.out.decode("utf-8"))


def totals(metrics, name):
    """{labels: value} of a counter of flows."""
    return metrics[f"peerlane_flow_{name}"].values()


def test_format():
    """metrics: OpenMetrics by a strict reader, in each scene"""
    for scene in (None, "empty", "unobserved", "hostile", "many", "bare", "slow"):
        metrics = families(fake=scene)
        assert all(metrics[f"peerlane_flow_{name}"].type == "counter" for name in TOTALS), scene
        assert metrics["peerlane_flow_bytes"].unit == "bytes"


def test_format_prometheus():
    """metrics: the older format says the same"""
    old = peerlane("metrics", "print", "format", "prometheus")
    assert old.status == 0 and b"# EOF" not in old.out and b"# UNIT" not in old.out
    old = openmetrics.parse(old.out.decode("utf-8"), old=True)
    new = families("print")
    assert old["peerlane_flow_bytes_total"].values("") == totals(new, "bytes")
    assert old["peerlane_flow_info"].type == "gauge"


def test_values():
    """metrics: exact numbers, and no UDP port in any label"""
    metrics = families()
    packets = totals(metrics, "packets")
    assert max(packets.values()) == 2**64 - 1
    go = frozenset({"src": "10.0.0.1", "dst": "10.0.0.2", "transport": "rc", "qpn": "18"}.items())
    assert packets[go] == 200000 and packets[OTHER] == 0
    assert metrics["peerlane_packets"].values() == {frozenset(): 2**64 - 1}
    text = peerlane("metrics").out.decode()
    assert "49999" not in text and not re.search("[{,]sport=", text)


def test_histogram():
    """metrics: round trips as a histogram of few buckets"""
    (row,) = {labels - {pair for pair in labels if pair[0] == "le"}
              for labels in families()["peerlane_flow_rtt_seconds"].values("_bucket")
              if ("src", "10.0.0.1") in labels}
    buckets = {float(dict(labels)["le"]): count for labels, count
               in families()["peerlane_flow_rtt_seconds"].values("_bucket").items() if row < labels}
    assert len(buckets) == 12 and buckets[1.024e-06] == 0
    assert buckets[4.096e-06] == 700 and buckets[float("inf")] == 1007


def test_hostile_names():
    """metrics: labels are escaped, control characters are gone"""
    done = peerlane("metrics", fake="hostile")
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", done.out)
    metrics = openmetrics.parse(done.out.decode("utf-8"))
    found = {dict(labels)["label"] for labels in metrics["peerlane_flow"].values("_info")}
    assert "\ufffd[2J\ufffd]0;x\ufffd\n\"\\" in found, found


def test_bound():
    """metrics: so many rows and no more, and their sum is exact"""
    for args, rows in (([], 50), (["print", "top", "3"], 3), (["print", "top", "1000"], 1000)):
        metrics = families(*args, fake="many")
        for name in TOTALS:
            assert len(totals(metrics, name)) == rows + 1, (args, name)
        assert sum(totals(metrics, "bytes").values()) == sum(range(1, 1001)) * 1000
        assert sum(totals(metrics, "packets").values()) == sum(range(1, 1001))
        assert len(metrics["peerlane_flow"].samples) == rows
    by_rate = families("print", "top", "1", "by", "rate-bytes", fake="many")
    assert frozenset({"src": "10.9.0.0", "dst": "10.0.0.2", "transport": "rc",
                      "qpn": "100"}.items()) in totals(by_rate, "bytes")


def test_missed():
    """metrics: what is in no flow is there as well"""
    missed = families(fake="missed")["peerlane_missed_packets"].values()
    assert missed == {frozenset({("reason", "full")}): 12, frozenset({("reason", "memory")}): 3}


def errors_of(metrics):
    """{source: whether it failed}"""
    return {dict(labels)["source"]: value for labels, value
            in metrics["peerlane_scrape_error"].values("").items()}


def test_failures():
    """metrics: what cannot be read is told in the page, and the rest is there"""
    for scene, status in (("absent", 4), ("interrupted", 3)):
        metrics = families(fake=scene, status=status)
        assert errors_of(metrics) == {"flows": 1, "ports": 0}, scene
        assert "peerlane_port" in metrics and "peerlane_flow_bytes" not in metrics
    metrics = families(fake="incomplete", status=3)
    assert metrics["peerlane_scrape_incomplete"].values("") == {frozenset(): 1}
    assert errors_of(families()) == {"flows": 0, "ports": 0}


def test_ports():
    """metrics: ports and their hardware counters, none twice"""
    metrics = families()
    (port,) = metrics["peerlane_port"].values("_info")
    assert dict(port)["driver"] == "mlx5_core"
    assert metrics["peerlane_port_up"].values("") == {
        frozenset({"device": "mlx5_0", "port": "1"}.items()): 1}
    assert any(name.startswith("peerlane_port_hw_") for name in metrics)
    for name, family in metrics.items():
        if name.startswith("peerlane_port_hw_"):
            assert all("counter" in labels for _, labels, _ in family.samples), name


# ---- the file -----------------------------------------------------------------

def test_textfile():
    """textfile: whole, 0644 whatever the umask, no leftovers, no time stamps"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peerlane.prom"
        old = os.umask(0o077)
        try:
            done = peerlane("metrics", "textfile", str(path))
        finally:
            os.umask(old)
        assert (done.status, done.out, done.err) == (0, b"", b"")
        assert path.stat().st_mode & 0o7777 == 0o644
        openmetrics.parse(path.read_text(encoding="utf-8"), old=True)
        assert os.listdir(folder) == ["peerlane.prom"]


def test_textfile_replaces():
    """textfile: a reader finds the old file or the new one, at any time"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peerlane.prom"
        path.write_text("old\n", encoding="ascii")
        with open(path, encoding="ascii") as before:
            child = subprocess.Popen([binary(), "metrics", "textfile", str(path), "interval", "0.02"],
                                     env=environment("many"), stderr=subprocess.PIPE)
            try:
                seen = set()
                end = time.monotonic() + 20
                while time.monotonic() < end and len(seen) < 4:
                    seen.add(path.stat().st_ino)
                    text = path.read_text(encoding="utf-8")
                    assert text == "old\n" or openmetrics.parse(text, old=True)
            finally:
                child.kill()
                child.communicate()
            assert len(seen) >= 4 and before.read() == "old\n"


def test_textfile_refused():
    """textfile: only a regular file is replaced, and nothing is left behind"""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/fifo")
        os.symlink("nowhere", f"{folder}/link")
        for path in (folder, f"{folder}/fifo", f"{folder}/link", f"{folder}/none/x", "/dev/full"):
            done = peerlane("metrics", "textfile", path)
            assert done.status == 1 and not done.out, path
            assert done.err.count(b"\n") == 1 and path.encode() in done.err, done.err
        assert sorted(os.listdir(folder)) == ["fifo", "link"]
    assert peerlane("metrics", "textfile").status == 1


def test_textfile_absent():
    """textfile: without the module the file says so, and exit 4"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        assert peerlane("metrics", "textfile", str(path), fake="absent").status == 4
        metrics = openmetrics.parse(path.read_text(encoding="utf-8"), old=True)
        assert errors_of(metrics)["flows"] == 1


# ---- the server ---------------------------------------------------------------

@contextlib.contextmanager
def server(*args, fake=None):
    """A server on a free port: its address."""
    child = subprocess.Popen([binary(), "metrics", "serve", *(args or ["127.0.0.1:0"])],
                             env=environment(fake), stderr=subprocess.PIPE)
    try:
        line = child.stderr.readline().decode()
        match = re.search(r"http://(\S+):(\d+)/metrics", line)
        assert match, line
        yield match[1].strip("[]"), int(match[2])
    finally:
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=60)
        assert child.returncode == 0 and b"ERROR" not in err, (child.returncode, err)


def get(where, path="/metrics", method="GET", data=None, **headers):
    """Status, headers, body."""
    request = urllib.request.Request(f"http://{where[0]}:{where[1]}{path}", method=method,
                                     data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode("utf-8")


def test_serve():
    """serve: GET /metrics, in the format that the reader takes"""
    with server() as where:
        status, headers, body = get(where)
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        openmetrics.parse(body, old=True)
        accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
        status, headers, body = get(where, Accept=accept)
        assert headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        openmetrics.parse(body)
        status, headers, body = get(where, method="HEAD")
        assert status == 200 and not body and int(headers["Content-Length"]) > 1000


def test_serve_refuses():
    """serve: no other page, no other method"""
    with server() as where:
        for path in ("/", "/metrics/", "/../etc/passwd"):
            assert get(where, path)[0] == 404, path
        for method in ("POST", "PUT", "DELETE"):
            status, headers, _ = get(where, method=method, data=b"x" * 100000)
            assert status == 405 and headers["Allow"] == "GET, HEAD", method
        assert get(where)[0] == 200


def test_serve_garbage():
    """serve: it outlives garbage, long headers, and connections that say nothing"""
    with server() as where:
        for data in (b"\0\xff" * 1000, b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n",
                     b"GET " + b"/" * 50000 + b" HTTP/1.1\r\n\r\n", b"\r\n\r\n"):
            with socket.create_connection(where, timeout=10) as link:
                with contextlib.suppress(OSError):
                    link.sendall(data)
                    link.recv(1000)
        idle = [socket.create_connection(where, timeout=10) for _ in range(10)]
        assert get(where)[0] == 200
        for link in idle:
            link.close()


def test_serve_at_once():
    """serve: many readers at once get the same whole page"""
    pages = []
    with server(fake="many") as where:
        threads = [threading.Thread(target=lambda: pages.append(get(where)[2])) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(pages) == 12
    for page in pages:
        openmetrics.parse(page, old=True)


def test_serve_never_back():
    """serve: the row of the others never goes back from scrape to scrape"""
    others = []
    with server("127.0.0.1:0", "top", "1", fake="moving") as where:
        for _ in range(5):
            metrics = openmetrics.parse(get(where)[2], old=True)
            others.append(metrics["peerlane_flow_bytes_total"].values("")[OTHER])
            time.sleep(1.05)
    assert others == sorted(others), others
    # 600; one overtakes (of the other 100 came), is forgotten, all are reset
    assert others[0] == 600 and others[1] - others[0] <= 250, others


def test_serve_absent():
    """serve: without the module it serves on, and says so"""
    with server(fake="absent") as where:
        metrics = openmetrics.parse(get(where)[2], old=True)
        assert errors_of(metrics)["flows"] == 1


def test_serve_where():
    """serve: addresses in their forms; what is none is refused"""
    for where in ("127.0.0.1:0", ":0", "0.0.0.0:0"):
        with server(where) as at:
            assert at[0] in ("127.0.0.1", "0.0.0.0"), at
    for bad in ("127.0.0.1:x", "1.2.3:99999", "[::1:80", "127.0.0.1:", "192.0.2.1:0"):
        done = peerlane("metrics", "serve", bad)
        assert done.status == 1 and not done.out, bad
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = peerlane("metrics", "serve", f"127.0.0.1:{taken.getsockname()[1]}")
        assert done.status == 1 and b"cannot listen" in done.err, done.err

# SPDX-License-Identifier: GPL-2.0
"""What a link does to packets, as queueing disciplines.  Pure.

Each end of a link has, from the outside to the inside,

    netem 1:    loss, delay, reordering, duplication
    tbf  10:    the rate, and the queue in front of it
    red  20:    with --ecn: that queue marks instead

so a packet is first lost or delayed, then waits for its turn.  The order of
delay and queue makes no difference to a flow, but a netem inside of a tbf would
be asked for the length of packets it has yet to release.  The netem is there
even if it does nothing, so that it can be told to at run time."""

import re
from dataclasses import dataclass

# Packets of a tbf's queue also count in the netem around it.
NETEM_LIMIT = 100000
# Tokens for packets that an emulated timer lets go too late.
BURST_PACKETS = 6
WORDS = ("loss", "delay", "reorder", "duplicate", "corrupt")
RATE = re.compile(r"(\d+(?:\.\d+)?)([kmg]?)(?:bit)?")


@dataclass(frozen=True)
class Wire:
    rate: float             # bit/s of a link of factor 1
    mtu: int = 4200
    queue: int = 1024 << 10  # bytes
    ecn: bool = False
    loss: str = ""
    delay: str = ""
    reorder: str = ""
    duplicate: str = ""


def parse_rate(text):
    """bit/s; a bare number is Mbit/s."""
    match = RATE.fullmatch(str(text).lower())
    if not match or not float(match[1]):
        raise ValueError(f"{text!r} is no rate: 8, 500k, 1.5m")
    return float(match[1]) * {"k": 1e3, "": 1e6, "m": 1e6, "g": 1e9}[match[2]]


def percent(text):
    """5 and 5% are the same."""
    number = float(str(text).removesuffix("%"))
    if not 0 <= number <= 100:
        raise ValueError(f"{text!r} is no percentage")
    return f"{number:g}%"


def milliseconds(text):
    number = float(str(text).removesuffix("ms"))
    if number < 0:
        raise ValueError(f"{text!r} is no delay")
    return f"{number:g}ms"


def netem(settings):
    """settings: {word of WORDS: value}."""
    words = [f"limit {NETEM_LIMIT}"]
    if settings.get("reorder") and not settings.get("delay"):
        # What is not delayed cannot overtake.
        settings = dict(settings, delay="10ms")
    for word in ("delay", "loss", "reorder", "duplicate", "corrupt"):
        value = settings.get(word)
        if value:
            words.append(f"{word} {milliseconds(value) if word == 'delay' else percent(value)}")
    return "netem " + " ".join(words)


def tbf(wire, rate):
    return f"tbf rate {round(rate)}bit burst {BURST_PACKETS * (wire.mtu + 14)} limit {wire.queue}"


def red(wire, rate):
    """Marks what may be marked from 7 packets on average on; the rest only
    falls off the end, as it does without."""
    packet = wire.mtu
    return (f"red limit {wire.queue} min {7 * packet} max {21 * packet} avpkt {packet} "
            f"burst 13 bandwidth {round(rate)}bit probability 0.1 ecn nodrop")


def lines(wire, interface, factor):
    """For tc -batch."""
    rate = wire.rate * factor
    settings = {word: getattr(wire, word, "") for word in WORDS}
    yield f"qdisc add dev {interface} root handle 1: {netem(settings)}"
    yield f"qdisc add dev {interface} parent 1:1 handle 10: {tbf(wire, rate)}"
    if wire.ecn:
        yield f"qdisc add dev {interface} parent 10:1 handle 20: {red(wire, rate)}"

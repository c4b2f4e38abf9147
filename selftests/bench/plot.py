# SPDX-License-Identifier: GPL-2.0
"""All-reduce by us and by MPI as a picture: time by size, both logarithmic.

    plot.py build/bench.json >bench.svg
"""

import json
import math
import re
import sys
from xml.sax.saxutils import escape

ROW = re.compile(r"^allreduce-vs-mpi-(\d+)([km]?)-n(\d+)$")
FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20}

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 50, 60
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#7b4fa3", "#8a6d1f")


def points(found):
    """{ranks: [(bytes, our us, MPI's us)]}, in the order of sizes."""
    lines = {}
    for row in found:
        if match := ROW.match(row["name"]):
            size = int(match[1]) * FACTORS[match[2]]
            lines.setdefault(int(match[3]), []).append((size, row["value"], row["baseline"]))
    return {ranks: sorted(lines[ranks]) for ranks in sorted(lines)}


def bounds(values):
    """Whole powers of ten that have all values between them."""
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def seconds(us):
    for limit, unit, factor in ((1e3, "µs", 1), (1e6, "ms", 1e3)):
        if us < limit:
            return f"{us / factor:g} {unit}"
    return f"{us / 1e6:g} s"


def size_text(size):
    for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= limit:
            return f"{size // limit} {unit}"
    return f"{size} B"


class Chart:
    def __init__(self, lines):
        every = [point for line in lines.values() for point in line]
        self.sizes = sorted({point[0] for point in every})
        self.low, self.high = bounds([us for point in every for us in point[1:]])
        self.lines = lines
        self.out = []

    def x(self, size):
        first, last = math.log2(self.sizes[0]), math.log2(self.sizes[-1])
        share = (math.log2(size) - first) / (last - first) if last > first else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, us):
        share = (math.log10(us) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def text(self, x, y, words, anchor="start", more=""):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>'
                        f'{escape(words)}</text>')

    def rule(self, x1, y1, x2, y2, style):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>')

    def axes(self):
        grey = 'stroke="#ccc"'
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            self.rule(LEFT, y, WIDTH - RIGHT, y, grey)
            self.text(LEFT - 8, y + 4, seconds(10 ** power), "end")
        for size in self.sizes:
            self.rule(self.x(size), TOP, self.x(size), HEIGHT - BOTTOM, grey)
            self.text(self.x(size), HEIGHT - BOTTOM + 18, size_text(size), "middle")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "size of an all-reduce of f32", "middle")

    def line(self, values, colour, dash, what):
        path = " ".join(f"{self.x(size):.1f},{self.y(us):.1f}" for size, us in values)
        self.out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                        f'stroke-width="2"{dash}/>')
        for size, us in values:
            self.out.append(f'<circle cx="{self.x(size):.1f}" cy="{self.y(us):.1f}" r="3.5" '
                            f'fill="{colour}"><title>{what}, {size_text(size)}: '
                            f'{us:.4g} µs</title></circle>')

    def key(self, number, words, colour, dash):
        y = TOP + 10 + number * 20
        self.rule(WIDTH - RIGHT + 12, y, WIDTH - RIGHT + 44, y,
                  f'stroke="{colour}" stroke-width="2"{dash}')
        self.text(WIDTH - RIGHT + 50, y + 4, words)

    def svg(self, title):
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                    'font-family="sans-serif" font-size="12">',
                    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
        self.text(LEFT, 26, title, more='font-size="15"')
        self.axes()
        sides = [(ranks, line, side) for ranks, line in self.lines.items() for side in (1, 2)]
        for number, (ranks, line, side) in enumerate(sides):
            colour = COLOURS[number // 2 % len(COLOURS)]
            dash = "" if side == 1 else ' stroke-dasharray="6 4"'
            words = f"{'peerlane' if side == 1 else 'Open MPI'}, {ranks} ranks"
            self.line([(point[0], point[side]) for point in line], colour, dash, words)
            self.key(number, words, colour, dash)
        return "\n".join([*self.out, "</svg>", ""])


def svg(found, title="All-reduce by peerlane and by Open MPI"):
    """The picture, or None if no row is of it."""
    lines = points(found)
    return Chart(lines).svg(title) if lines else None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        picture = svg(json.load(file))
    if not picture:
        sys.exit(f"{sys.argv[1]}: no row of allreduce-vs-mpi")
    sys.stdout.write(picture)


if __name__ == "__main__":
    main()

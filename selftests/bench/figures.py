# SPDX-License-Identifier: GPL-2.0
"""From samples to rows.  Pure arithmetic: numbers in, numbers out."""

import statistics

# Two figures are compared by the median of the ratios of each run, not by the
# ratio of the medians: what slows the machine down for a while slows both
# sides of the runs it meets.


def median(values):
    return statistics.median(values)


def spread(values):
    """How far apart the runs are: (largest - smallest) / median."""
    middle = median(values)
    if not middle:
        return 0.0 if max(values) == min(values) else float("inf")
    return (max(values) - min(values)) / abs(middle)


def pairwise(candidate, baseline):
    """Ratio of each run; runs that only one side has are left out."""
    return [c / b for c, b in zip(candidate, baseline) if b]


def is_met(value, target, better):
    """Whether a figure reaches its target; a row without one has nothing to miss."""
    if target is None:
        return True
    return value <= target if better == "lower" else value >= target


def compare(candidate, baseline, target, better):
    """A row's figures where two things are measured in turn; target: of the ratio."""
    ratios = pairwise(candidate, baseline)
    if not ratios:
        raise ValueError("nothing to compare with")
    ratio = median(ratios)
    return {"value": median(candidate), "baseline": median(baseline), "ratio": ratio,
            "target": target, "ok": is_met(ratio, target, better),
            "runs": len(ratios), "spread": spread(ratios)}


def absolute(values, target, better):
    """A row's figures where there is nothing to compare with; target: of the value."""
    value = median(values)
    return {"value": value, "baseline": None, "ratio": None, "target": target,
            "ok": is_met(value, target, better), "runs": len(values), "spread": spread(values)}


def growth(large, small, factor, target):
    """Cost per byte of something `factor` times as large: 1.0 is proportional."""
    return compare([value / factor for value in large], small, target, "lower")

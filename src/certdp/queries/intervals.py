"""Intervals for statistics of which noisy sums are known, from the law of the noise alone.

A number t in [0, 1] enters as the terms of ((1 − t) + t)^k: k + 1 numbers ≥ 0 that add up to 1. Their sums c_0 to c_k
give the count, Σ c_j, and the means of t and t². All k + 1 have noise of one law, whose density is symmetric and
log-concave. So |Σ a_j·noise_j| ≤ (Σ |a_j|)·h at least as often as |noise| ≤ h: of all weights with one sum, a single
one is the least concentrated (Proschan 1965, Theorem 2.3). Rounding of the noise is in h.
"""

from __future__ import annotations

import math
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]

WHOLE: Interval = (0.0, 1.0)


def ratio_interval(part: float, whole: float, reach: float) -> Interval:
    """The p in [0, 1] with |part − p·whole| ≤ reach; all of [0, 1] where no such p is there.

    Args:
        part: noisy sum of p's numerator.
        whole: noisy sum of its denominator.
        reach: bound on |noise of part − p·noise of whole| for all p in [0, 1].
    """
    if whole <= 0:
        return WHOLE
    low, high = max(0.0, (part - reach) / whole), min(1.0, (part + reach) / whole)
    return (low, high) if low <= high else WHOLE


def mean_interval(sums: tuple[float, float], half_width: float) -> Interval:
    """An interval for the mean of t, from noisy sums of 1 − t and t.

    b' − p·(a' + b') = (1 − p)·noise of b' − p·noise of a', of which the weights add up to 1.
    """
    return ratio_interval(sums[1], sums[0] + sums[1], half_width)


def variance_interval(sums: tuple[float, float, float], half_width: float) -> Interval:
    """An interval for the variance of t, from noisy sums of (1 − t)², 2t(1 − t) and t².

    For the mean m of t the weights are 1 − m, ½ − m and −m, for the mean square q they are 1 − q, −q and −q: their
    sizes add up to at most 3/2 and 2.

    Args:
        sums: the noisy sums.
        half_width: of the noise at the confidence with which both means are to be told, each on its own.
    """
    whole = sum(sums)
    mean = ratio_interval(sums[1] / 2 + sums[2], whole, 1.5 * half_width)
    square = ratio_interval(sums[2], whole, 2 * half_width)
    return max(0.0, square[0] - mean[1] ** 2), min(0.25, max(0.0, square[1] - mean[0] ** 2))


def rank_reach(scale: float, candidates: int, confidence: float) -> float:
    """By how many values a choice by permute-and-flip misses its rank at most that often, whatever the data are.

    A candidate that misses it by more has a true coin with probability below p = e^(−reach/scale), and some candidate
    misses it by nothing. So one of N such ones with true coins is taken with probability at most N/(1 + N), and
    1 − E[1/(1 + N)] is at most 1 − (1 − (1 − p)^m)/(m·p) for m candidates: all others miss it by so much.

    Args:
        scale: of the choice, in values.
        candidates: m, at least 2.
        confidence: in (0, 1).
    """

    def held(exponent: float) -> float:
        chance = math.exp(-exponent)
        none = math.log1p(-chance) if chance < 0.5 else math.log(-math.expm1(-exponent))  # each exact to the last bits
        return -math.expm1(candidates * none) / (candidates * chance)

    low, high = 0.0, math.log(candidates / (1 - confidence))
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if held(middle) >= confidence else (middle, high)
    return scale * high

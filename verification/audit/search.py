"""Which of several pairs of neighbouring inputs an audit takes: the one that tells most on runs that no test reuses.

A bound on ε from the runs of one pair holds with the confidence stated, whichever pair that is, as long as it was
chosen without those runs. So a share of the runs is spent on choosing, and the confidence need not be divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, log
from typing import final

from attrs import frozen

from ...accounting.units import Delta, Epsilon
from .two_inputs import Audit, Releases, audit

_SHARE = 5
_FEWEST = 200
_LOOSE = Fraction(9, 10)


@final
@frozen(kw_only=True)
class Searched:
    """What a search chose.

    Attributes:
        chosen: the place of the pair that tells most; 0, the first, where none was tried.
        tried: how many pairs were tried; 0 where there was no search.
        left: how many runs per input are left for the audit itself.
    """

    chosen: int
    tried: int
    left: int


@final
@frozen(kw_only=True)
class Pair:
    """The releases on two neighbouring inputs, and the claim about them that is in question."""

    first: Releases
    second: Releases
    delta: Delta
    claimed: Epsilon


def search_pairs(pairs: Sequence[Pair], *, runs: int, fewest: int) -> Searched:
    """Try each pair with its part of a fifth of the runs: the one whose bound is farthest above its claim tells most.

    Args:
        pairs: at least one, the likeliest to tell first.
        runs: per input, of search and audit together.
        fewest: how many an audit needs at least.

    Guarantees:
        Another pair than the first is chosen only where its bound is farther above its claim than what the first shows
        without a margin is above that of the first.
        No pair is tried where there is one alone, where each would have fewer than 200 runs, and where fewer than
        `fewest` would be left. What was drawn for the search is used for nothing else.
    """
    each = runs // (_SHARE * len(pairs))
    left = runs - each * len(pairs)
    if len(pairs) == 1 or each < _FEWEST or left < fewest:
        return Searched(chosen=0, tried=0, left=runs)
    found = [audit(pair.first, pair.second, delta=pair.delta, runs=each, confidence=_LOOSE) for pair in pairs]
    beyond = [one.lower - float(pair.claimed.value) for one, pair in zip(found, pairs, strict=True)]
    best = max(range(len(pairs)), key=lambda place: beyond[place])
    first = _estimate(found[0]) - float(pairs[0].claimed.value)
    return Searched(chosen=best if beyond[best] > first else 0, tried=len(pairs), left=left)


def _estimate(found: Audit) -> float:
    """About the ε that an event shows, without a margin."""
    more, fewer = (Fraction(count.hits, count.trials) for count in (found.likelier, found.rarer))
    beyond = more - found.delta.value
    if beyond <= fewer:
        return 0.0
    return log(beyond / fewer) if fewer else inf

"""Exact finite mechanisms and their divergences: the oracle of the claims about pure privacy.

Everything is a `Fraction`; nothing here knows a theorem or a closed form of the library. A law is the probability
of each output, all above 0. e^ε stands for its own number: the largest ratio of two probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ...plugins.contract import Case

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Law: TypeAlias = tuple[Fraction, ...]
"""The probabilities of the outputs 0, 1, …"""

Sample: TypeAlias = Mapping[int, Fraction]
"""A weighted data set: the weight of each record in it."""

Mechanism: TypeAlias = Callable[[Sample], Law]
"""The law of the output on a weighted data set."""


def law(scores: Sequence[Fraction | int]) -> Law:
    """Return the law with probabilities proportional to `scores`."""
    total = Fraction(sum(scores))
    return tuple(score / total for score in scores)


def greatest_ratio(first: Law, second: Law) -> Fraction:
    """The largest P(Y)/Q(Y) over events Y: for finite laws it is reached at one output (IS Definition 1)."""
    return max(p / q for p, q in zip(first, second, strict=True))


def indistinguishability(first: Law, second: Law) -> Fraction:
    """e^ε for the smallest ε such that the two laws are ε-indistinguishable (IS Definition 1)."""
    return max(greatest_ratio(first, second), greatest_ratio(second, first))


def mixture(parts: Iterable[tuple[Fraction, Law]]) -> Law:
    """The law of an output whose law is drawn first, each with its probability."""
    columns = zip(*([share * p for p in part] for share, part in parts), strict=True)
    return tuple(sum(column, Fraction(0)) for column in columns)


def joint(first: Law, then: Sequence[Law]) -> Law:
    """The law of both outputs where the second mechanism is chosen by the first one's output."""
    return tuple(p * q for p, following in zip(first, then, strict=True) for q in following)


def processed(before: Law, kernel: Sequence[Law]) -> Law:
    """The law after a random map that sends output o to a draw from kernel[o]."""
    return mixture(zip(before, kernel, strict=True))


def randomised_response(factor: Fraction) -> tuple[Law, Law]:
    """The pair of laws that differ by `factor` in both directions, on two outputs."""
    return law((1, factor)), law((factor, 1))


def geometric_steps(factor: Fraction, steps: int) -> list[Law]:
    """Laws of the geometric mechanism clamped to 0 … steps: neighbours differ by `factor`, the ends by its power.

    P_j(o) = r^|o − j|·(1 − r)/(1 + r) for 0 < o < steps and r^|o − j|/(1 + r) at the two ends, r = 1/factor;
    for the factor 1 every law is uniform.
    """
    if factor == 1:
        return [law([1] * (steps + 1))] * (steps + 1)
    ratio = 1 / factor
    inner = [1 - ratio if 0 < output < steps else Fraction(1) for output in range(steps + 1)]
    return [law([ratio ** abs(o - j) * inner[o] for o in range(steps + 1)]) for j in range(steps + 1)]


def subsets(records: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Return every subset of `records`."""
    everything = tuple(records)
    return chain.from_iterable(combinations(everything, size) for size in range(len(everything) + 1))


def tabled(scores: Sequence[Sequence[int]], slopes: Sequence[Sequence[int]]) -> Mechanism:
    """The mechanism that gives output o a score scores[S][o] + Σ_{i in S} w_i·slopes[i][o] on a sample S.

    Args:
        scores: a row per subset S, at the index Σ_{i in S} 2^i; all above 0.
        slopes: a row per record; how its weight moves the scores; at least 0.
    """

    def outputs(sample: Sample) -> Law:
        row = scores[sum(2**record for record in sample)]
        moved = [sum((w * slopes[i][o] for i, w in sample.items()), Fraction(row[o])) for o in range(len(row))]
        return law(moved)

    return outputs


def loss(mechanism: Mechanism, record: int, weight: Fraction, others: Sample) -> Fraction:
    """e^{ε(w, x)} by brute force: the worst over all subsets of the other weighted records (IS Definition 4)."""
    worst = Fraction(1)
    for members in subsets(others):
        without = {member: others[member] for member in members}
        worst = max(worst, indistinguishability(mechanism({**without, record: weight}), mechanism(without)))
    return worst


def poisson_sampled(mechanism: Mechanism, rates: Mapping[int, Fraction], *, weighted: bool) -> Law:
    """The output law on a Poisson importance sample: every subset with its exact probability (IS Definition 5).

    Args:
        mechanism: runs on the sample.
        rates: the probability q of each record of the data.
        weighted: whether a drawn record has weight 1/q (otherwise 1).
    """

    def parts() -> Iterator[tuple[Fraction, Law]]:
        for members in subsets(rates):
            share = prod((q if i in members else 1 - q for i, q in rates.items()), start=Fraction(1))
            if share:
                yield share, mechanism({i: 1 / rates[i] if weighted else Fraction(1) for i in members})

    return mixture(parts())


def laws(rows: Sequence[Sequence[int]]) -> list[Law]:
    """The law of each row of scores."""
    return [law(row) for row in rows]


def adaptive_laws(case: Case) -> tuple[Law, Law, list[Law], list[Law]]:
    """Two laws of the first mechanism, and for each of its outputs two of the second."""
    (here, there), (following, elsewhere) = laws(case["first"]), map(laws, zip(*case["second"], strict=True))
    return here, there, following, elsewhere


def hockey_stick(first: Law, second: Law, factor: Fraction) -> Fraction:
    """sup_Y P(Y) − factor·Q(Y): the least δ at e^ε = factor, in one direction."""
    return sum((p - factor * q for p, q in zip(first, second, strict=True) if p > factor * q), Fraction(0))


def leak(first: Law, second: Law, factor: Fraction) -> Fraction:
    """The least δ at e^ε = factor in both directions."""
    return max(hockey_stick(first, second, factor), hockey_stick(second, first, factor))


def moment(first: Law, second: Law, order: int) -> Fraction:
    """Σ P^α·Q^{1−α} = e^{(α−1)τ} for an integer order, in one direction; Q has no zero."""
    return sum((p**order / q ** (order - 1) for p, q in zip(first, second, strict=True)), Fraction(0))


def scores(outputs: int) -> SearchStrategy[tuple[int, ...]]:
    """Draw a row of scores of so many outputs."""
    from hypothesis import strategies as st

    return st.tuples(*[st.integers(1, 9)] * outputs)

"""An audit of training, or of any release of many records, from one single run (Steinke, Nasr, Jagielski 2023).

Canaries are added to the data, each by a fair coin of its own, and the release is made once. Whoever sees it guesses
for some canaries whether they are there. (ε, δ)-DP for adding or removing one record limits how many guesses are right.

Legend: m canaries, of which r are guessed; S their coins, Y the release, C the number of right guesses;
p = e^ε/(1 + e^ε); W binomial with r trials of probability p.

Theorem. Let the release be (ε, δ)-DP under adding or removing one record, the coins fair and independent of each other
and of everything else, and r fixed beforehand. Then for every v and every width j ≥ 1

    Pr[C ≥ v] ≤ E[max(0, 1 − max(0, v − W)/j)] + m·δ/j.

With δ = 0 it is Pr[C ≥ v] ≤ Pr[W ≥ v] (take j = 1; Steinke, Nasr, Jagielski 2023, Proposition 5.1), for which r may
depend on Y. Their Theorem 5.2 has another term for δ; the one here is proven as follows.

Proof. Fix i and S_j = s_j for j < i. Let P_b be the law of Y given these and S_i = b. Averaging over the later coins
keeps (ε, δ), so P_0 and P_1 are (ε, δ)-close. Say that canary i fails, F_i = 1, with probability
1 − min(1, e^ε·P_{1−b}(y)/P_b(y)) given Y = y and S_i = b: on average ½·Σ_b ∫(P_b − e^ε·P_{1−b})₊ ≤ δ. A guess t is
right without a failure with probability min(P_t, e^ε·P_{1−t})/(P_0 + P_1) ≤ p given Y = y and the earlier coins and
failures. So C ≤ A + F, where A, the right guesses without a failure, is given Y dominated by W (each of the r trials
succeeds with probability at most p, whatever came before), and F = Σ F_i has E[F] ≤ m·δ. Where A + F ≥ v,
1 ≤ g(A) + F/j with g(a) = max(0, 1 − max(0, v − a)/j); g does not fall, hence Pr[C ≥ v] ≤ E[g(W)] + m·δ/j. ∎

The bound grows with ε: at every ε where it is at most 1 − confidence, the claim of that ε is refuted.
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ...accounting.display import rounded_down
from ...accounting.enclosures import Enclosure, binomial_tail
from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import Number
from ...accounting.units import Delta, Epsilon
from .bounds import Count, checked_confidence
from .two_inputs import CONFIDENCE

_PRECISION = 96
_LARGEST_EPSILON = 128.0
_STEPS = 60
_MARGIN = 1e-9
_DIGITS = 5


@final
@frozen(kw_only=True)
class OneRunAudit:
    """What one run proves.

    Attributes:
        lower: a lower bound on ε, rounded down; 0 where nothing was shown.
        delta: the δ at which it holds.
        confidence: with at least this probability over the coins and the run, no ε below `lower` is a valid guarantee.
        canaries: how many there were.
        right: the guesses that were right.
    """

    lower: float
    delta: Delta
    confidence: Fraction
    canaries: int
    right: Count

    def refutes(self, claimed: Epsilon) -> bool:
        """Whether the run contradicts the claimed ε, at `delta` and the stated confidence."""
        return Fraction(self.lower) > claimed.value

    def __str__(self) -> str:
        return (
            f"ε ≥ {rounded_down(self.lower, _DIGITS)} at δ = {self.delta}, confidence {float(self.confidence)}: "
            f"{self.right} guesses right about {self.canaries:,} canaries in one run"
        )


def audit_one_run(
    right: int,
    guesses: int,
    *,
    canaries: int | None = None,
    delta: Delta | Number | None = None,
    confidence: Number = CONFIDENCE,
) -> OneRunAudit:
    """A lower bound on ε from the guesses about the canaries of one run.

    Args:
        right: how many guesses were right.
        guesses: how many were made: a number fixed beforehand.
        canaries: how many there were; all were guessed unless given.
        delta: the δ of the guarantee in question; 0 unless given.
        confidence: between 0 and 1.

    Guarantees:
        Where each canary was included by a fair coin of its own and `guesses` was fixed beforehand, `lower` exceeds an
        ε at which the release is (ε, δ)-DP under adding or removing a record with probability at most 1 − `confidence`.

    Raises:
        InvalidValue, InvalidType: for counts that do not fit together and a confidence outside (0, 1).
    """
    error = 1 - checked_confidence(confidence)
    limit = Delta.of(0 if delta is None else delta)
    whole("guesses", guesses, 1)
    if whole("right", right, 0) > guesses:
        raise InvalidValue("right", right, f"at most guesses = {guesses}")
    if whole("canaries", guesses if canaries is None else canaries, 1) < guesses:
        raise InvalidValue("canaries", canaries, f"at least guesses = {guesses}")
    count = guesses if canaries is None else canaries
    estimate = _refuted_in_floats(right, guesses, count, limit, error)
    return OneRunAudit(
        lower=_proven(estimate, right, guesses, count, limit, error),
        delta=limit,
        confidence=1 - error,
        canaries=count,
        right=Count(right, guesses),
    )


def probability_of_correct_guesses(
    right: int, guesses: int, epsilon: Epsilon, *, canaries: int, delta: Delta, precision: int = _PRECISION
) -> Enclosure:
    """A proven bound on the probability of so many right guesses or more about an (ε, δ)-DP release.

    Args:
        right: v ≥ 0.
        guesses: r ≥ 1, fixed beforehand.
        epsilon: ε.
        canaries: m ≥ r.
        delta: δ.
        precision: working precision in bits.

    Returns:
        an enclosure of the theorem's bound at the width j that estimates find best; its upper end is the bound.
    """
    width = _best_width(right, guesses, canaries, float(epsilon.value), float(delta.value))[1]
    return _bound(right, guesses, epsilon.value, canaries, delta, width, precision)


def correct_guesses(scores: ArrayLike, included: ArrayLike, *, guesses: int) -> int:
    """How many guesses are right where the canaries with extreme scores are guessed.

    The half of the guesses with the highest scores are guessed to be included, the other half with the lowest to be
    left out; of an odd number, one more is guessed to be included.

    Args:
        scores: of each canary, computed from the release alone: the higher, the likelier it was included.
        included: of each canary, its coin.
        guesses: how many are guessed, fixed beforehand; at most all.

    Raises:
        InvalidValue, InvalidType: for scores that are no finite numbers, coins that are none, and other lengths.
    """
    values, coins = np.asarray(scores, dtype=np.float64), np.asarray(included)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise InvalidValue("scores", f"shape {values.shape}", "a vector of finite numbers")
    if coins.dtype != np.bool_ or coins.shape != values.shape:
        raise InvalidType("included", f"{coins.dtype}, shape {coins.shape}", f"{len(values)} truth values")
    if whole("guesses", guesses, 1) > len(values):
        raise InvalidValue("guesses", guesses, f"at most {len(values)}, the number of canaries")
    ordered = coins[np.argsort(values, kind="stable")]
    out = guesses // 2
    return int(np.count_nonzero(~ordered[:out]) + np.count_nonzero(ordered[len(ordered) - (guesses - out) :]))


def _proven(estimate: float, right: int, guesses: int, canaries: int, delta: Delta, error: Fraction) -> float:
    """The largest ε near the estimate that is proven to be refuted; 0 where none is."""
    margin = _MARGIN
    while estimate - margin > 0:
        epsilon = Fraction(estimate - margin)
        width = _best_width(right, guesses, canaries, float(epsilon), float(delta.value))[1]
        if _bound(right, guesses, epsilon, canaries, delta, width, _PRECISION).upper <= error:
            return float(epsilon)
        margin *= 8
    return 0.0


def _bound(
    right: int, guesses: int, epsilon: Fraction, canaries: int, delta: Delta, width: int, precision: int
) -> Enclosure:
    """E[max(0, 1 − max(0, v − W)/j)] + m·δ/j: the mean of the tails Pr[W ≥ v − i] for i < j, and the term for δ."""
    probability = 1 / (1 + (-Enclosure.of(epsilon, precision=precision)).exp())
    tails = (binomial_tail(guesses, right - less, probability) for less in range(width))
    total = sum(tails, Enclosure.of(0, precision=precision))
    return ((total + canaries * delta.value) / width).minimum(1)


def _refuted_in_floats(right: int, guesses: int, canaries: int, delta: Delta, error: Fraction) -> float:
    """About the largest ε that is refuted, in floats: where to look."""
    low, high = 0.0, _LARGEST_EPSILON
    limit = float(delta.value)
    if _best_width(right, guesses, canaries, low, limit)[0] > float(error):
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _best_width(right, guesses, canaries, middle, limit)[0] <= float(error):
            low = middle
        else:
            high = middle
    return low


def _best_width(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> tuple[float, int]:
    """About the least bound over all widths, and the width, in floats."""
    from scipy.stats import binom

    widths = np.arange(1, max(2, right + 1)) if delta else np.array([1])

    chance = 1 / (1 + np.exp(-epsilon))
    tails = binom.sf(right - 1 - np.arange(len(widths)), guesses, chance)
    bounds = (np.cumsum(tails) + canaries * delta) / widths
    best = int(np.argmin(bounds))
    return float(bounds[best]), int(widths[best])

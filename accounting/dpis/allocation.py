"""How much of a Rényi budget each epoch of DPIS may spend (DPIS Section 4.2), and the noise that it then needs.

Legend: E epochs of T steps, b the expected batch size, a_E the divider, Ñ the number of records, κ = K̃/C the noisy sum
of gradient norms over the clipping bound, σ_G the noise multiplier of an epoch; τ(r, s) is the cost of the sampled
Gaussian of rate r and shift s at the order of the account. A step costs τ(b/κ, κ/(Ñ·σ_G)), which grows with κ
(`Step.renyi`): κ = Ñ is the worst.

In each epoch the rest of the run is foreseen: later epochs have κ = Ñ up to epoch a_E·E, and the κ of the current one
from then on. σ_G is the least with which all of that fits into what is left. The current epoch then takes at most one
of the m shares of the epochs left, so that (m − 1)/m is kept for the others, whatever their κ is.

Costs are proven upper bounds at binary64 numbers: rate, shift and order are rounded up, because τ grows with each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen

from ..bulk.sampled_gaussian import renyi_upper
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..filters import BudgetExceeded

_GAP = 2.0**-20
_MOST_NOISE = 2.0**200


def _constant(epoch: int) -> Fraction:
    return Fraction(1)


@final
@frozen(kw_only=True)
class Allocation:
    """The rule, public and fixed before the run.

    Args:
        batch: b > 0.
        epochs: E ≥ 1.
        steps_per_epoch: T ≥ 1.
        divider: a_E in [0, 1].
        factor: how σ_G of the epochs e = 0, 1, … relate, other things equal; all alike unless given.
    """

    batch: Fraction
    epochs: int
    steps_per_epoch: int
    divider: Fraction
    factor: Callable[[int], Fraction] = field(default=_constant)

    def remaining_steps(self, epoch: int, norm_sum: Fraction, size: Fraction) -> RemainingSteps:
        """The rest of the run, from an epoch on.

        Args:
            epoch: e, from 0.
            norm_sum: κ of this epoch, in [b, Ñ].
            size: Ñ.

        Raises:
            InvalidValue: for an epoch that the run does not have, and κ outside its range.
        """
        if whole("epoch", epoch, 0) >= self.epochs:
            raise InvalidValue("epoch", epoch, f"a number below {self.epochs}")
        if not self.batch <= norm_sum <= size:
            raise InvalidValue("norm_sum", norm_sum, f"b ≤ K̃/C ≤ Ñ, here {self.batch} and {size}")
        later = size if epoch < self.divider * self.epochs else norm_sum
        steps = Counter({(self.batch / norm_sum, norm_sum / size): self.steps_per_epoch})
        for following in range(epoch + 1, self.epochs):
            shift = later / size * self.factor(epoch) / self.factor(following)
            steps[self.batch / later, shift] += self.steps_per_epoch
        return RemainingSteps(steps)


@final
class RemainingSteps:
    """How often each sampled Gaussian is taken to come, for σ_G of the current epoch.

    Args:
        steps: how many there are of each rate and shift at σ_G = 1.
    """

    def __init__(self, steps: Counter[tuple[Fraction, Fraction]]) -> None:
        self._rates = np.array([upwards(rate) for rate, _ in steps])
        self._shifts = np.array([upwards(shift) for _, shift in steps])
        self._counts = list(steps.values())

    def cost(self, noise: float, order: Fraction) -> Fraction:
        """An upper bound of τ of all of them at this σ_G."""
        shifts = np.nextafter(self._shifts / noise, math.inf)
        taus = renyi_upper(self._rates, shifts, upwards(order))
        if not np.all(np.isfinite(taus)):
            return Fraction(2) ** 1024
        return sum((count * Fraction(float(tau)) for count, tau in zip(self._counts, taus, strict=True)), Fraction())

    def least_noise(self, order: Fraction, left: Fraction) -> Fraction:
        """The least σ_G found, within 2^-20 of the true one, at which they are proven to cost at most `left` > 0.

        Raises:
            BudgetExceeded: where none is.
        """
        return Fraction(_least_noise(lambda noise: self.cost(noise, order), left))


def upwards(value: Fraction) -> float:
    """The least binary64 number that is at least `value` > 0."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _least_noise(cost: Callable[[float], Fraction], left: Fraction) -> float:
    """Regula falsi on logarithms, where costs are nearly straight; an end that stays twice counts half (Illinois)."""

    def excess(noise: float) -> float:
        spent = cost(noise)
        if spent <= left:
            return min(_log(spent) - _log(left), 0.0)
        return max(_log(spent) - _log(left), 1e-18)

    safe = unsafe = 1.0
    above = below = excess(1.0)
    while below > 0 or above <= 0:
        if below > 0:
            unsafe, above, safe = safe, below, 2 * safe
            below = excess(safe)
        else:
            safe, below, unsafe = unsafe, above, unsafe / 2
            above = excess(unsafe)
        if unsafe < 1 / _MOST_NOISE or safe > _MOST_NOISE:
            raise BudgetExceeded("noise_multiplier", safe, "noise that the budget left allows", "Stop here")
    kept = {True: 1.0, False: 1.0}  # by whether an end is the safe one
    last: bool | None = None
    while safe > unsafe * (1 + _GAP):
        up, down = above * kept[False], -below * kept[True]
        share = up / (up + down)  # above is positive
        ratio = math.log(safe / unsafe)
        edge = min(_GAP / ratio / 4, 0.25)
        moved = unsafe * math.exp(ratio * min(max(share, edge), 1 - edge))
        found = excess(moved)
        is_safe = found <= 0
        if is_safe:
            safe, below = moved, found
        else:
            unsafe, above = moved, found
        kept = {is_safe: 1.0, not is_safe: kept[not is_safe] / 2 if is_safe is last else kept[not is_safe]}
        last = is_safe
    return safe


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator) if value else -745.0

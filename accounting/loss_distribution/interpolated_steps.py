"""Moments of the privacy loss of very many different sampled Gaussian steps, interpolated in rate and shift.

Legend: step i samples at the rate q_i and has the shift s_i, t_i = s_i²; R is the likelihood ratio of N(s, 1) and
N(0, 1), B = 1 − q + qR, M(z; q, t) = E[B^r] with r = z + 1 (REMOVE) or r = −z (ADD), F = log M. The moments of the run
are those of Σ F(z; q_i, t_i). In a box of rates and squared shifts F is nearly a polynomial of both, so that the sum is
nearly Σ w_jk·F(z; q_j, t_k) over few nodes; the weights are real numbers and may be negative. How far F is from its
interpolant follows from bounds of its derivatives. The proofs are in `docs/soundness_many_steps.md`, whose steps are
named in the code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen

from .._kernels import loss_transforms as kernels
from ..enclosures import Enclosure
from ..exact import Floats, exact
from ..relations import Direction
from .step_boxes import InterpolatedSteps
from .step_remainders import ROOM, UNIT, Remainder
from .transforms import KnownTransform, Line, Logarithms, SampledGaussianTransform, Transform

_MOST_LEFT = 3e-4  # of log M(c), where the values on its line are asked for
_LARGEST_PHASE, _MOST_HIDDEN = 2.0, 0.1
_KEPT = 0.97
_MOST_TILT = 1e4  # of what is looked at

_Tails: TypeAlias = tuple[tuple[float, Transform], ...]


@final
@frozen(eq=False)
class InterpolatedTransform(KnownTransform):
    """The moments of all steps: M(z) = Π M(z; q_i, t_i).

    Attributes:
        steps: the steps.
        direction: which law is the first.
    """

    steps: InterpolatedSteps
    direction: Direction
    _known_at: dict[float, tuple[_Hidden, _Tails]] = field(factory=dict, alias="known_at", repr=False)

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The transforms at binary64 numbers below and above the shifts of the steps that are kept."""
        return self._below, self

    @cached_property
    def _below(self) -> InterpolatedTransform:
        below = self.steps.below
        return self if below is self.steps else evolve(self, steps=below, known_at=self._known_at)

    @property
    def releases(self) -> int:
        """For how many releases it stands: the steps."""
        return self.steps.count

    @property
    def kinds(self) -> int:
        """How many single transforms it takes beside the interpolated ones: those of the steps that are kept."""
        return 1 if self.steps.kept is None else self.steps.kept.times.size

    @property
    def largest(self) -> None:
        """The largest loss: None, because it is not asked for."""
        return None

    def estimate(self, c: float) -> tuple[float, float, float]:
        """Estimate log M(c) and its first two derivatives by the nodes, and by few of the steps that are kept."""
        sign = 1.0 if self.direction is Direction.REMOVE else -1.0
        each = [kernels.estimate(rate, shift, sign, c) for _, rate, shift in self.steps.about]
        moment, slope, variance = (np.array([weight for weight, *_ in self.steps.about]) @ np.array(each)).tolist()
        return moment, slope, variance

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The line; None where nothing is known of what interpolation hides."""
        if not c <= _MOST_TILT:
            return None
        hidden, tails = self._known(c)
        if not hidden.left < (_MOST_LEFT if reach else 1.0):
            return None
        lines = ((factor, one.on(c, reach=reach, steps=steps)) for factor, one in tails)
        bounding = tuple((factor, line) for factor, line in lines if line is not None)
        return _InterpolatedLine(self, c, reach, steps * self.steps.count, hidden, bounding) if bounding else None

    def _known(self, c: float) -> tuple[_Hidden, _Tails]:
        """What interpolation hides, and transforms that bound tails, with their factors (step 7)."""
        if c not in self._known_at:
            self._known_at[c] = self._hidden_and_tails(c)
        return self._known_at[c]

    def _hidden_and_tails(self, c: float) -> tuple[_Hidden, _Tails]:
        order = c + 1.0 if self.direction is Direction.REMOVE else -c
        hidden = _Hidden(tuple((Remainder.of(box.region, order), box.degrees) for box in self.steps.boxes))
        tails = tuple((tail.share_at(order), self._one(tail.rate, tail.shift)) for tail in self.steps.tails)
        return hidden, tails

    @cached_property
    def nodes(self) -> tuple[tuple[float, Transform], ...]:
        """The nodes with their weights."""
        return tuple((weight, self._one(rate, shift)) for weight, rate, shift in self.steps.nodes)

    @cached_property
    def singles(self) -> tuple[tuple[int, Transform], ...]:
        """The steps that are kept, and how many there are of each."""
        kept = self.steps.kept
        if kept is None:
            return ()
        columns = (column.tolist() for column in (kept.times, kept.rates, kept.high_shifts))
        return tuple((times, self._one(rate, shift)) for times, rate, shift in zip(*columns, strict=True))

    def _one(self, rate: float, shift: float) -> Transform:
        known = Enclosure.of(rate, precision=53), Enclosure.of(shift, precision=53)
        return SampledGaussianTransform(*known, self.direction)


@final
@frozen(eq=False)
class _Hidden:
    """What interpolation hides in all boxes, with the numbers of nodes."""

    boxes: tuple[tuple[Remainder, tuple[int, int]], ...]

    def at(self, y: Floats) -> Floats:
        """A bound of |ΣF − Σ w·F| at each y."""
        return np.asarray(sum((one.at(y, degrees) for one, degrees in self.boxes), np.zeros(y.size)))

    @cached_property
    def left(self) -> float:
        """The same at c."""
        return float(self.at(np.zeros(1))[0])


@final
@frozen(eq=False)
class _InterpolatedLine(Line):
    """The line of a transform: what interpolation hides, and lines that bound tails, with factors."""

    transform: InterpolatedTransform
    tilt: float
    reach: float
    steps: int
    hidden: _Hidden
    tails: tuple[tuple[float, Line], ...]

    @cached_property
    def parts(self) -> tuple[tuple[float, Line], ...] | None:
        """The lines of the nodes, with their weights; None where one has none, or may turn too far (step 6)."""
        return self._on(self.transform.nodes, _LARGEST_PHASE)

    @cached_property
    def singles(self) -> tuple[tuple[float, Line], ...] | None:
        """The lines of steps that are kept, and how often each counts; None where one has none."""
        return self._on(self.transform.singles, math.inf)  # of whole numbers any branch will do

    def _on(self, several: Iterable[tuple[float, Transform]], turn: float) -> tuple[tuple[float, Line], ...] | None:
        found = []
        for weight, one in several:
            line = one.on(self.tilt, reach=self.reach, steps=self.steps)
            if line is None or not abs(float(line.centre)) * self.reach < turn:
                return None
            found.append((weight, line))
        return tuple(found)

    @cached_property
    def weighted(self) -> tuple[tuple[float, Line], ...] | None:
        """All lines whose values add up, with their weights; None where one of them is not known."""
        return None if self.parts is None or self.singles is None else (*self.parts, *self.singles)

    @property
    def log_moment(self) -> Enclosure | None:
        return self._moment

    @property
    def centre(self) -> Fraction:
        return self._middle

    @cached_property
    def _moment(self) -> Enclosure | None:
        found = Enclosure.of(0)
        for weight, line in self.weighted or ():
            moment = line.log_moment
            if moment is None:
                return None
            found = found + moment * exact(weight)
        radius = exact(self.hidden.left)
        return None if self.weighted is None else (found + Enclosure.between(-radius, radius)).maximum(0)

    @cached_property
    def _middle(self) -> Fraction:
        return sum((exact(weight) * line.centre for weight, line in self.weighted or ()), Fraction(0))

    @property
    def nodes(self) -> int:
        far = sum(line.nodes for _, line in self.tails)  # of a value far out, as most are
        return far + len(self.transform.singles) * far // len(self.tails)

    def add(self, times: int, to: Logarithms) -> None:
        """Add the weighted logarithms of the nodes, and what interpolation hides on the line and at c (step 6).

        Where that is too much, add a bound of log|φ|, from what bounds tails.
        """
        y: Floats = np.asarray(to.step * np.arange(1, to.count + 1), dtype=np.float64)
        hidden = self.hidden.at(y) + self.hidden.left
        near = 0 if self.weighted is None else int(np.searchsorted(hidden >= _MOST_HIDDEN, True))
        hidden = hidden[:near]
        size, phase = np.zeros(near), np.zeros(near)
        for weight, line in self.weighted or ():
            own = Logarithms(to.step, near)
            line.add(1, own)
            size += weight * own.size
            phase += weight * own.phase
            hidden += abs(weight) * own.error
            turned = _where_known(abs(weight) * np.abs(own.phase) + np.abs(phase))
            hidden += 4 * UNIT * (abs(weight) * np.abs(own.size) + np.abs(size) + turned)
        far = Logarithms(to.step, to.count)
        for factor, line in self.tails if near < to.count else ():
            own = Logarithms(to.step, to.count)
            line.add(1, own)
            far.size += factor * np.minimum(np.expm1(own.size + own.error), 0.0) / ROOM
        size = np.append(size, far.size[near:])
        hidden = np.append(hidden, np.zeros(to.count - near))
        to.size += times * size
        to.phase[:near] += times * phase
        to.phase[near:] = math.inf
        to.error += times * (hidden * ROOM + 4 * UNIT * np.abs(size))
        to.error += 4 * UNIT * np.abs(to.size)
        to.error[:near] += 4 * UNIT * _where_known(np.abs(to.phase[:near]) + times * np.abs(phase))
        to.phase[~np.isfinite(to.phase)] = math.inf

    def estimate(self, y: float) -> float:
        """About what `tail` may prove."""
        return sum(factor * math.expm1(line.estimate(y)) for factor, line in self.tails)

    def tail(self, y: float, wanted: float) -> float:
        """Bound log|φ| by that of the bins: log(1 − κ(1 − |φ′|)) ≤ −κ(1 − |φ′|) for each step in one (step 7)."""
        here = self.estimate(y)
        share = min(wanted / here, _KEPT) if here < 0 else 0.0
        return sum(
            factor * min(math.expm1(line.tail(y, share * line.estimate(y))), 0.0) / ROOM for factor, line in self.tails
        )


def _where_known(turned: Floats) -> Floats:
    """What phases round by grows with; where one is unknown the sum is, too, and |φ| alone has an error."""
    return np.where(np.isfinite(turned), turned, 0.0)

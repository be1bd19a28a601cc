"""Moments of a release's privacy loss on vertical lines, with proven errors.

Legend: P and Q are the two laws in a fixed direction, ℓ = log dP/dQ under P, M(z) = E[e^(zℓ)], c > 0. On the line
z = c + iy,

    M(c + iy) = M(c)·e^(iym)·φ(y),   φ(y) = E_c[e^(iy(ℓ − m))],

E_c weighing by e^(cℓ)/M(c). Any m will do; near the mean of ℓ under E_c both log φ(y) and its error are as small as
the variance, so that the power of a billion steps keeps its accuracy. The proofs are in
`docs/soundness_loss_distribution.md`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from .._kernels import loss_transforms as kernels
from .._kernels import mixture_moments
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, probability
from ..exact import Floats, exact
from ..relations import Direction

_NATS = 36.0  # what the trapezoid rule hides of all steps together is near e^-36
_SMALLEST_SHIFT, _LARGEST_SHIFT = 1e-100, 1e3
_LARGEST_TILT = 1e14  # of c + 1 times the shift
_SMALLEST_TILT = 1e-100
_FEWEST, _FEWEST_OF_OCTAVE = 8, 64
_MOST_HIDDEN = 1e-3
_FIRST_NATS, _LATER_NATS = 6.0, 2.0  # what the rule hides in a tail is near e^-2 of what |φ| lacks to 1
_FEWEST_NATS = 9.0
_MOST_OCTAVES, _MOST_VALUES, _MOST_TAIL_WORK = 32, 1000, 1_000_000  # of a tail; the last two of an octave
_LARGEST_TURN = 2.0**29
_HIGHEST = 2.9  # of a lifted line, times the farthest centre: below 15/16 of π
_CELLS_PER_UNIT, _MOST_CELLS = 16, 4096
_FEW_NATS = _NATS + math.log(33)
_LIFTS, _LEAST_LIFTED = (0.8, 0.6, 0.4, 0.25, 1.0), -0.2


class Logarithms:
    """Sums over releases of log|φ(y)| and arg φ(y) at y = step, 2·step, …, and what is hidden of them.

    Attributes:
        step: distance of the values.
        size: sums of log|φ|.
        phase: sums of arg φ; inf where only |Πφ| ≤ e^(size + error) is known.
        error: bounds of the error of either.
    """

    def __init__(self, step: float, count: int) -> None:
        """Start with all sums 0, for no release yet."""
        self.step = step
        self.size, self.phase, self.error = np.zeros(count), np.zeros(count), np.zeros(count)

    @property
    def count(self) -> int:
        """At how many values y the sums are known."""
        return self.size.size


class Line(ABC):
    """A moment function on the line c + iy, |y| ≤ reach."""

    @property
    @abstractmethod
    def log_moment(self) -> Enclosure | None:
        """log M(c); None where nothing useful is proven."""

    @property
    @abstractmethod
    def centre(self) -> Fraction:
        """The centre m of the line, exactly."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """How many terms a value of φ takes."""

    @abstractmethod
    def add(self, times: int, to: Logarithms) -> None:
        """Add the logarithms of φ^times, which lie within the line's reach."""

    @abstractmethod
    def estimate(self, y: float) -> float:
        """Estimate log|φ(y)|; this proves nothing."""

    @abstractmethod
    def tail(self, y: float, wanted: float) -> float:
        """A bound of log|φ| for all arguments of at least y in magnitude; at most 0, and 0 where nothing is proven.

        No more work is done than it takes to prove `wanted` < 0.
        """


@frozen(eq=False, kw_only=True)
class NodeLine(Line):
    """A line whose moments are sums over nodes.

    Attributes:
        reach: the largest y of the values φ(y).
        nats: about e^−nats may be hidden of all of them.
        loss, weight: of the nodes; the first and the last do not count.
        total, mean: the sum of the weights, and about the mean loss.
        nu, omega: what rounding hides of a value, per unit of y about the mean, and of the total, relatively.
        hidden: what the rule hides of a value.
    """

    reach: float
    nats: float
    loss: Floats
    weight: Floats
    total: float
    mean: float
    nu: float
    omega: float
    hidden: float

    @abstractmethod
    def reaching(self, reach: float, nats: float) -> NodeLine | None:
        """Another line of the same release and tilt; for values of φ alone."""

    @abstractmethod
    def rounding_about(self, centre: float) -> tuple[float, float]:
        """What is hidden of values about another centre: as `nu` and `omega`."""

    @abstractmethod
    def variation(self) -> tuple[Floats, Floats]:
        """Bounds b, v with |φ(y)| ≤ b + v/|y| each."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """An upper bound of the standard deviation of ℓ under E_c."""

    @abstractmethod
    def lifted(self, y: float, height: float) -> float:
        """A bound of |φ| from y on, from the line of integration lifted by about this height; inf if none is known."""

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.loss.size

    @property
    def centre(self) -> Fraction:
        """About the mean loss, exactly."""
        return exact(self.mean)

    def add(self, times: int, to: Logarithms) -> None:
        """Values at half the reach need fewer nodes: each octave has a line of its own."""
        end, line = to.count, self
        while end:
            begin = end // 2 if end > _FEWEST_OF_OCTAVE else 0
            line._add(times, to, begin, end, self.mean)
            end = begin
            if end:
                line = self.reaching(end * to.step, self.nats) or line

    def _add(self, times: int, to: Logarithms, begin: int, end: int, centre: float) -> None:
        nu, omega = self.rounding_about(centre)
        kernels.add_logarithms(
            float(times),
            to.step,
            nu,
            omega,
            self.hidden,
            self.total,
            self.loss,
            self.weight,
            centre,
            begin,
            end,
            to.size,
            to.phase,
            to.error,
        )

    def estimate(self, y: float) -> float:
        """Estimate log|φ(y)| by the nodes."""
        here = Logarithms(y, 1)
        self._add(1, here, 0, 1, self.mean)
        return min(float(here.size[0]), 0.0)

    def tail(self, y: float, wanted: float) -> float:
        """Bound the tail: on a lifted line, or by the density's variation and values of |φ| before it (steps 8, 9)."""
        lifted = self._lifted(y, wanted)
        if lifted <= wanted < 0:
            return lifted
        below, height = self.variation()
        known = float(np.min(below + height / y)) * (1 + 2.0**-40)
        lost = -math.expm1(2 * wanted)
        if 0 < lost < 1 and known * known > 1 - lost and self.estimate(y) < wanted:
            level = math.sqrt(1 - lost) * (1 - 2.0**-40)
            room = np.maximum(level - below * (1 + 2.0**-40), 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                stop = float(np.nanmin(height / room)) * (1 + 2.0**-40)
            if self._covers(y, stop, lost):
                return (Enclosure.of(1 - exact(lost)).log() / 2).upper_float
        return min(lifted, Enclosure.of(known).log().upper_float if known < 1 else 0.0)

    def _lifted(self, y: float, wanted: float) -> float:
        """Bound the tail on lines lifted by some heights, until one proves what is wanted; 0 where none proves any."""
        found = 0.0
        if self.nats > _FEW_NATS:  # of many releases |φ| is near 1, where variations tell more
            return found
        here = self.estimate(y)
        for share in _LIFTS if here < _LEAST_LIFTED else ():
            bound = self.lifted(y, share * math.sqrt(-2.0 * here))  # a whole share is the best for a normal law
            if 0.0 < bound < 1.0:
                found = min(found, Enclosure.of(bound).log().upper_float)
            if found <= wanted < 0:
                break
        return found

    def _covers(self, y: float, stop: float, lost: float) -> bool:
        """Whether |φ|² ≤ 1 − lost is proven between y and `stop`."""
        spread = self.deviation
        nats = _FIRST_NATS  # where |φ| is close to what is to be proven
        for _ in range(_MOST_OCTAVES):
            if y >= stop:
                return True
            line = self.reaching(min(stop, 2 * y), max(nats - math.log(lost), _FEWEST_NATS))
            nats = _LATER_NATS
            if line is None:
                return False
            y = kernels.covered(
                y,
                line.reach,
                lost,
                spread,
                line.nu,
                line.omega,
                line.hidden,
                line.total,
                line.loss,
                line.weight,
                line.mean,
                min(_MOST_VALUES, _MOST_TAIL_WORK // line.nodes),
            )
            if y < line.reach:
                return False
        return False


class Transform(ABC):
    """The moment function of the privacy loss of one release in one direction."""

    @property
    def releases(self) -> int:
        """For how many releases it stands: one, but for what puts many together."""
        return 1

    @property
    def kinds(self) -> int:
        """How many different releases it has lines of, one for one."""
        return 1

    @property
    @abstractmethod
    def ends(self) -> tuple[Transform, Transform]:
        """Transforms of a pair that this one dominates and of one that dominates it, for known parameters.

        Where the parameters are known, it is the transform itself, twice.
        """

    @property
    @abstractmethod
    def null(self) -> bool:
        """Whether the loss is 0 for certain."""

    @property
    @abstractmethod
    def largest(self) -> Enclosure | None:
        """The least upper bound of the loss, where it is finite."""

    @abstractmethod
    def estimate(self, c: float) -> tuple[float, float, float]:
        """About log M(c) and its first two derivatives, for a search; NaN where that is out of reach."""

    @abstractmethod
    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The line c + iy for |y| ≤ reach, so exact that `steps` releases keep their accuracy.

        None where the sums would be out of reach.
        """


class KnownTransform(Transform):
    """The transform at known parameters that may lose something: what is not known exactly is part of each error."""

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The transform itself, twice."""
        return self, self

    @property
    def null(self) -> bool:
        """Whether the loss is 0 always: never."""
        return False


@final
@frozen
class GaussianTransform(Transform):
    """M(z) = e^(z(z + 1)s²/2), in both directions.

    Attributes:
        variance: s², the square of the shift.
    """

    variance: Enclosure

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The transforms of the least and the largest shift, the square in 96 bits: known to more, it is the same."""
        if self.variance.is_point:
            return self, self
        short = self.variance.at(96)
        low, high = (exact_point(end) for end in (short.lower, short.upper))
        return GaussianTransform(low), GaussianTransform(high)

    @property
    def null(self) -> bool:
        """Whether the loss is 0 always: where the shift is 0."""
        return self.variance.upper == 0

    @property
    def largest(self) -> None:
        """The largest loss: None, because the loss has no upper bound."""
        return None

    def estimate(self, c: float) -> tuple[float, float, float]:
        """c(c + 1)s²/2, (c + ½)s² and s²."""
        square = self.variance.upper_float
        return c * (c + 1) * square / 2, (c + 0.5) * square, square

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The line, in closed form; None for a shift that is not known exactly: see `ends`."""
        if not self.variance.is_point:
            return None
        return _GaussianLine(self.variance, exact(c))


@final
@frozen
class _GaussianLine(Line):
    """φ(y) = e^(−s²y²/2) for m = (c + ½)s²."""

    variance: Enclosure
    tilt: Fraction

    @property
    def log_moment(self) -> Enclosure:
        return self.variance * (self.tilt * (self.tilt + 1) / 2)

    @property
    def centre(self) -> Fraction:
        return self.variance.upper * (self.tilt + Fraction(1, 2))

    @property
    def nodes(self) -> int:
        return 1

    def add(self, times: int, to: Logarithms) -> None:
        y = to.step * np.arange(1, to.count + 1)
        added = -0.5 * float(self.variance.upper * times) * y * y
        to.size += added
        to.error += 2.0**-50 * (np.abs(added) + np.abs(to.size))  # five roundings, and one of the sum

    def estimate(self, y: float) -> float:
        return -0.5 * self.variance.lower_float * y * y

    def tail(self, y: float, wanted: float) -> float:
        return self.estimate(y) * (1 - 2.0**-40)


def sampled_gaussian_transform(rate: Enclosure, shift: Enclosure, direction: Direction) -> Transform:
    """The transform of P = (1 − q)·N(0, 1) + q·N(s, 1) and Q = N(0, 1), or of Q and P.

    Args:
        rate: q in [0, 1].
        shift: s ≥ 0.
        direction: REMOVE for the loss under P, ADD for the loss of Q against P under Q.

    Raises:
        InvalidType, InvalidValue: for other parameters.
    """
    return _sampled(probability("rate", rate), non_negative("shift", shift), direction)


def _sampled(rate: Enclosure, shift: Enclosure, direction: Direction) -> Transform:
    if rate.upper == 0 or shift.upper == 0:
        return GaussianTransform(exact_point(Fraction(0)))
    if rate.lower == 1:
        return GaussianTransform(shift.square())
    return SampledGaussianTransform(rate, shift, direction)


@final
@frozen
class SampledGaussianTransform(Transform):
    """M(z) = E[B^(z + 1)] (REMOVE) or E[B^−z] (ADD), B = 1 − q + q·e^(s(x − s/2)), x standard normal.

    Attributes:
        rate: q in [0, 1], not 0.
        shift: s ≥ 0, not 0.
        direction: which law is the first.
    """

    rate: Enclosure
    shift: Enclosure
    direction: Direction

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The transforms at binary64 numbers below and above rate and shift: the pair at the larger ones dominates."""
        if self._known or math.isinf(self.shift.upper_float):
            return self, self
        low = _sampled(_float(self.rate.lower_float), _float(self.shift.lower_float), self.direction)
        return low, _sampled(_float(min(self.rate.upper_float, 1.0)), _float(self.shift.upper_float), self.direction)

    @property
    def null(self) -> bool:
        """Whether the loss is 0 always: never, see `sampled_gaussian_transform`."""
        return False

    @property
    def largest(self) -> Enclosure | None:
        """−log(1 − q) in the add direction."""
        if self.direction is Direction.REMOVE or self.rate.upper == 1:
            return None
        return -(1 - self.rate).log()

    def estimate(self, c: float) -> tuple[float, float, float]:
        """Estimate log M(c) and its first two derivatives by the trapezoid rule."""
        q, s = self.rate.upper_float, self.shift.upper_float
        if not self._within(c):
            return math.nan, math.nan, math.nan
        return kernels.estimate(q, s, self._sign, c)

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The line; None for parameters that are not binary64 numbers, too: see `ends`."""
        if not (self._known and self._within(c)):
            return None
        q, s, nats = self.rate.upper_float, self.shift.upper_float, _NATS + math.log(steps)
        return _SampledLine.made(q, s, self._sign, c, reach=reach, nats=nats, flat=True)

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction is Direction.REMOVE else -1.0

    @property
    def _known(self) -> bool:
        return all(x.lower_float == x.upper_float for x in (self.rate, self.shift))

    def _within(self, c: float) -> bool:
        q, s = self.rate.upper_float, self.shift.upper_float
        return (
            1e-290 < q < 1
            and _SMALLEST_SHIFT < s < _LARGEST_SHIFT
            and c > _SMALLEST_TILT
            and (c + 1) * max(s, 1.0) < _LARGEST_TILT
        )


@final
@frozen(eq=False, kw_only=True)
class _SampledLine(NodeLine):
    """Nodes of the trapezoid rule, weights of E_c at them, and what they hide."""

    rate: float
    shift: float
    sign: float
    tilt: float
    step: float
    first: float
    scale: float

    @classmethod
    def made(
        cls,
        rate: float,
        shift: float,
        sign: float,
        tilt: float,
        *,
        reach: float,
        nats: float,
        flat: bool,
    ) -> _SampledLine | None:
        step, first, count = kernels.plan(rate, shift, sign, tilt, reach, nats, flat)
        if not (_FEWEST <= count <= kernels.MOST_NODES and abs(first) + count < kernels.LAST_NODE):
            return None
        loss, weight = np.empty(int(count)), np.empty(int(count))
        scale, total, mean = kernels.fill(rate, shift, sign, tilt, step, first, loss, weight)
        missed = kernels.rule(rate, shift, sign, tilt, reach, step, first, scale, loss) / total  # at y = 0 it is less
        nu, omega, farthest = kernels.rounding(shift, tilt, step, first, scale, total, loss, weight, mean)
        # Where the largest weight, which is 1, is at no inner node the window is useless.
        if not (missed + omega < _MOST_HIDDEN and farthest * reach < _LARGEST_TURN and total >= 1):
            return None
        return cls(
            rate=rate,
            shift=shift,
            sign=sign,
            tilt=tilt,
            reach=reach,
            nats=nats,
            step=step,
            first=first,
            scale=scale,
            total=total,
            mean=mean,
            loss=loss,
            weight=weight,
            nu=nu,
            omega=omega + missed,
            hidden=2 * missed,
        )

    def reaching(self, reach: float, nats: float) -> _SampledLine | None:
        """Another line of the same release and tilt; for values of φ alone."""
        return _SampledLine.made(self.rate, self.shift, self.sign, self.tilt, reach=reach, nats=nats, flat=False)

    @property
    def log_moment(self) -> Enclosure | None:
        value, hidden = kernels.log_moment(*self._nodes, self.loss)
        if not hidden < 1:
            return None
        middle, radius = exact(value), exact(hidden)
        return Enclosure.between(middle - radius, middle + radius).maximum(0)

    def rounding_about(self, centre: float) -> tuple[float, float]:
        nu, omega, _ = kernels.rounding(
            self.shift, self.tilt, self.step, self.first, self.scale, self.total, self.loss, self.weight, centre
        )
        return nu, omega + self.omega

    def variation(self) -> tuple[Floats, Floats]:
        below, height = np.empty(self.nodes), np.empty(self.nodes)
        kernels.variation(*self._nodes, self.loss, below, height)
        return below, height

    @property
    def deviation(self) -> float:
        return kernels.deviation(*self._nodes[1:], self.loss, self.mean)

    def lifted(self, y: float, height: float) -> float:
        centres, whole = np.array([0.0, self.shift]), np.array([1.0])
        laws = np.array([1.0 - self.rate, self.rate]), centres, whole, centres[:1], self.sign > 0, self.sign < 0
        low, high = self.first * self.step, (self.first + self.nodes - 1) * self.step
        mass = self.step * self.total * (1.0 - self.omega)
        return lifted(laws, low, high, self.tilt, self.scale, mass, y, height)

    @property
    def _nodes(self) -> tuple[float, float, float, float, float, float, float, float, float]:
        """What kernels ask for beside the losses."""
        return (
            self.rate,
            self.shift,
            self.sign,
            self.tilt,
            self.step,
            self.first,
            self.scale,
            self.total,
            self.omega,
        )


Laws: TypeAlias = tuple[Floats, Floats, Floats, Floats, bool, bool]
"""Weights and centres of two mixtures of normal laws, and which terms there are, for kernels."""


def lifted(
    laws: Laws, low: float, high: float, tilt: float, scale: float, mass: float, y: float, height: float
) -> float:
    """Call the kernel of that name, with a height and cells that it can do with."""
    _, above, _, below, _, _ = laws
    farthest = max(float(above[-1]), -float(below[-1]))
    cells = math.ceil(min((high - low) * _CELLS_PER_UNIT * max(farthest, 1.0), _MOST_CELLS))
    return mixture_moments.lifted(*laws, low, high, tilt, scale, mass, y, min(height, _HIGHEST / farthest), cells)


def exact_point(value: Fraction) -> Enclosure:
    """Return the enclosure of a single number, exactly."""
    return Enclosure.of(value, precision=max(4, value.numerator.bit_length()))


def _float(value: float) -> Enclosure:
    return Enclosure.of(value, precision=53)

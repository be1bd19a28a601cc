"""The largest feasible weights of records under a Gaussian weighted sum, for (ε, δ) and Rényi targets.

Legend: a record that enters with weight w moves the sum by w·u standard deviations, u = ‖x‖₂/σ, and enters with
probability 1/w. Every law of the sampled Gaussian pair grows with its rate and with its shift, so rate 1/w₁ and shift
w₂·u bound every weight in [w₁, w₂] at once. A record of rate q ≤ δ is (0, δ)-private whatever its weight, so the
feasible weights need not be an interval: asked for is the largest w such that every weight from 1 to w is feasible.

A weight must depend on its own record and public constants alone (IS Theorem 10). It is therefore a function of u,
rounded up to a fixed grid; other records do not enter it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..bulk.amplification import gaussian_delta, scaled
from ..bulk.exact_floats import finite_non_negative
from ..bulk.pairs import GaussianPairs
from ..bulk.sampled_gaussian import delta_upper, renyi_upper
from ..enclosures import Enclosure
from ..enclosures.arguments import order_above_one
from ..errors import InvalidType, InvalidValue, OutsideDomain
from ..exact import Floats
from ..notions import Approximate, Bound, Renyi
from ..pairs import FinitePair, Pair, RandomisedResponsePair, RenyiCurve
from ..relations import Direction
from ..sampling.releases import Releases
from .grid import FRACTION_BITS, node_below, rounded_up
from .linear import LARGEST_WEIGHT, FeasibleWeights, checked_cap
from .plans import on_one_sample, samples
from .reach import Reach, codes_of

Mask: TypeAlias = NDArray[np.bool_]
Law: TypeAlias = Callable[[Floats, Floats], Floats]
"""Upper bounds of what is targeted, at rates and shifts of one release; the shifts may be inf."""

_PRECISION = 96
_FIRST_STEP = 0.25
_FINEST = 48  # a step that binary64 can tell
_SPARE_BITS = 8  # steps are refined to this many bits beyond the grid
_MOST_STEPS = 2_000
_LARGEST_SHIFT = 2.0**500  # laws are asked up to here
_SPLITTER = 2.0**27 + 1.0
_REACHES = tuple(2.0**-k for k in range(38, -3, -1))
_LARGEST_STEP = 2.0  # a weight below 2^1022, tripled, is in range
_CLEARLY = 1.0 + 2.0**-24


class GaussianTarget(ABC):
    """What a run of releases may lose about a record."""

    __slots__ = ()

    @abstractmethod
    def law(self, releases: Releases, threads: int) -> Law:
        """Upper bounds of what `limit` limits, for a run of releases."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """What the law may be at most, rounded down."""

    @property
    @abstractmethod
    def loss(self) -> Fraction:
        """The loss that no record may exceed: ε at the δ, or τ at the order."""

    @abstractmethod
    def stated(self, loss: Enclosure) -> Bound:
        """This loss as a bound of the notion."""

    @abstractmethod
    def dominating(self, *, precision: int) -> Pair:
        """A pair that dominates every run within the target."""

    def sharp(self, releases: Releases) -> bool:
        """Whether the law is proven to be so close that a bound above the limit by 2^-24 of it refutes the target."""
        return False

    def spent(self, cost: Enclosure) -> Enclosure:
        """What a pure ε spent beside adds to the loss."""
        return cost

    @abstractmethod
    def losses(self, rate: Floats, shift: Floats, releases: Releases, threads: int = 1) -> Floats:
        """Upper bounds of the loss of a run: of ε at the δ, or of τ at the order; `rate` and `shift` are those of one
        release.
        """


def _fraction(_: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, Fraction):
        raise InvalidType(attribute.name, value, "a Fraction", "Write exact(value) to read a float or text.")


@final
@frozen(kw_only=True)
class ApproximateTarget(GaussianTarget):
    """(ε, δ)-privacy of the whole run.

    Attributes:
        epsilon: ε ≥ 0.
        delta: δ in (0, 1].
    """

    epsilon: Fraction = field(validator=_fraction)
    delta: Fraction = field(validator=_fraction)

    def __attrs_post_init__(self) -> None:
        if self.epsilon < 0:
            raise InvalidValue("epsilon", self.epsilon, "ε ≥ 0")
        if not 0 < self.delta <= 1:
            raise InvalidValue("delta", self.delta, "0 < δ ≤ 1", "No δ = 0 holds for Gaussian noise")

    def law(self, releases: Releases, threads: int) -> Law:
        """δ(ε): exact for one sample, through the best Rényi order for several."""
        level = Enclosure.of(self.epsilon, precision=_PRECISION).lower_float  # δ falls with ε

        def of_one_sample(rate: Floats, shift: Floats) -> Floats:
            return gaussian_delta(rate, _run_shift(shift, releases), level, threads=threads)

        def by_renyi(rate: Floats, shift: Floats) -> Floats:
            return delta_upper(rate, shift, releases.steps, level, threads=threads)[0]

        drawn_samples = samples(releases)

        def bound(rate: Floats, shift: Floats) -> Floats:
            drawn = np.nextafter(rate * drawn_samples, np.inf)  # with the rest, the record is in no sample
            near = np.minimum(shift, _LARGEST_SHIFT)
            law = of_one_sample(rate, near) if drawn_samples == 1 else by_renyi(rate, near)
            return np.where(shift <= _LARGEST_SHIFT, np.minimum(law, drawn), drawn)

        return bound

    @property
    def limit(self) -> float:
        """The δ of the target, rounded down: the bound that the weights keep."""
        return Enclosure.of(self.delta, precision=_PRECISION).lower_float

    def sharp(self, releases: Releases) -> bool:
        """Whether the bound is exact but for rounding: it is for one sample."""
        return samples(releases) == 1

    @property
    def loss(self) -> Fraction:
        """The ε of the target: the loss that the whole run may reach."""
        return self.epsilon

    def stated(self, loss: Enclosure) -> Approximate:
        """Return an ε of the run as a bound (ε, δ), with the δ of the target."""
        return Approximate(loss, Enclosure.of(self.delta, precision=loss.precision))

    def dominating(self, *, precision: int) -> FinitePair:
        """The pair that dominates everything with (ε, δ) (Kairouz, Oh, Viswanath 2015), with e^ε rounded up."""
        growth = Enclosure.of(self.epsilon, precision=precision).exp().upper
        likely = (1 - self.delta) * growth / (growth + 1)
        present = (self.delta, likely, 1 - self.delta - likely, Fraction(0))
        return FinitePair(present, present[::-1], precision=precision)

    def losses(self, rate: Floats, shift: Floats, releases: Releases, threads: int = 1) -> Floats:
        """ε at δ: exact for one sample, through the best Rényi order for several."""
        pairs = GaussianPairs(shift).repeated(on_one_sample(releases))
        return pairs.epsilon(rate, samples(releases), self.limit, threads=threads)


@final
@frozen(kw_only=True)
class RenyiTarget(GaussianTarget):
    """(α, τ)-Rényi privacy of the whole run.

    Attributes:
        order: α > 1.
        tau: τ > 0.
    """

    order: Fraction = field(converter=order_above_one)
    tau: Fraction = field(validator=_fraction)

    def __attrs_post_init__(self) -> None:
        if self.tau <= 0:
            raise InvalidValue("tau", self.tau, "τ > 0")

    def law(self, releases: Releases, threads: int) -> Law:
        """Return the law of the run's τ(α), at the order of the target."""
        order = Enclosure.of(self.order, precision=_PRECISION).upper_float  # τ grows with α
        drawn_samples = samples(releases)

        def bound(rate: Floats, shift: Floats) -> Floats:
            near = np.minimum(shift, _LARGEST_SHIFT)
            one = renyi_upper(rate, _run_shift(near, releases), order, threads=threads)
            run = one if drawn_samples == 1 else np.nextafter(one * drawn_samples, np.inf)
            return np.where(shift <= _LARGEST_SHIFT, run, np.inf)

        return bound

    @property
    def limit(self) -> float:
        """The τ of the target, rounded down: the bound that the weights keep."""
        return Enclosure.of(self.tau, precision=_PRECISION).lower_float

    @property
    def loss(self) -> Fraction:
        """The τ of the target: the loss that the whole run may reach."""
        return self.tau

    def stated(self, loss: Enclosure) -> Renyi:
        """Return a τ of the run as a bound (α, τ), at the order of the target."""
        return Renyi(self.order, loss)

    def dominating(self, *, precision: int) -> RenyiCurve:
        """τ at every order up to α: a Rényi divergence grows with its order."""
        most = Enclosure.of(self.tau, precision=precision)

        def tau(order: Fraction) -> Enclosure:
            if order > self.order:
                raise OutsideDomain(f"the target bounds τ at orders up to {self.order}, and was asked at {order}")
            return most

        return RenyiCurve(tau)

    def spent(self, cost: Enclosure) -> Enclosure:
        """Return the τ that a pure ε costs at the order of the target: that of randomised response."""
        return RandomisedResponsePair(cost).renyi(self.order, Direction.REMOVE)

    def losses(self, rate: Floats, shift: Floats, releases: Releases, threads: int = 1) -> Floats:
        """Return what the run loses about each record: τ at the order of the target."""
        one = GaussianPairs(shift).repeated(on_one_sample(releases)).renyi(rate, self.order, threads=threads)
        return scaled(one, Fraction(samples(releases)))


def _run_shift(shift: Floats, releases: Releases) -> Floats:
    """The shift of all releases on one sample, √T as large, rounded up."""
    together = on_one_sample(releases)
    if together == 1:
        return shift
    root = Enclosure.of(together, precision=_PRECISION).sqrt().upper_float
    return np.where(shift > 0.0, np.nextafter(shift * root, np.inf), 0.0)


def gaussian_weights(
    unit_shift: ArrayLike,
    releases: Releases,
    target: GaussianTarget,
    *,
    largest: float | None = None,
    grid_bits: int = 10,
    domain_shift: float = math.inf,
    first: int = 0,
    threads: int = 1,
) -> FeasibleWeights:
    """For each record the largest weight w such that every weight from 1 to w keeps the run within the target.

    Args:
        unit_shift: float64 (n,), upper bounds of u = ‖x‖₂/σ; finite, ≥ 0.
        releases: how often the mechanism releases, on one sample or on fresh ones.
        target: what the run may lose about the record.
        largest: a cap on the weights, ≥ 1; None for none: then a record with u = 0 is never drawn.
        grid_bits: u is rounded up to this many binary digits after the first, 4 to 52; more digits, fewer records that
            share a value and a smaller gap.
        domain_shift: a proven upper bound of the true u of every record, such as its supremum over the public domain:
            no u is rounded up beyond it.
        first: number of the first record in the data set, for messages.
        threads: how many threads share the work; the result is the same for any number.

    Guarantees: for each record the run with every weight from 1 to the one returned, drawn with its reciprocal as
        probability, is within the target in both directions, and so is the run with the weight and the probability
        returned. A weight depends on the record's own u and the other arguments alone.

        `gap` is the largest relative distance, over records whose weight no cap limits, to a weight at which the
        bound of the loss exceeds the target by 2^-24 of it. For (ε, δ) on one sample that weight is infeasible
        (for shifts up to 10^4): the gap is proven. Otherwise the bound is not proven to be that close, and the gap is
        an estimate. inf where no such weight was found. The reach of a record is never `Reach.LARGEST`.

    Raises:
        InvalidType, InvalidValue: for arguments outside their range, and where weight 1 exceeds the target for a
            record (the message names the first and is for the data's curator).
    """
    shifts = np.require(finite_non_negative("unit_shift", unit_shift), requirements=["C", "A"])
    if shifts.ndim != 1:
        raise InvalidValue("unit_shift", f"shape {shifts.shape}", "one number per record")
    match grid_bits:
        case int() if not isinstance(grid_bits, bool) and 4 <= grid_bits <= FRACTION_BITS:
            pass
        case _:
            raise InvalidValue("grid_bits", grid_bits, "a whole number from 4 to 52")
    cap = math.inf if largest is None else checked_cap(largest)
    law, limit = target.law(releases, threads), target.limit
    rounded = np.minimum(rounded_up(shifts, grid_bits), domain_shift)
    nodes, which = np.unique(rounded, return_inverse=True)
    moved = nodes > 0
    start = law(np.ones(int(moved.sum())), nodes[moved]) <= limit
    if not start.all():
        index = int(np.argmax(rounded >= float(nodes[moved][~start].min())))
        raise InvalidValue(
            "unit_shift",
            f"{shifts[index]} of record {first + index}",
            "shifts for which weight 1 is within the target",
            "For the data's curator: raise the noise or the target, or clip or drop records outside the domain",
        )
    weight = np.full(nodes.shape, cap)
    end = min(cap, LARGEST_WEIGHT)
    weight[moved] = _stepped(nodes[moved], law, limit, end, min(grid_bits + _SPARE_BITS, _FINEST))
    gap = _gap(nodes[moved], weight[moved], law, limit, end, grid_bits)
    each = weight[which.reshape(-1)]
    reach = codes_of(each, Reach.FIRST_CROSSING, end)
    return FeasibleWeights(each, _reciprocals_below(each), gap, 0, reach)


def _stepped(shift: Floats, law: Law, limit: float, cap: float, bits: int) -> Floats:
    """Weights up to which each step [w₁, w₂] is proven by its corner, down to steps of 2^-bits; elementwise."""
    weight = np.ones(shift.shape)
    step = np.full(shift.shape, _FIRST_STEP)
    for _ in range(_MOST_STEPS):
        active = np.flatnonzero((step >= 2.0**-bits) & (weight < cap))
        if not active.size:
            break
        here = weight[active]
        there = np.minimum(here * (1.0 + step[active]), cap)
        fine = _corner(shift[active], here, there, law) <= limit
        weight[active] = np.where(fine, there, here)
        step[active] = np.minimum(step[active] * np.where(fine, 2.0, 0.5), _LARGEST_STEP)
    return weight


def _corner(shift: Floats, low: Floats, high: Floats, law: Law) -> Floats:
    """What bounds every weight in [low, high]: the rate of the one, the shift of the other, both rounded up."""
    rate = np.where(low == 1.0, 1.0, np.nextafter(1.0 / low, 1.0))
    with np.errstate(over="ignore"):  # laws take inf
        return law(rate, np.nextafter(shift * high, np.inf))


def _gap(shift: Floats, weight: Floats, law: Law, limit: float, cap: float, bits: int) -> float:
    """1 − w/w⁺ at the worst node, w⁺ being clearly beyond the target at the least shift that rounds up to the node."""
    free = weight < cap
    shift, weight = node_below(shift[free], bits), weight[free]
    least = np.full(weight.shape, math.inf)
    for reach in _REACHES:
        left = np.flatnonzero(np.isinf(least))
        beyond = weight[left] * (1.0 + reach)
        with np.errstate(over="ignore"):
            moved = np.nextafter(shift[left] * beyond, 0.0)
        rate = np.nextafter(1.0 / beyond, 0.0)
        least[left] = np.where(law(rate, moved) > limit * _CLEARLY, beyond, math.inf)
    return float(np.max(1.0 - weight / least, initial=0.0)) if np.isfinite(least).all() else math.inf


def _reciprocals_below(weights: Floats) -> Floats:
    """The binary64 nearest to 1/w where it is not above that, else the next one below; 0 at inf."""
    drawn = np.where(np.isfinite(weights), weights, 1.0)
    rate = 1.0 / drawn
    scale = 2.0 ** np.minimum(np.floor(np.log2(drawn)), 1000.0)
    w, q = drawn / scale, rate * scale  # exact powers of two: the product below neither over- nor underflows
    product = w * q
    w_high, q_high = _high(w), _high(q)
    w_low, q_low = w - w_high, q - q_high
    error = ((w_high * q_high - product) + w_high * q_low + w_low * q_high) + w_low * q_low  # Dekker: exact
    rate = np.where((product - 1.0) + error > 0.0, np.nextafter(rate, 0.0), rate)
    return np.where(np.isfinite(weights), rate, 0.0)


def _high(values: Floats) -> Floats:
    scaled = values * _SPLITTER
    return np.asarray(scaled - (scaled - values))

"""Rates that are solved for: each record has the largest weight w with which the run's loss stays within a target.

A record is drawn with probability 1/w. How w is found depends on the loss: in closed form where it is proportional to
the weight, by Algorithm 1 of IS for any other pure loss, step by step for Gaussian sums at a δ or a Rényi order. A run
of several releases on one sample is solved with its composed loss, and one with a fresh sample for each release with an
equal share of the target for each, or with the composed law where one is at hand.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite
from typing import NoReturn, Self, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from .. import display
from ..bulk.amplification import scaled
from ..derivation import Assumption, Derivation, Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Floats
from ..expressions import (
    ONE,
    Constant,
    Expression,
    Range,
    Rounded,
    Variable,
    W,
    derivative,
    range_of,
    simplify,
    substitute,
    upper,
    variables,
)
from ..expressions.suprema import NoFiniteSupremum, supremum
from ..notions import PURE, Bound, Pure
from ..pairs import Pair, RandomisedResponsePair
from ..relations import AddRemove, Record
from ..sampling.domains import NormBall
from ..sampling.drawing import Rate
from ..sampling.losses import GaussianLoss, Loss, PureLoss
from ..sampling.profiles import PureProfile
from ..sampling.records import NEGLIGIBLE, Features, Realisation, psi_upper
from ..sampling.releases import Releases, ResampleEach
from . import FeasibleWeights, GaussianTarget, constrained_weights, gaussian_weights, largest_weights
from .grid import node_below, rounded_up
from .linear import checked_target
from .plans import on_one_sample, samples

PROBLEM_7 = Theorem("IS", "Problem 7 and Theorem 6")
OF_GAUSSIAN_SUMS = Theorem("law", "IS Problem 7 for the sampled Gaussian pair, which grows with rate and shift")

ONE_RELEASE = ResampleEach(1)
GAUSSIAN_DIGITS = 10
"""Binary digits, after the first, of the shifts that Gaussian sums are solved for, unless others are stated."""

_PRECISION = 192
_ROUNDED = 1.0 + 2.0**-20  # a target that is shown in seven digits
_LEAST_SHARE = 1.0 - 2.0**-40  # of a norm rounded up, what the norm is at least
_Norms: TypeAlias = Mapping[Variable, Enclosure]
_At: TypeAlias = Callable[[int], _Norms]


class ConstrainedRate(Rate):
    """Each record enters with the largest weight found within a target, drawn with its reciprocal; the base class.

    Attributes:
        releases: the plan of the run.
    """

    __slots__ = ()

    releases: Releases

    @property
    @abstractmethod
    def target(self) -> Fraction:
        """What the whole run may lose about a record."""

    @abstractmethod
    def over(self, releases: Releases) -> Self:
        """The rate for another plan of releases, with the same target for the whole run."""

    @abstractmethod
    def on(self, domain: NormBall | None) -> Self:
        """The rate on a domain every record of which can be drawn.

        Raises:
            InvalidValue: where some record of the domain exceeds the target at weight 1.
        """

    @abstractmethod
    def losses(self, realisation: Realisation, features: Features) -> Floats:
        """Proven bounds of what the run loses about each record, at most `ceiling`."""

    @abstractmethod
    def stated(self, loss: Enclosure) -> Bound:
        """A loss of the run as a bound of its notion."""

    @abstractmethod
    def dominating(self, *, precision: int = _PRECISION) -> Pair:
        """A pair that dominates every run within the target."""

    @abstractmethod
    def derivation(self, premises: Iterable[Derivation] = ()) -> Derivation:
        """Why no record that is drawn loses more than the target."""

    def spent(self, cost: Enclosure) -> Enclosure:
        """What a pure ε spent on releasing parameters adds to a loss of the run."""
        return cost

    @property
    def proves_gap(self) -> bool:
        """Whether the gap of a realisation is proven; else it is an estimate."""
        return True

    @property
    def rounding(self) -> Fraction:
        """The rounding is 0: the probability is defined as the binary64 number that is drawn."""
        return Fraction(0)

    @property
    def ceiling(self) -> float:
        """The target of the run, rounded up to a float: no record loses more."""
        return Enclosure.of(self.target).upper_float


class PureConstrainedRate(ConstrainedRate):
    """A constrained rate for a pure ε; the base class of two ways to solve for the weights.

    Guarantees: for every record that is drawn, ψ of the run is at most ε*, proven for the binary64 probability and
    weight before they are used; a record for which it cannot be, because it loses more at weight 1 already, is refused.

    Attributes:
        total: ε* of the whole run; its share for a sample is from 2^-40 to 1024.
        largest: a cap on the weights, or None: then a record without loss is never drawn.
    """

    __slots__ = ()

    total: Fraction
    largest: float | None

    def __attrs_post_init__(self) -> None:
        checked_target(self.share)

    @property
    @abstractmethod
    def _loss(self) -> Expression:
        """What one release loses about a record of weight W."""

    @property
    def loss(self) -> PureLoss:
        """What one release loses about a record of weight W."""
        return _pure_loss(self._loss)

    @property
    @abstractmethod
    def _held(self) -> bool:
        """Whether records are held within a domain, all of which can be drawn."""

    @property
    def target(self) -> Fraction:
        """The pure ε* that the whole run may lose about a record."""
        return self.total

    @property
    def share(self) -> Fraction:
        """The part of ε* for one sample: basic composition over fresh samples."""
        return self.total / samples(self.releases)

    @property
    def on_a_sample(self) -> PureLoss:
        """What the releases on one sample lose together about a record of weight W."""
        return _pure_loss(self._together(self._loss))

    def _together(self, root: Expression) -> Expression:
        times = on_one_sample(self.releases)
        return root if times == 1 else times * root

    @property
    def features(self) -> tuple[Expression, ...]:
        """The loss at weight 1, whose norms decide a record's weight."""
        return (substitute(self.loss.epsilon, {W: ONE}),)

    def losses(self, realisation: Realisation, features: Features) -> Floats:
        """Return ψ of the run for each record: that of one sample by Theorem 6, times the number of samples."""
        one = psi_upper(self.on_a_sample, realisation, features)
        return np.minimum(scaled(one, Fraction(samples(self.releases))), self.ceiling)

    def stated(self, loss: Enclosure) -> Pure:
        """Return a loss of the run as a bound of pure DP."""
        return Pure(loss)

    def dominating(self, *, precision: int = _PRECISION) -> RandomisedResponsePair:
        """Randomised response with ε*."""
        return RandomisedResponsePair(Enclosure.of(self.total, precision=precision))

    def derivation(self, premises: Iterable[Derivation] = ()) -> Derivation:
        """Return the reason: IS Problem 7 for each sample, and basic composition over fresh samples."""
        together = on_one_sample(self.releases)
        where = "at weight 1" if together == 1 else f"in {together} releases at weight 1"
        everyone = Assumption("records", f"those that lose at most {self.share} {where}")
        solved = PROBLEM_7.conclude(premises, [] if self._held else [everyone])
        if self.releases.steps == 1:
            return solved
        run = self.releases.theorem.conclude([solved], [planned(self.releases)])
        return PURE.composition_theorem.conclude([run]) if samples(self.releases) > 1 else run

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """Return the profile ψ ≤ ε*, for every record that can be drawn at all (IS Problem 7)."""
        return PureProfile(
            remove=Constant(self.total),
            add=Constant(self.total),
            relation=AddRemove(),
            unit=Record(),
            derivation=self.derivation(premises),
        )

    def _drawable(self, domain: NormBall) -> Fraction:
        """A proven bound, within the share, of what the releases on one sample lose at weight 1 over a domain.

        Raises:
            InvalidValue: where there is none.
        """
        root = substitute(self.on_a_sample.epsilon, {W: ONE})
        rational = domain.rational_bound(root)  # exact, so that a target may equal what the domain loses
        if rational is not None and rational <= self.share:
            return rational
        meaning, box = domain.box(variables(root))
        placed = substitute(root, meaning)
        sides = {v: box[v] for v in variables(placed)}
        try:
            found = supremum(placed, sides, slack=Fraction(0)).enclosure
        except NoFiniteSupremum:
            refuse_target(self.total, "none: without bound is")
        if found.upper > self.share:
            refuse_target(self.total, f"at least {(found * samples(self.releases)).upper_float!r},")
        return found.upper


@lru_cache(maxsize=64)
def _pure_loss(epsilon: Expression) -> PureLoss:
    """A loss that is looked at once, not for every chunk of records."""
    return PureLoss(epsilon)


def planned(releases: Releases) -> Assumption:
    """The plan of a run as an assumption."""
    fresh = samples(releases) > 1
    return Assumption("releases", f"{releases.steps}" + (", each on a fresh sample" if fresh else " on one sample"))


def refuse_target(target: Fraction, admissible: str) -> NoReturn:
    """Refuse a target that some record of the domain exceeds at weight 1."""
    raise InvalidValue(
        "target",
        str(target),
        f"{admissible} what some record of the domain loses at weight 1",
        "Raise the target, use more noise or a smaller radius",
    )


@final
@frozen
class LinearConstrainedRate(PureConstrainedRate):
    """The weights of a loss A·W, in closed form and in bulk.

    Attributes:
        unit_loss: A = ε(1, x), an expression in norms.
        total: ε*.
        largest: a cap on the weights, or None.
        releases: the plan of the run.
        domain_loss: a proven bound, on the public domain, of what the releases on one sample lose at weight 1.
    """

    unit_loss: Expression
    total: Fraction
    largest: float | None = None
    releases: Releases = ONE_RELEASE
    domain_loss: Fraction | None = None

    @property
    def _loss(self) -> Expression:
        return self.unit_loss * W

    @property
    def _held(self) -> bool:
        return self.domain_loss is not None

    def over(self, releases: Releases) -> LinearConstrainedRate:
        """The rate for another plan of releases, on any domain."""
        return evolve(self, releases=releases, domain_loss=None)

    def on(self, domain: NormBall | None) -> LinearConstrainedRate:
        """The rate on a domain every record of which can be drawn."""
        return self if domain is None else evolve(self, domain_loss=self._drawable(domain))

    def realise(self, features: Features) -> Realisation:
        """Solve for the weights by `feasible_weights.largest_weights`."""
        losses = _bounds(self._together(self.unit_loss), features)
        return _realised(
            largest_weights(
                losses, self.share, largest=self.largest, domain_loss=self.domain_loss, first=features.first
            )
        )


@final
@frozen
class ProfileConstrainedRate(PureConstrainedRate):
    """The weights of any pure loss, by Algorithm 1 where e^ε is convex in the weight, else to the first crossing.

    Attributes:
        declared: ε(W, x).
        total: ε*.
        largest: a cap on the weights, or None.
        releases: the plan of the run.
        digits: how many binary digits of a norm, after the first, its weight depends on; None for all.
        domain: the public domain, where there is one.
    """

    declared: PureLoss
    total: Fraction
    largest: float | None = None
    releases: Releases = ONE_RELEASE
    digits: int | None = None
    domain: NormBall | None = None

    @property
    def _loss(self) -> Expression:
        return self.declared.epsilon

    @property
    def _held(self) -> bool:
        return self.domain is not None

    def over(self, releases: Releases) -> ProfileConstrainedRate:
        """The rate for another plan of releases, on any domain."""
        return evolve(self, releases=releases, domain=None)

    def on(self, domain: NormBall | None) -> ProfileConstrainedRate:
        """The rate on a domain every record of which can be drawn."""
        if domain is None:
            return self
        self._drawable(domain)
        return evolve(self, domain=domain)

    def realise(self, features: Features) -> Realisation:
        """Solve for the weights by `feasible_weights.constrained_weights`."""
        norms = sorted(variables(self.loss.epsilon) - {W}, key=lambda v: v.name)
        ranges = {v: Range(Fraction(0), None) if self.domain is None else self.domain.box([v])[1][v] for v in norms}
        return _realised(
            constrained_weights(
                self.on_a_sample,
                self._norms(features, ranges),
                len(features),
                self.share,
                public=ranges,
                largest=self.largest,
                drawable=self._held,
                first=features.first,
            )
        )

    def _norms(self, features: Features, ranges: Mapping[Variable, Range]) -> _At:
        """Where the norms of each record lie: as sharp as precision allows, or in a cell of the grid."""
        known = {v: features.norm(v) for v in ranges}

        def sharp(index: int) -> _Norms:
            found = features.enclosures(index, precision=_PRECISION)
            return {v: _within(found[v].lower, found[v].upper, side) for v, side in ranges.items()}

        if self.digits is None:
            return sharp
        cells = {v: _cells(norms, self.digits) for v, norms in known.items()}

        def coarse(index: int) -> _Norms:
            ends = {v: (float(low[index]), float(high[index])) for v, (low, high) in cells.items()}
            if not all(isfinite(high) for _, high in ends.values()):
                return sharp(index)  # a norm beyond the range of the grid
            return {v: _within(Fraction(ends[v][0]), Fraction(ends[v][1]), side) for v, side in ranges.items()}

        return coarse


def _within(lower: Fraction, upper: Fraction, side: Range) -> Enclosure:
    """An enclosure of a number that is in the range too."""
    most = upper if side.upper is None else min(upper, side.upper)
    return Enclosure.between(min(lower, most), most, precision=_PRECISION)


def _cells(norms: Floats, digits: int) -> tuple[Floats, Floats]:
    """Both ends of the cells that hold norms, given as they are rounded up."""
    top = rounded_up(norms, digits)
    tame = top >= NEGLIGIBLE
    below = node_below(np.where(tame, top, 1.0), digits) * _LEAST_SHARE
    return np.where(tame, below, 0.0), top


@final
@frozen
class GaussianConstrainedRate(ConstrainedRate):
    """The weights of a Gaussian sum for a target at a δ or a Rényi order, step by step.

    Guarantees: for every record that is drawn, the run with every weight from 1 to its own, drawn with the reciprocal,
    is within the target in both directions, proven for the binary64 probability and weight before they are used; a
    record that exceeds the target at weight 1 is refused.

    Attributes:
        unit_shift: the shift at weight 1, in standard deviations, an expression in norms.
        aim: what the run may lose.
        largest: a cap on the weights, or None: then a record without shift is never drawn.
        releases: the plan of the run.
        digits: how many binary digits of the shift, after the first, a weight depends on.
        domain_shift: a proven bound of the shift at weight 1 on the public domain, where there is one.
    """

    unit_shift: Expression
    aim: GaussianTarget
    largest: float | None = None
    releases: Releases = ONE_RELEASE
    digits: int = GAUSSIAN_DIGITS
    domain_shift: float | None = None

    @classmethod
    def of(
        cls, loss: Loss, aim: GaussianTarget, *, largest: float | None = None, digits: int = GAUSSIAN_DIGITS
    ) -> GaussianConstrainedRate:
        """The rate for a mechanism.

        Raises:
            InvalidValue: for any loss but that of Gaussian noise with a shift that is proven to be proportional to the
                weight.
        """
        match loss:
            case GaussianLoss(shift) if (unit := linear_part(shift)) is not None:
                return cls(unit, aim, largest, digits=digits)
        raise InvalidValue(
            "mechanism",
            f"a mechanism with a {type(loss).__name__}",
            "Gaussian noise with a shift proportional to the weight, such as gaussian-sum with a scale",
            "Choose it, or leave δ and order out for a mechanism with a pure ε",
        )

    @property
    def target(self) -> Fraction:
        """What the whole run may lose about a record: ε at the δ, or τ at the order."""
        return self.aim.loss

    @property
    def proves_gap(self) -> bool:
        """Whether the gap of a realisation is proven: it is for δ on one sample."""
        return self.aim.sharp(self.releases)

    @property
    def features(self) -> tuple[Expression, ...]:
        """The shift at weight 1, whose norms decide a record's weight."""
        return (self.unit_shift,)

    def over(self, releases: Releases) -> GaussianConstrainedRate:
        """The rate for another plan of releases, on any domain."""
        return evolve(self, releases=releases, domain_shift=None)

    def on(self, domain: NormBall | None) -> GaussianConstrainedRate:
        """The rate on a domain every record of which can be drawn."""
        if domain is None:
            return self
        meaning, box = domain.box(variables(self.unit_shift))
        placed = substitute(self.unit_shift, meaning)
        sides = {v: box[v] for v in variables(placed)}
        rational = range_of(placed, sides).upper
        most = supremum(placed, sides).enclosure.upper if rational is None else rational
        shift = Enclosure.of(most).upper_float
        one, at = np.ones(1), np.array([shift])
        if shift and self.aim.law(self.releases, 1)(one, at)[0] > self.aim.limit:
            least = float(self.aim.losses(one, at, self.releases)[0]) * _ROUNDED
            refuse_target(self.target, f"at least {display.rounded_up(least, 7)},")
        return evolve(self, domain_shift=shift)

    def realise(self, features: Features) -> Realisation:
        """Solve for the weights by `feasible_weights.gaussian_weights`."""
        return _realised(
            gaussian_weights(
                _bounds(self.unit_shift, features),
                self.releases,
                self.aim,
                largest=self.largest,
                grid_bits=self.digits,
                domain_shift=inf if self.domain_shift is None else self.domain_shift,
                first=features.first,
            )
        )

    def losses(self, realisation: Realisation, features: Features) -> Floats:
        """Return what the run loses about each record: ε at the δ, or τ at the order."""
        weights = np.where(realisation.probability > 0, realisation.weight, 1.0)
        known = {W: Rounded(weights, 0, np.ones(len(features), dtype=np.bool_)), **features.rounded(self.unit_shift)}

        def at(index: int) -> _Norms:
            return {**features.enclosures(index), W: Enclosure.of(float(weights[index]))}

        shift = upper(self.unit_shift * W, known, len(features), at)
        return np.minimum(self.aim.losses(realisation.probability, shift, self.releases), self.ceiling)

    def stated(self, loss: Enclosure) -> Bound:
        """Return a loss of the run as a bound of the target's notion: (ε, δ) or (α, τ)."""
        return self.aim.stated(loss)

    def dominating(self, *, precision: int = _PRECISION) -> Pair:
        """The pair of every (ε, δ)-DP run, or a Rényi curve up to the order."""
        return self.aim.dominating(precision=precision)

    def spent(self, cost: Enclosure) -> Enclosure:
        """Return what a pure ε adds to a loss of the run: the ε itself, or its τ at the order."""
        return self.aim.spent(cost)

    def derivation(self, premises: Iterable[Derivation] = ()) -> Derivation:
        """Return the reason: the pair of the whole run, at every weight up to the one applied."""
        everyone = Assumption("records", "those that are within the target at weight 1")
        solved = OF_GAUSSIAN_SUMS.conclude(premises, [everyone] if self.domain_shift is None else [])
        plan = [] if self.releases.steps == 1 else [planned(self.releases)]
        return self.releases.theorem.conclude([solved], plan)

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> NoReturn:
        """Refuse the call: no pure profile follows from a target at a δ or an order."""
        raise InvalidValue(
            "sampler",
            "a target at a δ or an order",
            "a target for the pure ε",
            "Leave δ and order out, or ask for an ε at the δ",
        )


def constrained_rate(
    loss: Loss, target: Fraction, *, largest: float | None = None, digits: int | None = None
) -> PureConstrainedRate:
    """The rate for a mechanism with a pure loss: in closed form where that is proportional to the weight.

    Raises:
        InvalidValue: for a loss from which no pure ε follows, and digits for one that is proportional to the weight.
    """
    pure = loss.pure
    if pure is None:
        raise InvalidValue(
            "mechanism",
            "a mechanism without a pure ε",
            "a mechanism with a pure loss, or gaussian-sum with a δ or an order for the target",
            "Choose such a mechanism, or a sampler that states its rate",
        )
    unit = linear_part(pure.epsilon)
    if unit is None:
        return ProfileConstrainedRate(pure, target, largest, digits=digits)
    if digits is not None:
        raise InvalidValue(
            "digits", digits, "nothing, for a loss proportional to the weight", "Its weights are exact: leave it out"
        )
    return LinearConstrainedRate(unit, target, largest)


def linear_part(root: Expression) -> Expression | None:
    """A(x) where an expression in W and norms is A(x)·W by its structure, else None."""
    slope = simplify(derivative(root, W))
    at_zero = simplify(substitute(root, {W: Constant(Fraction(0))}))
    if W in variables(slope) or at_zero != Constant(Fraction(0)):
        return None
    return substitute(root, {W: ONE})


def _bounds(root: Expression, features: Features) -> Floats:
    """Proven upper bounds of an expression in norms, per record."""

    def at(index: int) -> _Norms:
        return features.enclosures(index)

    return upper(root, features.rounded(root), len(features), at)


def _realised(found: FeasibleWeights) -> Realisation:
    return Realisation(found.probability, found.weight, found.gap, found.reach)

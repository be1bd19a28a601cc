"""Writing certificates of (ε, δ) of runs of releases: what is released, how records are covered, and one method.

The method is one that the independent checker can evaluate by itself. So the number certified is the checker's: it
may be above the answer's, where the answer rests on an accountant without such a method, never below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import NamedTuple, TypeAlias, cast, final

from attrs import evolve, frozen

from ...accounting.accountants import RENYI, Finding, WorstPairs
from ...accounting.accountants.rounded_normal import LOG_SHARE
from ...accounting.accountants.worst_pairs import largest, pure
from ...accounting.conversions.renyi_search import choose_ratio
from ...accounting.derivation import (
    LARGEST_NUMBER_OF_RECORDS,
    LEAST_NUMBER_OF_RECORDS,
    NUMBER_OF_RECORDS,
    REAL_VALUED_NOISE,
    STRATA_STAY,
    Assumption,
)
from ...accounting.display import Displayed
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.exact import ratio_text, short_text
from ...accounting.expressions import ORDER, Constant, Expression, Symbol, Variable, W, serialise, substitute, variables
from ...accounting.expressions import Range as Side
from ...accounting.expressions.suprema import supremum
from ...accounting.notions import APPROXIMATE, Approximate
from ...accounting.pairs import GaussianPair, LaplacePair, Pair, RandomisedResponsePair, blocks, bounded_range_pair
from ...accounting.pairs.response_of_many import ResponseOfMany
from ...accounting.pairs.rounded_normal import LatticeNoise
from ...accounting.relations import ADD_REMOVE, REPLACE, Direction, Unit, contributions_of
from ...accounting.sampling.batches import TruncatedPoisson
from ...accounting.sampling.domains import NormBall
from ...accounting.sampling.losses import (
    DiscreteGaussianLoss,
    DiscreteGaussianVectorLoss,
    DiscreteLaplaceLoss,
    FamilyLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    PureLoss,
    RenyiLoss,
    ZeroConcentratedLoss,
)
from ...accounting.sampling.rate import SamplingRate
from ...accounting.sampling.releases import Releases, SampleOnce
from ...accounting.sampling.theorem_6 import realised
from ...accounting.selection import Selected
from ..checker import check
from .approach import Approach, Trial, Unproven, excess_of, falling, least, proven_instead
from .grouping import cost, groups
from .lines import Cases, Finite, Gaussian, Line, Mixture, Release, SampledGaussian, line_for, log_moment, work_on
from .plugin_statements import PluginStatement
from .selections import Points, by_lines, directly, fall, proof_as_json
from .strategies import StatedStrategy, moved
from .writing import FORMAT, Json, domain_as_json, sealed, versions

KIND = "composed-approximate"

OF_GROUPS = " and group privacy"
"""What a theorem about groups of records ends with."""
FILTERED = Assumption(
    "parameters of later releases",
    "chosen from earlier ones; before the run the order and (epsilon, delta) were fixed, and each release was paid at "
    "that order before it was drawn",
)
"""What the certificate of a run under a filter rests on, whatever else it does."""

_SPARED = Fraction(1, 2**100)
_LOOSE = Fraction(1, 2**48)
_EVERY_ORDER, _APART = 64, 1.2
_COVERED_BY = 32
"""Cells, where several pairs are needed: half of what the checker admits."""
_FEW_PARTS = 64
"""More are put into groups; orders are tried where there are no lines, and the best one alone: each takes long."""
_GROUPS = (256, 64, 16)
_PART = 11_000  # what reading and proving a part costs the checker, in places of a node
_LINE_WORKS = (2e7, 2e8)
_WORKS_BESIDE_SUMS = (2e7, 5e7)
_SHARP = 9e-7
_WORK_AT_A_POINT, _FEW_CELLS = 1e7, 1
_IN_CELLS = ("laplace", "bounded-range")
_CELLS = tuple(2**k for k in range(5, 13))
_MOST_CELLS = 4096
_EPOCH_CELLS = 32
_ANSWER_CELLS, _LOOKS, _MOST_LOOKS = (64, 128, 256, 512), 24, 2.0**20
_SHARES = {Direction.ADD: 0.5, Direction.REMOVE: 1.0}  # of the work that is left; often little does for the first
_MOST_CHECKS, _MOST_ON_LINES = 24, 8  # on lines a check takes seconds


@final
@frozen
class StatedLoss:
    """A family of pairs that certificates know, and its parameter.

    Attributes:
        family: as the certificate names it.
        parameter: an expression in W and norms, of a curve in the order as well.
        lattice: where discrete noise lies.
        is_curve: whether it bounds the Rényi divergence of each order.
        constants: what else is stated of the family, as the certificate holds it.
    """

    family: str
    parameter: Expression
    lattice: Lattice | None = None
    is_curve: bool = False
    constants: Mapping[str, str | int] = {}

    def as_json(self, relation: str, releases: int, way: _Way) -> Json:
        """Return the loss as the certificate holds it; the noise of so many releases is compared as δ asks for."""
        stated = {"family": self.family, "parameter": serialise(self.parameter), "relation": relation, **self.constants}
        if self.is_curve:
            return {**stated, "orders": [ratio_text(order) for order in way.orders]}
        return stated if self.lattice is None else {**stated, **self.lattice.as_json(releases, way.log_delta)}

    def parameters(self, way: _Way) -> list[Expression]:
        """What the cells of a cover bound: the parameter, or a curve at each of the orders."""
        if not self.is_curve:
            return [self.parameter]
        return [substitute(self.parameter, {ORDER: Constant(order)}) for order in way.orders]


@final
@frozen
class Lattice:
    """Where discrete Gaussian noise lies: its variance in squared steps, and its dimension where that is known."""

    variance: Fraction
    dimension: int | None

    @classmethod
    def of(cls, stated: Json) -> Lattice:
        """Read it from a loss as a certificate holds it."""
        return cls(Fraction(stated["variance"]), stated["dimension"])

    def margin(self, releases: int, shift: float, spread: Fraction) -> float:
        """About what the comparison with normal noise takes from ε."""
        assert self.dimension is not None
        noise = LatticeNoise(self.variance, releases * self.dimension, Enclosure.of(shift).square() * releases)
        return (noise.raised + noise.lowered(spread)).upper_float

    def as_json(self, releases: int, log_delta: float) -> Json:
        """Return it as a certificate holds it, with the spread that leaves a share of δ for so many releases."""
        spread = Fraction(1)
        if self.dimension is not None:
            nothing = Enclosure.of(0)
            spread = LatticeNoise(self.variance, releases * self.dimension, nothing).spread_for(log_delta + LOG_SHARE)
        return {"variance": ratio_text(self.variance), "dimension": self.dimension, "spread": ratio_text(spread)}


@singledispatch
def stated_losses(loss: Loss) -> tuple[StatedLoss, ...]:
    """What a certificate may say that a record costs: the loss's own family, or some that dominate it.

    Raises:
        InvalidValue: for a loss that no certificate states.
    """
    raise InvalidValue(
        "certificate",
        type(loss).__name__,
        "a loss with a pure ε, ρ, a Rényi curve, or Laplace or Gaussian noise",
        "No kind of certificate states this loss yet: leave the certificate out",
    )


@stated_losses.register
def _(loss: GaussianLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("gaussian", loss.shift),)


@stated_losses.register
def _(loss: LaplaceLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("laplace", loss.shift),)


@stated_losses.register
def _(loss: PureLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("pure", loss.epsilon),)


@stated_losses.register
def _(loss: DiscreteLaplaceLoss) -> tuple[StatedLoss, ...]:
    """Its whole steps, and for plans of many that are put into groups the Laplace pair that dominates, and its pure ε.

    With k steps of unit u, δ(ε) ≤ 1 − e^{(ε − uk)/2}/cosh(u/2) at any threshold, and 2·log cosh(u/2) ≤ u²/4.
    """
    shift = loss.pure.epsilon + loss.unit**2 / 4
    return (
        StatedLoss("discrete-laplace", loss.steps, constants={"unit": ratio_text(loss.unit)}),
        StatedLoss("laplace", shift),
        StatedLoss("pure", loss.pure.epsilon),
    )


@stated_losses.register
def _(loss: DiscreteGaussianLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("discrete-gaussian", loss.steps, Lattice(loss.variance, 1)),)


@stated_losses.register
def _(loss: DiscreteGaussianVectorLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("discrete-gaussian", loss.length, Lattice(loss.variance, loss.dimension)),)


@stated_losses.register
def _(loss: ZeroConcentratedLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("zero-concentrated", loss.rho),)


@stated_losses.register
def _(loss: RenyiLoss) -> tuple[StatedLoss, ...]:
    return (StatedLoss("renyi", loss.tau, is_curve=True),)


@stated_losses.register
def _(loss: FamilyLoss) -> tuple[StatedLoss, ...]:
    known = _FAMILIES.get(loss.family)
    stated = (*(() if known is None else (StatedLoss(known, loss.of),)),)
    match loss.family:
        case ResponseOfMany(categories=many) if many > 2:
            stated = (StatedLoss("response-of-many", loss.of, constants={"categories": many}),)
    if loss.pure is not None and known != "pure":
        stated = *stated, StatedLoss("pure", loss.pure.epsilon)
    return stated or stated_losses.dispatch(Loss)(loss)


_FAMILIES: Mapping[Callable[[Enclosure], Pair], str] = {
    GaussianPair: "gaussian",
    LaplacePair: "laplace",
    RandomisedResponsePair: "pure",
    bounded_range_pair: "bounded-range",
}
"""What certificates call the pairs of a family that a plugin supplies."""


@final
@frozen
class _Way:
    """How a run is stated.

    Attributes:
        spared: by how much parameters and rates are raised, relatively.
        log_delta: about log δ.
        loss: which of the statements of each loss is taken, or the last.
        orders: at which Rényi curves are stated.
    """

    spared: Fraction
    log_delta: float
    loss: int
    orders: Sequence[Fraction] = (Fraction(2),)


@final
@frozen(kw_only=True)
class StatedBatches:
    """How batches are drawn as a whole: of a fixed size, or Poisson samples cut down to a largest one.

    Attributes:
        most: the largest size, None for a fixed one.
        data_size: the number of records, None where a fixed size is stated as a share alone.
        bounded: whether that number is a bound only.
    """

    most: int | None
    data_size: int | None
    bounded: bool

    @property
    def size_name(self) -> str:
        """As what the number of records is assumed."""
        return LARGEST_NUMBER_OF_RECORDS if self.bounded else NUMBER_OF_RECORDS

    def as_json(self) -> Json:
        """Return the scheme as a certificate holds it."""
        return {"most": self.most, "data_size": self.data_size, "bounded": self.bounded}


@final
@frozen(kw_only=True)
class StatedEpochs:
    """Epochs of batches, some of which a record enters.

    Attributes:
        number: the batches of an epoch.
        participations: how many of them a record enters.
        data_size: the number of records, where these are in an order that is drawn uniformly; None where each draws its
            batch.
    """

    number: int
    participations: int
    data_size: int | None

    @property
    def size_name(self) -> str:
        """As what the number of records is assumed."""
        return NUMBER_OF_RECORDS

    def as_json(self) -> Json:
        """Return the scheme as a certificate holds it."""
        entered = {} if self.participations == 1 else {"participations": self.participations}
        return {"number": self.number, **entered, "data_size": self.data_size}


@final
@frozen(kw_only=True)
class StatedAnswers:
    """Answers of a local randomiser, shuffled.

    Attributes:
        users: how many records there are at least.
        clones: with what chance another record's answer is a clone, at least.
    """

    users: int
    clones: Fraction

    def as_json(self) -> Json:
        """Return the scheme as a certificate holds it."""
        return {"users": self.users, "clones": ratio_text(self.clones)}

    @property
    def assumed(self) -> tuple[tuple[str, str], ...]:
        """What is assumed of the records and their answers."""
        clones = ratio_text(self.clones)
        return (LEAST_NUMBER_OF_RECORDS, str(self.users)), ("least share of answers that are clones", clones)


@final
@frozen(kw_only=True)
class StatedStratum:
    """Records that are drawn at a rate of their own.

    Attributes:
        label: by which they are told from others.
        rate: with what probability and weight they are drawn.
        largest: the largest norm of one; None where they have no bound of their own.
        domain: the public domain that they are in, or None.
        corners: how many pairs bound them.
    """

    label: str
    rate: SamplingRate
    largest: Fraction | None
    domain: NormBall | None
    corners: int


@final
@frozen(kw_only=True)
class ReleaseStatement:
    """Releases of one mechanism on samples drawn by one sampler, as a certificate states them.

    Attributes:
        mechanism: the mechanism's statement.
        sampler: the sampler's.
        loss: what one record costs.
        rate: with what probability and weight it is drawn.
        releases: how many, and on which samples.
        corners: how many pairs bound the records of the domain.
        relation: the change of the data that the loss is about, by name.
        released: which of the plugins' parameters were released, and within what ranges.
        batches: how batches are drawn as a whole, where they are.
        strategy: how noise is correlated over the releases, where it is.
        answers: which answers are shuffled, where they are.
        strata: the public strata, where there are any; the rate is then that of one of them.
    """

    mechanism: PluginStatement
    sampler: PluginStatement
    loss: Loss
    rate: SamplingRate
    releases: Releases
    corners: int
    relation: str
    released: tuple[Assumption, ...] = ()
    batches: StatedBatches | StatedEpochs | None = None
    strategy: StatedStrategy | None = None
    answers: StatedAnswers | None = None
    strata: tuple[StatedStratum, ...] = ()

    @property
    def losses(self) -> tuple[StatedLoss, ...]:
        """The ways to state what one record costs."""
        return stated_losses(self.loss)

    @property
    def rounding(self) -> Fraction:
        """How far what is drawn and applied may be from the rate, relatively: batches are drawn exactly."""
        return Fraction(0) if self.batches is not None else self.rate.rounding

    def as_json(self, domain: NormBall | None, way: _Way) -> Json:
        """Return the statement as the certificate holds it."""
        stated = self.losses[min(way.loss, len(self.losses) - 1)]
        return {
            "mechanism": self.mechanism.as_json(),
            "sampler": self.sampler.as_json(),
            "loss": stated.as_json(self.relation, self.releases.steps, way),
            **self._drawing(domain, stated, way),
            "weighted": self.rate.weighted,
            "resample": "once" if isinstance(self.releases, SampleOnce) else "each",
            "steps": self.releases.steps,
            **({} if self.batches is None else {"batches": self.batches.as_json()}),
            **({} if self.strategy is None else {"strategy": self.strategy.as_json()}),
            **({} if self.answers is None else {"shuffled": self.answers.as_json()}),
        }

    def _drawing(self, domain: NormBall | None, stated: StatedLoss, way: _Way) -> Json:
        """The rate, its rounding and the cover, or those of every stratum."""

        def drawn(rate: SamplingRate, rounding: Fraction, domain: NormBall | None, corners: int) -> Json:
            cover = _Cover(stated.parameters(way), rate, domain, way.spared, stated.is_curve).tree(corners)
            return {"rate": serialise(rate.probability), "rounding": ratio_text(rounding), "cover": cover}

        if not self.strata:
            return drawn(self.rate, self.rounding, domain, self.corners)
        found = [
            {
                "label": one.label,
                "largest": None if one.largest is None else ratio_text(one.largest),
                **drawn(one.rate, one.rate.rounding, one.domain, one.corners),
            }
            for one in self.strata
        ]
        return {"strata": found}

    def assumptions(self, number: int) -> Iterator[tuple[str, str]]:
        """Name the public constants of the part."""
        place = f"part {number}: "
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            yield f"{place}evidence of {role} {plugin.name}", plugin.evidence
            yield from ((f"{place}{role}.{key}", value) for key, value in plugin.options.items())
        yield from ((f"{place}{assumed.name}", assumed.value) for assumed in self.released)
        way = "on one sample" if isinstance(self.releases, SampleOnce) else "each on a fresh sample"
        yield f"{place}releases", f"{self.releases.steps}, {way}"
        if self.batches is not None and self.batches.data_size is not None:
            yield f"{place}{self.batches.size_name}", str(self.batches.data_size)
        if self.answers is not None:
            yield from ((f"{place}{name}", value) for name, value in self.answers.assumed)
        if self.strategy is not None:
            yield from ((f"{place}{name}", value) for name, value in self.strategy.assumed)
        if self.strata:
            yield f"{place}{STRATA_STAY.name}", STRATA_STAY.value
        if rounding := max((stratum.rate.rounding for stratum in self.strata), default=self.rounding):
            yield f"{place}relative rounding of probability and weight", ratio_text(rounding)


class _Cover:
    """Cells of a domain, each with the largest parameter, or those of a curve, and rate of its records."""

    def __init__(
        self,
        parameters: Sequence[Expression],
        rate: SamplingRate,
        domain: NormBall | None,
        spared: Fraction,
        is_curve: bool,
    ) -> None:
        used = realised(rate)
        never = rate.probability == Constant(Fraction(0))
        given = {W: Constant(Fraction(1)) if never else used.weight}
        roots = *(substitute(parameter, given) for parameter in parameters), used.probability
        occurring = frozenset(v for root in (*parameters, rate.probability, *roots) for v in variables(root) if v != W)
        meaning: Mapping[Variable, Expression] = {}
        self.box: Mapping[Variable, Side] = dict.fromkeys(occurring, Side(Fraction(-1), Fraction(1)))
        if domain is not None:
            meaning, self.box = domain.box(occurring)
        self.roots = [substitute(root, meaning) for root in roots]
        self.spared, self.is_curve = 1 + spared, is_curve

    def tree(self, corners: int) -> Json:
        """The cells: one where one pair bounds all records, else as many as are allowed, along the widest side."""
        return self._split(self.box, 1 if corners == 1 else _COVERED_BY)

    def _split(self, cell: Mapping[Variable, Side], cells: int) -> Json:
        wide = {v: _width(side) for v, side in cell.items() if v.symbol is not Symbol.ROUNDING and _width(side)}
        if cells < 2 or not wide:
            return self._leaf(cell)
        chosen = max(wide, key=lambda v: (wide[v], v.name))
        low, high = _ends(cell[chosen])
        middle = (low + high) / 2
        halves = (("below", Side(low, middle)), ("above", Side(middle, high)))
        sides = {part: self._split({**cell, chosen: side}, cells // 2) for part, side in halves}
        return {"coordinate": f"{chosen.symbol.value}({chosen.index})", "at": ratio_text(middle), **sides}

    def _leaf(self, cell: Mapping[Variable, Side]) -> Json:
        *parameters, rate = (
            max(supremum(root, {v: cell[v] for v in variables(root)}, slack=Fraction(0)).enclosure.upper, Fraction(0))
            for root in self.roots
        )
        bounds = [ratio_text(parameter * self.spared) for parameter in parameters]
        return {
            "parameter": bounds if self.is_curve else bounds[0],
            "rate": ratio_text(min(rate * self.spared, Fraction(1))),
        }


def _ends(side: Side) -> tuple[Fraction, Fraction]:
    assert side.lower is not None
    assert side.upper is not None
    return side.lower, side.upper


def _width(side: Side) -> Fraction:
    low, high = _ends(side)
    return high - low


@final
@frozen(kw_only=True)
class RunStatement:
    """A run fixed beforehand, as a certificate states it.

    Attributes:
        parts: its releases, in order.
        pairs: the pairs of the whole run.
        relation: the change of the data, by name.
        unit: for whom the certificate speaks.
        domain: the public domain of the records, or None.
        released_cost: pure ε spent on releasing constants, or a bound of it.
        assumptions: what its guarantee rests on beside the constants that the parts state.
        group: of how many records the certificate speaks, at most.
    """

    parts: tuple[ReleaseStatement, ...]
    pairs: WorstPairs
    relation: str
    unit: Unit
    domain: NormBall | None
    released_cost: Fraction
    assumptions: tuple[Assumption, ...]
    group: int = 1

    @property
    def best_of_several(self) -> Selected | None:
        """The pair of the best of a random number of runs that costs most at an ε of 1; None where one run is told."""
        found = [pair for pair in self.pairs.bounding if isinstance(pair, Selected)]
        if len(found) <= 1:
            return found[0] if found else None
        return max(found, key=lambda pair: max(_delta_at_one(pair, direction) for direction in pair.directions))

    @property
    def change(self) -> Changed:
        """What changes at once, where that is not what the losses are about."""
        replaced = any(part.relation != self.relation == REPLACE.name for part in self.parts)
        return Changed(contributions_of(self.unit) or 1, replaced, self.relation != ADD_REMOVE.name)

    @property
    def ways(self) -> int:
        """In how many ways the losses can be stated."""
        return max(len(part.losses) for part in self.parts)

    def orders(self, near: Collection[Fraction]) -> Sequence[Fraction]:
        """At which orders curves are stated, for moments near some: all whole ones below, ever farther apart."""
        highest = max(math.ceil(max(near, default=Fraction(2))), 2)
        whole, last = set(range(2, min(highest, _EVERY_ORDER) + 1)), _EVERY_ORDER
        while last < highest:
            last = min(math.ceil(last * _APART), highest)
            whole.add(last)
        return sorted({*near, *map(Fraction, whole)})

    @property
    def has_curves(self) -> bool:
        """Whether the loss of some part is a Rényi curve."""
        return any(loss.is_curve for part in self.parts for loss in part.losses)

    def as_json(self, way: _Way) -> Json:
        """The certificate's body without claim numbers, method, theorem and digest."""
        domain = self.domain
        return {
            "format": FORMAT,
            "kind": KIND,
            "audience": "public",
            "claim": {
                "unit": self.unit.name,
                **({} if contributions_of(self.unit) is None else {"contributions": contributions_of(self.unit)}),
                "relation": self.relation,
                "notion": "approximate",
                **({} if self.group == 1 else {"group": self.group}),
                "domain": None if domain is None else domain_as_json(domain),
            },
            "parts": [part.as_json(domain, way) for part in self._as_drawn()],
            "released_cost": ratio_text(self.released_cost),
            "assumptions": self._assumptions(),
            "versions": versions(),
        }

    def _as_drawn(self) -> tuple[ReleaseStatement, ...]:
        """The parts; where noise is assumed to be real-valued, of mechanisms whose proof assumes that."""
        if REAL_VALUED_NOISE not in self.assumptions:
            return self.parts
        return tuple(evolve(part, mechanism=part.mechanism.with_real_valued_noise()) for part in self.parts)

    def _assumptions(self) -> list[Json]:
        own = [item for number, part in enumerate(self.parts, 1) for item in part.assumptions(number)]
        if self.domain is not None:
            own += [(a.name, a.value) for a in self.domain.assumptions]
        if self.released_cost:
            own.append(("released cost", ratio_text(self.released_cost)))
        if self.group > 1:
            own.append(("group size", str(self.group)))
        told = {(name.partition(": ")[2] or name, value) for name, value in own}
        rest = [(a.name, a.value) for a in self.assumptions if (a.name, a.value) not in told]
        return [{"name": name, "value": value} for name, value in dict.fromkeys([*own, *rest])]


def _delta_at_one(pair: Selected, direction: Direction) -> float:
    law = pair.delta
    return 1.0 if law is None else law(Enclosure.of(1), direction).upper_float


@final
@frozen(repr=False)
class Certified(Displayed):
    """A certificate that the checker has accepted.

    Attributes:
        content: its bytes.
        parameters: the numbers that it proves, by name; at least those of the answer, of a Bayes risk at most.
        method: how, as the certificate names it.
    """

    content: bytes
    parameters: Mapping[str, Fraction]
    method: str

    @property
    def epsilon(self) -> Fraction:
        """The ε that it proves; at least that of the answer.

        Raises:
            InvalidValue: for a certificate in another notion than (ε, δ).
        """
        return self._of("epsilon")

    @property
    def delta(self) -> Fraction:
        """The δ that it proves; otherwise as `epsilon`."""
        return self._of("delta")

    def _of(self, name: str) -> Fraction:
        if name not in self.parameters:
            raise InvalidValue(name, ", ".join(self.parameters), "a certificate of (ε, δ)", "Read its parameters")
        return self.parameters[name]

    def __str__(self) -> str:
        told = [f"{_SIGNS.get(name, name)} = {short_text(value)}" for name, value in self.parameters.items()]
        return f"{len(self.content)} bytes that prove {' and '.join(told)} by {self.method}"


_SIGNS = {"epsilon": "ε", "delta": "δ", "order": "α", "tau": "τ", "rho": "ρ", "mu": "μ"}


@final
@frozen
class _Proposal:
    """A method that may prove (ε, δ).

    Attributes:
        name: as the certificate has it.
        theorem: what it rests on.
        parameters: what it needs to be told at (ε, δ).
        start: the ε or δ from which on it may prove something; at least the answer.
        slope: by about how much log δ falls as ε grows, where that is known.
        most: how many checks may be made.
    """

    name: str
    theorem: str
    parameters: Callable[[Fraction, Fraction], Json | None]
    start: float
    slope: float | None = None
    most: int = _MOST_CHECKS

    def approach(self, question: _Question) -> Approach:
        """The numbers at which it is tried."""
        if question.delta is None:
            return Approach(self.start, proven_instead, self.most, limit=1.0)
        return Approach(self.start, falling(self.slope), self.most)


Stated: TypeAlias = tuple[Json, Sequence[Json]]
"""A body, and the parts as they are, above which those of the body may be raised."""


@final
@frozen
class _Question:
    """What is to be certified: an ε at a δ or a δ at an ε, the other being None, and what was answered.

    The body's parts may be raised above those `stated`; `share` is that of a check's work which may be used.
    """

    run: RunStatement
    body: Json
    stated: Sequence[Json]
    epsilon: Fraction | None
    delta: Fraction | None
    answer: float
    share: float = 1.0

    def claimed(self, found: float) -> tuple[Fraction, Fraction]:
        """The pair (ε, δ) with what was found."""
        if self.epsilon is not None:
            return self.epsilon, Fraction(found)
        assert self.delta is not None
        return Fraction(found), self.delta


def certified_epsilon(run: RunStatement, delta: Fraction, epsilon: float) -> Certified:
    """A certificate of an ε at δ that is at least `epsilon`, as near to it as some method proves.

    Args:
        run: what is released.
        delta: δ, stated exactly.
        epsilon: the answer's upper end.

    Raises:
        InvalidValue: for a loss that no certificate states, and where no method of the checker proves anything.
    """
    return _first_proven(run, None, delta, epsilon)


def certified_delta(run: RunStatement, epsilon: Fraction, delta: float) -> Certified:
    """A certificate of a δ at ε that is at least `delta`; otherwise as `certified_epsilon`."""
    return _first_proven(run, epsilon, None, delta)


def certified_by_filter(run: RunStatement, order: Fraction, epsilon: Fraction, delta: Fraction) -> Certified:
    """A certificate of an adaptive run whose filter was set to (ε, δ) at an order, before the run.

    Args:
        run: what was released, each release paid before it was drawn; its assumptions hold `FILTERED`.
        order: α of the filter.
        epsilon: the filter's ε. No smaller one is claimed of a run that paid less: how much it pays may be an output.
        delta: the filter's δ.

    Raises:
        InvalidValue: where the checker does not prove that the releases are within (ε, δ) at that order.
    """
    sides = _touching(run, dict.fromkeys(Direction, order))(epsilon, delta)
    parameters = {"order": ratio_text(order), "ratio": sides and sides[Direction.REMOVE.value]["ratio"]}
    proposal = _Proposal("renyi-filter", _FILTER, lambda e, d: parameters, 0.0)
    found = _sealed(run.as_json(_Way(_SPARED, _log(delta), 0, run.orders({order}))), proposal, epsilon, delta)
    if isinstance(found, Certified):
        return found
    raise InvalidValue(
        "certificate",
        "an adaptive run that the checker does not prove to be within its budget",
        "releases within (ε, δ) at the filter's order",
        f"It says: {found.reason}. Leave the certificate out",
    )


def _first_proven(run: RunStatement, epsilon: Fraction | None, delta: Fraction | None, answer: float) -> Certified:
    """A certificate by the tightest way to state the run of which the checker proves something."""
    log_delta = _log(delta) if delta is not None else _log(Fraction(max(answer, 0.0)))
    reason = ""
    for bodies in bodies_of(run, log_delta, near=orders_near(run, epsilon, delta)):
        found = searched(run, bodies, epsilon, delta, answer)
        if isinstance(found, Certified):
            return found
        reason = found.reason or reason
        if found.excess is not None:  # the statement was understood: raised otherwise it proves no less
            break
    raise InvalidValue(
        "certificate",
        "a run whose (ε, δ) the checker does not prove",
        "one that it proves by pure losses, one release, Rényi divergences or the loss distribution",
        f"It says: {reason or 'there is none for these losses'}. Leave the certificate out",
    )


def searched(
    run: RunStatement,
    bodies: Sequence[Stated],
    epsilon: Fraction | None,
    delta: Fraction | None,
    answer: float,
    *,
    share: float = 1.0,
) -> Certified | Unproven:
    """Try the methods at the answer, then always the smallest number left, until the checker proves one; or why not."""
    answer = max(answer, 0.0)
    questions = [_Question(run, body, stated, epsilon, delta, answer, share) for body, stated in bodies]
    return least((_trial(question, way) for question in questions for way in _proposals(question)), answer)


def _trial(question: _Question, proposal: _Proposal) -> Trial[Certified]:
    """A method at the numbers that it is tried at."""

    def attempt(number: float) -> Certified | Unproven:
        return _sealed(question.body, proposal, *question.claimed(number))

    return Trial(proposal.approach(question), attempt)


SPARES = (_SPARED, _LOOSE, Fraction(0))
"""By how much parameters and rates are raised, relatively; not at all serves numbers that are exact."""


def bodies_of(
    run: RunStatement, log_delta: float, spares: Sequence[Fraction] = SPARES, *, near: Collection[Fraction] = ()
) -> Iterator[list[Stated]]:
    """The ways to state a run: bodies, and the parts that theirs may be raised above.

    Args:
        run: what is released.
        log_delta: about log δ.
        spares: by how much parameters are raised.
        near: the orders of which moments are asked, where losses are Rényi curves.
    """
    orders = run.orders(near)
    for spared in spares:
        ways = [run.as_json(_Way(spared, log_delta, loss, orders)) for loss in range(run.ways)]
        yield [({**body, "parts": parts}, body["parts"]) for body in ways for parts in _raised(body["parts"])]


def _sealed(body: Json, proposal: _Proposal, epsilon: Fraction, delta: Fraction) -> Certified | Unproven:
    """A certificate of (ε, δ), or why the checker refuses it."""
    parameters, asked = proposal.parameters(epsilon, delta), delta
    if parameters is None:
        return Unproven("", None)
    theorem, group = proposal.theorem, body["claim"].get("group", 1)
    if group > 1:
        theorem, epsilon, delta = f"{theorem}{OF_GROUPS}", epsilon * group, _of_group(epsilon, delta, group)
    if delta >= 1:
        return Unproven("delta of such groups is 1: state a smaller one" if group > 1 else "", None)
    claim = {**body["claim"], "epsilon": ratio_text(epsilon), "delta": ratio_text(delta)}
    method = {"name": proposal.name, **parameters}
    content = sealed({**body, "claim": claim, "theorem": theorem, "method": method})
    verdict = check(content)
    if not verdict.accepted:
        return Unproven(verdict.reason, None if verdict.proven is None else excess_of(verdict.proven, asked))
    return Certified(content, {"epsilon": epsilon, "delta": delta}, proposal.name)


def _of_group(epsilon: Fraction, delta: Fraction, group: int) -> Fraction:
    """A little more than δ of a group, where one record has (ε, δ)."""
    one = Approximate(Enclosure.of(epsilon, precision=192), Enclosure.of(delta, precision=192))
    return Fraction(APPROXIMATE.group(one, group).delta.upper_float) if delta else delta


def _proposals(question: _Question) -> Iterator[_Proposal]:
    """The methods that may prove something about the run."""
    run, answer = question.run, question.answer
    if (best := run.best_of_several) is not None:
        yield from _of_the_best(question, best)
        return
    yield _Proposal("hockey-stick", _HOCKEY_STICK, lambda e, d: {}, answer)
    loss = run.pairs.worst(pure)
    if loss is not None:
        total = (loss.enclosure + run.released_cost).upper_float
        if question.epsilon is None:
            yield _Proposal("pure", _PURE, lambda e, d: {}, max(total, answer))
        elif total <= question.epsilon:
            yield _Proposal("pure", _PURE, lambda e, d: {}, answer)
    yield from _on_lines(question)
    few = len(run.parts) <= _FEW_PARTS
    if few or _Known.of(question.body["parts"], run.change) is None:
        yield from _by_orders(question, beside=few)


def _of_the_best(question: _Question, best: Selected) -> Iterator[_Proposal]:
    """The tilts of the best of several runs, from the profile of one: directly, or from moments on lines."""
    cost, parts = question.run.released_cost, question.body["parts"]
    level = _log(question.claimed(question.answer)[1])
    slope = None if question.delta is None else fall(best, max(question.answer - float(cost), 0.0))

    def proposal(points: Points) -> _Proposal:
        def parameters(epsilon: Fraction, _: Fraction) -> Json | None:
            return proof_as_json(best, epsilon - cost, points) if epsilon >= cost else None

        return _Proposal("selection", _SELECTION, parameters, question.answer, slope, _MOST_ON_LINES)

    yield proposal(directly)
    known = _Known.of(parts, question.run.change)
    if known is not None:
        for cells in known.cells[:_FEW_CELLS]:
            yield proposal(by_lines(best, known.releases(cells), cells, _WORK_AT_A_POINT, level))


def _on_lines(question: _Question) -> Iterator[_Proposal]:
    """The loss distribution, where the checker knows that of every part."""
    epsilon, delta = question.claimed(question.answer)
    level = float(epsilon - question.run.released_cost)
    parts = question.body["parts"]
    known, stated = (_Known.of(stated, question.run.change) for stated in (parts, question.stated))
    if known is None or stated is None or not 0 < delta < 1 or level < known.margin:
        return
    raised, lines = math.inf, None
    for work, cells in product(_WORKS_BESIDE_SUMS if known.of_epochs else _LINE_WORKS, known.cells):
        left = work * question.share - _PART * len(parts)
        found = known.lines(stated, cells, level - known.margin, math.log(delta), left)
        if found is not None and found[0] < raised:
            raised, lines = found
        if raised <= _SHARP * level:
            break
    if lines is None:
        return
    sides = {direction.value: line.as_json() for direction, line in lines.items()}
    start = question.answer + raised
    if question.epsilon is not None:
        start = question.answer * math.exp(min(raised * lines[Direction.REMOVE].real_part, 700.0))
    slope = min(line.real_part for line in lines.values())
    yield _Proposal("loss-distribution", _LOSS_DISTRIBUTION, lambda e, d: sides, start, slope, _MOST_ON_LINES)


_Lines = tuple[float, dict[Direction, Line]]


class Changed(NamedTuple):
    """How many records change at once, whether others take their place, and whether the number of records stays."""

    records: int = 1
    replaced: bool = False
    kept: bool = False

    @property
    def of_one(self) -> bool:
        """Whether one record is added or removed, or zeroed out."""
        return self.records == 1 and not self.replaced


class _Law(NamedTuple):
    """A family with its parameter, how many are released on one sample, the rate, and what changes at once."""

    family: str
    parameter: float
    together: int
    rate: float
    change: Changed = Changed()
    base: str = ""
    cases: tuple[tuple[float, _Law], ...] = ()
    batches: int = 1
    number: int = 0
    """Of discrete Laplace noise the steps, of responses the categories."""
    crowd: tuple[int, float] = (1, 0.0)

    @property
    def of(self) -> str:
        """The family of one release on a batch."""
        return self.base or self.family


def _in_blocks(batches: Json | None, samples: int) -> Iterator[tuple[Json | None, int]]:
    """How batches are drawn, and how often; of an epoch its blocks, one batch of each of which is entered."""
    if batches is None or "number" not in batches:
        yield batches, samples
        return
    number = batches["number"]
    for size, times in blocks(number, batches.get("participations", 1)):
        yield {**batches, "number": size}, samples // number * times


def _together(law: _Law, batches: Json, change: Changed) -> _Law:
    """The law on batches drawn as a whole, as the checker derives it: see its module `batches`."""
    law = _as_pure(_as_laplace(law))
    if law.family == "discrete-gaussian":
        return law
    if "number" in batches:
        certain = law._replace(rate=1.0)
        if batches["data_size"] is not None or batches["number"] == 1:
            return _changed(certain, Changed(replaced=change.replaced))
        return certain._replace(family="allocated", base=law.family, batches=batches["number"])
    two = law._replace(family="symmetrised", parameter=2 * law.parameter, base=law.family)
    if law.family == "pure":
        two = law._replace(family="symmetrised", parameter=law.parameter * law.together, together=1, base="two-records")
    if batches["most"] is None:
        return two
    scheme = TruncatedPoisson(
        rate=Fraction(law.rate),
        batch_size=batches["most"],
        data_size=batches["data_size"],
        at_most=batches["bounded"],
    )
    below = _changed(law, Changed(replaced=change.replaced))
    if scheme.batch_size >= scheme.data_size:
        cases = [(1.0, below)]
    else:
        place = two if change.kept else two._replace(family=two.base, base="")
        rate = law.rate if scheme.at_most else scheme.entering.upper_float
        cases = [(scheme.not_full.upper_float, below), (scheme.full.upper_float, place._replace(rate=rate))]
    return law._replace(family="truncated", base=law.family, cases=tuple(cases))


def _shuffled(loss: float, together: int, answers: Json) -> _Law:
    """Answers of one order, as the checker derives them: see its module `shuffled`."""
    clones = float(Fraction(answers["clones"])) if together == 1 else math.exp(-loss * together)
    return _Law("shuffled", loss * together, 1, 1.0, crowd=(answers["users"], clones))


def _as_pure(law: _Law) -> _Law:
    """What counts of losses in an interval, discrete noise and many categories about another change."""
    families = "bounded-range", "discrete-laplace", "response-of-many"
    return law._replace(family="pure", number=0) if law.family in families else law


def _as_laplace(law: _Law) -> _Law:
    """Laplace noise that dominates discrete noise."""
    if law.family != "discrete-laplace" or not law.number:
        return law
    return law._replace(family="laplace", parameter=law.parameter + (law.parameter / law.number) ** 2 / 4, number=0)


def _changed(law: _Law, change: Changed) -> _Law:
    """The law about another change, as the checker derives it: see its module `changes`."""
    if change.of_one:
        return law
    law = _as_pure(law)
    if law.family != "gaussian" and change.records == 1:
        base = "laplace" if law.family == "laplace" and law.together == 1 else ""
        return _Law("exchanged", law.parameter * law.together, 1, law.rate, base=base)
    if law.family != "gaussian":
        mu = RandomisedResponsePair(Enclosure.of(law.parameter)).gaussian.upper_float
        law = _Law("gaussian", mu, law.together, law.rate)
    if law.rate >= 1:
        return law._replace(parameter=law.parameter * change.records * (2 if change.replaced else 1))
    return law._replace(family="mixture", change=change)


@final
@frozen
class _Known:
    """Releases whose loss the checker knows on a line.

    Attributes:
        parts: what is released at the largest parameter and rate of each, and on how many samples.
        combinations: in how many ways the cells of their covers combine.
        margin: by how much ε is lowered where discrete Gaussian noise counts as normal noise.
        cells: which numbers of cells are tried.
    """

    parts: Mapping[_Law, int]
    combinations: int
    margin: float
    cells: Sequence[int]

    @classmethod
    def of(cls, parts: Sequence[Json], change: Changed) -> _Known | None:
        """Those of a certificate's parts about a change, or None."""
        found: Counter[_Law] = Counter()
        combinations, margin, noise, batched, epochs, looked_at = 1, 0.0, False, False, False, 0.0
        for part in parts:
            if "orders" in part["loss"]:
                return None
            number, largest, rate = _worst(part)
            parameter, whole = float(largest), int(largest)  # which a float may exceed
            family, steps, combinations = part["loss"]["family"], part["steps"], combinations * number
            together, samples = (steps, 1) if part["resample"] == "once" and rate < 1 else (1, steps)
            if "strategy" in part:
                longer, samples, rate = moved(part["strategy"], steps)
                parameter *= longer
            if "shuffled" in part:
                orders = 1 if part["resample"] == "once" else steps
                found[_shuffled(parameter, steps // orders, part["shuffled"])] += orders
                users, clones = part["shuffled"]["users"], float(Fraction(part["shuffled"]["clones"]))
                looked_at = max(looked_at, _LOOKS * (math.sqrt(users * clones * (1 - clones)) + 4))
                continue
            if family == "discrete-gaussian" and part["loss"]["dimension"] is not None:
                lattice = Lattice.of(part["loss"])
                moved_by = whole if lattice.dimension == 1 else parameter
                parameter, family = moved_by / math.sqrt(lattice.variance), "gaussian"
                margin += lattice.margin(steps, parameter, Fraction(part["loss"]["spread"]))
            if family not in _ON_LINES or together > _MOST_CELLS:
                return None
            law, batched = _Law(family, parameter, together, rate), batched or "batches" in part
            if family == "discrete-laplace":
                parameter = whole * float(Fraction(part["loss"]["unit"]))
                law = law._replace(parameter=parameter, number=whole)
                law = law if together == 1 and whole <= _MOST_CELLS else _as_laplace(law)
            if family == "response-of-many":
                law = law._replace(number=part["loss"]["categories"]) if together == 1 else _as_pure(law)
            for batches, times in _in_blocks(part.get("batches"), samples):
                drawn = _changed(law, change) if batches is None else _together(law, batches, change)
                of_noise = drawn.of in _IN_CELLS
                if of_noise and drawn.together > 1:
                    return None
                noise = noise or (of_noise and drawn.batches == 1) or drawn.family in ("symmetrised", "truncated")
                epochs = epochs or drawn.family == "allocated"
                if parameter and rate:
                    found[drawn] += times
        combinations = combinations if change.of_one and not batched else 1
        return cls(found, combinations, margin, _cells(noise, epochs, looked_at))

    @property
    def of_epochs(self) -> bool:
        """Whether the checker has to add up ratios beside what it does on lines."""
        return any(law.family == "allocated" for law in self.parts)

    def releases(self, cells: int) -> list[Release]:
        """The releases, Laplace noise on so many cells."""
        return [_ON_LINES[law.family](law, times, cells) for law, times in self.parts.items()]

    def lines(self, stated: _Known, cells: int, level: float, log_delta: float, work: float) -> _Lines | None:
        """A line for each direction, and by about how much ε is above that of what was stated; None beyond the work."""
        releases, finer, exact = self.releases(cells), self.releases(2 * cells), stated.releases(2 * cells)
        raised, found = 0.0, {}
        left = work / self.combinations
        for direction, share in _SHARES.items():
            line = line_for(releases, level, log_delta, direction, share * left, cells)
            if line is None:
                return None
            left -= work_on(releases, line, direction)
            c = line.real_part
            of_finer = log_moment(finer, c, direction)
            spread = (log_moment(releases, c, direction) - of_finer) * 4 / 3
            grouped = 0.0 if self.parts == stated.parts else of_finer - log_moment(exact, c, direction)
            raised, found[direction] = max(raised, line.raised + (spread + grouped) / c), line
        return raised, found


def _cells(noise: bool, epochs: bool, looked_at: float) -> Sequence[int]:
    """Which numbers of cells are tried, each of which looks at so many numbers of clones."""
    if epochs:
        return [_EPOCH_CELLS]
    if looked_at:
        return [cells for cells in _ANSWER_CELLS if cells * looked_at <= _MOST_LOOKS or cells == _ANSWER_CELLS[0]]
    return _CELLS if noise else [0]


def _normal(law: _Law, times: int, cells: int) -> Release:
    shift = law.parameter * math.sqrt(law.together)
    return Gaussian(shift, times) if law.rate >= 1 else SampledGaussian(shift, law.rate, times)


def _mixture(law: _Law, times: int, cells: int) -> Release:
    shift = law.parameter * math.sqrt(law.together)
    return Mixture(shift, law.rate, law.change.records, law.change.replaced, times)


def _exchanged(law: _Law, times: int, cells: int) -> Release:
    if law.base:
        return Finite.noise(2 * law.parameter, cells, 1.0, times).opposite(law.parameter, law.rate)
    return Finite.exchanged(law.parameter, law.rate, times)


def _two_records(law: _Law, times: int, cells: int) -> Release:
    return evolve(Finite.exchanged(law.parameter, 1.0, times), rate=law.rate)


def _responses(law: _Law, times: int, cells: int) -> Release:
    return Finite.responses(law.parameter, law.together, law.rate, times)


def _of_many(law: _Law, times: int, cells: int) -> Release:
    return Finite.of_many(law.parameter, law.number, law.rate, times)


def _steps(law: _Law, times: int, cells: int) -> Release:
    return Finite.noise(law.parameter, law.number, law.rate, times)


def _laplace(law: _Law, times: int, cells: int) -> Release:
    return Finite.noise(law.parameter, cells, law.rate, times)


def _bounded_range(law: _Law, times: int, cells: int) -> Release:
    return Finite.within(law.parameter, cells, law.rate, times)


def _symmetrised(law: _Law, times: int, cells: int) -> Release:
    base = law._replace(family=law.base, rate=1.0)
    if law.base == "gaussian":
        return Finite.place(law.parameter * math.sqrt(law.together), cells, law.rate, times)
    drawn = cast("Finite", _ON_LINES[law.base](base, times, cells))
    return drawn.symmetrised(law.rate)


def _truncated(law: _Law, times: int, cells: int) -> Release:
    return Cases([(chance, _ON_LINES[case.family](case, times, cells)) for chance, case in law.cases], times)


def _answers(law: _Law, times: int, cells: int) -> Release:
    return Finite.answers(law.parameter, *law.crowd, cells, times)


def _allocated(law: _Law, times: int, cells: int) -> Release:
    return Finite.epoch(_BASES[law.base](Enclosure.of(law.parameter)), law.batches, times)


_BASES: Mapping[str, Callable[[Enclosure], Pair]] = {
    "gaussian": GaussianPair,
    "laplace": LaplacePair,
    "pure": RandomisedResponsePair,
}
_ON_LINES: Mapping[str, Callable[[_Law, int, int], Release]] = {
    "gaussian": _normal,
    "pure": _responses,
    "response-of-many": _of_many,
    "laplace": _laplace,
    "discrete-laplace": _steps,
    "bounded-range": _bounded_range,
    "mixture": _mixture,
    "exchanged": _exchanged,
    "two-records": _two_records,
    "symmetrised": _symmetrised,
    "truncated": _truncated,
    "allocated": _allocated,
    "shuffled": _answers,
}


def _raised(parts: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """The parts as they are, or where there are many those that dominate them, with fewer different ones."""
    if len(parts) <= _FEW_PARTS:
        yield parts
        return
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, part in enumerate(parts):
        cell, family = part.get("cover"), part["loss"]["family"]
        if cell is None or "coordinate" in cell or family in ("discrete-gaussian", "renyi"):
            continue
        if part["resample"] == "each" or cell["rate"] == "1":
            constants = (str(part["loss"].get(key)) for key in ("categories", "unit"))
            alike.setdefault((family, *constants), []).append(number)
    for most in _GROUPS:
        found = list(parts)
        for numbers in alike.values():
            leaves = [parts[number]["cover"] for number in numbers]
            exact = [(Fraction(leaf["parameter"]), Fraction(leaf["rate"])) for leaf in leaves]
            sizes, rates = ([float(pair[i]) for pair in exact] for i in (0, 1))
            for group in groups(sizes, rates, [parts[number]["steps"] for number in numbers], most):
                largest = [ratio_text(max(exact[place][i] for place in group)) for i in (0, 1)]
                for place in group:
                    part = parts[numbers[place]]
                    found[numbers[place]] = {**part, "cover": dict(zip(("parameter", "rate"), largest, strict=True))}
        yield found


def _worst(part: Json) -> tuple[int, Fraction, float]:
    """How many pairs bound a part, and the largest parameter and rate; of strata those of the one that costs most."""
    every: set[tuple[str, str]] = set()
    largest = []
    for one in part.get("strata", [part]):
        leaves = {(leaf["parameter"], leaf["rate"]) for leaf in _leaves(one["cover"])}
        parameters, rates = (list(map(Fraction, values)) for values in zip(*leaves, strict=True))
        largest.append((max(parameters), float(max(rates))))
        every |= leaves
    return len(every), *max(largest, key=lambda pair: cost(float(pair[0]), pair[1]))


def _leaves(tree: Json) -> Iterator[Json]:
    """Return the leaf cells of a cover."""
    if "coordinate" in tree:
        yield from _leaves(tree["below"])
        yield from _leaves(tree["above"])
    else:
        yield tree


def _by_best_order(run: RunStatement, epsilon: Fraction | None, delta: Fraction | None) -> Finding | None:
    """What Rényi orders prove."""
    if delta is not None and delta > 0:
        return RENYI.epsilon(run.pairs, Enclosure.of(delta))
    if epsilon is not None and epsilon >= run.released_cost:
        return RENYI.delta(run.pairs, Enclosure.of(epsilon - run.released_cost))
    return None


def _near(order: Fraction) -> tuple[Fraction, ...]:
    """An order between the whole ones beside it, where moments on samples are sharp."""
    return Fraction(max(math.floor(order), 2)), order, Fraction(math.ceil(order))


def orders_near(run: RunStatement, epsilon: Fraction | None, delta: Fraction | None) -> set[Fraction]:
    """The orders of which moments are asked at an ε or a δ, where losses are Rényi curves; else none."""
    finding = _by_best_order(run, epsilon, delta) if run.has_curves else None
    return set() if finding is None else {near for order in finding.orders for near in _near(order)}


def _by_orders(question: _Question, *, beside: bool) -> Iterator[_Proposal]:
    """Rényi orders: the best one, and the whole ones `beside` it."""
    run, cost = question.run, question.run.released_cost
    finding = _by_best_order(run, question.epsilon, question.delta)
    if finding is None or not finding.orders:
        return
    near = list(zip(*map(_near, finding.orders), strict=True)) if beside else [finding.orders]
    start = finding.bounds.enclosure
    if question.delta is not None:
        start = start + cost
    for orders in dict.fromkeys(near):
        each = dict(zip(Direction, orders, strict=True))
        slope = float(min(orders)) - 1
        yield _Proposal("renyi", _RENYI, _touching(run, each), max(start.upper_float, question.answer), slope)


def _touching(run: RunStatement, orders: Mapping[Direction, Fraction]) -> Callable[[Fraction, Fraction], Json | None]:
    """The order in each direction, and where the conversion touches best."""
    laws = [law for pair in run.pairs.bounding if (law := pair.renyi) is not None]
    taus = {way: largest(law(order, way) for law in laws).upper_float for way, order in orders.items()}

    def parameters(epsilon: Fraction, _: Fraction) -> Json | None:
        level = float(epsilon - run.released_cost)
        if level < 0:
            return None
        sides = {}
        for direction, tau in taus.items():
            order = orders[direction]
            ratio, value = choose_ratio(float(order - 1), tau, level) if tau else (0.0, math.inf)
            usable = math.isfinite(ratio) and math.isfinite(value) and ratio > 0
            sides[direction.value] = {
                "order": ratio_text(order),
                "ratio": ratio_text(Fraction(ratio)) if usable else None,
            }
        return sides

    return parameters


_PURE = "IS Theorem 6 and basic composition"
_HOCKEY_STICK = "hockey-stick divergence of the dominating pair after sampling"
_LOSS_DISTRIBUTION = "Poisson summation of the moments of the privacy loss"
_RENYI = "Renyi composition and Asoodeh et al. 2021, Theorem 3"
_SELECTION = "tilts of the best of repeated runs (Papernot, Steinke 2022; Koskela, Redberg, Wang 2024)"
_FILTER = "Renyi filter (Feldman, Zrnic 2021) and Asoodeh et al. 2021, Theorem 3"


def _log(delta: Fraction) -> float:
    """About log δ, also of one below the floats; of 0 that of the smallest float."""
    return Enclosure.of(delta).log().lower_float if delta > 0 else math.log(5e-324)

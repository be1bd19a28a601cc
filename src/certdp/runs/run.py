"""A run that is fixed beforehand: what it costs in each notion, and as (ε, δ) by an accountant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, cast, final

from attrs import evolve, field, frozen
from typing_extensions import TypeVar

from ..accounting.accountants import BEST, LOSS_DISTRIBUTION, Accountant, Bounds, Finding, Law, WorstPairs
from ..accounting.accountants.trade_off import DeltaLaw, TradeOff, curve_of, reached_curves
from ..accounting.accountants.worst_pairs import gaussian, pure, renyi_at, zero_concentrated
from ..accounting.derivation import EX_POST, Assumption, Derivation
from ..accounting.display import EXACT_UP_TO, Displayed, shorten
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Number
from ..accounting.guarantees import Guarantee, conditions, require
from ..accounting.loss_distribution.profile import ANSWER
from ..accounting.notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    PURE,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    Bound,
    GaussianDP,
    Notion,
    Pure,
    Renyi,
    ZeroConcentrated,
)
from ..accounting.pairs import Pair, RandomisedResponsePair, compose_pairs
from ..accounting.provenance import Payment, Released, named_costs
from ..accounting.relations import Change, Direction, Record, Unit, require_same
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.every_value import is_open
from ..accounting.units import Delta, Epsilon, Order
from ..plugins.contract import About, as_they_came_out, payments, released_parameters, stated

B = TypeVar("B", bound=Bound)
U = TypeVar("U", bound=Unit, default=Record)
"""The unit of privacy of a run; a type without one speaks of records."""

_ASK = "Ask one of certdp.accountants, such as RENYI, or leave it out for the best of all"


class NotionAbsent(InvalidValue):
    """A notion in which no bound follows from what the mechanism declares."""


@final
@frozen
class Interval:
    """Proven bounds of a number, in binary64 rounded outward.

    Attributes:
        lower: None where only an upper bound is proven.
        upper: at least the number.
    """

    lower: float | None
    upper: float

    @classmethod
    def of(cls, bounds: Bounds) -> Interval:
        """The ends of proven bounds of a number ≥ 0."""
        value = bounds.enclosure
        return cls(max(0.0, value.lower_float) if bounds.two_sided else None, value.upper_float)


@final
@frozen
class Compared:
    """What one accountant proves.

    Attributes:
        accountant: who.
        bounds: of the ε or δ that was asked for.
        order: the Rényi order used, or None.
    """

    accountant: Accountant
    bounds: Interval
    order: Fraction | None


@final
@frozen
class Comparison:
    """What each accountant that was asked proves; it prints as a table.

    Those who were not needed for the answer are asked when the rows are first looked at.

    Args:
        found: the finding that was chosen, or that of one accountant.
        spent: an ε or δ spent beside it.
        one_sided: whether what else was spent leaves no lower bound.
    """

    _found: Finding
    _spent: Enclosure | None = None
    _one_sided: bool = False

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """A row for each accountant that found a bound, in the order asked."""
        spent = self._spent

        def total(bounds: Bounds) -> Bounds:
            known = bounds if spent is None else with_cost(bounds, spent)
            return Bounds(known.enclosure, known.two_sided and not self._one_sided)

        each = self._found.compared or (self._found,)
        return tuple(Compared(one.accountant, Interval.of(total(one.bounds)), one.order) for one in each)

    def __str__(self) -> str:
        rows = [("accountant", "lower", "upper", "order"), *map(_cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
        return "\n".join(lines)


def _cells(row: Compared) -> tuple[str, str, str, str]:
    lower = "" if row.bounds.lower is None else repr(row.bounds.lower)
    return str(row.accountant), lower, repr(row.bounds.upper), "" if row.order is None else f"{float(row.order):.6g}"


def refuse_chosen(parameter: str, payments: Iterable[Payment]) -> None:
    """Refuse parameters that an adaptive run chose, whose cost is nothing beside that run alone.

    Raises:
        InvalidValue: for such a parameter.
    """
    for payment in payments:
        if payment.account is not None:
            raise InvalidValue(
                parameter,
                "a parameter chosen from earlier releases",
                "parameters fixed beforehand",
                "Account for adaptive runs by a filter: AdaptiveRun(filter)",
            )


def with_cost(bounds: Bounds, spent: Enclosure) -> Bounds:
    """Bounds of an ε or δ with what was spent on top; where something is spent no lower bound remains."""
    return Bounds(bounds.enclosure + spent, bounds.two_sided and not spent.upper)


@final
@frozen(repr=False)
class Answer(Displayed, Generic[U]):
    """What a run of releases costs as (ε, δ).

    Attributes:
        guarantee: the proven statement.
        epsilon: bounds of the smallest ε for the δ asked for, or the ε asked for.
        delta: bounds of the smallest δ for the ε asked for, or the δ asked for.
        accountant: who proves it; of several that were asked, the one with the smallest bound.
        composed_in: the notion in which the releases were composed.
        order: the Rényi order used, or None.
        compared: what each accountant that was asked proves about the ε or δ asked for.
        asked: the δ or ε that was asked about, exactly.
    """

    guarantee: Guarantee[Approximate, Change, U]
    epsilon: Interval
    delta: Interval
    accountant: Accountant
    composed_in: Notion[Any]
    order: Fraction | None
    compared: Comparison
    asked: Delta | Epsilon

    def cells(self) -> Iterator[tuple[str, str]]:
        """The statement, who proves it, and what the guarantee says beside."""
        yield "statement", self.statement
        yield "accountant", f"{self.accountant}, composed in {self.composed_in}"
        guarantee = self.guarantee
        yield from conditions(guarantee.unit, guarantee.relation, guarantee.derivation)

    @property
    def statement(self) -> str:
        """The guarantee in words; what was asked about as it was stated."""
        return self.stated(lambda upper: _stated(upper, self.asked))

    def stated(self, write: Callable[[float], str]) -> str:
        """The guarantee in words, its two upper ends as `write` has them."""
        epsilon, delta = write(self.epsilon.upper), write(self.delta.upper)
        if self.guarantee.derivation.rests_on(EX_POST):
            return f"ε = {epsilon} at δ = {delta}, read ex post: no guarantee"
        return f"({epsilon}, {delta})-DP" if self.delta.upper else f"{epsilon}-DP"

    def __str__(self) -> str:
        order = "" if self.order is None else f" at order {float(self.order):.6g}"
        return f"{self.statement} by {self.accountant} accounting{order}"


def _stated(upper: float, asked: Delta | Epsilon) -> str:
    """A proven end, or the exact number asked about where that is the one it was rounded from and is short."""
    nearest = repr(float(asked.value))
    near = Enclosure.of(asked.value).upper_float == upper
    return nearest if near and Fraction(nearest) == asked.value else repr(upper)


class Run(Displayed, ABC, Generic[U]):
    """A run whose releases, parameters and number are fixed before the data are seen.

    An adaptive run is none: its costs are known only by a filter, or by a plan that dominates it.

    Attributes:
        precision: working precision of proofs, in bits.
        unit: whom the guarantees protect.
        relation: the change of the data that they protect against.
    """

    __slots__ = ()

    precision: int
    unit: U
    relation: Change

    @cached_property
    @abstractmethod
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""

    @cached_property
    @abstractmethod
    def derivation(self) -> Derivation:
        """What the pairs rest on."""

    @property
    @abstractmethod
    def payments(self) -> tuple[Payment, ...]:
        """What its released parameters cost, each release once."""

    @property
    def released_values(self) -> Mapping[str, str]:
        """The released parameters and the values that they came out as."""
        return {}

    @property
    def as_it_came_out(self) -> Self:
        """The run at its released values, as filters and ex-post readings take it; itself where it has none.

        What it costs then is no guarantee: it composes with nothing, and has no certificate.
        """
        return self

    def counted_by(self, account: object) -> Self:
        """The run at its released values, as the account pays for it that chose some of them.

        Raises:
            InvalidValue: for a parameter that another adaptive run chose: what it tells was paid from another budget.
        """
        return self.as_it_came_out

    @property
    @abstractmethod
    def named(self) -> tuple[str, str]:
        """What a refusal calls the run: a parameter and its value."""

    @property
    def contents(self) -> Iterator[tuple[str, str]]:
        """What is released, for a table: names and descriptions."""
        yield "run", str(self)

    def cells(self) -> Iterator[tuple[str, str]]:
        """What is released, and whom the guarantees of the run are about."""
        yield from self.contents
        yield "unit", self.unit.name
        yield "relation", self.relation.name

    # What the run costs

    def pure(self) -> Guarantee[Pure, Change, U]:
        """The pure ε.

        Raises:
            NotionAbsent: where none follows.
        """
        return self._guarantee(Pure(self._worst(pure, "pure ε") + self.released_cost), PURE)

    def renyi(self, order: Order | Number) -> Guarantee[Renyi, Change, U]:
        """τ at an order.

        Raises:
            NotionAbsent: where none follows.
        """
        order = Order.of(order)
        spent = RandomisedResponsePair(self.released_cost).renyi(order.value, Direction.REMOVE)
        return self._guarantee(Renyi(order.value, self._worst(renyi_at(order.value), "Rényi bound") + spent), RENYI)

    def zero_concentrated(self) -> Guarantee[ZeroConcentrated, Change, U]:
        """Return the guarantee of the run in zero-concentrated DP, its ρ.

        Raises:
            NotionAbsent: where none follows.
        """
        spent = RandomisedResponsePair(self.released_cost).zero_concentrated
        rho = self._worst(zero_concentrated, "zero-concentrated bound") + spent
        return self._guarantee(ZeroConcentrated(rho), ZERO_CONCENTRATED)

    def gaussian(self) -> Guarantee[GaussianDP, Change, U]:
        """Return the guarantee of the run in Gaussian DP, its μ.

        Raises:
            NotionAbsent: where none follows.
        """
        spent = GaussianDP(RandomisedResponsePair(self.released_cost).gaussian)
        bound = GAUSSIAN_DP.compose([GaussianDP(self._worst(gaussian, "Gaussian bound")), spent])
        return self._guarantee(bound, GAUSSIAN_DP)

    @known_keywords
    def epsilon(self, delta: Delta | Number, *, accountant: Accountant = BEST) -> Answer[U]:
        """The smallest proven ε with which the whole run is (ε, δ)-DP.

        Args:
            delta: δ.
            accountant: how it is found; by default whichever proves the smallest ε.

        Raises:
            NotionAbsent: where nothing finite follows, such as at δ = 0 for a mechanism without a pure ε.
            InvalidValue: for a δ below what released parameters have cost.
        """
        require("accountant", accountant, Accountant, _ASK)
        return self._epsilon_at(Delta.of(delta), accountant)

    def _epsilon_at(self, delta: Delta, accountant: Accountant) -> Answer[U]:
        target, spent = Enclosure.of(delta.value, precision=self.precision), self._spent
        found = accountant.epsilon(self.pairs, _left("delta", target, spent.delta))
        if found is None:
            role, name = self.named
            if delta.value:
                admissible = f"one that proves a finite ε of {role} {name} at δ = {delta}"
                raise NotionAbsent("accountant", accountant.name, admissible, "Ask another one, or the best")
            raise NotionAbsent(
                "delta",
                str(delta),
                "a δ at which a finite ε follows",
                f"{role.capitalize()} {name} declares nothing from which one does: state a δ above 0",
            )
        known = Bounds(found.bounds.enclosure, found.bounds.two_sided and not spent.delta.upper)
        total = with_cost(known, spent.epsilon)
        compared = Comparison(found, spent.epsilon, bool(spent.delta.upper))
        return self._answer(total, Bounds(target, two_sided=True), found, compared, delta)

    @known_keywords
    def delta(self, epsilon: Epsilon | Number, *, accountant: Accountant = BEST) -> Answer[U]:
        """The smallest proven δ with which the whole run is (ε, δ)-DP; by the same ways as `epsilon`.

        Raises:
            NotionAbsent: where nothing follows.
            InvalidValue: for an ε below what released parameters have cost.
        """
        require("accountant", accountant, Accountant, _ASK)
        return self._delta_at(Epsilon.of(epsilon), accountant)

    def _delta_at(self, epsilon: Epsilon, accountant: Accountant) -> Answer[U]:
        target, spent = Enclosure.of(epsilon.value, precision=self.precision), self._spent
        found = accountant.delta(self.pairs, _left("epsilon", target, spent.epsilon))
        if found is None:
            role, name = self.named
            raise NotionAbsent(
                "epsilon",
                str(epsilon),
                "an ε at which a δ below 1 follows",
                f"{role.capitalize()} {name} declares nothing from which one does: state a larger ε",
            )
        known = Bounds(found.bounds.enclosure.maximum(0), found.bounds.two_sided and not spent.epsilon.upper)
        total = with_cost(known, spent.delta)
        value = Bounds(total.enclosure.minimum(1), total.two_sided)
        compared = Comparison(found, spent.delta, bool(spent.epsilon.upper))
        return self._answer(Bounds(target, two_sided=True), value, found, compared, epsilon)

    def trade_off(self, *, accountant: Accountant = LOSS_DISTRIBUTION) -> TradeOff:
        """The trade-off curve that bounds the two errors of every test for one record (f-DP), from both sides.

        Args:
            accountant: who proves δ, at the values of ε that a point of the curve asks for.

        Raises:
            NotionAbsent: where the accountant proves nothing.
        """
        law = self.delta_law(accountant.along(ANSWER))
        law(Enclosure.of(0))  # who proves nothing is known now
        return curve_of(law, ex_post=self.derivation.rests_on(EX_POST))

    def delta_law(self, accountant: Accountant) -> DeltaLaw:
        """δ(ε) of the whole run at any ε ≥ 0, with what released parameters cost composed with the rest.

        Args:
            accountant: who proves δ; the law raises NotionAbsent where it proves nothing, and its lower ends are 0
                where nothing is known from below.
        """
        return _DeltaLaw(self._paid_pairs, self._spent.delta, accountant, self.named)

    def reached_curves(self, accountant: Accountant) -> tuple[TradeOff, ...]:
        """The trade-off curves of tests between data sets that are reached, one for each pair and direction.

        Some test of the outputs has the errors of each. They lie above `trade_off`, which holds for all tests at once.

        Args:
            accountant: who proves δ; there are none where it proves no lower ends, or where released parameters cost.
        """
        pairs = dict.fromkeys(pair for pair in self._paid_pairs.reached if pair.is_one_pair)
        return reached_curves(laws for pair in pairs if (laws := accountant.by_direction(pair)) is not None)

    @property
    def _paid_pairs(self) -> WorstPairs:
        """The pairs of the run and of what released parameters cost."""
        spent = self._spent
        if not spent.epsilon.upper and not spent.delta.upper:
            return self.pairs
        response = RandomisedResponsePair(spent.epsilon)
        return WorstPairs(tuple(compose_pairs([pair, response]) for pair in self.pairs.bounding), ())

    # Shared steps

    @property
    def _costs(self) -> list[Guarantee[Any, Any, Any]]:
        """The guarantees of the releases of parameters, each once."""
        spent = named_costs(self.payments)
        for cost in spent:
            require_same("cost", (cost.relation, cost.unit), (self.relation, self.unit), "in the run")
            if cost.bound.notion not in (PURE, APPROXIMATE):
                raise InvalidValue("cost", cost.bound, "a bound of pure or approximate DP")
        return spent

    @property
    def _spent(self) -> Approximate:
        """ε and δ spent on releasing parameters."""
        nothing = Enclosure.of(0, precision=self.precision)
        each = [_as_approximate(cost.bound) for cost in self._costs]
        return APPROXIMATE.compose([Approximate(nothing, nothing), *each])

    @property
    def released_cost(self) -> Enclosure:
        """Pure ε spent on releasing parameters.

        Raises:
            NotionAbsent: where one was released for an ε and a δ above 0.
        """
        spent = self._spent
        if spent.delta.upper:
            raise NotionAbsent(
                "cost", str(spent), "released parameters with a pure ε, in this notion", "Ask for ε at a δ instead"
            )
        return spent.epsilon

    def _worst(self, law: Law, name: str) -> Enclosure:
        found = self.pairs.worst(law)
        if found is None:
            role, named = self.named
            raise NotionAbsent(role, named, f"a {role} that has a {name}", "Ask for another notion, or for ε at a δ")
        return found.enclosure.maximum(0)

    def _guarantee(self, bound: B, notion: Notion[B]) -> Guarantee[B, Change, U]:
        return self._stated(bound, notion.composition_theorem.conclude([self.derivation]))

    def _stated(self, bound: B, derivation: Derivation) -> Guarantee[B, Change, U]:
        return Guarantee(bound=bound, relation=self.relation, unit=self.unit, derivation=derivation)

    def _answer(
        self, epsilon: Bounds, delta: Bounds, found: Finding, compared: Comparison, asked: Delta | Epsilon
    ) -> Answer[U]:
        first, *then = found.theorems
        order = [] if found.order is None else [Assumption("order", str(found.order))]
        derivation = first.conclude([self.derivation], order)
        for theorem in then:
            derivation = theorem.conclude([derivation])
        return Answer(
            guarantee=self._stated(Approximate(epsilon.enclosure, delta.enclosure), derivation),
            epsilon=Interval.of(epsilon),
            delta=Interval.of(delta),
            accountant=found.accountant,
            composed_in=found.notion,
            order=found.order,
            compared=compared,
            asked=asked,
        )


@final
@frozen
class _DeltaLaw:
    """δ(ε) of pairs by an accountant, with what was spent beside them, asked once at each ε."""

    _pairs: WorstPairs
    _spent: Enclosure
    _accountant: Accountant
    _named: tuple[str, str]
    _found: dict[Enclosure, Enclosure] = field(factory=dict, init=False, eq=False, repr=False)

    def __call__(self, epsilon: Enclosure) -> Enclosure:
        if epsilon not in self._found:
            self._found[epsilon] = self._delta(epsilon)
        return self._found[epsilon]

    def _delta(self, epsilon: Enclosure) -> Enclosure:
        found = self._accountant.delta(self._pairs, epsilon)
        if found is None:
            by = f"a run for which {self._accountant} accounting gives δ"
            raise NotionAbsent(*self._named, by, "Ask another one")
        value = (found.bounds.enclosure + self._spent).minimum(1)
        return value if found.bounds.two_sided else value.hull(0)


class Plugin(Protocol):
    """A mechanism or a sampler of any kind."""

    about: ClassVar[About]


class RunPart(Run[U]):
    """A run of releases of one mechanism with one sampler, fixed before the data are seen; base class.

    Attributes:
        mechanism: what is released.
        sampler: what enters.
        domain: the public domain of the records, where one matters.
    """

    # no __slots__: cached properties of this class live in the dictionary of an instance

    mechanism: Any
    sampler: Any
    domain: NormBall | None

    @property
    def plugins(self) -> tuple[Plugin, Plugin]:
        """The mechanism and the sampler of the part."""
        return self.mechanism, self.sampler

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many releases there are."""

    @property
    @abstractmethod
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample."""

    @abstractmethod
    def pair_of_one(self, size: Fraction) -> Pair | None:
        """The pair of all releases about one and the same neighbour, for lower ends of plans; None where none is known.

        Args:
            size: of its record, which lies on an axis.
        """

    @property
    def named(self) -> tuple[str, str]:
        """What a refusal calls the part: its mechanism."""
        return "mechanism", self.mechanism.about.name

    @property
    def described(self) -> tuple[str, str, str]:
        """Mechanism and sampler with their options, every digit of them, and how often is released."""
        way = "on one sample" if self.on_one_sample else "each on a fresh sample"
        count = "1 release" if self.steps == 1 else f"{self.steps:,} releases, {way}"
        mechanism, sampler = map(_with_options, self.plugins)
        return mechanism, sampler, count

    @property
    def contents(self) -> Iterator[tuple[str, str]]:
        """Mechanism, sampler, releases and domain, for a table."""
        for name, text in zip(("mechanism", "sampler", "releases"), self.described, strict=True):
            yield name, shorten(text, EXACT_UP_TO)
        if self.domain is not None:
            yield "domain", str(self.domain)

    def __str__(self) -> str:
        return " · ".join(text for _, text in self.contents)

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What its released parameters cost, each release once."""
        of_domain = () if self.domain is None else self.domain.payments
        return tuple(dict.fromkeys([*payments(self.mechanism, self.sampler), *of_domain]))

    @cached_property
    def released_parameters(self) -> Mapping[str, Released[Any]]:
        """The released parameters by name, the domain's radius among them."""
        of_domain = {} if self.domain is None else self.domain.released
        of_plugins = (("mechanism", self.mechanism), ("sampler", self.sampler))
        return {n: v for part in of_plugins for n, v in released_parameters(*part).items()} | of_domain

    @cached_property
    def open_parameters(self) -> Mapping[str, Released[Any]]:
        """The released parameters for every value of which a guarantee has to hold."""
        return {name: value for name, value in self.released_parameters.items() if is_open(value)}

    @property
    def released_values(self) -> Mapping[str, str]:
        """The released parameters and the values that they came out as."""
        return {name: str(value.value) for name, value in self.released_parameters.items()}

    @property
    def as_it_came_out(self) -> Self:
        """The run at its released values, as filters and ex-post readings take it; itself where it has none.

        Raises:
            InvalidValue: for a parameter that an adaptive run chose.
        """
        refuse_chosen("run", self.payments)
        return self._at_released_values

    def counted_by(self, account: object) -> Self:
        """The part at its released values, as the account pays for it that chose some of them; raises as `Run`'s."""
        refuse_chosen("step", (payment for payment in self.payments if payment.account is not account))
        return self._at_released_values

    @cached_property
    def _at_released_values(self) -> Self:
        if not self.open_parameters:
            return self
        domain = {} if self.domain is None else {"domain": self.domain.as_it_came_out}
        at_values: Self = evolve(
            cast("Any", self),  # every part is an attrs class
            mechanism=as_they_came_out("mechanism", self.mechanism),
            sampler=as_they_came_out("sampler", self.sampler),
            **domain,
        )
        return at_values

    @property
    def _plugins_open(self) -> dict[str, Released[Any]]:
        """The open parameters of mechanism and sampler."""
        of_domain = () if self.domain is None else self.domain.released
        return {name: value for name, value in self.open_parameters.items() if name not in of_domain}

    @property
    def _is_ex_post(self) -> bool:
        """Whether some released parameters are taken as they came out: no guarantee follows."""
        return len(self.open_parameters) < len(self.released_parameters)


def _with_options(plugin: Plugin) -> str:
    options = ", ".join(f"{name}={value}" for name, value in stated(plugin).items())
    return f"{plugin.about.name} ({options})" if options else plugin.about.name


def _as_approximate(bound: Pure | Approximate) -> Approximate:
    match bound:
        case Pure():
            return Approximate(bound.epsilon, Enclosure.of(0))
        case Approximate():
            return bound


def _left(parameter: str, target: Enclosure, spent: Enclosure) -> Enclosure:
    """What of an ε or δ is left for the releases.

    Raises:
        InvalidValue: where less than nothing is.
    """
    left = target - spent if spent.upper else target
    if left.lower < 0:
        admissible = f"at least {spent.upper_float!r}, the cost of released parameters"
        raise InvalidValue(parameter, float(target.upper), admissible)
    return left

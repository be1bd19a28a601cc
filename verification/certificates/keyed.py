"""Writing certificates of releases of sampled keys: (ε, δ) for one element, or for users, at every frequency.

A certificate states the table as it is drawn, in whole units. Of keys alone that is what is reported, row by row, but
for stretches on which all that is kept is; without sampling the law of the delays; of frequencies on a sample the units
with which each frequency is kept, from which a checker makes the rows anew, and their digest. What a checker cannot
prove for every frequency gets no certificate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from itertools import count, groupby
from math import isfinite
from typing import final

from attrs import evolve, frozen

from ...accounting.derivation import Assumption
from ...accounting.enclosures import Enclosure
from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Reporting,
)
from ...accounting.notions import APPROXIMATE, Approximate, Bound, Pure
from ...accounting.pairs import Pair, RandomisedResponsePair
from ...accounting.provenance import Payment
from ...accounting.relations import ADD_REMOVE, ELEMENT, Direction, require_same
from ...accounting.sampling.every_value import ExPost, released_within
from ...accounting.units import Delta, Epsilon
from ...plugins.contract import KeySampler, Sanitiser, open_parameters, payments, stated
from ..checker import check
from .approximate import Certified
from .plugin_statements import PluginStatement
from .writing import FORMAT, Json, sealed, versions

KIND = "keyed-approximate"

_MOST_ROWS = 1 << 17
_MOST_WORK = 1 << 30
_FAR = 2
"""A table is given up where the rest, with rows like the last one, takes so many times what a checker does."""
_BESIDE = (1, 64)
"""Rows written out at either end of a stretch: one, or enough that rounding does not matter."""
_HIGHEST = 1 << 53
_ADMISSIBLE = f"at most {_MOST_ROWS:,} rows, checked in at most {_MOST_WORK:,} steps"
_REMEDY = "State a public largest frequency, or leave the certificate out"


def keyed_certificate(
    mechanism: Sanitiser,
    sampler: KeySampler,
    *,
    contributions: int | None = None,
    releases: int = 1,
    assumptions: Iterable[Assumption] = (),
) -> bytes:
    """A certificate of what releases of sampled keys cost, which the checker has accepted.

    Args:
        mechanism: what is reported about a sampled key.
        sampler: which keys enter.
        contributions: at most how many elements one user has; by default the claim is about one element.
        releases: how many independent ones there are, each on a fresh sample.
        assumptions: what the guarantee rests on beside what the certificate states by itself.

    Guarantees:
        The claim is (ε, δ) as the mechanism declares it, k times for k releases, plus what released constants of the
        sampler cost; for users what c elements cost, δ rounded up.

    Raises:
        InvalidValue: for plugins of another unit or without add/remove, heuristic evidence, a δ of 1 or more in all,
            for assumptions that contradict others, and for rates or a table that no certificate states, or that the
            checker cannot prove within its budget.
        InvalidType, OutsideDomain: as the mechanism does.
    """
    return _proven(_Statement.of(mechanism, sampler, contributions, whole("releases", releases, 1), assumptions))


def certified_keyed(
    mechanism: Sanitiser,
    sampler: KeySampler,
    *,
    releases: int,
    assumptions: Iterable[Assumption],
    asked: Delta | Epsilon,
    answer: float,
) -> Certified:
    """A certificate of what releases of sampled keys cost one element at a δ, or at an ε.

    Where nothing is released beside, and the checker can bound them so, releases of keys alone are composed at each
    frequency. Else it knows of each what its mechanism declares, and that is composed in the better of two ways.

    Args:
        mechanism, sampler, releases, assumptions: as of `keyed_certificate`.
        asked: δ or ε, stated exactly.
        answer: the upper end of the ε, or of the δ, that answers; the least number certified.

    Raises:
        InvalidValue: as `keyed_certificate`; for an ε below what released constants cost, and for a δ at which no ε
            follows from what is declared.
        InvalidType, OutsideDomain: as the mechanism does.
    """
    statement = _Statement.of(mechanism, sampler, None, releases, assumptions)
    for claimed in statement.at_each_frequency(asked, answer):
        with suppress(InvalidValue):
            return _certified(claimed)
    return _certified(statement.at(asked, answer))


def _certified(claimed: _Statement) -> Certified:
    epsilon, delta = claimed.claimed
    return Certified(_proven(claimed), {"epsilon": epsilon, "delta": delta}, claimed.composition.value)


def _proven(statement: _Statement) -> bytes:
    """The certificate by the first table that the checker proves."""
    reason = "it has none"
    for table in _tables(statement.reporting):
        content = sealed(statement.as_json(table))
        verdict = check(content)
        if verdict.accepted:
            return content
        reason = verdict.reason
    raise InvalidValue(
        "certificate", "a table that the checker does not prove", "one that it proves", f"It says: {reason}"
    )


@final
@frozen
class _Table:
    """A table as a certificate states it.

    Attributes:
        reports: "keys", "delays" or "rows".
        table: what the kind states of it.
        largest: the last frequency that it covers, or None where it covers all.
    """

    reports: str
    table: Json
    largest: int | None = None


class _Composition(Enum):
    """How releases are composed; the value is what the method is called."""

    BASIC = "basic composition"
    OPTIMAL = "optimal composition"
    AT_EACH_FREQUENCY = "composition at each frequency"


@final
@frozen(kw_only=True)
class _Statement:
    """What a certificate says beside the table."""

    mechanism: PluginStatement
    sampler: PluginStatement
    reporting: Reporting
    scheme: Json
    contributions: int | None
    releases: int
    cost: Approximate
    assumptions: tuple[Assumption, ...]
    asked: tuple[Fraction, Fraction] | None = None
    """Another (ε, δ) than the declared one."""
    composition: _Composition = _Composition.BASIC
    public_rates: bool
    """Whether no constant of the sampler was released."""

    @classmethod
    def of(
        cls,
        mechanism: Sanitiser,
        sampler: KeySampler,
        contributions: int | None,
        releases: int,
        assumptions: Iterable[Assumption],
    ) -> _Statement:
        """Read the plugins, and refuse those that no certificate is about."""
        statements = [_statement(role, plugin) for role, plugin in (("mechanism", mechanism), ("sampler", sampler))]
        if moving := open_parameters("mechanism", mechanism):
            raise ExPost.about(", ".join(moving))
        released = open_parameters("sampler", sampler)
        reporting = mechanism.reporting(sampler.inclusion)
        scheme = _scheme(reporting.inclusion)
        return cls(
            mechanism=statements[0],
            sampler=statements[1],
            reporting=reporting,
            scheme=scheme,
            contributions=None if contributions is None else whole("contributions", contributions, 1),
            releases=releases,
            public_rates=not released,
            cost=APPROXIMATE.compose([APPROXIMATE.nothing, *map(_cost_of, payments(mechanism, sampler))]),
            assumptions=(
                *_assumed(mechanism),
                *_assumed(sampler),
                *(released_within(name, value) for name, value in released.items()),
                *assumptions,
            ),
        )

    @property
    def _costs(self) -> tuple[Fraction, Fraction]:
        return self.cost.epsilon.upper, self.cost.delta.upper

    def at_each_frequency(self, asked: Delta | Epsilon, answer: float) -> Iterator[_Statement]:
        """The answer, and a hair more, by the rows of keys alone; none where what is declared reaches it as well."""
        match self.reporting:
            case KeyTable() if self.public_rates and isfinite(answer):
                for above in (Fraction(answer), Fraction(answer) * (1 + _SLACK)):
                    epsilon, delta = _both(asked, Fraction(Enclosure.of(above).upper_float))
                    if not (self.claimed[0] <= epsilon and self.claimed[1] <= delta):
                        yield evolve(self, asked=(epsilon, delta), composition=_Composition.AT_EACH_FREQUENCY)

    def at(self, asked: Delta | Epsilon, answer: float) -> _Statement:
        """The better of both ways to compose what is declared, no less than the answer."""
        match asked:
            case Delta(value):
                return self._at_delta(value, answer)
            case Epsilon(value):
                return self._at_epsilon(value, answer)

    def _at_epsilon(self, epsilon: Fraction, answer: float) -> _Statement:
        """The least δ at ε, no less than the answer."""
        declared = self.claimed
        level = epsilon - self._costs[0]
        if level < 0:
            cost = f"at least {self._costs[0]}, what released constants cost"
            raise InvalidValue("epsilon", epsilon, cost, "Ask for a larger ε")
        law = self._responses.delta
        assert law is not None
        told = law(Enclosure.of(level), Direction.REMOVE)
        delta = self._costs[1] + ((told - 1) * self._silent + 1).widen(_SLACK).upper
        if epsilon >= declared[0] and declared[1] <= delta:
            return evolve(self, asked=(epsilon, max(declared[1], Fraction(answer))))
        above = Fraction(Enclosure.of(max(delta, Fraction(answer))).upper_float)
        return evolve(self, asked=(epsilon, above), composition=_Composition.OPTIMAL)

    def _at_delta(self, delta: Fraction, answer: float) -> _Statement:
        """The least ε at δ, no less than the answer."""
        declared, least = self.claimed, 1 - self._silent + self._costs[1]
        if delta > least.upper:
            rest = 1 - (1 - delta + self._costs[1]) / self._silent
            found = self._responses.smallest_epsilon(Enclosure.of(max(rest.lower, Fraction(0))), Direction.REMOVE)
            assert found is not None
            epsilon = self._costs[0] + found.widen(_SLACK).upper
            if delta < declared[1] or epsilon < declared[0]:
                above = Fraction(Enclosure.of(max(epsilon, Fraction(answer))).upper_float)
                return evolve(self, asked=(above, delta), composition=_Composition.OPTIMAL)
        if delta < declared[1]:
            remedy = "With this probability the releases may tell the data, as far as is declared: ask for a larger δ"
            raise InvalidValue("delta", float(delta), f"above {least.upper_float}", remedy)
        return evolve(self, asked=(max(declared[0], Fraction(answer)), delta))

    @property
    def _responses(self) -> Pair:
        """Randomised responses of which, and of telling the data with the allowance, all releases are images."""
        budget = self.reporting.budget
        growth = Enclosure.of(Fraction(budget.growth, budget.certain)).log()
        return RandomisedResponsePair(Enclosure.of(growth.upper)).repeated(self.releases)

    @property
    def _silent(self) -> Enclosure:
        """The probability with which none of them tells."""
        budget = self.reporting.budget
        return Enclosure.of(1 - budget.probability(budget.allowance)).power(self.releases)

    @property
    def claimed(self) -> tuple[Fraction, Fraction]:
        """ε, and δ rounded up where it is of several elements."""
        if self.asked is not None:
            return self.asked
        costs = zip((self.reporting.epsilon.value, self.reporting.delta.value), self._costs, strict=True)
        epsilon, delta = (value * self.releases + cost for value, cost in costs)
        if self.contributions is not None and self.contributions > 1:
            one = Approximate(*(Enclosure.of(value, precision=256) for value in (epsilon, min(delta, Fraction(1)))))
            several = APPROXIMATE.group(one, self.contributions)
            epsilon, delta = epsilon * self.contributions, several.delta.upper
        return epsilon, delta

    def as_json(self, table: _Table) -> Json:
        """The certificate's body without the digest.

        Raises:
            InvalidValue: where δ reaches 1 without being that of one release to one element.
        """
        budget, (epsilon, delta) = self.reporting.budget, self.claimed
        if delta > 1 or (delta == 1 and self.contributions not in (None, 1)):
            raise InvalidValue(
                "delta", str(float(delta)), "at most 1 in all", "Such a claim says nothing: leave the certificate out"
            )
        composed = _COMPOSED[self.composition]
        if any(self._costs) or (self.releases > 1 and self.composition is _Composition.BASIC):
            composed += " and basic composition"
        return {
            "format": FORMAT,
            "kind": KIND,
            "audience": "public",
            "theorem": _THEOREMS[table.reports] + composed + ("" if self.contributions is None else _GROUPS),
            "claim": {
                "unit": "element" if self.contributions is None else "user",
                "contributions": self.contributions,
                "relation": ADD_REMOVE.name,
                "notion": APPROXIMATE.name,
                "epsilon": ratio_text(epsilon),
                "delta": ratio_text(delta),
                "largest_frequency": table.largest,
            },
            "inputs": {
                "scheme": self.scheme,
                "releases": self.releases,
                "reports": table.reports,
                "subdivision": budget.subdivision,
                "bits": budget.bits,
                "growth": str(budget.growth),
                "allowance": str(budget.allowance),
                "table": table.table,
                "released_cost": dict(zip(("epsilon", "delta"), map(ratio_text, self._costs), strict=True)),
            },
            "mechanism": self.mechanism.as_json(),
            "sampler": self.sampler.as_json(),
            "assumptions": self._assumptions(table.largest),
            "versions": versions(),
        }

    def _assumptions(self, largest: int | None) -> list[Json]:
        own = {"unit is an element": "one occurrence of a key"}
        own["coins of each key"] = "independent of those of all other keys"
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            own[f"evidence of {role} {plugin.name}"] = plugin.evidence
            own |= {f"{role}.{key}": value for key, value in plugin.options.items()}
        if self.contributions is not None:
            own["each user contributes at most so many elements in all"] = str(self.contributions)
        if self.releases > 1:
            own["releases, each on a fresh sample with coins of its own"] = str(self.releases)
        if largest is not None:
            own["largest frequency"] = str(largest)
        if self.reporting.largest is not None:
            own["a key of more occurrences counts as having"] = str(self.reporting.largest)
        for name, cost in zip(("released cost", "released delta"), self._costs, strict=True):
            if cost:
                own[name] = ratio_text(cost)
        for further in self.assumptions:
            if own.setdefault(further.name, further.value) != further.value:
                raise InvalidValue(
                    "assumptions",
                    f"{further.name}: {further.value}",
                    f"{own[further.name]}, as stated of the same name",
                )
        return [{"name": name, "value": value} for name, value in own.items()]


def _both(asked: Delta | Epsilon, told: Fraction) -> tuple[Fraction, Fraction]:
    """(ε, δ), what is asked and what is told of the other."""
    match asked:
        case Delta(value):
            return told, value
        case Epsilon(value):
            return value, told


def _statement(role: str, plugin: Sanitiser | KeySampler) -> PluginStatement:
    plugin.about.require(role, ELEMENT, ADD_REMOVE)
    plugin.about.declaration(role, stated(plugin))  # which heuristic evidence is none
    return PluginStatement.of(plugin)


def _assumed(plugin: Sanitiser | KeySampler) -> tuple[Assumption, ...]:
    return plugin.about.assumed(stated(plugin))


def _cost_of(payment: Payment) -> Approximate:
    """What a release of parameters cost one element."""
    require_same("cost", (payment.cost.relation, payment.cost.unit), (ADD_REMOVE, ELEMENT), "in every release of keys")
    return _approximate(payment.cost.bound)


@singledispatch
def _approximate(bound: Bound) -> Approximate:
    raise InvalidType("cost", bound, "a pure or approximate bound", "No certificate states another cost yet")


@_approximate.register
def _(bound: Pure) -> Approximate:
    return Approximate(bound.epsilon, Enclosure.of(0))


@_approximate.register
def _(bound: Approximate) -> Approximate:
    return bound


@singledispatch
def _scheme(inclusion: Inclusion) -> Json:
    """A sampler's rates as certificates state them.

    Raises:
        InvalidValue: for rates that no certificate states.
    """
    raise InvalidValue(
        "certificate",
        type(inclusion).__name__,
        "rates of every-key, ppswor, pps or listed-rates",
        "No kind of certificate states such rates yet: leave the certificate out",
    )


@_scheme.register
def _(inclusion: EveryKey) -> Json:
    return {"name": "every-key"}


@_scheme.register
def _(inclusion: Ppswor) -> Json:
    return {"name": "ppswor", **_sizes(inclusion)}


@_scheme.register
def _(inclusion: PoissonPps) -> Json:
    return {"name": "pps", **_sizes(inclusion)}


@_scheme.register
def _(inclusion: ListedRates) -> Json:
    return {"name": "listed-rates", "rates": [ratio_text(rate.value) for rate in inclusion.rates]}


def _sizes(inclusion: Ppswor | PoissonPps) -> Json:
    threshold = {"threshold": ratio_text(inclusion.threshold)}
    if inclusion.sizes is None:
        return {**threshold, "power": ratio_text(inclusion.power)}
    return {**threshold, "sizes": [ratio_text(size) for size in inclusion.sizes]}


@singledispatch
def _tables(reporting: Reporting) -> Iterator[_Table]:
    """Tables that a checker may prove, one after the other until it does.

    Raises:
        InvalidValue: for what no certificate states, and beyond the work that a checker does.
    """
    raise InvalidValue(
        "certificate",
        type(reporting).__name__,
        "a table of keys, or of keys and frequencies",
        "No kind of certificate states such a table yet: leave the certificate out",
    )


@_tables.register
def _(reporting: FrequencyNoise) -> Iterator[_Table]:
    columns = [{"width": str(column.width), "units": list(map(str, column.units))} for column in reporting.columns]
    yield _Table("delays", {"columns": columns})


@_tables.register
def _(reporting: FrequencyTable) -> Iterator[_Table]:
    budget, last = reporting.budget, reporting.last
    kept: list[str] = []
    seen: dict[tuple[int, tuple[tuple[int, int, int], ...]], int] = {}
    digest, work = hashlib.sha256(), 0
    end = _saturated(reporting.inclusion, budget.bits) if last is None else last
    for row in reporting.at(count(1) if last is None else range(1, last + 1)):
        effort = (len(row.runs) + 8) * budget.bits  # as the checker counts
        work += effort
        hopeless = work + (end - row.frequency) * effort > _FAR * _MOST_WORK
        if hopeless or work > _MOST_WORK or end > _MOST_ROWS:
            raise InvalidValue("certificate", f"rows up to frequency {end} or more", _ADMISSIBLE, _REMEDY)
        if not kept or str(row.kept) != kept[-1]:
            seen.clear()
        kept.append(str(row.kept))
        digest.update(_row_text(row))
        moved = tuple((run.first - row.frequency * budget.tokens, run.width, run.units) for run in row.runs)
        before = seen.setdefault((row.unreported, moved), row.frequency)
        if last is None and before != row.frequency and row.kept == reporting.inclusion.most(budget.bits):
            yield _rows(kept, digest.hexdigest(), "shifted", row.frequency - before)
            return
    yield _rows(kept, digest.hexdigest(), "absent" if reporting.largest is None else "constant", None)


def _rows(kept: list[str], digest: str, then: str, period: int | None) -> _Table:
    table = {"kept": kept, "digest": digest, "then": then, "period": period}
    return _Table("rows", table, len(kept) if then == "absent" else None)


def _row_text(row: FrequencyRow) -> bytes:
    """A row as the digest reads it."""
    runs = ";".join(f"{run.first},{run.width},{run.units}" for run in row.runs)
    return f"{row.unreported}:{runs}\n".encode("ascii")


@_tables.register
def _(reporting: KeyTable) -> Iterator[_Table]:
    bits, last, inclusion = reporting.budget.bits, reporting.last, reporting.inclusion
    absent = last is not None and reporting.largest is None
    walk, rows, attached = _Walk(), list[FrequencyRow](), 0
    for row in reporting.at(walk):
        rows.append(row)
        attached = attached + 1 if row.reported == row.kept else 0
        if row.frequency == last or (row.reported == inclusion.most(bits) and not absent):
            break
        if last is None and attached.bit_count() == 1:  # ever more seldom
            yield from (_keys(segments, "kept", None) for segments in _open_ended(rows))
        walk.next = row.frequency + 1
        if attached == max(_BESIDE):
            end = inclusion.attached(reporting.budget, row.frequency)
            end = _saturated(inclusion, bits) if end is None else end
            end = end if last is None else min(end, last)
            walk.next = max(walk.next, end + 1 - max(_BESIDE))
        if len(rows) > _MOST_ROWS or walk.next >= _HIGHEST:
            admissible = f"at most {_MOST_ROWS:,} rows, of frequencies below 2^{_HIGHEST.bit_length() - 1}"
            raise InvalidValue("certificate", f"rows beyond frequency {row.frequency}", admissible, _REMEDY)
    for beside in (*_BESIDE, len(rows)):
        yield _keys(_segments(rows, beside), "absent" if absent else "constant", last if absent else None)


class _Walk:
    """Frequencies, each decided when the row of the one before is known."""

    def __init__(self) -> None:
        self.next = 1

    def __iter__(self) -> Iterator[int]:
        while True:
            yield self.next


def _saturated(inclusion: Inclusion, bits: int) -> int:
    """The first frequency from which on the units with which keys are kept stay the same, or one beyond 2^53."""
    low, high = 0, 1
    while high < 2 * _HIGHEST and inclusion.units(high, bits) < inclusion.most(bits):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if inclusion.units(middle, bits) < inclusion.most(bits) else (low, middle)
    return high


def _keys(segments: list[Json], then: str, largest: int | None) -> _Table:
    return _Table("keys", {"segments": segments, "then": then}, largest)


def _open_ended(rows: list[FrequencyRow]) -> Iterator[list[Json]]:
    """Segments up to where the last stretch begins, or ends so far; what follows is kept."""
    for beside in _BESIDE:
        *before, (_, stretch) = _stretches(rows)
        closed = [segment for _, group in before for segment in _written(group, beside)]
        opened = [*closed, *_written(stretch[:beside], beside)]
        yield _joined(opened)
        yield _joined([*opened, {"kept_through": stretch[-1].frequency}])


def _segments(rows: list[FrequencyRow], beside: int) -> list[Json]:
    """Rows, and in place of those inside of stretches how far these reach."""
    return _joined([segment for _, group in _stretches(rows) for segment in _written(group, beside)])


def _stretches(rows: list[FrequencyRow]) -> list[tuple[bool, list[FrequencyRow]]]:
    """Neighbouring rows that all report what is kept, or all do not."""
    return [(kept, list(group)) for kept, group in groupby(rows, key=lambda row: row.reported == row.kept)]


def _written(group: list[FrequencyRow], beside: int) -> Iterator[Json]:
    """The rows of a group, but for those inside of a stretch that have `beside` others at either side."""
    first, last = group[0].frequency, group[-1].frequency
    within = last - first + 1 > 2 * beside + 1 and group[0].reported == group[0].kept
    yield {"reported": [str(row.reported) for row in (group[:beside] if within else group)]}
    if within:
        yield {"kept_through": last - beside}
        yield {"reported": [str(row.reported) for row in group if row.frequency > last - beside]}


def _joined(segments: Iterable[Json]) -> list[Json]:
    """The same with neighbouring lists of rows in one."""
    found: list[Json] = []
    for segment in segments:
        if found and "reported" in segment and "reported" in found[-1]:
            found[-1] = {"reported": [*found[-1]["reported"], *segment["reported"]]}
        else:
            found.append(segment)
    return found


_GROUPS = " and group privacy"
_COMPOSED = {
    _Composition.BASIC: "",
    _Composition.OPTIMAL: " and optimal composition (Kairouz, Oh, Viswanath 2015)",
    _Composition.AT_EACH_FREQUENCY: " and composition at each frequency (Zhu, Dong, Wang 2022)",
}
_SLACK = Fraction(1, 2**40)
"""So much more is claimed, relatively, than follows: the checker rounds in its own way."""
_THEOREMS = {
    "keys": "PWS Section 4, Lemma 4.1",
    "delays": "PWS Section 5, Lemma 5.2",
    "rows": "PWS Section 5, Theorem 5.1",
}
"""By what is reported."""

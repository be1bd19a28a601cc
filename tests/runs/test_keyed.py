"""Releases of sampled keys and what they cost, against exact rows compared token by token, frequency by frequency."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from attrs import evolve, frozen
from flint import arb, ctx

from certdp.accounting.accountants import LOSS_DISTRIBUTION
from certdp.accounting.derivation import Evidence, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue, OutsideDomain
from certdp.accounting.filters import PureFilter
from certdp.accounting.guarantees import Guarantee, compose
from certdp.accounting.keyed.reporting import DyadicBudget, Inclusion, Reporting
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, Bound, Pure, ZeroConcentrated
from certdp.accounting.provenance import Payment, Public, Released
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, Direction, Relation, Unit, User
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.pws_frequencies import PwsFrequencies
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.plugins.contract import CONTRACT_VERSION, About, KeySampler
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.certificates import certificate, certified_keys, guarantee_certificate
from certdp.runs.keyed import KeyedRun
from certdp.runs.plan import Plan
from certdp.runs.risk import risk
from certdp.runs.run import NotionAbsent
from certdp.runs.sampled import SampledRun
from certdp.samplers.every_key import EveryKey
from certdp.samplers.full import Full
from certdp.samplers.listed_rates import ListedRates
from certdp.samplers.pps import Pps
from certdp.samplers.ppswor import Ppswor

EPSILON, DELTA = Fraction(1, 2), Fraction(1, 20)
KEYS = PwsKeys(epsilon=Public("0.5"), delta=Public("0.05"))
FREQUENCIES = PwsFrequencies(epsilon=Public("0.5"), delta=Public("0.05"), subdivision=Public(2))
SAMPLERS: dict[str, KeySampler] = {
    "every-key": EveryKey(),
    "ppswor": Ppswor(threshold=Public("0.25")),
    "pps": Pps(threshold=Public("0.08")),
    "listed": ListedRates(rates=Public("0.02,0.02,0.3,0.35,0.9,1,1")),
}
CASES = [(mechanism, sampler) for mechanism in (KEYS, FREQUENCIES) for sampler in SAMPLERS]
LEVELS = (Fraction(0), Fraction(1, 8), Fraction(1, 4), EPSILON, Fraction(3, 4), Fraction(2))
LOOKED_AT = 60
"""Frequencies: beyond them these tables only repeat or fade out."""


def release(mechanism: PwsKeys | PwsFrequencies, sampler: str = "every-key", releases: int = 1) -> KeyedRun:
    return KeyedRun(mechanism=mechanism, sampler=SAMPLERS[sampler], releases=releases)


def law(reporting: Reporting, frequency: int) -> dict[int, Fraction]:
    """Every single token of a row with its probability; −1 is "not reported"."""
    if not frequency:
        return {-1: Fraction(1)}
    row = reporting.row(frequency)
    found = {-1: Fraction(row.unreported, 1 << row.bits)}
    for run in row.runs:
        for token in range(run.first, run.end):
            found[token] = Fraction(run.units, 1 << row.bits)
    assert sum(found.values()) == 1
    return found


def hockey_stick(p: dict[Any, Fraction], q: dict[Any, Fraction], factor: Fraction) -> Fraction:
    return sum((max(Fraction(0), mass - factor * q.get(o, Fraction(0))) for o, mass in p.items()), Fraction(0))


def both(p: dict[int, Fraction], q: dict[int, Fraction]) -> dict[tuple[int, int], Fraction]:
    return {(a, b): p[a] * q[b] for a, b in product(p, q)}


def exponential(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rational bounds of e^x, by Arb."""
    ctx.prec = 200
    value = (arb(exponent.numerator) / arb(exponent.denominator)).exp()
    ends = [
        Fraction(int(end), 1) * Fraction(2) ** int(power)
        for end, power in (e.man_exp() for e in (value.lower(), value.upper()))
    ]
    return ends[0], ends[1]


@cache
def neighbours(
    mechanism: PwsKeys | PwsFrequencies, sampler: str
) -> list[tuple[dict[int, Fraction], dict[int, Fraction]]]:
    """Rows of i and of i − 1."""
    reporting = mechanism.reporting(SAMPLERS[sampler].inclusion)
    last = reporting.last or LOOKED_AT
    laws = [law(reporting, frequency) for frequency in range(last + 1)]
    return list(zip(laws[1:], laws[:-1], strict=True))


def worst(mechanism: PwsKeys | PwsFrequencies, sampler: str, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of the largest divergence, both directions."""
    low, high = exponential(epsilon)
    pairs = neighbours(mechanism, sampler)
    return (
        max(max(hockey_stick(p, q, high), hockey_stick(q, p, high)) for p, q in pairs),
        max(max(hockey_stick(p, q, low), hockey_stick(q, p, low)) for p, q in pairs),
    )


class TestOneRelease:
    @pytest.mark.parametrize(("mechanism", "sampler"), CASES)
    @pytest.mark.parametrize("epsilon", LEVELS)
    def test_delta_is_the_largest_over_all_frequencies(
        self, mechanism: PwsKeys | PwsFrequencies, sampler: str, epsilon: Fraction
    ) -> None:
        found = release(mechanism, sampler).delta(Epsilon(epsilon)).delta
        least, most = worst(mechanism, sampler, epsilon)
        assert found.lower is not None
        assert found.lower <= most
        assert least <= found.upper
        assert found.upper <= float(most) * (1 + 1e-11)
        assert found.lower >= float(least) * (1 - 1e-11)

    @pytest.mark.parametrize(("mechanism", "sampler"), CASES)
    @pytest.mark.parametrize("delta", ["1e-3", "0.02", "0.0499999", "0.2"])
    def test_epsilon_is_where_delta_falls_to_it(
        self, mechanism: PwsKeys | PwsFrequencies, sampler: str, delta: str
    ) -> None:
        try:
            found = release(mechanism, sampler).epsilon(Delta(delta)).epsilon
        except NotionAbsent:  # keys that one data set lacks are reported with a larger probability
            assert worst(mechanism, sampler, Fraction(50))[0] > Fraction(delta)
            return
        assert found.lower is not None
        assert worst(mechanism, sampler, Fraction(found.upper))[0] <= Fraction(delta)
        if found.lower > 0:
            assert worst(mechanism, sampler, Fraction(found.lower) * (1 - Fraction(1, 2**30)))[1] >= Fraction(delta)

    @pytest.mark.parametrize(("mechanism", "sampler"), CASES)
    def test_the_guarantee_is_what_the_mechanism_declares_and_the_rows_keep(
        self, mechanism: PwsKeys | PwsFrequencies, sampler: str
    ) -> None:
        run = release(mechanism, sampler)
        guarantee = run.guarantee()
        assert guarantee.bound.epsilon.upper == EPSILON
        assert guarantee.bound.delta.contains(DELTA)
        assert (guarantee.unit, guarantee.relation) == (ELEMENT, ADD_REMOVE)
        assert worst(mechanism, sampler, EPSILON)[1] <= DELTA

    def test_each_frequency_by_itself(self) -> None:
        run = release(FREQUENCIES, "ppswor")
        wanted = [1, 2, 7, 8, 20]
        for frequency, pair in zip(wanted, run.neighbours(wanted), strict=True):
            p, q = neighbours(FREQUENCIES, "ppswor")[frequency - 1]
            for factor in (Fraction(0), Fraction(1), Fraction(3, 2), Fraction(100)):
                assert pair.hockey_stick(factor, Direction.REMOVE) == hockey_stick(p, q, factor)
                assert pair.hockey_stick(factor, Direction.ADD) == hockey_stick(q, p, factor)

    def test_a_frequency_without_a_rate_is_refused(self) -> None:
        with pytest.raises(OutsideDomain, match="frequency 8"):
            list(release(KEYS, "listed").neighbours([8]))

    def test_a_public_largest_frequency(self) -> None:
        capped = PwsKeys(epsilon=Public("0.5"), delta=Public("0.05"), largest=Public(3))
        run = release(capped)
        stated = {a.name: a.value for a in run.guarantee().assumptions}
        assert stated["a key of more occurrences counts as having"] == "3"
        found = run.delta(Epsilon("0.25")).delta
        low, high = (
            max(max(hockey_stick(p, q, e), hockey_stick(q, p, e)) for p, q in neighbours(KEYS, "every-key")[:3])
            for e in exponential(Fraction(1, 4))
        )
        assert found.lower is not None
        assert high <= found.upper
        assert found.lower <= low

    def test_assumptions_name_constants_unit_and_coins(self) -> None:
        stated = {a.name: a.value for a in release(KEYS, "listed", 3).guarantee().assumptions}
        assert stated["mechanism.epsilon"] == "1/2"
        assert stated["mechanism.delta"] == "1/20"
        assert stated["unit is an element"] == "one occurrence of a key"
        assert stated["coins of each key"] == "independent of those of all other keys"
        assert stated["releases, each on a fresh sample with coins of its own"] == "3"
        assert stated["largest frequency"] == "7"
        assert stated["evidence of mechanism pws-keys"] == "proved"

    def test_notions_without_a_delta_do_not_follow(self) -> None:
        run = release(KEYS)
        for question in (run.pure, lambda: run.renyi(Order(2)), run.zero_concentrated, run.gaussian):
            with pytest.raises(NotionAbsent, match="pws-keys"):
                question()

    def test_a_trade_off_curve(self) -> None:
        curve = release(KEYS).trade_off()
        for alpha in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):
            for epsilon in LEVELS:
                assert (
                    curve.at(alpha).upper >= 1 - worst(KEYS, "every-key", epsilon)[1] - exponential(epsilon)[1] * alpha
                )
        hidden = neighbours(KEYS, "every-key")[0][0][0]  # a key that the other data set lacks is reported
        assert curve.at(0).lower <= 1 - hidden <= curve.at(0).upper


def test_rows_that_are_too_many_cost_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Reporting) -> None:
        raise OutsideDomain("too many rows.")

    monkeypatch.setattr(Reporting, "dominating_pair", refuse)
    run = release(KEYS)
    assert run.delta(Epsilon(EPSILON)).delta.upper == pytest.approx(0.05, rel=1e-12)
    assert run.delta(Epsilon(EPSILON)).delta.upper <= 0.05
    for epsilon in LEVELS:
        assert worst(KEYS, "every-key", epsilon)[0] <= run.delta(Epsilon(epsilon)).delta.upper


class TestSeveralReleases:
    @pytest.mark.parametrize(("mechanism", "sampler"), [(KEYS, name) for name in SAMPLERS] + [(FREQUENCIES, "listed")])
    @pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(3, 4), Fraction(1)])
    def test_two_cost_at_least_the_worst_product(
        self, mechanism: PwsKeys | PwsFrequencies, sampler: str, epsilon: Fraction
    ) -> None:
        found = release(mechanism, sampler, 2).delta(Epsilon(epsilon)).delta
        low, high = exponential(epsilon)
        pairs = [(both(p, p), both(q, q)) for p, q in neighbours(mechanism, sampler)[:24]]
        assert max(max(hockey_stick(p, q, high), hockey_stick(q, p, high)) for p, q in pairs) <= found.upper
        assert found.lower is not None
        assert found.lower <= max(max(hockey_stick(p, q, low), hockey_stick(q, p, low)) for p, q in pairs)
        assert found.upper <= 2 * worst(mechanism, sampler, epsilon / 2)[1]

    @pytest.mark.slow
    def test_they_cost_less_than_their_sum(self) -> None:
        run = release(KEYS, releases=2)
        assert run.guarantee().bound.epsilon.upper == 1
        assert run.guarantee().bound.delta.contains(Fraction(1, 10))
        answer = run.epsilon(Delta("0.12")).epsilon
        assert answer.upper == pytest.approx(answer.lower, rel=1e-9)
        assert answer.upper < 0.6
        ten = release(PwsKeys(epsilon=Public("0.1"), delta=Public("1e-6")), releases=50)
        assert ten.epsilon(Delta("1e-4")).epsilon.upper < 0.5 * 5

    def test_frequencies_of_one_key_are_enough_for_the_lower_end(self) -> None:
        """q ≡ 1: the law of delays is reached from the band on, so both ends meet."""
        found = release(FREQUENCIES, releases=2).delta(Epsilon("0.75")).delta
        assert found.lower == pytest.approx(found.upper, rel=1e-9)


@frozen(eq=False, kw_only=True)
class Foreign(Reporting):
    """A table of somebody else, with the rows of another one."""

    inner: Reporting
    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion
    budget: DyadicBudget
    largest: int | None = None

    @classmethod
    def of(cls, inner: Reporting) -> Foreign:
        return cls(
            inner=inner, epsilon=inner.epsilon, delta=inner.delta, inclusion=inner.inclusion, budget=inner.budget
        )

    @property
    def with_frequencies(self) -> bool:
        return self.inner.with_frequencies

    def comparisons(self) -> Any:
        return self.inner.comparisons()

    def _walk(self) -> Any:
        return self.inner._walk()


def test_tables_of_others_are_compared_as_a_whole() -> None:
    foreign = KeyedRun(mechanism=odd(Foreign.of(release(KEYS).reporting)), sampler=EveryKey())
    assert foreign.delta(Epsilon("0.25")).delta == release(KEYS).delta(Epsilon("0.25")).delta
    twice, own = (
        KeyedRun(mechanism=run.mechanism, sampler=run.sampler, releases=2).delta(Epsilon("0.5")).delta
        for run in (foreign, release(KEYS))
    )
    assert twice.lower == own.lower
    assert twice.upper > own.upper


class TestUsers:
    @pytest.mark.parametrize("contributions", [1, 2, 5])
    def test_the_guarantee_of_groups(self, contributions: int) -> None:
        guarantee = release(KEYS).guarantee_for_users(contributions)
        assert guarantee.unit == User(contributions=contributions)
        assert guarantee.bound.epsilon.upper == contributions * EPSILON
        ctx.prec = 120
        growth = (arb(1) / 2).exp()
        delta = min(1.0, float(arb(1) / 20 * (growth**contributions - 1) / (growth - 1)))
        assert guarantee.bound.delta.upper == pytest.approx(delta, rel=1e-14)
        assert f"each user contributes at most so many elements in all = {contributions}" in map(
            str, guarantee.assumptions
        )

    @pytest.mark.parametrize("contributions", [2, 4])
    def test_rows_that_many_steps_apart_keep_it(self, contributions: int) -> None:
        bound = release(KEYS).guarantee_for_users(contributions).bound
        reporting = release(KEYS).reporting
        laws = [law(reporting, frequency) for frequency in range(30)]
        factor = exponential(contributions * EPSILON)[1]
        for q, p in zip(laws, laws[contributions:], strict=False):
            assert max(hockey_stick(p, q, factor), hockey_stick(q, p, factor)) <= bound.delta.upper

    @pytest.mark.parametrize(("contributions", "error"), [(0, InvalidValue), (True, InvalidType), (1.0, InvalidType)])
    def test_contributions_are_whole(self, contributions: Any, error: type[CertdpError]) -> None:
        with pytest.raises(error, match="contributions"):
            release(KEYS).guarantee_for_users(contributions)


def cost(bound: Bound, unit: Unit = ELEMENT, relation: Relation = ADD_REMOVE) -> Payment:
    derivation = Theorem("law", "a private size").conclude()
    return Payment(Guarantee(bound=bound, relation=relation, unit=unit, derivation=derivation))


def number(text: str) -> Enclosure:
    return Enclosure.of(text)


def paid(*payments: Payment) -> KeyedRun:
    """The threshold, and then the power, come from private releases."""
    values: list[Any] = [Public("0.25"), Public(1)]
    for place, payment in enumerate(payments):
        values[place] = Released(values[place].value, payment)
    return KeyedRun(mechanism=KEYS, sampler=Ppswor(threshold=values[0], power=values[1]))


def declared(times: int, epsilon: str) -> float:
    """δ at ε of that many mechanisms of which nothing is known but their (1/2, 1/20), whatever the rates are."""
    told = 1 / (1 + math.exp(-0.5))
    law = [(0.05, 0.0), (0.95 * told, 0.95 * (1 - told)), (0.95 * (1 - told), 0.95 * told), (0.0, 0.05)]
    losses = [(math.prod(p for p, _ in way), math.prod(q for _, q in way)) for way in product(law, repeat=times)]
    return math.fsum(max(0.0, p - math.exp(float(epsilon)) * q) for p, q in losses)


class TestReleasedParameters:
    """The rates move with the threshold, the declared (ε, δ) does not: so it alone is what a guarantee rests on."""

    def test_a_pure_cost_is_added(self) -> None:
        run = paid(cost(Pure(number("0.25"))))
        assert run.guarantee().bound.epsilon.upper == Fraction(3, 4)
        assert run.guarantee().bound.delta.contains(DELTA)
        assert run.guarantee_for_users(2).bound.epsilon.upper == Fraction(3, 2)
        mine = run.delta(Epsilon("0.5")).delta
        assert mine.lower is None
        assert mine.upper == pytest.approx(declared(1, "0.25"), rel=1e-12)
        assert declared(1, repr(run.epsilon(Delta("0.06")).epsilon.upper - 0.25)) == pytest.approx(0.06, rel=1e-12)
        names = [a.name for a in run.guarantee().assumptions]
        assert "mechanism.epsilon" in names

    def test_an_approximate_cost_is_added_to_both(self) -> None:
        run = paid(cost(Approximate(number("0.25"), number("0.01"))))
        assert run.guarantee().bound.epsilon.upper == Fraction(3, 4)
        assert run.guarantee().bound.delta.contains(Fraction(6, 100))
        mine = run.delta(Epsilon("0.5"))
        assert mine.delta.lower is None
        assert mine.delta.upper == pytest.approx(declared(1, "0.25") + 0.01, rel=1e-12)
        assert mine.guarantee.bound.delta.upper <= mine.delta.upper
        assert [row.bounds.lower for row in mine.compared.rows] == [None] * len(mine.compared.rows)
        asked = run.epsilon(Delta("0.07"))
        assert asked.epsilon.lower is None
        assert declared(1, repr(asked.epsilon.upper - 0.25)) == pytest.approx(0.06, rel=1e-12)

    def test_one_payment_for_two_values_counts_once(self) -> None:
        once, one, other = cost(Pure(number("0.25"))), cost(Pure(number("0.25"))), cost(Pure(number("0.25")))
        assert paid(once, once).guarantee().bound.epsilon.upper == Fraction(3, 4)
        assert paid(one, other).guarantee().bound.epsilon.upper == 1

    def test_what_does_not_cover_the_cost_is_refused(self) -> None:
        run = paid(cost(Approximate(number("0.25"), number("0.01"))))
        with pytest.raises(InvalidValue, match=r"epsilon: got 0.125; admissible: at least 0.25, the cost of released"):
            run.delta(Epsilon("0.125"))
        with pytest.raises(InvalidValue, match=r"delta: got 0.001; admissible: at least 0.01"):
            run.epsilon(Delta("1e-3"))

    @pytest.mark.parametrize(
        "payment",
        [
            cost(Pure(number("0.1")), unit=RECORD),
            cost(Pure(number("0.1")), unit=User(contributions=2)),
            cost(Pure(number("0.1")), relation=REPLACE),
            cost(ZeroConcentrated(number("0.1"))),
        ],
    )
    def test_other_costs_are_refused(self, payment: Payment) -> None:
        with pytest.raises(InvalidValue, match=r"cost.*: got .* admissible: .*(as in the run|pure or approximate DP)"):
            paid(payment)

    def test_records_may_have_approximate_costs(self) -> None:
        scale = Released(2, cost(Approximate(number("0.25"), number("0.01")), unit=RECORD), within=(2, 20))
        run = SampledRun(mechanism=LaplaceSum(scale=scale), sampler=Full(), domain=BALL)
        free = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=BALL)
        asked, without = run.epsilon(Delta("0.02")), free.epsilon(Delta("0.01"))
        assert asked.epsilon.upper == pytest.approx(without.epsilon.upper + 0.25, rel=1e-12)
        for question in (run.pure, lambda: run.renyi(Order(2)), run.zero_concentrated, run.gaussian):
            with pytest.raises(NotionAbsent, match="released parameters with a pure ε"):
                question()
        with pytest.raises(InvalidValue, match="certificate: got a parameter released for"):
            certificate(run, asked)
        assert run.trade_off().at(0).lower <= Fraction(99, 100)
        assert free.trade_off().at(0).upper == 1


@frozen
class Odd:
    """A sampler or a mechanism of keys with one thing wrong."""

    about: ClassVar[About]
    given: ClassVar[Any]

    @property
    def inclusion(self) -> Any:
        return type(self).given

    def reporting(self, inclusion: Inclusion) -> Any:
        return type(self).given


def odd(given: Any = None, **changes: Any) -> Any:
    stated: dict[str, Any] = {
        "name": "odd-one",
        "version": "1",
        "contract": CONTRACT_VERSION,
        "evidence": Evidence.PROVED,
        "citation": "nobody",
        "unit": ELEMENT,
    }
    kind = type("OddOne", (Odd,), {"about": About(**{**stated, **changes}), "given": given})
    return kind()


class TestRefusals:
    def test_parts_for_records(self) -> None:
        with pytest.raises(InvalidType, match=r"mechanism: got .* a sanitiser of sampled keys"):
            KeyedRun(mechanism=LaplaceSum(scale=Public(1)), sampler=EveryKey())  # type: ignore[arg-type]
        with pytest.raises(InvalidType, match=r"sampler: got .* a sampler of keys"):
            KeyedRun(mechanism=KEYS, sampler=Full())  # type: ignore[arg-type]
        with pytest.raises(InvalidValue, match="mechanism: got pws-keys; admissible: a plugin whose unit is a record"):
            SampledRun(mechanism=KEYS, sampler=Full())  # type: ignore[arg-type]

    @pytest.mark.parametrize("releases", [0, -1, True, 1.0])
    def test_numbers_of_releases(self, releases: Any) -> None:
        with pytest.raises(CertdpError, match="releases"):
            release(KEYS, releases=releases)

    def test_declarations_of_another_kind(self) -> None:
        with pytest.raises(InvalidType, match=r"inclusion: got 3; admissible: an Inclusion. Repair sampler odd-one"):
            KeyedRun(mechanism=KEYS, sampler=odd(3))
        with pytest.raises(InvalidType, match=r"reporting: got 3; admissible: a Reporting. Repair mechanism odd-one"):
            KeyedRun(mechanism=odd(3), sampler=EveryKey())

    def test_other_units_relations_and_evidence(self) -> None:
        for changes, reason in (
            ({"unit": RECORD}, "a plugin whose unit is: element"),
            ({"relations": (REPLACE,)}, "a plugin that covers add-remove"),
            ({"evidence": Evidence.HEURISTIC}, "proved or cited"),
        ):
            with pytest.raises(InvalidValue, match=reason):
                KeyedRun(mechanism=KEYS, sampler=odd(EveryKey().inclusion, **changes))

    def test_delta_0(self) -> None:
        with pytest.raises(InvalidValue, match="delta"):
            release(PwsKeys(epsilon=Public(1), delta=Public(0)))


BALL = NormBall(norm=Norm.L1, radius=Public(1))


def laplace(unit: Any = ELEMENT) -> SampledRun[Any]:
    return SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=BALL, unit=unit)


def laplace_delta(epsilon: float) -> float:
    """δ of a Laplace pair of shift 1 and scale 2, at any real ε."""
    if epsilon >= 0.5:
        return 0.0
    return -math.expm1((epsilon - 0.5) / 2) if epsilon > -0.5 else -math.expm1(epsilon)


def with_laplace(p: dict[int, Fraction], q: dict[int, Fraction], epsilon: float) -> float:
    """δ of the row together with the Laplace release."""
    total = 0.0
    for token, mass in p.items():
        other = q.get(token, Fraction(0))
        shift = math.log(mass / other) if mass and other else math.inf
        total += float(mass) * (1.0 if shift == math.inf and mass else laplace_delta(epsilon - shift) if mass else 0.0)
    return total


class TestPlans:
    @pytest.mark.parametrize("sampler", ["every-key", "listed"])
    def test_with_another_mechanism(self, sampler: str) -> None:
        plan = Plan([laplace(), release(KEYS, sampler)])
        assert plan.unit == ELEMENT
        for epsilon in ("0.3", "0.6", "0.9"):
            answer = plan.delta(Epsilon(epsilon), accountant=LOSS_DISTRIBUTION)
            exact = max(
                max(with_laplace(p, q, float(epsilon)), with_laplace(q, p, float(epsilon)))
                for p, q in neighbours(KEYS, sampler)
            )
            assert exact * (1 - 1e-12) <= answer.delta.upper
            assert answer.delta.lower is not None
            assert answer.delta.lower <= exact * (1 + 1e-12)
            assert answer.guarantee.unit == ELEMENT

    @pytest.mark.slow
    def test_composition_is_tighter_than_sums(self) -> None:
        plan = Plan([laplace(), release(KEYS)])
        alone = laplace().pure().bound.epsilon.upper + release(KEYS).epsilon(Delta("0.05")).epsilon.upper
        assert plan.epsilon(Delta("0.06")).epsilon.upper < float(alone)
        two = Plan([release(KEYS), release(FREQUENCIES)])
        assert two.epsilon(Delta("0.12"), accountant=LOSS_DISTRIBUTION).epsilon.upper < 1

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1, 2)])
    def test_a_key_has_one_frequency_in_all_parts(self, epsilon: Fraction) -> None:
        other = PwsKeys(epsilon=Public("0.1"), delta=Public("0.01"))
        found = Plan([release(KEYS), release(other, "ppswor")]).delta(Epsilon(epsilon)).delta
        low, high = exponential(epsilon)
        pairs = [
            (both(p, s), both(q, t))
            for (p, q), (s, t) in zip(neighbours(KEYS, "every-key"), neighbours(other, "ppswor"), strict=True)
        ]
        assert max(max(hockey_stick(p, q, high), hockey_stick(q, p, high)) for p, q in pairs) <= found.upper
        most = max(max(hockey_stick(p, q, low), hockey_stick(q, p, low)) for p, q in pairs)
        assert found.lower is not None
        assert found.lower <= most
        assert found.upper <= float(most) * 1.02

    @pytest.mark.slow
    def test_the_order_does_not_matter_and_equal_parts_are_one(self) -> None:
        first, second = Plan([laplace(), release(KEYS)]), Plan([release(KEYS), laplace()])
        assert first.delta(Epsilon("0.7")).delta == second.delta(Epsilon("0.7")).delta
        twice = Plan([release(KEYS), release(KEYS)]).delta(Epsilon("0.7")).delta
        assert twice.upper == release(KEYS, releases=2).delta(Epsilon("0.7")).delta.upper

    def test_one_part_costs_what_it_costs_alone(self) -> None:
        assert Plan([release(KEYS)]).epsilon(Delta("0.06")).epsilon == release(KEYS).epsilon(Delta("0.06")).epsilon

    def test_costs_of_parameters_count_once(self) -> None:
        payment = cost(Approximate(number("0.25"), number("0.01")))
        part = paid(payment)
        plan = Plan([part, part])
        mine = plan.delta(Epsilon(1)).delta.upper
        assert mine == pytest.approx(declared(2, "0.75") + 0.01, rel=1e-9)

    def test_assumptions_say_that_a_record_is_an_element(self) -> None:
        stated = {a.name: a.value for a in Plan([laplace(), release(KEYS)]).delta(Epsilon(1)).guarantee.assumptions}
        assert stated["each record of the matrix is one element"] == "one occurrence of a key"
        assert stated["part 2"] == "pws-keys (epsilon=1/2, delta=1/20) · every-key · 1 release"
        alone = laplace(RECORD).delta(Epsilon(1)).guarantee
        assert "each record of the matrix is one element" not in {a.name for a in alone.assumptions}

    def test_units_do_not_mix(self) -> None:
        for parts in ([laplace(RECORD), release(KEYS)], [release(KEYS), laplace(RECORD)]):
            with pytest.raises(InvalidValue, match=r"parts\[1\].unit: got .* as in the first part.*unit=ELEMENT"):
                Plan(parts)
        elements: Guarantee[Any, Any, Any] = release(KEYS).guarantee()
        with pytest.raises(InvalidValue, match="unit"):
            compose(elements, laplace(RECORD).delta(Epsilon(1)).guarantee)
        with pytest.raises(InvalidValue, match=r"unit: got .* RECORD, ELEMENT, or User"):
            laplace(User(contributions=65))

    def test_adaptive_runs_are_about_records(self) -> None:
        elements: Any = laplace()
        with pytest.raises(InvalidValue, match=r"plan: got .* admissible: a plan whose unit is a record"):
            DominatedRun(Plan([elements]))
        declared = DominatedRun(Plan([laplace(RECORD)]))
        with pytest.raises(InvalidValue, match=r"step.unit: got Element\(\); admissible: Record\(\), as in the plan"):
            declared.use(elements)
        declared.use(laplace(RECORD))
        account = PureFilter(Pure(number("1")), relation=ADD_REMOVE, unit=RECORD, domain=BALL)
        with pytest.raises(InvalidValue, match="unit"):
            AdaptiveRun(account).pay(elements)
        assert account.spent.epsilon.upper == 0

    def test_records_of_elements_cost_what_records_cost(self) -> None:
        one, other = laplace(), laplace(RECORD)
        assert one.epsilon(Delta("0.1")).epsilon == other.epsilon(Delta("0.1")).epsilon
        assert one.pure().unit == ELEMENT

    def test_nothing_is_released_from_records_where_keys_are_planned(self) -> None:
        plan = Plan([laplace(), release(KEYS)])
        with pytest.raises(
            InvalidValue, match=r"parts\[1\]: got pws-keys; admissible: a part that releases from a mat"
        ):
            plan.release(np.zeros((2, 1)))

    def test_certificates_are_refused(self) -> None:
        plan = Plan([laplace(), release(KEYS)])
        with pytest.raises(InvalidValue, match=r"a plan with releases of sampled keys.*no kind of certificate yet"):
            certificate(plan, plan.delta(Epsilon(1)))

    def test_certificates_speak_of_elements_whose_records_are_sampled(self) -> None:
        from certdp.verification.checker import check

        for run in (laplace(), Plan([laplace()])):
            verdict = check(certificate(run, run.delta(Epsilon(1))).content)
            assert verdict.accepted
            assert verdict.claim is not None
            assert verdict.claim.unit == "element"
            assert ("each record of the matrix is one element", "one occurrence of a key") in verdict.claim.assumptions


def test_certificates_state_what_one_release_costs() -> None:
    from certdp.verification.checker import check

    for run, contributions in (
        (release(KEYS), None),
        (release(FREQUENCIES, "listed"), 3),
        (release(KEYS, releases=2), 2),
    ):
        verdict = check(guarantee_certificate(run, contributions))
        assert verdict.accepted
        guarantee = run.guarantee() if contributions is None else run.guarantee_for_users(contributions)
        assert set(run.derivation.assumptions) <= set(guarantee.assumptions)
    with pytest.raises(InvalidType, match=r"run: got .*admissible: a KeyedRun"):
        guarantee_certificate(cast("Any", release(KEYS).guarantee()))


@pytest.mark.parametrize("mechanism", [KEYS, FREQUENCIES])
@pytest.mark.parametrize("sampler", ["every-key", "ppswor"])
@pytest.mark.parametrize("releases", [1, 2, 6])
def test_what_releases_cost_is_certified(mechanism: Any, sampler: str, releases: int) -> None:
    """No less than the answer, and no more than what is declared adds up to."""
    from certdp.verification.checker import check

    run = release(mechanism, sampler, releases)
    epsilon, delta = (bound.upper for bound in (run.guarantee().bound.epsilon, run.guarantee().bound.delta))
    for answer in (run.epsilon(Delta(min(2 * delta, Fraction(1)))), run.epsilon(Delta(delta))):
        found = certificate(run, answer)
        assert answer.epsilon.upper <= found.epsilon <= epsilon * (1 + Fraction(1, 10**12))
        assert found.delta == answer.asked.value
    for factor in (Fraction(1, 4), Fraction(3, 4), Fraction(1), Fraction(3, 2)):
        answer = run.delta(Epsilon(epsilon * factor))
        found = certificate(run, answer)
        assert answer.delta.upper <= found.delta <= (1 if factor < 1 else delta * (1 + Fraction(1, 10**12)))
        verdict = check(found.content)
        assert verdict.accepted
        assert verdict.claim is not None
        assert verdict.claim.bound == (found.epsilon, found.delta)
    guaranteed = certificate(run, run.guarantee())
    assert guaranteed.epsilon <= epsilon * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("sampler", ["every-key", "ppswor"])
@pytest.mark.parametrize("releases", [1, 2, 6])
def test_keys_alone_are_certified_as_answered(sampler: str, releases: int) -> None:
    """Also where δ is what is declared, and next to nothing is left for what each release keeps."""
    run = release(KEYS, sampler, releases)
    epsilon, delta = (bound.upper for bound in (run.guarantee().bound.epsilon, run.guarantee().bound.delta))
    for factor in (Fraction(1), Fraction(3, 2), Fraction(3)):
        answer = run.epsilon(Delta(factor * delta))
        found = certificate(run, answer)
        assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * (1 + Fraction(1, 10**9))
        below = run.delta(Epsilon(factor / 3 * epsilon))
        certified = certificate(run, below)
        assert below.delta.upper <= certified.delta <= below.delta.upper * (1 + Fraction(1, 10**9))
        assert certified.method == "composition at each frequency" or factor == 3
    assert certificate(run, run.epsilon(Delta(delta))).method != "optimal composition"


def test_what_is_declared_alone_is_certified_as_answered() -> None:
    """Of released parameters no rows are compared: the answer is the composition of what is declared."""
    run = evolve(paid(cost(Approximate(number("0.25"), number("0.01")))), releases=3)
    for answer in (run.epsilon(Delta("0.2")), run.delta(Epsilon("1.2"))):
        found = certificate(run, answer)
        certified, answered = (
            (found.epsilon, answer.epsilon) if isinstance(answer.asked, Delta) else (found.delta, answer.delta)
        )
        assert answered.upper <= certified <= answered.upper * (1 + Fraction(1, 10**9))


def test_certificates_of_keys_are_of_one_element_and_of_no_risk() -> None:
    run = release(KEYS, releases=2)
    answer = run.delta(Epsilon(1))
    with pytest.raises(InvalidValue, match=r"group: got 2; admissible: 1, for releases of keys.*contributions"):
        certificate(run, answer, group=2)
    for other in (risk(run), run.guarantee_for_users(2)):
        with pytest.raises(InvalidValue, match=r"of releases of keys; admissible: an answer .*guarantee_certificate"):
            certificate(run, other)
    with pytest.raises(InvalidValue, match=r"delta: got .*admissible: above 0\.09"):
        certified_keys(run, Delta("0.09"), 0.0)

"""A mechanism on a sample: its figures against a direct evaluation, and its independence of how it is computed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

import flint
import numpy as np
import pytest
from attrs import field, frozen

import certdp
from certdp import (
    ADD_REMOVE,
    REPLACE,
    Coins,
    Count,
    Enclosure,
    Full,
    Guarantee,
    Importance,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Order,
    Outside,
    Poisson,
    Public,
    Released,
    SampledRun,
    User,
    check,
)
from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.expressions import Constant
from certdp.accounting.guarantees import Guarantee as AnyGuarantee
from certdp.accounting.relations import AddRemove, Record
from certdp.commands.check import _Rows as Rows
from certdp.guarantees import Evidence, NoPureValue, Theorem
from certdp.notions import Pure
from certdp.pairs import PureLoss, RenyiLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Real, W, WeightedSample, positive
from certdp.runs.certificates import pure_claim
from tests.support.arb_numbers import arb_of

Matrix = np.ndarray[Any, np.dtype[np.float64]]
MECHANISMS = {"sum": LaplaceSum(scale=Public("1.7")), "count": Count(scale=Public(3))}
SAMPLERS = {
    "full": Full(),
    "poisson": Poisson(rate=Public("0.3")),
    "weighted": Poisson(rate=Public("0.3"), weighted=Public(True)),
    "never": Poisson(rate=Public(0)),
    "l1": Importance(rate=Public("0.2")),
    "l2": Importance(rate=Public("0.35"), norm=Public(2), floor=Public("0.01")),
    "l3/2": Importance(rate=Public("0.35"), norm=Public("3/2"), floor=Public("0.01")),
    "linf": Importance(rate=Public("0.35"), norm=Public("inf"), floor=Public("1/3")),
}


def data(rows: int = 40, columns: int = 3, seed: int = 1) -> Matrix:
    records = np.random.default_rng(seed).normal(size=(rows, columns)) * np.linspace(0.1, 3, rows)[:, None]
    records[0] = 0
    return records


def ball_norm(row: Iterable[float], norm: Norm) -> flint.arb:
    sizes = [abs(arb_of(float(x))) for x in row]
    match norm:
        case Norm.L1:
            return sum(sizes, flint.arb(0))
        case Norm.L2:
            return sum((x * x for x in sizes), flint.arb(0)).sqrt()
        case Norm.LINF:
            return max(sizes, key=lambda x: float(x.mid()))
        case _:
            powers = (x ** (1 / arb_of(norm.reciprocal)) for x in sizes if x != 0)
            total = sum(powers, flint.arb(0))
            return total ** arb_of(norm.reciprocal) if total != 0 else total


def direct(mechanism: str, sampler: str, row: Iterable[float]) -> tuple[flint.arb, flint.arb]:
    """q and ψ of one record, written out by hand from the definitions."""
    row = list(row)
    q, w = {
        "full": lambda: (arb_of(1), arb_of(1)),
        "poisson": lambda: (arb_of("0.3"), arb_of(1)),
        "weighted": lambda: (arb_of("0.3"), 1 / arb_of("0.3")),
        "never": lambda: (arb_of(0), arb_of(1)),
        "l1": lambda: _proportional(arb_of("0.2") * ball_norm(row, Norm.L1), arb_of(0)),
        "l2": lambda: _proportional(arb_of("0.35") * ball_norm(row, Norm.L2), arb_of("0.01")),
        "l3/2": lambda: _proportional(arb_of("0.35") * ball_norm(row, Norm("3/2")), arb_of("0.01")),
        "linf": lambda: _proportional(arb_of("0.35") * ball_norm(row, Norm.LINF), arb_of("1/3")),
    }[sampler]()
    if q == 0:
        return q, flint.arb(0)
    loss = w * ball_norm(row, Norm.L1) / arb_of("1.7") if mechanism == "sum" else w / 3
    return q, (1 + q * (loss.exp() - 1)).log()


def _proportional(value: flint.arb, floor: flint.arb) -> tuple[flint.arb, flint.arb]:
    q = value.max(floor).min(arb_of(1))
    return q, arb_of(0) if q == 0 else 1 / q


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_figures_are_those_of_a_direct_evaluation(mechanism: str, sampler: str) -> None:
    flint.ctx.prec = 200
    records = data()
    run = SampledRun(mechanism=MECHANISMS[mechanism], sampler=SAMPLERS[sampler])  # type: ignore[arg-type]
    measured = certdp.record_losses(run, records).reveal()
    truth = [direct(mechanism, sampler, row) for row in records]
    assert measured.values.shape == (len(records),)
    for value, (_, psi) in zip(measured.values, truth, strict=True):
        # an upper bound of the ψ really lost; rounding of probability and weight moves that itself a little
        assert arb_of(float(value)) > psi * (1 - arb_of(2) ** -44) or value == 0 == psi
        assert arb_of(float(value)) < psi * (1 + arb_of(2) ** -40) or value == 0 == psi
    size = sum((q for q, _ in truth), flint.arb(0))
    low, high = measured.expected_sample_size
    assert (arb_of(low) <= size <= arb_of(high) and low >= high * (1 - 1e-12)) or size == 0
    assert measured.largest == max(measured.values)
    assert (measured.records, measured.outside) == (len(records), 0)
    assert set(measured.quantiles.values()) <= set(measured.values.tolist())
    ordered = [measured.quantiles[level] for level in sorted(measured.quantiles)]
    assert ordered == sorted(ordered)


@pytest.mark.parametrize("sampler", ["poisson", "l1", "l2", "l3/2"])
@pytest.mark.parametrize("outside", Outside)
def test_nothing_depends_on_chunks_threads_or_memory_order(
    sampler: str, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = data(257, 4)
    domain = NormBall(norm=Norm.L1, radius=Public(4), dimension=4)
    run = SampledRun(mechanism=MECHANISMS["sum"], sampler=SAMPLERS[sampler], domain=domain)  # type: ignore[arg-type]
    whole = certdp.record_losses(run, records, outside).reveal()
    assert 0 < whole.outside < 257
    monkeypatch.setattr(bulk, "_SHARE", 16)  # so that so few records are shared at all
    for chunk, threads, matrix in [
        (1, 1, records),
        (7, 1, records),
        (100, 4, records),
        (1 << 17, 3, records),
        (64, 2, np.asfortranarray(records)),
        (64, 1, records.repeat(2, axis=1)[:, ::2]),
    ]:
        again = certdp.record_losses(run, matrix, outside, rows=chunk, threads=threads).reveal()
        assert np.array_equal(again.values, whole.values)
        assert again.expected_sample_size == whole.expected_sample_size
        assert (again.records, again.outside, again.largest) == (whole.records, whole.outside, whole.largest)
        assert again.quantiles == whole.quantiles


def test_progress_ends_at_the_number_of_records() -> None:
    run = SampledRun(mechanism=MECHANISMS["sum"], sampler=SAMPLERS["l1"])  # type: ignore[arg-type]
    seen: list[int] = []
    certdp.record_losses(run, data(40), rows=16, progress=seen.append)
    assert seen == [16, 32, 40]


def test_private_figures_do_not_show_themselves() -> None:
    run = SampledRun(mechanism=MECHANISMS["sum"], sampler=SAMPLERS["l1"])  # type: ignore[arg-type]
    assert str(certdp.record_losses(run, data())) == repr(certdp.record_losses(run, data())) == "Private(…)"


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_data_no_figures(shape: tuple[int, int]) -> None:
    run = SampledRun(mechanism=MECHANISMS["sum"], sampler=SAMPLERS["l1"])  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="admissible: at least one record") as caught:
        certdp.record_losses(run, np.empty(shape))
    assert caught.value.parameter == "records"
    assert caught.value.remedy


class TestOutside:
    run = SampledRun(mechanism=MECHANISMS["sum"], sampler=Full())  # type: ignore[arg-type]
    domain = NormBall(norm=Norm.L1, radius=Public(1), dimension=2)
    records = np.array([[0.5, 0.25], [30.0, 10.0], [0.0, -1.0], [-2.0, 0.0]])

    def test_clipped_records_lose_at_most_the_guarantee(self) -> None:
        measured = certdp.record_losses(self.run.on(self.domain), self.records).reveal()
        assert measured.outside == 2
        bound = self.run.on(self.domain).pure().bound.epsilon.upper_float
        assert measured.largest <= bound * (1 + 1e-14)
        assert measured.values[1] == pytest.approx(1 / 1.7)
        assert certdp.record_losses(self.run, self.records).reveal().largest > 20

    def test_dropped_records_are_not_measured(self) -> None:
        measured = certdp.record_losses(self.run.on(self.domain), self.records, Outside.DROP).reveal()
        assert (measured.records, measured.outside, measured.values[[1, 3]].tolist()) == (4, 2, [0, 0])
        assert measured.expected_sample_size[0] <= 2 <= measured.expected_sample_size[1]

    def test_all_dropped(self) -> None:
        measured = certdp.record_losses(self.run.on(self.domain), self.records[1:2], Outside.DROP).reveal()
        assert (measured.records, measured.outside, measured.largest, measured.quantiles) == (1, 1, 0.0, {})
        verdict = check(certdp.owner_certificate(self.run.on(self.domain), self.records[1:2], Outside.DROP))
        assert verdict.accepted

    def test_a_release_clips_or_drops(self) -> None:
        quiet = SampledRun(mechanism=LaplaceSum(scale=Public("1e-9")), sampler=Full())
        coins = Coins.seeded(3)
        (released,) = quiet.release(self.records, coins=coins)
        assert released == pytest.approx([28.5, 9.25], abs=1e-6)
        (clipped,) = quiet.on(self.domain).release(self.records, coins=coins)
        assert clipped == pytest.approx([0.5 + 0.75 - 1, 0.25 + 0.25 - 1], abs=1e-6)
        (dropped,) = quiet.on(self.domain).release(self.records, Outside.DROP, coins=coins)
        assert dropped == pytest.approx([0.5, -0.75], abs=1e-6)
        assert self.records[1].tolist() == [30.0, 10.0]

    def test_a_release_on_no_records_is_noise_alone(self) -> None:
        (released,) = self.run.release(np.empty((0, 5)))
        assert released.shape == (5,)
        assert np.isfinite(released).all()


@pytest.mark.slow
def test_a_release_weights_what_it_draws() -> None:
    """Over many draws the mean is the sum itself: E Σ w·x = Σ x."""
    run = SampledRun(
        mechanism=LaplaceSum(scale=Public("1e-9")), sampler=Importance(rate=Public("0.5"), floor=Public("0.2"))
    )
    records, coins = np.array([[0.1], [0.5], [1.0], [3.0]]), Coins.seeded(11)
    draws = [float(run.release(records, coins=coins)[0][0]) for _ in range(4000)]
    spread = math.sqrt(sum((1 / q - 1) * x * x for x, q in [(0.1, 0.2), (0.5, 0.25), (1.0, 0.5)]) / len(draws))
    assert float(np.mean(draws)) == pytest.approx(4.6, abs=5 * spread)
    assert len(set(draws)) > 1000


def released(
    value: Any, epsilon: Any, relation: Any = ADD_REMOVE, unit: Any = None, within: Any = None
) -> Released[Any]:
    cost: AnyGuarantee[Pure, Any, Any] = Guarantee(
        bound=Pure(Enclosure.of(epsilon)),
        relation=relation,
        unit=certdp.RECORD if unit is None else unit,
        derivation=Theorem("test", "release of a constant").conclude(),
    )
    return Released(value, cost, within=(value, value) if within is None else within)


class TestReleasedConstants:
    domain = NormBall(norm=Norm.L1, radius=Public(2), dimension=3)

    def run(self, scale: Any, rate: Any) -> SampledRun:
        return SampledRun(mechanism=LaplaceSum(scale=scale), sampler=Importance(rate=rate))

    @pytest.mark.parametrize(
        ("scale", "rate", "cost"),
        [
            (released(1, "1/4"), Public("0.3"), Fraction(1, 4)),
            (Public(1), released("0.3", "1/4"), Fraction(1, 4)),
            (released(1, "1/4"), released("0.3", 2), Fraction(9, 4)),
        ],
    )
    def test_their_cost_is_added_everywhere(self, scale: Any, rate: Any, cost: Fraction) -> None:
        free, paid = self.run(Public(1), Public("0.3")), self.run(scale, rate)
        without = free.on(self.domain).pure().bound.epsilon.upper
        assert paid.on(self.domain).pure().bound.epsilon.upper >= without + cost
        assert paid.on(self.domain).pure().bound.epsilon.upper < without + cost + Fraction(1, 10**9)
        before, after = (
            certdp.record_losses(free, data()).reveal(),
            certdp.record_losses(paid, data()).reveal(),
        )
        assert all(
            Fraction(float(y)) >= Fraction(float(x)) + cost for x, y in zip(before.values, after.values, strict=True)
        )
        assert after.values == pytest.approx(before.values + float(cost), rel=1e-12)
        assert after.values[0] >= float(cost)  # a record that is never drawn still pays for the constants

    def test_the_checker_adds_it_too(self) -> None:
        paid = self.run(released(1, "1/3"), released("0.3", "0.1"))
        content = certdp.profile_certificate(paid.on(self.domain))
        verdict = check(content)
        assert verdict.accepted, verdict
        body = json.loads(content)
        assert Fraction(body["inputs"]["released_cost"]) >= Fraction(13, 30)
        assert verdict.claim is not None
        assert verdict.claim.epsilon is not None
        assert verdict.claim.epsilon[1] >= 2 + 13 / 30
        records = data()
        verdict = check(certdp.owner_certificate(paid.on(self.domain), records), Rows(records))
        assert verdict.data_compared, verdict

    @pytest.mark.parametrize("constant", [released(1, 1, relation=REPLACE), released(1, 1, unit=User(contributions=3))])
    def test_a_cost_for_other_neighbours_is_refused(self, constant: Any) -> None:
        with pytest.raises(InvalidValue) as caught:
            self.run(constant, Public("0.3"))
        assert caught.value.parameter in ("cost.relation", "cost.unit")

    def test_costs_that_do_not_compose_are_refused(self) -> None:
        with pytest.raises(InvalidValue, match="cost"):
            self.run(released(1, 1), released("0.3", 1, relation=REPLACE))


def identity(name: str, **changes: Any) -> About:
    fields = {
        "name": name,
        "version": "1",
        "contract": CONTRACT_VERSION,
        "evidence": Evidence.PROVED,
        "citation": "a test",
        **changes,
    }
    return About(**fields)


def mechanism(loss: Any, **changes: Any) -> Any:
    stated = loss

    @frozen(kw_only=True)
    class Odd:
        about: ClassVar[About] = identity("odd", **changes)
        scale: Real = field(default=Public(Fraction(1)), converter=positive)

        @property
        def loss(self) -> Any:
            return stated

        def release(self, sample: WeightedSample, coins: Coins) -> Any:
            return sample.weights

    return Odd()


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "named"),
        [({"unit": User(contributions=2)}, "mechanism"), ({"relations": (REPLACE,)}, "sampler")],
    )
    def test_another_unit_or_relation(self, change: dict[str, Any], named: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            SampledRun(mechanism=mechanism(PureLoss(W / 2), **change), sampler=Poisson(rate=Public("0.5")))
        assert caught.value.parameter == named

    def test_replaced_records_have_no_profile(self) -> None:
        run = SampledRun(mechanism=mechanism(PureLoss(W / 2), relations=(REPLACE,)), sampler=Full())
        assert run.pure().bound.epsilon.upper == Fraction(1, 2)
        for asked in (lambda: run.profile, lambda: certdp.record_losses(run, data()), lambda: pure_claim(run)):
            with pytest.raises(InvalidValue, match="a run about a record that is added or removed"):
                asked()

    def test_one_relation_among_several_will_do(self) -> None:
        both = mechanism(PureLoss(W / 2), relations=(REPLACE, ADD_REMOVE))
        run = SampledRun(mechanism=both, sampler=Full())
        assert run.profile.relation == AddRemove()
        assert run.profile.unit == Record()

    def test_heuristic_evidence(self) -> None:
        with pytest.raises(InvalidValue) as caught:
            SampledRun(mechanism=mechanism(PureLoss(W / 2), evidence=Evidence.HEURISTIC), sampler=Full())
        assert caught.value.value == "heuristic"
        assert caught.value.admissible == "proved or cited"

    def test_cited_evidence_is_an_assumption(self) -> None:
        run = SampledRun(mechanism=mechanism(PureLoss(W / 2), evidence=Evidence.CITED), sampler=Full())
        assert "profile assumed = odd" in map(str, run.profile.assumptions)

    def test_a_mechanism_without_a_pure_value(self) -> None:
        run = SampledRun(mechanism=mechanism(RenyiLoss(Constant(Fraction(1)))), sampler=Full())
        for asked in (lambda: run.profile, lambda: certdp.record_losses(run, data()), lambda: pure_claim(run)):
            with pytest.raises(NoPureValue, match="a Rényi order"):
                asked()
        assert certdp.record_losses(run, data(), at=Order(2)).reveal().largest == 1

    @pytest.mark.parametrize("loss", [1.5, None, "W"])
    def test_a_loss_of_another_type(self, loss: Any) -> None:
        with pytest.raises(InvalidType, match="admissible: a loss, such as PureLoss or GaussianLoss"):
            SampledRun(mechanism=mechanism(loss), sampler=Full())

    @pytest.mark.slow
    def test_a_domain_on_which_psi_is_unbounded(self) -> None:
        run = SampledRun(mechanism=Count(scale=Public(1)), sampler=Importance(rate=Public("0.5")))
        with pytest.raises(certdp.sampling.NoFiniteSupremum, match="Set a floor above 0"):
            run.on(NormBall(norm=Norm.L1, radius=Public(1), dimension=2)).pure()

    @pytest.mark.parametrize("value", ["x", 1.0, None])
    def test_a_parameter_without_provenance(self, value: Any) -> None:
        with pytest.raises(InvalidType, match="Public"):
            LaplaceSum(scale=value)


class TestWhatADomainCosts:
    def test_a_released_radius_is_paid_for(self) -> None:
        run = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Full())
        domain = NormBall(norm=Norm.L1, radius=released(1, 1))
        assert Fraction(11, 10) <= run.on(domain).pure().bound.epsilon.upper < Fraction(11001, 10000)
        stated = json.loads(certdp.profile_certificate(run.on(domain)))
        assert stated["inputs"]["released_cost"] == "1"
        assert check(certdp.profile_certificate(run.on(domain))).accepted
        assert certdp.record_losses(run.on(domain), [[1.0]]).reveal().largest >= 1.1

    @pytest.mark.parametrize(
        "use", [certdp.record_losses, certdp.record_weights, SampledRun.release, certdp.owner_certificate]
    )
    def test_records_of_another_dimension_are_refused(self, use: Any) -> None:
        domain = NormBall(norm=Norm.L2, radius=Public(1), dimension=2)
        run = SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full(), domain=domain)
        with pytest.raises(InvalidValue, match="dimension: got 2; admissible: 100"):
            use(run, np.full((1, 100), 0.1))

    @pytest.mark.slow
    def test_a_lower_end_is_reached_by_a_record(self) -> None:
        """With ‖x‖₁ = 9, ‖x‖₂ = 1 and ‖x‖∞ ≤ 1, which no record has, ψ would be 87; Cauchy–Schwarz gives at most 30."""
        sampler = Importance(rate=Public("0.1"), norm=Public(2), floor=Public("0.01"))
        run = SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=sampler)
        domain = NormBall(norm=Norm.LINF, radius=Public(1), dimension=9)
        epsilon = run.on(domain).pure().bound.epsilon
        assert epsilon.lower <= 30 <= epsilon.upper
        assert check(certdp.profile_certificate(run.on(domain))).accepted


def test_other_records_do_not_move_the_share_of_one() -> None:
    """In plain binary64 sums, 2^53 + 2 and 1.0 give a record of size 1 a share of 2."""
    share = 2.0**53
    both = WeightedSample(np.array([[share], [1.0], [1.0]]), np.ones(3)).weighted_sum()
    assert both.tolist() == [share + 2.0]
    with pytest.raises(InvalidValue, match="a weighted sum beyond binary64"):
        WeightedSample(np.full((2, 1), 1e308), np.ones(2)).weighted_sum()


def test_what_is_no_plugin_norm_or_certificate_is_told() -> None:
    with pytest.raises(InvalidType, match=r"mechanism: got .*; admissible: a mechanism"):
        SampledRun(mechanism=Full(), sampler=LaplaceSum(scale=Public(1)))  # type: ignore[arg-type]  # pyright: ignore
    with pytest.raises(InvalidType, match=r"norm: got 1; admissible: a Norm\. Write Norm\.L1"):
        NormBall(norm=1, radius=Public(5))  # type: ignore[arg-type]  # pyright: ignore
    with pytest.raises(TypeError, match="admissible: the bytes of a certificate"):
        check("out.json")  # type: ignore[arg-type]  # pyright: ignore


def test_a_released_parameter_brings_assumptions_of_its_own_name() -> None:
    earlier = certdp.SampledRun(
        mechanism=certdp.LaplaceSum(scale=Public(10)),
        sampler=certdp.Full(),
        domain=NormBall(norm=Norm.L1, radius=Public(1)),
    )
    run = SampledRun(
        mechanism=certdp.LaplaceSum(scale=certdp.Released(3, earlier.pure(), within=(3, 9))),
        sampler=certdp.Poisson(rate=Public("0.1")),
    )
    domain = NormBall(norm=Norm.L1, radius=Public(2))
    stated = {assumed.name: assumed.value for assumed in run.on(domain).pure().assumptions}
    assert (stated["mechanism.scale"], stated["released parameter 1: mechanism.scale"]) == ("3", "10")
    assert (stated["radius"], stated["released parameter 1: radius"]) == ("2", "1")
    verdict = certdp.check(certdp.profile_certificate(run.on(domain)))
    assert verdict.outcome.value == "holds assuming the profile"  # the cost of the release is its author's word

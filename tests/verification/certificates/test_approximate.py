"""Certificates of (ε, δ) of runs: what is true is accepted, what is not is refused, and nothing hangs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any, ClassVar

import mpmath
import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from mpmath import libmp, mp

import certdp
from certdp import (
    Coins,
    Delta,
    DiscreteGaussian,
    DiscreteLaplace,
    Epsilon,
    FixedBatches,
    Full,
    GaussianSum,
    Importance,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    Public,
    QuantileChoice,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    SampleOnce,
    TruncatedPoisson,
    certificate,
    check,
)
from certdp.accounting.accountants import RENYI
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import ORDER
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Released
from certdp.accounting.relations import ADD_REMOVE, RECORD, REPLACE, ZERO_OUT, Direction
from certdp.guarantees import Evidence
from certdp.pairs import FamilyLoss, LaplacePair, PureLoss, RenyiLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Mechanism, W, WeightedSample, norm
from certdp.runs.certificates import _statement
from certdp.verification.certificates import approximate
from certdp.verification.certificates.approximate import Certified, stated_losses
from certdp.verification.certificates.lines import Line, work_on
from certdp.verification.certificates.writing import sealed
from certdp.verification.checker.approximate import contour as contour
from certdp.verification.checker.approximate import moments as composed_moments
from certdp.verification.checker.approximate.divergences import delta_of_one, normal_cdf, pure_loss
from certdp.verification.checker.approximate.factors import ADD, DIRECTIONS, REMOVE, Factor
from certdp.verification.checker.approximate.moments import Moments, delta_at_order
from certdp.verification.checker.budget import MOST_WORK, Budget
from certdp.verification.checker.intervals import Arithmetic, Interval
from tests.support.cases import examples
from tests.support.forgeries import Body, body_of, drop, put

FINE = Arithmetic(192)


def ball(order: Norm = Norm.L2, radius: Any = 1, dimension: int | None = None) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def gauss(scale: Any, sampler: Any, releases: Any, domain: NormBall | None = None) -> SampledRun:
    return SampledRun(
        mechanism=GaussianSum(scale=Public(scale)), sampler=sampler, releases=releases, domain=domain or ball()
    )


def laplace(scale: Any, sampler: Any, releases: Any) -> SampledRun:
    return SampledRun(
        mechanism=LaplaceSum(scale=Public(scale)), sampler=sampler, releases=releases, domain=ball(Norm.L1)
    )


def poisson(rate: Any, *, weighted: bool = False) -> Poisson:
    return Poisson(rate=Public(rate), weighted=Public(weighted))


IMPORTANCE = Importance(rate=Public("0.3"), norm=Public(2), floor=Public("0.1"))
RUNS: dict[str, SampledRun | Plan] = {
    "gaussian, all": gauss(2, Full(), ResampleEach(10)),
    "gaussian, all, on a third": gauss("0.7", Full(), SampleOnce(3), ball(radius="1/3")),
    "gaussian, one sample": gauss(2, poisson("0.01"), SampleOnce(10)),
    "gaussian, importance": gauss(30, IMPORTANCE, ResampleEach(100)),
    "gaussian, many samples": gauss(2, poisson("0.05"), ResampleEach(40)),
    "laplace, one": laplace(3, poisson("0.1", weighted=True), ResampleEach(1)),
    "laplace, all": laplace(5, Full(), ResampleEach(6)),
    "laplace, samples": laplace(1, poisson("0.1"), ResampleEach(10)),
    "laplace, one sample": laplace(9, poisson("0.25"), SampleOnce(4)),
    "never drawn": gauss(1, poisson(0), ResampleEach(5)),
    "plan": Plan([gauss(2, Full(), ResampleEach(4)), gauss(3, poisson("0.02"), ResampleEach(200))]),
}
SHARP = {name for name in RUNS if name not in ("laplace, all", "laplace, samples", "laplace, one sample")}
"""Where the checker's method proves the same number as the best accountant."""


@cache
def lattice_certificate(dimension: int | None, *, granularity: str = "1", sampler: Any = None, radius: int = 1) -> Any:
    number = {} if dimension is None else {"dimension": Public(dimension)}
    run = SampledRun(
        mechanism=DiscreteGaussian(scale=Public(8), granularity=Public(granularity), **number),
        sampler=sampler or poisson("0.1"),
        releases=ResampleEach(3),
        domain=ball(radius=radius, dimension=dimension),
    )
    return certdp.certificate(run, run.epsilon(Delta("1e-5")))


@cache
def certified(name: str, asked: str = "1e-5") -> tuple[Any, Any]:
    answer = RUNS[name].epsilon(Delta(asked))
    return answer, certdp.certificate(RUNS[name], answer)


def budget() -> Budget:
    return Budget()


def number(value: Any) -> float:
    return float(libmp.to_float(value))


def holds(value: Interval, truth: Any) -> bool:
    low, high = (mp.make_mpf(end) for end in value)
    return bool(low <= truth <= high)


class TestWhatIsTrue:
    @pytest.mark.parametrize("name", RUNS)
    def test_it_is_accepted(self, name: str) -> None:
        answer, found = certified(name)
        verdict = check(found.content)
        assert verdict.outcome.value == "holds", verdict
        assert found.delta == Fraction("1e-5")
        assert float(found.epsilon) >= answer.epsilon.upper
        if name in SHARP:
            assert float(found.epsilon) <= answer.epsilon.upper * (1 + 1e-6)

    def test_an_order_that_the_answer_rests_on_is_no_assumption_of_another_proof(self) -> None:
        noise = DiscreteGaussian(scale=Public(8))
        run = SampledRun(mechanism=noise, sampler=Full(), releases=ResampleEach(3), domain=ball())
        answer = run.epsilon(Delta("1e-5"))
        assert "order" in {assumed.name for assumed in answer.guarantee.assumptions}
        body = body_of(certdp.certificate(run, answer).content)
        assert body["method"]["name"] == "renyi"  # which states orders of its own
        assert "order" not in {assumed["name"] for assumed in body["assumptions"]}

    @pytest.mark.parametrize("name", RUNS)
    def test_a_smaller_epsilon_than_the_true_one_is_refused(self, name: str) -> None:
        answer, found = certified(name)
        if not answer.epsilon.lower:
            pytest.skip("no lower end is known")
        lowered = Fraction(answer.epsilon.lower) * Fraction(99, 100)
        for method in {found.method, "pure", "hockey-stick", "renyi"}:
            body = body_of(found.content)
            body["claim"]["epsilon"] = str(lowered)
            if method != found.method:
                side = {"order": "3", "ratio": None}
                body["method"] = {"name": method} | ({"remove": side, "add": side} if method == "renyi" else {})
                body["theorem"] = THEOREMS[method]
            assert not check(sealed(body)).accepted, method

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["gaussian, importance", "laplace, samples", "gaussian, one sample", "plan"])
    def test_a_delta_at_an_epsilon(self, name: str) -> None:
        answer = RUNS[name].delta(Epsilon("1.5"))
        found = certdp.certificate(RUNS[name], answer)
        assert check(found.content).accepted
        assert found.epsilon == Fraction("1.5")
        assert float(found.delta) >= answer.delta.upper
        if answer.delta.lower:
            body = body_of(found.content)
            body["claim"]["delta"] = str(Fraction(answer.delta.lower) * Fraction(99, 100))
            assert not check(sealed(body)).accepted

    def test_the_pure_loss(self) -> None:
        run = RUNS["laplace, samples"]
        found = certdp.certificate(run, run.epsilon(Delta(0)))
        assert found.delta == 0
        assert found.method == "pure"
        assert float(found.epsilon) == run.pure().bound.epsilon.upper_float

    @pytest.mark.parametrize(("below", "accepted"), [("1/4", True), ("6/25", False)])
    def test_a_cover_of_two_cells(self, below: str, accepted: bool) -> None:
        """The shift of a record within half the radius is at most a quarter."""
        body = body_of(certified("gaussian, one sample")[1].content)
        leaf = body["parts"][0]["cover"]
        inner = {**leaf, "parameter": below}
        body["parts"][0]["cover"] = {"coordinate": "norm(2)", "at": "1/2", "below": inner, "above": leaf}
        assert check(sealed(body)).accepted is accepted

    def test_what_released_parameters_cost_adds_to_epsilon(self) -> None:
        cost = Guarantee(
            bound=Pure(Enclosure.of("0.25")),
            relation=ADD_REMOVE,
            unit=RECORD,
            derivation=Theorem("law", "a count").conclude([]),
        )
        mechanism = LaplaceSum(scale=Released(Fraction(5), cost, within=(3, 30)))
        run = SampledRun(mechanism=mechanism, sampler=Full(), releases=ResampleEach(1), domain=ball(Norm.L1))
        answer = run.epsilon(Delta("1e-3"))
        found = certdp.certificate(run, answer)
        assert float(found.epsilon) == answer.epsilon.upper
        body = body_of(found.content)
        assert body["released_cost"] == "1/4"
        body["claim"]["epsilon"] = str(found.epsilon - Fraction(1, 4))
        assert not check(sealed(body)).accepted

    @pytest.mark.soundness
    def test_many_cells(self) -> None:
        """The weight falls and the rate grows with the norm, so that no one pair bounds all records tightly."""
        sampler = Importance(rate=Public("0.9"), norm=Public("inf"), floor=Public("0.2"))
        run = gauss(40, sampler, SampleOnce(2), ball(dimension=2))
        answer = run.epsilon(Delta("1e-6"))
        found = certdp.certificate(run, answer)
        assert answer.epsilon.upper <= float(found.epsilon) <= 1.2 * answer.epsilon.upper
        body = body_of(found.content)
        assert "coordinate" in body["parts"][0]["cover"]
        body["parts"][0]["cover"]["below"] = body["parts"][0]["cover"]["above"]
        assert not check(sealed(body)).accepted

    @pytest.mark.parametrize("sampler", [Full(), poisson("0.1"), IMPORTANCE], ids=["full", "poisson", "importance"])
    def test_discrete_gaussian_noise_of_unknown_dimension_by_an_order(self, sampler: Any) -> None:
        found = lattice_certificate(None, sampler=sampler)
        loss = body_of(found.content)["parts"][0]["loss"]
        assert (loss["family"], loss["dimension"]) == ("discrete-gaussian", None)
        assert check(found.content).accepted

    @pytest.mark.slow
    @pytest.mark.parametrize("dimension", [1, 3])
    def test_discrete_gaussian_noise_as_rounded_normal_noise(self, dimension: int) -> None:
        """On a fine lattice it costs what normal noise does; the certificate's line costs both the same."""
        found = lattice_certificate(dimension, granularity="1/1000")
        run = gauss(8, poisson("0.1"), ResampleEach(3))
        normal = certdp.certificate(run, run.epsilon(Delta("1e-5")))
        assert check(found.content).accepted
        assert float(found.epsilon) <= 1.001 * float(normal.epsilon)

    @pytest.mark.slow
    def test_discrete_laplace_noise_as_laplace_noise(self) -> None:
        domain, mechanism = ball(Norm.L1), DiscreteLaplace(scale=Public(1), granularity=Public("1/100"))
        run = SampledRun(mechanism=mechanism, sampler=poisson("0.1"), releases=ResampleEach(10), domain=domain)
        found = certdp.certificate(run, run.epsilon(Delta("1e-5")))
        continuous, _ = certified("laplace, samples")
        assert check(found.content).accepted
        assert float(found.epsilon) <= 1.1 * continuous.epsilon.upper

    def test_a_certificate_of_rho_is_still_accepted(self) -> None:
        """As written before the noise itself was compared."""
        body = body_of(lattice_certificate(None, sampler=Full()).content)
        scale, weighted = ["constant", "8"], ["multiply", ["weight"], ["norm", "2"]]
        rho = ["divide", ["power", ["divide", weighted, scale], "2"], ["constant", "2"]]
        body["parts"][0]["loss"] = {"family": "zero-concentrated", "parameter": rho, "relation": "add-remove"}
        body["parts"][0]["cover"]["parameter"] = "1/128"
        assert check(sealed(body)).accepted

    @pytest.mark.slow
    def test_the_verdict_says_for_whom_and_how(self) -> None:
        _, found = certified("gaussian, importance")
        verdict = check(found.content)
        assert verdict.claim is not None
        text = str(verdict)
        for part in ("100 releases", "norm(2) <= 1", "loss distribution", "1e-05", "add-remove"):
            assert part in text.replace("the distribution of the privacy loss", "loss distribution"), part

    def test_the_same_claim_gives_the_same_bytes(self) -> None:
        name = "gaussian, one sample"
        answer, found = certified(name)
        assert certdp.certificate(RUNS[name], answer).content == found.content

    @pytest.mark.parametrize(("categories", "family"), [(2, "pure"), (3, "response-of-many")])
    def test_responses_by_their_categories(self, categories: int, family: str) -> None:
        """(e − e^ε)/(e + k − 1) is what one response tells."""
        run = SampledRun(
            mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(categories)),
            sampler=Full(),
            releases=SampleOnce(1),
        )
        delta = (math.e - math.exp(0.5)) / (math.e + categories - 1)
        found = certdp.certificate(run, run.delta(Epsilon("1/2")))
        assert body_of(found.content)["parts"][0]["loss"]["family"] == family
        assert float(found.delta) == pytest.approx(delta, rel=1e-9)
        assert certdp.certificate(run, run.epsilon(Delta(0))).epsilon == pytest.approx(1, abs=1e-9)

    @pytest.mark.parametrize(("granularity", "loss"), [("3/10", "9/20"), ("1/2", "1/2"), ("2", "0")])
    def test_of_discrete_noise_the_whole_steps_count(self, granularity: str, loss: str) -> None:
        """With scale 2 and radius 1: ⌊1/g⌋·g/2."""
        run = SampledRun(
            mechanism=DiscreteLaplace(scale=Public(2), granularity=Public(granularity)),
            sampler=Full(),
            releases=SampleOnce(1),
            domain=NormBall(norm=Norm.L1, radius=Public(1)),
        )
        found = certdp.certificate(run, run.epsilon(Delta(0)))
        assert found.epsilon == pytest.approx(float(Fraction(loss)), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("variance", "64000001", "not that of mechanism discrete-gaussian"),
        ("variance", "63999999", "not that of mechanism discrete-gaussian"),
        ("dimension", 2, "not that of mechanism discrete-gaussian"),
        ("dimension", None, "not that of mechanism discrete-gaussian"),
        ("dimension", 0, "must be an integer"),
        ("variance", "0", "must be above 0"),
        ("spread", "99/100", "spread of a loss must be at least 1"),
        ("spread", "1", "was not proven"),
        ("spread", "1000000000000", "was not proven"),
        ("family", "gaussian", "missing or unknown keys"),
        ("parameter", ["divide", ["weight"], ["constant", "8"]], "not that of mechanism discrete-gaussian"),
    ],
)
def test_forged_lattices_are_refused(key: str, value: Any, reason: str) -> None:
    body = body_of(lattice_certificate(3, granularity="1/1000").content)
    body["parts"][0]["loss"][key] = value
    verdict = check(sealed(body))
    assert not verdict.accepted
    assert reason in verdict.reason


def test_a_lattice_belongs_to_discrete_noise() -> None:
    body = body_of(certified("gaussian, all")[1].content)
    lattice = {"variance": "4", "dimension": 1, "spread": "2"}
    for family in ("gaussian", "discrete-gaussian"):
        body["parts"][0]["loss"] |= {**lattice, "family": family}
        assert not check(sealed(body)).accepted


def test_a_coarse_lattice_is_not_compared() -> None:
    """The certificate rests on Rényi divergences there, and on nothing that asks for a fine lattice."""
    body = body_of(lattice_certificate(1, granularity="4", radius=4).content)
    assert body["method"]["name"] == "renyi"
    body["parts"][0]["steps"] = 1
    for assumed in body["assumptions"]:
        if assumed["name"] == "part 1: releases":
            assumed["value"] = assumed["value"].replace("3", "1")
    body["method"], body["theorem"] = {"name": "hockey-stick"}, THEOREMS["hockey-stick"]
    assert "was not proven" in check(sealed(body)).reason


THEOREMS = {
    "pure": "IS Theorem 6 and basic composition",
    "hockey-stick": "hockey-stick divergence of the dominating pair after sampling",
    "renyi": "Renyi composition and Asoodeh et al. 2021, Theorem 3",
}


def shrink(text: str) -> str:
    return str(Fraction(text) * Fraction(99, 100))


def stated_too(forge: Callable[[Body], None]) -> Callable[[Body], None]:
    """Also raise the assumption of the number of releases, as a careful forger would."""

    def both(body: Body) -> None:
        forge(body)
        part = body["parts"][0]
        way = "on one sample" if part["resample"] == "once" else "each on a fresh sample"
        for item in body["assumptions"]:
            if item["name"] == "part 1: releases":
                item["value"] = f"{part['steps']}, {way}"

    return both


PART = ("parts", 0)
ANYWHERE: dict[str, Callable[[Body], None]] = {
    "a smaller epsilon": put(shrink, "claim", "epsilon"),
    "a smaller delta": put(shrink, "claim", "delta"),
    "more steps": stated_too(put(lambda steps: steps + 7, *PART, "steps")),
    "steps that the assumptions do not state": put(1, *PART, "steps"),
    "steps beyond 2^53": put(2**80, *PART, "steps"),
    "no relation": drop("claim", "relation"),
    "another relation": put("replace", "claim", "relation"),
    "no unit": drop("claim", "unit"),
    "another unit": put("user", "claim", "unit"),
    "no domain": put(None, "claim", "domain"),
    "a larger radius": put("2", "claim", "domain", "radius"),
    "no cover": put({}, *PART, "cover"),
    "a lower parameter": put(shrink, *PART, "cover", "parameter"),
    "a lower rate": put(shrink, *PART, "cover", "rate"),
    "a rate above 1": put("11/10", *PART, "cover", "rate"),
    "a cover without a side": put({"coordinate": "norm(2)", "at": "1/2", "below": {}}, *PART, "cover"),
    "a cover of one side": put(
        lambda leaf: {"coordinate": "norm(2)", "at": "1/2", "below": leaf, "above": {"parameter": "0", "rate": "0"}},
        *PART,
        "cover",
    ),
    "a cover beyond the domain": put(
        lambda leaf: {"coordinate": "norm(2)", "at": "-1", "below": leaf, "above": leaf}, *PART, "cover"
    ),
    "a cover that splits a rounding": put(
        lambda leaf: {"coordinate": "rounding(rate)", "at": "0", "below": leaf, "above": leaf}, *PART, "cover"
    ),
    "a cover with its sides swapped for a list": put([], *PART, "cover"),
    "a weight that the sampler's option denies": put("true", *PART, "sampler", "options", "weighted"),
    "no rounding": put("0", *PART, "rounding"),
    "a rounding below what is drawn": put(str(Fraction(3, 2**53)), *PART, "rounding"),
    "a rounding of 1": put("1", *PART, "rounding"),
    "no parts": put([], "parts"),
    "an unknown family": put("cauchy", *PART, "loss", "family"),
    "another family": put("zero-concentrated", *PART, "loss", "family"),
    "half the loss": put(lambda tree: ["multiply", ["constant", "2"], tree], *PART, "loss", "parameter"),
    "a negative loss": put(["subtract", ["constant", "0"], ["norm", "2"]], *PART, "loss", "parameter"),
    "a loss of the rate's rounding": put(["rounding", "rate"], *PART, "loss", "parameter"),
    "a larger rate": put(["constant", "1"], *PART, "rate"),
    "a rate of the weight": put(["weight"], *PART, "rate"),
    "a negative cost": put("-1", "released_cost"),
    "a cost above epsilon": put("99", "released_cost"),
    "an unknown method": put({"name": "magic"}, "method"),
    "a method that is no object": put("pure", "method"),
    "a method without a name": put({}, "method"),
    "a method that is a list": put({"name": []}, "method"),
    "another theorem": put("IS Theorem 7", "theorem"),
    "heuristic evidence": put("heuristic", *PART, "mechanism", "evidence"),
    "evidence that the assumptions do not state": put("cited", *PART, "mechanism", "evidence"),
    "no assumptions": put([], "assumptions"),
    "an owner's audience": put("owner", "audience"),
    "an infinite number": put("1" + "0" * 800, "claim", "epsilon"),
    "nan": put("nan", "claim", "epsilon"),
    "a float for an exact number": put(0.5, "claim", "epsilon"),
    "a claim of pure privacy": put("pure", "claim", "notion"),
}


def forged(name: str, forge: Callable[[Body], None]) -> str:
    body = copy.deepcopy(body_of(certified(name)[1].content))
    forge(body)
    verdict = check(sealed(body))
    assert not verdict.accepted, verdict
    return verdict.reason


class TestForgeries:
    @pytest.mark.parametrize("forgery", ANYWHERE)
    @pytest.mark.parametrize("name", ["gaussian, one sample", "gaussian, importance"])
    def test_a_forged_field_is_refused(self, name: str, forgery: str) -> None:
        forged(name, ANYWHERE[forgery])

    def test_weights_for_none(self) -> None:
        reason = forged("gaussian, one sample", put(True, *PART, "weighted"))
        assert "weighted" in reason

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["laplace, samples", "gaussian, importance"])
    def test_each_for_once(self, name: str) -> None:
        """These losses are smaller on fresh samples than on one."""
        reason = forged(name, stated_too(put("once", *PART, "resample")))
        assert "not proven" in reason or "method" in reason or "not known" in reason

    def test_once_for_each(self) -> None:
        reason = forged("gaussian, one sample", stated_too(put("each", *PART, "resample")))
        assert "one release" in reason

    @pytest.mark.slow
    @pytest.mark.parametrize("order", ["1", "0", "1/2", "-3", str(2**41), "1" + "0" * 690])
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_orders_outside_the_range(self, order: str, direction: str) -> None:
        forged("laplace, samples", put(order, "method", direction, "order"))

    @pytest.mark.parametrize("value", ["0", "-1", str(2**60), "nan"])
    def test_touching_points_outside_the_range(self, value: str) -> None:
        forged("laplace, samples", put(value, "method", "remove", "ratio"))

    def test_orders_beyond_the_work_budget_prove_less(self) -> None:
        """No sum of binomials is taken there: the simpler bound is too large."""
        forged("laplace, samples", put("30000", "method", "remove", "order"))

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_a_direction_is_missing(self, direction: str) -> None:
        for name in ("laplace, samples", "gaussian, importance"):
            forged(name, drop("method", direction))

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("places", 2),
            ("places", 10**6),
            ("places", 50_000),
            ("places", 2.0),
            ("places", True),
            ("step", "0"),
            ("step", str(2**50)),
            ("step", "1/" + "9" * 60),
            ("step", "10"),
            ("real_part", "0"),
            ("real_part", "-1"),
            ("real_part", "100000"),
            ("real_part", "1/1000"),
            ("dither", "-1"),
            ("dither", "2"),
            ("dither", "1/2"),
        ],
    )
    def test_lines_that_prove_nothing(self, key: str, value: Any) -> None:
        forged("gaussian, importance", put(value, "method", "remove", key))

    def test_a_cell_is_missing(self) -> None:
        forged("plan", put({"coordinate": "norm(2)", "at": "1/2"}, "parts", 1, "cover"))

    def test_deep_and_wide_covers(self) -> None:
        leaf = {"parameter": "1", "rate": "1"}
        deep: Any = leaf
        for depth in range(200):
            deep = {"coordinate": "norm(2)", "at": f"1/{2 ** (depth % 60 + 1)}", "below": leaf, "above": deep}
        forged("gaussian, one sample", put(deep, *PART, "cover"))
        wide: Any = leaf
        for depth in range(8):
            wide = {"coordinate": "norm(2)", "at": f"1/{2 ** (depth + 1)}", "below": wide, "above": wide}
        forged("gaussian, one sample", put(wide, *PART, "cover"))

    def test_too_many_parts_and_combinations(self) -> None:
        forged("gaussian, one sample", put(lambda parts: parts * 65, "parts"))

    def test_deep_json(self) -> None:
        content = certified("gaussian, one sample")[1].content
        assert not check(
            content.replace(b'"method": {', b'"method": {"a": ' + b"[" * 5000 + b"]" * 5000 + b",")
        ).accepted

    def test_changed_bytes(self) -> None:
        content = certified("gaussian, one sample")[1].content
        assert not check(content.replace(b'"steps": 10', b'"steps": 11')).accepted


def to_mp(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.fixture(scope="class")
def precisely() -> Iterator[None]:
    with mp.workprec(200):
        yield


@pytest.mark.usefixtures("precisely")
class TestTheCheckersNumbers:
    """Each against quadrature or exact sums by mpmath."""

    @given(st.floats(-60, 60))
    @examples(15)
    def test_the_normal_distribution_function(self, x: float) -> None:
        point = libmp.from_float(x)
        with mp.workprec(3000):
            truth = mpmath.ncdf(mpmath.mpf(x)) if x > -25 else mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2
            found = normal_cdf(Interval(point, point), FINE)
            low, high = (mp.make_mpf(end) for end in found)
            assert low <= truth <= high
            assert high - low <= max(truth, 1 - truth if x > 0 else 0) * (
                mpmath.mpf(2) ** -120 if abs(x) < 32 else 0.01
            )

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize(("s", "q", "epsilon"), [("1/2", "1/10", "1/20"), ("2", "1/3", "1/4"), ("1", "1", "3/2")])
    def test_one_gaussian_release(self, s: str, q: str, epsilon: str, direction: str) -> None:
        shift, rate, level = (to_mp(Fraction(text)) for text in (s, q, epsilon))

        def absent(x: Any) -> Any:
            return mpmath.npdf(x)

        def present(x: Any) -> Any:
            return (1 - rate) * mpmath.npdf(x) + rate * mpmath.npdf(x, shift)

        first, second = (present, absent) if direction == REMOVE else (absent, present)
        wanted = (
            (mpmath.exp(level) - (1 - rate)) / rate if direction == REMOVE else (mpmath.exp(-level) - 1 + rate) / rate
        )
        root = mpmath.log(wanted) / shift + shift / 2
        ends = [root, root + 15, 40] if direction == REMOVE else [-40, root - 15, root]
        with mp.workprec(100):
            truth: Any = mpmath.quad(lambda x: first(x) - mpmath.exp(level) * second(x), ends)
        found = delta_of_one([Factor("gaussian", Fraction(s), Fraction(q), 1, 1)], Fraction(epsilon), direction, FINE)
        assert abs(mp.make_mpf(found.hi) - truth) < 1e-20 * truth
        assert mp.make_mpf(found.hi) - mp.make_mpf(found.lo) < 1e-40

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("times", [1, 2, 7])
    def test_randomised_responses(self, times: int, direction: str) -> None:
        loss, rate, level = Fraction(3, 4), Fraction(2, 5), Fraction(1, 2)
        with mp.workprec(200):
            truthful = 1 / (1 + mpmath.exp(-to_mp(loss)))
            absent = [1 - truthful, truthful]
            present = [to_mp(1 - rate) * b + to_mp(rate) * a for a, b in zip(absent[::-1], absent, strict=True)]
            first, second = (present, absent) if direction == REMOVE else (absent, present)
            truth = sum(
                mpmath.binomial(times, j)
                * max(
                    first[0] ** (times - j) * first[1] ** j
                    - mpmath.exp(to_mp(level)) * second[0] ** (times - j) * second[1] ** j,
                    0,
                )
                for j in range(times + 1)
            )
            found = delta_of_one([Factor("pure", loss, rate, 1, times)], level, direction, FINE)
            assert abs(mp.make_mpf(found.hi) - truth) < 1e-40
            assert holds(found, truth) or abs(truth - mp.make_mpf(found.lo)) < 1e-45

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_pure_losses(self, direction: str) -> None:
        found = pure_loss([Factor("laplace", Fraction(2), Fraction(1, 4), 3, 5)], direction, FINE)
        q, e = mpmath.mpf(1) / 4, mpmath.mpf(6)
        once = mpmath.log(1 + q * mpmath.expm1(e)) if direction == REMOVE else -mpmath.log(1 + q * mpmath.expm1(-e))
        assert abs(mp.make_mpf(found.hi) - 5 * once) < mpmath.mpf(2) ** -180

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("order", ["2", "3", "11", "5/2"])
    @pytest.mark.parametrize("family", ["gaussian", "laplace", "pure"])
    def test_log_moments_on_samples(self, family: str, order: str, direction: str) -> None:
        """Exact for remove at whole orders and of Gaussian noise at all, and for one response; a bound otherwise."""
        shift, rate, alpha = Fraction(3, 4), Fraction(1, 5), Fraction(order)
        s, q, a = to_mp(shift), to_mp(rate), to_mp(alpha)
        power = a if direction == REMOVE else 1 - a

        def mixed(ratio: Any) -> Any:
            return (1 - q + q * ratio) ** power

        with mp.workprec(80):
            if family == "gaussian":
                moment = mpmath.quad(lambda x: mpmath.npdf(x) * mixed(mpmath.exp(s * x - s * s / 2)), [-30, 0, 12, 40])
            elif family == "laplace":
                moment = mpmath.quad(
                    lambda x: mpmath.exp(-abs(x)) / 2 * mixed(mpmath.exp(abs(x) - abs(x - s))), [-60, 0, s, 60]
                )
            else:
                likely = 1 / (1 + mpmath.exp(-s))
                moment = (1 - likely) * mixed(mpmath.exp(s)) + likely * mixed(mpmath.exp(-s))
            truth = mpmath.log(moment)
            found = mp.make_mpf(Moments(FINE).total([Factor(family, shift, rate, 1, 1)], alpha, direction).hi)
            assert found >= truth - 1e-15
            if family == "pure" or (direction == REMOVE and (alpha.denominator == 1 or family == "gaussian")):
                assert abs(found - truth) < 1e-12

    @pytest.mark.parametrize(("shift", "rate", "order"), [("1/50", "1/100", "201/4"), ("3", "1/3", "9/8")])
    def test_gaussian_moments_between_whole_orders(self, shift: str, rate: str, order: str) -> None:
        """Exact even where little is lost; three releases on one sample are one of √3 times the shift."""
        q, a = to_mp(Fraction(rate)), to_mp(Fraction(order))
        for together in (1, 3):
            s = to_mp(Fraction(shift)) * mpmath.sqrt(together)
            with mp.workprec(150):
                excess = mpmath.quad(
                    lambda x, s=s: mpmath.npdf(x) * ((1 - q + q * mpmath.exp(s * x - s * s / 2)) ** a - 1),
                    [-20, -5, 0, 5, a * s, a * s + 5, a * s + 20],
                )
            found = Moments(FINE).total(
                [Factor("gaussian", Fraction(shift), Fraction(rate), together, 1)], Fraction(order), REMOVE
            )
            truth = mpmath.log1p(excess)
            assert mp.make_mpf(found.lo) * (1 - mpmath.mpf(10) ** -18) <= truth
            assert truth <= mp.make_mpf(found.hi) <= truth * (1 + mpmath.mpf(10) ** -18)

    def test_beyond_the_budget_of_nodes_a_chord_must_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        factors = [Factor("gaussian", Fraction(k, 4), Fraction(1, 5), 1, 1) for k in (1, 2, 3)]
        sharp = number(Moments(FINE).total(factors, Fraction(5, 2), REMOVE).hi)
        monkeypatch.setattr(composed_moments, "MOST_NODES", 200)
        found = number(Moments(FINE).total(factors, Fraction(5, 2), REMOVE).hi)
        assert sharp * 1.01 < found < math.inf

    @given(
        st.fractions(Fraction(11, 10), 30, max_denominator=20),
        st.floats(0.01, 0.9),
        st.floats(1.05, 40.0),
        st.fractions(Fraction(1, 50), 3, max_denominator=50),
        st.fractions(Fraction(0), 4, max_denominator=50),
    )
    @examples(80)
    def test_the_conversion_bounds_any_law(
        self, order: Fraction, low: float, high: float, ratio: Fraction, epsilon: Fraction
    ) -> None:
        """A likelihood ratio of two values with mean 1: δ(ε) and E[r^α] in closed form."""
        with mp.workprec(200):
            r1, r2, a = mpmath.mpf(low), mpmath.mpf(high), to_mp(order)
            chance = (1 - r1) / (r2 - r1)
            moment = mpmath.log(chance * r2**a + (1 - chance) * r1**a)
            truth = chance * max(r2 - mpmath.exp(to_mp(epsilon)), 0)
            point = moment._mpf_
            for touching in (None, ratio):
                found = delta_at_order(Interval(point, point), order, touching, epsilon, FINE)
                assert mp.make_mpf(found.hi) >= truth * (1 - mpmath.mpf(2) ** -150)

    @pytest.mark.parametrize("angle", ["0", "1/3", "-7/2", "1000", "-123456/7", "1/100000000000000000000"])
    def test_turns(self, angle: str) -> None:
        real, imaginary = contour._turn(contour._FINE.rational(Fraction(angle)))
        with mp.workprec(300):
            truth = mpmath.expjpi(0) * mpmath.exp(1j * to_mp(Fraction(angle)))
            unit = mpmath.mpf(2) ** -contour.BITS
            assert abs(real * unit - truth.real) <= unit
            assert abs(imaginary * unit - truth.imag) <= unit

    @pytest.mark.slow
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_the_line_bounds_two_releases(self, direction: str) -> None:
        """Against δ of one sampled Gaussian release, and of two by integration over the first one's loss."""
        q, s, level = Fraction(1, 4), Fraction(3, 2), Fraction(1, 2)
        line = contour.Line(Fraction(2), Fraction(1, 5), 400, Fraction(0))
        one = Factor("gaussian", s, q, 1, 1)
        exact = number(delta_of_one([one], level, direction, FINE).hi)
        found = number(contour.delta_on_line([one], level, direction, line, budget()))
        assert exact <= found <= exact * 1.05 + 1e-3

        def inner(loss: float) -> float:
            """sup of the first law less e^(ε − loss) times the second, for one release: by its own roots."""
            return hockey(float(level) - loss, float(q), float(s), direction)

        def density(x: float) -> float:
            base = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
            return base * ratio(x) if direction == REMOVE else base

        def ratio(x: float) -> float:
            return 1 - float(q) + float(q) * math.exp(float(s) * (x - float(s) / 2))

        step, sign = 0.002, 1 if direction == REMOVE else -1
        nodes = [step * j for j in range(-5000, 6000)]
        two = step * math.fsum(density(x) * inner(sign * math.log(ratio(x))) for x in nodes)
        found = number(contour.delta_on_line([one._replace(samples=2)], level, direction, line, budget()))
        assert two * (1 - 1e-6) <= found <= two * 1.02 + 2e-4

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_the_line_of_responses_and_gaussian_noise(self, direction: str) -> None:
        """By the exact δ of Gaussian noise behind each number of true answers."""
        times, loss, shift, level = 3, Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
        likely = 1 / (1 + math.exp(-float(loss)))
        truth = math.fsum(
            math.comb(times, j)
            * likely ** (times - j)
            * (1 - likely) ** j
            * gaussian_hockey(float(level) - (times - 2 * j) * float(loss), float(shift))
            for j in range(times + 1)
        )
        factors = [
            Factor("pure", loss, Fraction(1), 1, times),
            Factor("gaussian", shift, Fraction(1), 1, 1),
        ]
        line = contour.Line(Fraction(3), Fraction(1, 2), 80, Fraction(0))
        found = number(contour.delta_on_line(factors, level, direction, line, budget()))
        assert truth * (1 - 1e-9) <= found <= truth * 1.001


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_hockey(epsilon: float, shift: float) -> float:
    """E[(1 − e^(ε − L))₊] of N(shift, 1) and N(0, 1), for any real ε."""
    return normal(shift / 2 - epsilon / shift) - math.exp(epsilon) * normal(-shift / 2 - epsilon / shift)


def hockey(epsilon: float, q: float, s: float, direction: str) -> float:
    """The same of one sampled release, for any real ε."""
    factor = math.exp(epsilon)
    if direction == REMOVE:
        odds = (factor - 1 + q) / q
        if odds <= 0:
            return 1 - factor
        return q * gaussian_hockey(math.log(odds), s)
    odds = (1 / factor - 1 + q) / q
    if odds <= 0:
        return 0.0
    root = math.log(odds) / s + s / 2  # the ratio of the laws is above e^ε to the left of it
    return normal(root) - factor * ((1 - q) * normal(root) + q * normal(root - s))


def test_both_directions_are_checked() -> None:
    """Three randomised responses lose more one way: a check of remove alone would not do for a lower claim."""
    factor = Factor("pure", Fraction(2), Fraction(1, 2), 1, 2)
    deltas = {d: number(delta_of_one([factor], Fraction(1, 10), d, FINE).hi) for d in (REMOVE, ADD)}
    assert deltas[REMOVE] != deltas[ADD]


@frozen(kw_only=True)
class OnlyACurve:
    """A mechanism that states Rényi divergences alone."""

    about: ClassVar[About] = About(
        name="only-a-curve", version="1", contract=CONTRACT_VERSION, evidence=Evidence.CITED, citation="nobody"
    )

    @property
    def loss(self) -> RenyiLoss:
        return RenyiLoss(W * norm(2) * ORDER)

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        raise NotImplementedError


NOISY: dict[str, list[tuple[Any, Any, int]]] = {
    "laplace": [(LaplaceSum(scale=Public(2)), Poisson(rate=Public("0.1")), 40)],
    "laplace, all": [(LaplaceSum(scale=Public(5)), Full(), 20)],
    "laplace, several": [(LaplaceSum(scale=Public(Fraction(50 + k, 10))), Full(), 3 + k) for k in range(4)],
    "laplace and gaussian": [
        (LaplaceSum(scale=Public(3)), Poisson(rate=Public("0.2")), 5),
        (GaussianSum(scale=Public(2)), Poisson(rate=Public("0.01")), 300),
    ],
    "gaussian, several": [
        (GaussianSum(scale=Public(Fraction(4 + k, 4))), Poisson(rate=Public(Fraction(1, 50 + k))), 20) for k in range(5)
    ],
}


def on_batches(mechanism: Any, sampler: Any, relation: Any, times: int) -> Certified:
    """A certificate of ε at δ = 1/100, of records of norm at most 1."""
    domain = NormBall(radius=Public(1), norm=Norm.L1)
    run = SampledRun(
        mechanism=mechanism, sampler=sampler, releases=ResampleEach(times), domain=domain, relation=relation
    )
    answer = run.epsilon(Delta("1/100"))
    found = certificate(run, answer)
    assert check(found.content).accepted
    assert answer.epsilon.lower is None or found.epsilon >= answer.epsilon.lower
    return found


@pytest.mark.slow
@pytest.mark.parametrize("relation", [REPLACE, ZERO_OUT])
def test_what_is_certified_of_batches_of_a_fixed_size_is_what_three_outcomes_lose(relation: Any) -> None:
    """A place that changes hands, two pure losses apart: log(1 + q(e^(2/3) - 1)) or its opposite, or nothing.

    Of two records, each of which has at most e^(1/3) times the mass of neither, and the other then e^(-1/3) times it.
    """
    mechanism = QuantileChoice(quantile=Public("1/4"), scale=Public("9/2"), shift=Public(0))
    found = on_batches(mechanism, FixedBatches(rate=Public("0.1")), relation, 3)
    ratio, share = 1 + math.expm1(2 / 3) / 10, math.exp(-1 / 3) / (1 + math.exp(1 / 3))
    outcomes = [(share, ratio), (share * ratio, 1 / ratio), (1 - share - share * ratio, 1.0)]

    def lost(epsilon: float) -> float:
        total = 0.0
        for runs in product(outcomes, repeat=3):
            mass, grown = (math.prod(each) for each in zip(*runs, strict=True))
            total += mass * max(grown - math.exp(epsilon), 0)
        return total

    epsilon = float(found.epsilon)
    assert lost(epsilon) <= 0.01 + 1e-12
    assert lost(epsilon * (1 - 1e-4)) > 0.01
    assert lost(float(on_batches(mechanism, Poisson(rate=Public("0.1")), relation, 3).epsilon)) > 0.011  # as Poisson's


@pytest.mark.parametrize("relation", [ADD_REMOVE, ZERO_OUT])
def test_what_is_certified_of_samples_cut_down_is_the_mean_of_both_cases(relation: Any) -> None:
    mechanism = GaussianSum(scale=Public(2))
    n, most, q = 20, 3, 0.25
    sampler = TruncatedPoisson(rate=Public("1/4"), batch_size=Public(most), data_size=Public(n))
    found = on_batches(mechanism, sampler, relation, 1)
    full = 1 - sum(math.comb(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(most))
    more = 1 - sum(math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(most + 1))
    entering = most / n * more / full
    ways = {ADD_REMOVE: ((REMOVE, REMOVE), (ADD, ADD)), ZERO_OUT: ((REMOVE, REMOVE), (ADD, REMOVE))}[relation]

    def lost(epsilon: float) -> float:
        return max(
            (1 - full) * hockey(epsilon, q, 0.5, below) + full * hockey(epsilon, entering, 1.0, above)
            for below, above in ways
        )

    assert math.isclose(lost(float(found.epsilon)), 0.01, rel_tol=1e-9)
    poisson = on_batches(mechanism, Poisson(rate=Public("1/4")), relation, 1)
    assert lost(float(poisson.epsilon)) > 0.015  # as Poisson's it would be far too small


@pytest.mark.slow
def test_groups_of_records_removed_from_a_number_that_is_declared_have_no_certificate() -> None:
    sampler = TruncatedPoisson(rate=Public("1/4"), batch_size=Public(3), data_size=Public(20))
    run = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=sampler)
    answer = run.epsilon(Delta("1/100"))
    with pytest.raises(InvalidValue, match="a number of records that one may be missing from"):
        certificate(run, answer, group=2)
    for covered in (evolve(run, sampler=evolve(sampler, at_most=Public(True))), evolve(run, relation=REPLACE)):
        found = certificate(covered, covered.epsilon(Delta("1/100")), group=2)
        assert check(found.content).accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_what_is_certified_of_sums_is_within_a_millionth_of_the_answer(name: str) -> None:
    domain = NormBall(radius=Public(1), norm=Norm.L1)
    run = Plan(
        [
            SampledRun(mechanism=mechanism, sampler=sampler, releases=ResampleEach(times), domain=domain)
            for mechanism, sampler, times in NOISY[name]
        ]
    )
    answer = run.epsilon(Delta("1e-5"))
    certified = certdp.certificate(run, answer)
    assert certified.method == "loss-distribution"
    assert answer.epsilon.upper <= certified.epsilon <= answer.epsilon.upper * (1 + 1e-6)


@pytest.mark.parametrize("times", [1, 8])
def test_what_a_line_costs_the_checker_is_foreseen(times: int) -> None:
    """Else lines that it cannot finish are tried: four kinds of Laplace noise were left to Rényi orders, 5 % above."""
    domain = NormBall(radius=Public(1), norm=Norm.L1)
    kinds = (
        (LaplaceSum, Full()),
        (LaplaceSum, Poisson(rate=Public("0.1"))),
        (GaussianSum, Full()),
        (GaussianSum, Poisson(rate=Public("0.1"))),
        (DiscreteLaplace, Poisson(rate=Public("0.2"))),
    )
    run = Plan(
        SampledRun(mechanism=kind(scale=Public(5 + k)), sampler=sampler, releases=ResampleEach(2), domain=domain)
        for kind, sampler in kinds
        for k in range(times)
    )
    (body, parts), *_ = next(approximate.bodies_of(_statement(run, ()), math.log(0.01)))
    known = approximate._Known.of(parts, approximate.Changed())
    assert known is not None
    line = Line(2.0, 0.5, 400, 0.5, 32)
    sides = {direction.value: line.as_json() for direction in Direction}
    claim = {**body["claim"], "epsilon": "1", "delta": "1/100"}
    theorem, method = approximate._LOSS_DISTRIBUTION, {"name": "loss-distribution", **sides}
    budget = Budget()
    check(sealed({**body, "claim": claim, "theorem": theorem, "method": method}), None, budget)
    spent = (MOST_WORK - budget.left) / 20
    foreseen = sum(work_on(known.releases(32), line, direction) for direction in Direction)
    foreseen += approximate._PART * len(parts)
    assert foreseen <= 2 * spent
    assert spent <= 1.05 * foreseen


def test_many_parts_are_raised_to_few_that_dominate_them() -> None:
    """Those of one law each: cells of a domain, lattices and releases on one sample stay as they are."""

    def part(k: int, **changed: Any) -> dict[str, Any]:
        cover = {"parameter": str(Fraction(1000 + k, 1000)), "rate": str(Fraction(1, 50 + k % 7))}
        return {"cover": cover, "loss": {"family": "gaussian"}, "resample": "each", "steps": 1 + k, **changed}

    noise = [part(k) for k in range(500)]
    others = [
        part(1, resample="once"),
        part(2, loss={"family": "discrete-gaussian"}),
        part(3, cover={"coordinate": "norm(2)"}),
        part(4, loss={"family": "pure"}),
    ]
    assert list(approximate._raised(noise[:64])) == [noise[:64]]
    for raised, most in zip(approximate._raised([*noise, *others]), (256, 64, 16), strict=True):
        assert raised[500:] == others
        numbers = [[Fraction(each["cover"][key]) for key in ("parameter", "rate")] for each in raised[:500]]
        assert len({tuple(pair) for pair in numbers}) <= most
        for before, (parameter, rate), after in zip(noise, numbers, raised[:500], strict=True):
            assert parameter >= Fraction(before["cover"]["parameter"])
            assert rate >= Fraction(before["cover"]["rate"])
            assert {**after, "cover": before["cover"]} == before


@pytest.mark.slow
def test_many_parts_of_which_one_has_no_lines_are_proven_by_orders() -> None:
    """Discrete Gaussian noise in a ball of no stated dimension is on none: 65 parts had no certificate."""
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    mechanisms: list[Mechanism] = [GaussianSum(scale=Public(Fraction(40 + k, 4))) for k in range(64)]
    run = Plan(
        SampledRun(mechanism=mechanism, sampler=Poisson(rate=Public("1/4")), domain=ball)
        for mechanism in [*mechanisms, DiscreteGaussian(scale=Public(5))]
    )
    answer = run.epsilon(Delta("1e-5"))
    certified = certdp.certificate(run, answer)
    assert certified.method == "renyi"
    by_orders = run.epsilon(Delta("1e-5"), accountant=RENYI)
    assert answer.epsilon.upper <= certified.epsilon <= by_orders.epsilon.upper * (1 + 1e-9)


@pytest.mark.slow
def test_the_certificate_of_many_parts_is_next_to_the_answer() -> None:
    epochs = [
        SampledRun(
            mechanism=GaussianSum(noise_multiplier=Public(Fraction(200 + k, 100))),
            sampler=Poisson(rate=Public(Fraction(1, 50))),
            releases=ResampleEach(2000),
        )
        for k in range(70)
    ]
    run = Plan(epochs)
    answer = run.epsilon(Delta("1e-5"))
    certified = certdp.certificate(run, answer)
    assert certified.method == "loss-distribution"
    assert answer.epsilon.upper <= certified.epsilon <= answer.epsilon.upper * (1 + 1e-6)
    parts = body_of(certified.content)["parts"]
    assert [part["steps"] for part in parts] == [2000] * 70


@pytest.mark.parametrize(
    ("sampler", "releases"),
    [
        (Full(), ResampleEach(2)),
        (Poisson(rate=Public("0.1")), ResampleEach(20)),
        (Poisson(rate=Public("0.1")), SampleOnce(5)),
        (Importance(rate=Public("0.3"), norm=Public(2), floor=Public("0.05")), ResampleEach(3)),
    ],
)
def test_a_bare_curve_is_certified_at_its_answer(sampler: Any, releases: Any) -> None:
    run = SampledRun(mechanism=OnlyACurve(), sampler=sampler, releases=releases, domain=ball(radius="1/20"))
    for ask in (
        lambda: run.epsilon(Delta("1e-5")),
        lambda: run.delta("2"),
        lambda: run.renyi(4),
        lambda: run.renyi("3/2"),
    ):
        answer: Any = ask()
        found = certdp.certificate(run, answer)
        known: Any = getattr(answer, "guarantee", answer).bound
        for name, value in found.parameters.items():
            stated = getattr(known, name)
            end = stated if isinstance(stated, Fraction) else stated.upper
            assert end * (1 - Fraction(1, 10**12)) <= value <= end * (1 + Fraction(1, 10**9)), name
        verdict = check(found.content)
        assert verdict.outcome.value == "holds assuming the profile"
        assert verdict.claim is not None


def test_a_curve_is_stated_at_ever_fewer_orders() -> None:
    run = SampledRun(mechanism=OnlyACurve(), sampler=Poisson(rate=Public("0.1")), domain=ball(radius="1/10000"))
    body = body_of(certdp.certificate(run, run.renyi(100_000)).content)
    (part,) = body["parts"]
    orders = [Fraction(order) for order in part["loss"]["orders"]]
    assert orders[:63] == list(range(2, 65))
    assert orders[-1] == 100_000
    assert len(orders) == len(part["cover"]["parameter"]) < 256
    assert all(later <= earlier * Fraction(5, 4) + 1 for earlier, later in pairwise(orders))


def test_a_loss_that_no_certificate_states_says_so() -> None:
    with pytest.raises(InvalidValue, match="FamilyLoss"):
        stated_losses(FamilyLoss(W * norm(1), unknown_to_certificates))


def unknown_to_certificates(shift: Enclosure) -> LaplacePair:
    return LaplacePair(shift)


@frozen(kw_only=True)
class OwnFamily:
    """A mechanism with a family of pairs of its own, of which a certificate can state the pure loss alone."""

    about: ClassVar[About] = About(
        name="own-family", version="1", contract=CONTRACT_VERSION, evidence=Evidence.CITED, citation="nobody"
    )
    family: ClassVar[Any] = staticmethod(unknown_to_certificates)

    @property
    def loss(self) -> FamilyLoss:
        return FamilyLoss(W * norm(2), type(self).family, PureLoss(W * norm(2)))

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        raise NotImplementedError


class OneOfOurs(OwnFamily):
    family = LaplacePair


def of_own_family(mechanism: Any, releases: int, sampler: Any = None) -> SampledRun:
    return SampledRun(
        mechanism=mechanism, sampler=sampler or Full(), releases=ResampleEach(releases), domain=ball(radius=1)
    )


@pytest.mark.slow
def test_what_is_certified_is_what_the_checker_proves_where_answers_are_much_tighter() -> None:
    """Of an ε of 1 alone, responses are the worst: closed forms, and the answers are those of Laplace noise."""
    run = of_own_family(OwnFamily(), 1)
    grown = mp.e**1
    right, wrong = grown / (1 + grown), 1 / (1 + grown)
    truths: dict[str, tuple[Any, Any]] = {
        "tau": (run.renyi(2), mpmath.log(right**2 / wrong + wrong**2 / right)),
        "rho": (run.zero_concentrated(), mp.tanh("0.5")),
        "delta": (run.delta("1/2"), (grown - mp.exp("0.5")) / (1 + grown)),
        "epsilon": (run.epsilon(Delta("1/100000")), mpmath.log((right - mp.mpf("1e-5")) / wrong)),
    }
    for name, (answer, truth) in truths.items():
        found = certdp.certificate(run, answer)
        told = mp.mpf(found.parameters[name].numerator) / found.parameters[name].denominator
        known = getattr(answer, "guarantee", answer)
        assert float(getattr(known.bound, name).upper) < 0.9 * float(truth) or name == "epsilon"
        assert truth <= told <= truth * (1 + mp.mpf("1e-6")), name


@pytest.mark.slow
def test_a_little_less_than_what_is_certified_is_refused() -> None:
    """A claim that is smaller by 1.2e-6 is not proven in the same way, however far above the answer it is."""
    run = of_own_family(OwnFamily(), 20, poisson("0.1"))
    answer = run.delta("1/2")
    found = certdp.certificate(run, answer)
    assert found.delta > answer.delta.upper * Fraction(11, 10)
    body = body_of(found.content)
    assert check(sealed(body)).accepted
    body["claim"]["delta"] = str(Fraction(body["claim"]["delta"]) * (1 - Fraction(12, 10**7)))
    verdict = check(sealed(body))
    assert verdict.proven is not None
    assert verdict.proven > Fraction(body["claim"]["delta"])


def test_a_family_of_ours_that_a_plugin_supplies_is_stated_as_what_it_is() -> None:
    run = of_own_family(OneOfOurs(), 1)
    for answer, name in ((run.renyi(2), "tau"), (run.zero_concentrated(), "rho")):
        stated = getattr(answer.bound, name).upper
        assert stated <= certdp.certificate(run, answer).parameters[name] <= stated * (1 + Fraction(1, 10**9))
    assert [stated.family for stated in stated_losses(OneOfOurs().loss)] == ["laplace", "pure"]

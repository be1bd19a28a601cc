"""The best of several runs in the checker, against laws of what is told that are added up exactly."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, permutations
from typing import Any

import mpmath
import pytest
from mpmath import libmp

import certdp
from certdp import Delta, Full, GaussianSum, NormBall, Poisson, Public, RandomisedResponse, ResampleEach, SampledRun
from certdp.accounting.norms import Norm
from certdp.selection import FixedRepetitions, NegativeBinomialRepetitions, PoissonRepetitions, Repetitions, SelectedRun
from certdp.verification.checker import Budget, Outcome, check
from certdp.verification.checker.approximate.factors import PURE, Factor
from certdp.verification.checker.approximate.selection import PROOFS, Selection, _short
from certdp.verification.checker.intervals import Interval, upper_end
from certdp.verification.checker.verdict import Refused
from tests.support.forgeries import Body, body_of, seal

ALONE = {"name": "hockey-stick"}
GEOMETRIC = {"name": "negative-binomial", "mean": "10", "shape": "1", "stop": ["1/10", "1/10"]}
FEW = {"name": "poisson", "mean": "3"}


def stop_of(mean: int, shape: Fraction) -> list[str]:
    """Two numbers beside the stopping probability, by bisection in mpmath."""
    with mpmath.workdps(40):
        h = mpmath.mpf(shape.numerator) / shape.denominator

        def mean_at(t: Any) -> Any:
            return (1 - t) / (-t * mpmath.log(t)) if not h else h * (1 - t) / (t * (1 - t**h))

        low, high = mpmath.mpf(10) ** -9, 1 - mpmath.mpf(10) ** -9
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if mean_at(middle) > mean else (low, middle)
        return [str(Fraction(mpmath.nstr(low * (1 + side * mpmath.mpf(10) ** -15), 25))) for side in (-1, 1)]


LAWS: dict[str, dict[str, Any]] = {
    "geometric": GEOMETRIC,
    "logarithmic": {"name": "negative-binomial", "mean": "10", "shape": "0", "stop": stop_of(10, Fraction(0))},
    "shape -1/2": {"name": "negative-binomial", "mean": "4", "shape": "-1/2", "stop": stop_of(4, Fraction(-1, 2))},
    "shape 3": {"name": "negative-binomial", "mean": "4", "shape": "3", "stop": stop_of(4, Fraction(3))},
    "Poisson": FEW,
}


def generating(law: dict[str, Any]) -> Callable[[Any], Any]:
    """E[z^K], in closed form."""
    if law["name"] == "poisson":
        return lambda z: mpmath.exp(int(law["mean"]) * (z - 1))
    low, high = map(Fraction, law["stop"])
    t = mpmath.mpf((low + high).numerator) / (low + high).denominator / 2
    h = mpmath.mpf(Fraction(law["shape"]).numerator) / Fraction(law["shape"]).denominator
    if not h:
        return lambda z: mpmath.log(1 - (1 - t) * z) / mpmath.log(t)
    return lambda z: ((1 - (1 - t) * z) ** -h - 1) / (t**-h - 1)


def law_of_the_best(law: dict[str, Any], one: tuple[Any, ...]) -> list[Any]:
    """The law of the best output of so many runs; the last of the outputs of one is the best one."""
    f, below, found = generating(law), mpmath.mpf(0), [generating(law)(mpmath.mpf(0))]
    for chance in one:
        found.append(f(below + chance) - f(below))
        below += chance
    return found


def divergence(p: list[Any], q: list[Any], epsilon: Any) -> Any:
    return sum(max(a - mpmath.exp(epsilon) * b, 0) for a, b in zip(p, q, strict=True))


def side(first: str, tangents: tuple[tuple[str, str], ...], points: tuple[str, ...]) -> dict[str, Any]:
    return {
        "first": first,
        "tangents": [{"at": x, "slope": slope} for x, slope in tangents],
        "points": [{"epsilon": point, "method": ALONE} for point in points],
    }


def selection(law: dict[str, Any], one: dict[str, Any]) -> Selection:
    return Selection({"name": "selection", "repetitions": law, "remove": one, "add": one}, Budget(10**11))


def response(loss: str) -> Factor:
    return Factor(PURE, Fraction(loss), Fraction(1), 1, 1)


def proven(method: Selection, factor: Factor, epsilon: Fraction) -> Fraction:
    found = method.delta([factor], epsilon, "remove")
    return upper_end(Interval(found, found))


EVERY = tuple(str(Fraction(place, 16)) for place in range(49))
NEAR = {"geometric": "13/16", "logarithmic": "1", "shape -1/2": "1", "shape 3": "1", "Poisson": "0"}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", ["0", "1/4", "1", "7/4"])
def test_no_order_of_outputs_tells_more_than_is_proven(name: str, epsilon: str) -> None:
    """Randomised response over three values, told in every order, against the bound with one line and with tangents."""
    law, level = LAWS[name], Fraction(epsilon)
    with mpmath.workdps(30):
        chance = [mpmath.exp(1) / (mpmath.exp(1) + 2), *[1 / (mpmath.exp(1) + 2)] * 2]
        most = max(
            divergence(
                law_of_the_best(law, tuple(chance[place] for place in order)),
                law_of_the_best(law, tuple(chance[(place + 1) % 3] for place in order)),
                mpmath.mpf(level.numerator) / level.denominator,
            )
            for order in permutations(range(3))
        )
    alone = proven(selection(law, side(NEAR[name], (), EVERY)), response("1"), level)
    assert alone >= Fraction(str(most))
    assert most > 0 or level > 1


def test_tangents_prove_less_than_the_first_line_alone() -> None:
    tangents = (("1", "1"), ("1", "2"))
    one, several = (selection(GEOMETRIC, side("13/16", given, EVERY)) for given in ((), tangents))
    level = Fraction(3, 2)
    assert proven(several, response("1"), level) < proven(one, response("1"), level) * Fraction(99, 100)


@pytest.mark.parametrize("name", LAWS)
def test_pure_losses_have_their_closed_form(name: str) -> None:
    """ε + (1 + h)·log((e^ε + t)/(1 + t·e^ε)), or ε + mean·tanh(ε/2): δ is 0 from there on, and not before."""
    law = LAWS[name]
    with mpmath.workdps(30):
        if law["name"] == "poisson":
            first, total = "0", 1 + 3 * mpmath.tanh(mpmath.mpf(1) / 2)
        else:
            low, high = map(Fraction, law["stop"])
            t = mpmath.mpf((low + high).numerator) / (low + high).denominator / 2
            x = mpmath.log((mpmath.e + t) / (1 + t * mpmath.e))
            shape = Fraction(law["shape"])
            total = 1 + (1 + mpmath.mpf(shape.numerator) / shape.denominator) * x
            first = mpmath.nstr(x * (1 + mpmath.mpf(10) ** -12), 25)
        least = Fraction(mpmath.nstr(total, 25))
    first = str(Fraction(first))
    method = selection(law, side(first, (), tuple(sorted({first, "1"}, key=Fraction))))
    assert proven(method, response("1"), least * (1 + Fraction(1, 10**9))) < Fraction(1, 2**150)
    assert proven(method, response("1"), least * (1 - Fraction(1, 10**9))) > Fraction(1, 100)
    if first != "0":
        nearer = str(Fraction(first) * (1 - Fraction(1, 10**9)))
        with pytest.raises(Refused, match="too near for the profile"):
            proven(selection(law, side(nearer, (), (nearer, "1"))), response("1"), least)


def test_what_no_point_bounds_is_certain() -> None:
    """Without points the profile is 1 everywhere: nothing follows of negative binomial, little of Poisson numbers."""
    assert proven(selection(FEW, side("0", (), ())), response("1"), Fraction(5)) == 3
    with pytest.raises(Refused, match="too near"):
        proven(selection(GEOMETRIC, side("1", (), ())), response("1"), Fraction(5))
    assert selection(FEW, side("0", (), ())).delta([], Fraction(0), "remove") == (0, 0, 0, 0)


def test_every_run_pays_its_delta() -> None:
    """Far out, where one run tells with delta, the best of ten does with ten times as much, not with delta."""
    sampled = Factor("gaussian", Fraction(1), Fraction(1), 1, 1)
    points = tuple(str(Fraction(place, 8)) for place in range(81))
    method = selection(GEOMETRIC, side("4", (), points))
    one = PROOFS["hockey-stick"](ALONE, Budget()).bound([sampled], Fraction(2), "remove")
    assert proven(method, sampled, Fraction(10)) >= 10 * upper_end(Interval(one, one)) * Fraction(99, 100)


OF_LAWS: dict[str, tuple[dict[str, Any], str]] = {
    "a mean of 1": (GEOMETRIC | {"mean": "1", "stop": ["1/2", "1/2"]}, "a mean above 1"),
    "a mean beyond": (GEOMETRIC | {"mean": str(10**9 + 1)}, "a mean above 1"),
    "a shape of -1": (GEOMETRIC | {"shape": "-1"}, "a shape above -1"),
    "a shape beyond": (GEOMETRIC | {"shape": "1000001"}, "a shape above -1"),
    "a stop of 1": (GEOMETRIC | {"stop": ["1/10", "1"]}, "within"),
    "ends exchanged": (GEOMETRIC | {"stop": ["2/10", "1/10"]}, "rational string"),
    "another mean": (GEOMETRIC | {"mean": "9"}, "is not that of their mean"),
    "another shape": (GEOMETRIC | {"shape": "2"}, "is not that of their mean"),
    "a stop above": (GEOMETRIC | {"stop": ["11/100", "1/5"]}, "is not that of their mean"),
    "a stop below": (GEOMETRIC | {"stop": ["1/20", "99/1000"]}, "is not that of their mean"),
    "a shape of a million and one": (
        {"name": "negative-binomial", "mean": "4", "shape": "1000001", "stop": stop_of(4, Fraction(10**6 + 1))},
        "a shape above -1",
    ),
    "too many": (FEW | {"mean": str(10**9 + 1)}, "a mean of at most"),
    "another law": (GEOMETRIC | {"name": "uniform"}, "must be one of"),
    "a shape of Poisson": (FEW | {"shape": "1"}, "unknown keys"),
}


@pytest.mark.parametrize("name", OF_LAWS)
def test_laws_that_are_none_are_refused(name: str) -> None:
    law, reason = OF_LAWS[name]
    with pytest.raises(Refused, match=reason):
        selection(law, side("1", (), ("1",)))


@pytest.mark.parametrize(
    "law",
    [
        GEOMETRIC | {"mean": str(10**9), "stop": [f"1/{10**9}"] * 2},
        GEOMETRIC | {"mean": "3/2", "stop": ["2/3", "2/3"]},
        {"name": "negative-binomial", "mean": "4", "shape": "1000000", "stop": stop_of(4, Fraction(10**6))},
        FEW | {"mean": str(10**9)},
    ],
)
def test_the_largest_and_least_laws_are_admitted(law: dict[str, Any]) -> None:
    selection(law, side("0", (), ()))


def test_as_many_places_as_far_out_are_admitted() -> None:
    places = tuple(map(str, [*range(255), 2**20]))
    selection(GEOMETRIC, side(str(2**20), ((str(2**20), "1"),) * 32, places))


@pytest.mark.parametrize("law", ["poisson", None, ["poisson"], 3])
def test_a_law_is_an_object(law: Any) -> None:
    with pytest.raises(Refused, match="must be an object"):
        selection(law, side("0", (), ()))


def at_a_point(method: Any) -> dict[str, Any]:
    return side("1", (), ()) | {"points": [{"epsilon": "1", "method": method}]}


FILTER = {"name": "renyi-filter", "order": "2", "ratio": None}
OF_SIDES: dict[str, tuple[dict[str, Any], str]] = {
    "points that fall": (side("1", (), ("1", "1/2")), "points must rise"),
    "points twice": (side("1", (), ("1", "1")), "points must rise"),
    "a place beyond": (side(str(2**20 + 1), (), ("1",)), "places beyond"),
    "a tangent beyond": (side("1", ((str(2**20 + 1), "1"),), ("1",)), "places beyond"),
    "a point beyond": (side("1", (), (str(2**20 + 1),)), "places beyond"),
    "too many tangents": (side("1", (("1", "1"),) * 33, ("1",)), "more than 32 tangents"),
    "too many points": (side("1", (), tuple(map(str, range(257)))), "or 256 points"),
    "a filter": (at_a_point(FILTER), "a method of one run"),
    "itself": (at_a_point({"name": "selection"}), "a method of one run"),
    "no method": (at_a_point(None), "a method of one run"),
    "a method without a name": (at_a_point({"name": 1}), "a method of one run"),
    "a list for a name": (at_a_point({"name": []}), "a method of one run"),
}


@pytest.mark.parametrize("name", OF_SIDES)
def test_places_that_are_none_are_refused(name: str) -> None:
    stated, reason = OF_SIDES[name]
    with pytest.raises(Refused, match=reason):
        selection(GEOMETRIC, stated)


OF_TANGENTS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "slopes that fall": (GEOMETRIC, side("13/16", (("1", "2"), ("1", "1")), EVERY), "slopes that rise"),
    "a slope below the first": (GEOMETRIC, side("13/16", (("7/8", "1/100"),), EVERY), "no tangent|slopes that rise"),
    "one that is nowhere the largest": (GEOMETRIC, side("13/16", (("7/8", "100"),), EVERY), "the largest of all lines"),
    "one where none is known": (GEOMETRIC, side("13/16", (("1/8", "4/5"),), EVERY), "no tangent"),
    "a first one of Poisson elsewhere": (FEW, side("1/8", (), EVERY), "is 0"),
    "beyond all numbers": (GEOMETRIC, side("10000", (), EVERY), "beyond 2\\^-4096"),
}


@pytest.mark.parametrize("name", OF_TANGENTS)
def test_tangents_that_are_none_are_refused(name: str) -> None:
    law, stated, reason = OF_TANGENTS[name]
    with pytest.raises(Refused, match=reason):
        proven(selection(law, stated), response("1"), Fraction(1))


def test_no_tangent_is_flatter_than_the_first_line_and_none_as_steep_as_the_one_before() -> None:
    method = selection(GEOMETRIC, side("13/16", (("1", "1"), ("1", "1")), EVERY))
    with pytest.raises(Refused, match="slopes that rise"):
        proven(method, response("1"), Fraction(1))
    known = Interval(libmp.fzero, libmp.fzero)
    flat = Fraction(1, 8)  # e^(-2x) at x = 1 is larger
    with pytest.raises(Refused, match="no tangent"):
        method._law.tangent(Fraction(1), known, flat)
    assert method._law.tangent(Fraction(1), known, Fraction(1, 7)) < 0


def test_a_tangent_that_is_the_largest_beyond_1_alone_is_refused() -> None:
    first = selection(GEOMETRIC, side("13/16", (), EVERY))
    line, at = first._lines([response("1")], "remove")[0].slope, Fraction(7, 8)
    delta = first._profile([response("1")], at, "add")
    slopes = (Fraction(k, 16) for k in range(8, 400))
    starts = ((slope, first._law.tangent(at, delta, slope) / (line - slope)) for slope in slopes if slope > line)
    beyond = next(slope for slope, start in starts if 1 < start < 2)
    with pytest.raises(Refused, match="the largest of all lines"):
        proven(selection(GEOMETRIC, side("13/16", (("7/8", str(beyond)),), EVERY)), response("1"), Fraction(1))


def test_a_line_has_a_price() -> None:
    paid = []
    for count in (0, 1, 2, 5):
        stated = side("0", tuple((str(1 + place), str(1 + place)) for place in range(count)), ())
        budget = Budget()
        whole = budget.left
        method = Selection({"name": "selection", "repetitions": FEW, "remove": stated, "add": stated}, budget)
        read = whole - budget.left
        method._lines([response("1")], "remove")
        paid.append((read, whole - budget.left - read))
    assert paid == [(10**6, 10**6 * (1 + count)) for count in (0, 1, 2, 5)]  # some powers at 192 bits, each


def test_numbers_of_lines_are_of_4096_bits() -> None:
    for place in (-4097, 0, 4095):
        found = libmp.mpf_shift(libmp.fone, place)
        assert _short(Interval(found, found)) == Fraction(2) ** place
    assert _short(Interval(libmp.fzero, libmp.fone)) == 0
    for place in (-4098, 4096):
        found = libmp.mpf_shift(libmp.fone, place)
        with pytest.raises(Refused, match="beyond 2"):
            _short(Interval(found, found))


def tilted(law: dict[str, Any], x: Any, delta: Any) -> Callable[[Any], Any]:
    """The least c for each a, from the largest chance s' = e^x·s + δ that goes with a chance s."""
    mean = int(law["mean"])
    if law["name"] == "poisson":
        return lambda a: mpmath.exp(-mean * (mpmath.exp(x) * -mpmath.log(a) / mean + delta))
    t, k = mpmath.mpf(1) / mean, 2
    return lambda a: (t / (t + (1 - t) * (mpmath.exp(x) * (t * a ** (-mpmath.mpf(1) / k) - t) / (1 - t) + delta))) ** k


def falling(curve: Callable[[Any], Any], rise: Any, a: Any) -> Any:
    """How far a curve is above a line through 0."""
    return curve(a) - rise * a


def least_of(function: Callable[[Any], Any]) -> Any:
    """The least value of a convex function on (0, 1], by sections."""
    low, high = mpmath.mpf(10) ** -12, mpmath.mpf(1)
    for _ in range(200):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, other) if function(one) < function(other) else (one, high)
    return function((low + high) / 2)


@pytest.mark.parametrize("epsilon", ["0", "1/4", "1", "12/5"])
@pytest.mark.parametrize(
    ("law", "first", "tangents"),
    [
        (GEOMETRIC, "13/16", ()),
        (GEOMETRIC, "13/16", (("1", "1"), ("1", "2"))),
        (FEW, "0", (("1", "1/2"), ("3/2", "2"))),
    ],
)
def test_what_is_proven_is_added_up_over_the_lengths_on_which_a_line_is_the_largest(
    law: dict[str, Any], first: str, tangents: tuple[tuple[str, str], ...], epsilon: str
) -> None:
    """Beside lines that are found by minimising, a step of the profile each, and the lengths by their envelope."""
    with mpmath.workdps(40):

        def profile(x: Fraction) -> Any:
            if x >= 0:
                step = mpmath.mpf(int(x * 16)) / 16
                return max(mpmath.e - mpmath.exp(step), mpmath.mpf(0)) / (1 + mpmath.e)
            return 1 - mpmath.exp(mpmath.mpf(x.numerator) / x.denominator) * (1 - profile(-x))

        def exactly(x: str) -> Any:
            return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator

        near = tilted(law, exactly(first), profile(Fraction(first)))
        start = mpmath.exp(-3 * profile(Fraction(0))) if law is FEW else mpmath.exp(-2 * exactly(first))
        assert min(near(mpmath.mpf(k) / 100) - start * k / 100 for k in range(1, 101)) > -(mpmath.mpf(10) ** -20)
        lines = [(start, mpmath.mpf(0))]
        for x, slope in tangents:
            curve, rise = tilted(law, exactly(x), profile(Fraction(x))), exactly(slope)
            lines.append((rise, least_of(partial(falling, curve, rise))))
        meet = [(n - o) / (q - m) for (m, n), (q, o) in pairwise(lines)]
        ends = [mpmath.mpf(0), *meet, mpmath.mpf(1)]
        assert ends == sorted(ends)
        level = Fraction(epsilon)
        told = sum(
            (high - low) * profile(level + Fraction(mpmath.nstr(mpmath.log(slope), 40)))
            for (slope, _), (low, high) in zip(lines, pairwise(ends), strict=True)
        )
        found = proven(selection(law, side(first, tangents, EVERY)), response("1"), level)
        assert abs(found - Fraction(mpmath.nstr(int(law["mean"]) * told, 30))) < Fraction(1, 10**9)


BALL = NormBall(norm=Norm.L2, radius=Public(1))
ONE = SampledRun(mechanism=GaussianSum(scale=Public(2)), sampler=Full(), domain=BALL)
SAMPLED = SampledRun(
    mechanism=GaussianSum(scale=Public(1)), sampler=Poisson(rate=Public("1/10")), releases=ResampleEach(20), domain=BALL
)
TEN = NegativeBinomialRepetitions(mean=Public(10))


def best(base: SampledRun[Any], repetitions: Repetitions) -> SelectedRun[Any]:
    return SelectedRun(base=base, repetitions=repetitions)


@pytest.mark.parametrize(
    "repetitions",
    [TEN, NegativeBinomialRepetitions(mean=Public(5), shape=Public(0)), PoissonRepetitions(mean=Public(3))],
    ids=str,
)
def test_a_certificate_is_as_sharp_as_the_answer(repetitions: Repetitions) -> None:
    run = best(ONE, repetitions)
    answer = run.epsilon("1e-6")
    found = certdp.certificate(run, answer)
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * (1 + 1e-5)
    verdict = check(found.content)
    assert verdict.outcome is Outcome.HOLDS
    assert f"the tilts of the best of {repetitions}" in verdict.reason
    assert verdict.claim is not None
    assumed = dict(verdict.claim.assumptions)
    assert assumed["how often the run is repeated is drawn apart from everything, and not told"] == str(repetitions)
    assert assumed["the score of an output"] == "a function of that output alone"


@pytest.mark.slow
def test_runs_of_many_steps_are_certified_on_lines() -> None:
    run = best(SAMPLED, TEN)
    answer = run.epsilon("1e-6")
    found = certdp.certificate(run, answer)
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * (1 + 1e-3)
    assert b'"loss-distribution"' in found.content


def test_a_delta_is_certified_too() -> None:
    run = best(ONE, TEN)
    answer = run.delta("3")
    found = certdp.certificate(run, answer)
    assert answer.delta.upper <= found.delta <= answer.delta.upper * (1 + 1e-4)


def test_all_of_a_fixed_number_of_runs_are_certified() -> None:
    run = best(SAMPLED, FixedRepetitions(times=Public(3)))
    all_of_them = SampledRun(
        mechanism=SAMPLED.mechanism, sampler=SAMPLED.sampler, releases=ResampleEach(60), domain=BALL
    )
    one, other = (certdp.certificate(each, each.epsilon("1e-6")) for each in (run, all_of_them))
    assert one.epsilon == pytest.approx(float(other.epsilon), rel=1e-6)


@cache
def genuine() -> Body:
    run = best(ONE, TEN)
    return body_of(certdp.certificate(run, run.epsilon(Delta("1e-6"))).content)


def test_the_epsilon_of_one_run_is_refused() -> None:
    body = copy.deepcopy(genuine())
    body["claim"]["epsilon"] = str(Fraction(ONE.epsilon("1e-6").epsilon.upper))
    assert not check(seal(body)).accepted
    assert math.isclose(float(Fraction(genuine()["claim"]["epsilon"])), 3.2576, rel_tol=1e-3)


@pytest.mark.parametrize("name", ["how often the run is repeated", "the score of an output"])
def test_what_selection_rests_on_is_stated(name: str) -> None:
    body = copy.deepcopy(genuine())
    body["assumptions"] = [item for item in body["assumptions"] if not item["name"].startswith(name)]
    assert f"the assumptions must state '{name}" in check(seal(body)).reason


def test_other_notions_of_the_best_are_refused_by_name() -> None:
    run = best(SampledRun(mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(2)), sampler=Full()), TEN)
    for answer in (run.pure(), run.renyi(4)):
        with pytest.raises(certdp.InvalidValue, match="an answer"):
            certdp.certificate(run, answer)

"""Certificates made here, from the format alone: the true ones hold, every forgery is refused."""

import ast
import copy
import hashlib
import json
import math
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification import checker
from certdp.verification.checker import Budget, Outcome, Verdict, check, profile
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.statement import domain_of
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import examples
from tests.support.forgeries import Body, assert_refused, places, seal, with_change
from tests.support.stated import Rows

Counted = Callable[[Callable[[], Any]], tuple[Any, int]]
FEW_CALLS = 6 * 10**6
CALLS_OF_HOSTILE = 10**6
CALLS_PER_RECORD = 20_000
W: Any = ["weight"]
ONE: Any = ["constant", "1"]
ETA = "1/1125899906842624"
ORDERS = ("1", "2", "inf", "3/2", "3", "1001/1000")


def number(value: Any) -> Any:
    return ["constant", str(Fraction(value))]


def norm(p: Any) -> Any:
    return ["norm", str(p)]


def compose(loss: Any, rate: Any, weighted: bool, eta: str, cost: str) -> tuple[Any, Any]:
    def rounded(value: Any, of: str) -> Any:
        return ["multiply", value, ["add", ONE, ["multiply", ["constant", eta], ["rounding", of]]]]

    drawn, weight = rate, ONE
    if weighted:
        weight = ["divide", ONE, rate]
    if eta != "0":
        drawn = ["minimum", ONE, rounded(rate, "rate")]
        if weighted:
            weight = ["maximum", ONE, rounded(weight, "weight")]

    def put(tree: Any) -> Any:
        if tree == W:
            return weight
        return [put(item) if isinstance(item, list) else item for item in tree]

    zero, spent = number(0), put(loss)
    remove: Any = ["log1p", ["multiply", drawn, ["expm1", spent]]]
    add: Any = ["subtract", zero, ["log1p", ["multiply", drawn, ["expm1", ["subtract", zero, spent]]]]]
    if cost != "0":
        remove, add = (["add", tree, ["constant", cost]] for tree in (remove, add))
    return remove, add


def estimate(tree: Any, point: dict[str, Any]) -> Any:
    """Evaluate an expression in 200-bit balls: what the truth is, to far more than a float."""
    operation, *rest = tree
    if operation == "constant":
        return arb_of(rest[0])
    if operation in ("norm", "rounding"):
        return arb_of(point[f"{operation}({rest[0]})"])
    if operation == "power":
        base, exponent = estimate(rest[0], point), rest[1]
        return base ** arb_of(exponent)
    operands = [estimate(item, point) for item in rest]
    operations: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "minimum": lambda a, b: a.min(b),
        "maximum": lambda a, b: a.max(b),
        "exp": lambda a: a.exp(),
        "expm1": lambda a: a.expm1(),
        "log": lambda a: a.log(),
        "log1p": lambda a: a.log1p(),
        "sqrt": lambda a: a.sqrt(),
        "select": lambda a, b, x, y: x if a <= b else y,
    }
    return operations[operation](*operands)


def truth(tree: Any, point: dict[str, Any]) -> Fraction:
    flint.ctx.prec = 200
    return fraction_of(estimate(tree, point))


def above(value: Fraction) -> float:
    return math.nextafter(float(value * (1 + Fraction(1, 2**44))), math.inf)


def below(value: Fraction) -> float:
    return math.nextafter(float(value), -math.inf)


def assumed(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def build(
    loss: Any,
    rate: Any,
    *,
    weighted: bool = True,
    eta: str = ETA,
    cost: str = "0",
    p: str = "1",
    radius: str = "1",
    dimension: int | None = None,
    maximiser: dict[str, str],
    exact_maximiser: bool = True,
    own_coordinate: bool = False,
) -> Body:
    """Make the body of a certificate, its supremum taken at the maximiser that is named."""
    remove, add = compose(loss, rate, weighted, eta, cost)
    point = {name: Fraction(value) for name, value in maximiser.items()}
    for q in ORDERS:
        ratio = point.get(f"ratio({q})", Fraction(1))
        point[f"norm({q})"] = point[f"norm({p})"] * ratio
    supremum = truth(remove, point)
    if own_coordinate:  # one norm alone occurs, another than the domain's
        (other,) = (name for name in maximiser if name.startswith("ratio"))
        name = other.replace("ratio", "norm")
        maximiser = {name: str(point[name]), **UP}
    part = {
        "name": "p",
        "version": "1",
        "distribution": "elsewhere",
        "evidence": "proved",
        "citation": "none",
        "options": {"scale": "2"},
    }
    assumptions = [
        {"name": "evidence of mechanism p", "value": "proved"},
        {"name": "evidence of sampler p", "value": "proved"},
        {"name": "mechanism.scale", "value": "2"},
        {"name": "sampler.scale", "value": "2"},
        {"name": "norm", "value": p},
        {"name": "radius", "value": radius},
        *([] if dimension is None else [{"name": "dimension", "value": str(dimension)}]),
    ]
    if Fraction(eta):
        assumptions.append(assumed("relative rounding of probability and weight", eta))
    if Fraction(cost):
        assumptions.append(assumed("released cost", cost))
        assumptions.append(assumed("domain.radius was released", "within 1 to 1"))
    return {
        "format": "certdp-certificate/1",
        "kind": "sampled-pure-profile",
        "audience": "public",
        "theorem": "IS Theorem 6",
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "pure",
            "profile": {"remove": remove, "add": add},
            "supremum": {
                "domain": {"norm": p, "radius": radius, "dimension": dimension},
                "lower": below(supremum) if exact_maximiser else None,
                "upper": above(supremum),
                "maximiser": maximiser,
            },
        },
        "inputs": {
            "loss": loss,
            "rate": rate,
            "weighted": weighted,
            "rounding": eta,
            "released_cost": cost,
        },
        "mechanism": part,
        "sampler": copy.deepcopy(part),
        "assumptions": assumptions,
        "precision": 64,
        "versions": {"certdp": "0.1.0"},
        "data": None,
    }


def laplace(scale: Any, p: Any = 1) -> Any:
    return ["divide", ["multiply", W, norm(p)], number(scale)]


def importance(rate: Any, floor: Any, p: Any = 1) -> Any:
    return ["minimum", ONE, ["maximum", number(floor), ["multiply", number(rate), norm(p)]]]


def just_above(base: int, exponent: Fraction) -> str:
    """A rational above base^exponent by less than 2^-99."""
    flint.ctx.prec = 300
    power = fraction_of(flint.arb(base) ** arb_of(exponent))
    return str(Fraction(math.floor(power * 2**100) + 1, 2**100))


CORESET = ["add", number("1/100"), ["multiply", number("1/20"), ["power", norm(2), "2"]]]
UP = {"rounding(rate)": "1", "rounding(weight)": "1"}


def bodies() -> dict[str, Body]:
    end = {"norm(1)": "1", **UP}
    root = Fraction(math.isqrt(2**200 // 54) + 1, 2**100)  # just above 1/√54
    return {
        "laplace, everyone": build(laplace(3), ONE, weighted=False, maximiser=end),
        "laplace, poisson weighted": build(laplace(3), number("1/10"), maximiser=end),
        "laplace, poisson unweighted": build(laplace(3), number("1/10"), weighted=False, maximiser=end),
        "laplace, exact draws": build(laplace(3), number("1/8"), eta="0", maximiser={"norm(1)": "1"}),
        "laplace, released constants": build(laplace(3), number("1/10"), cost="1/7", maximiser=end),
        "laplace, small scale": build(laplace("1/40"), number("1/10"), maximiser=end),
        "laplace, large scale": build(laplace(10**6), number("1/10"), maximiser=end),
        "importance, floor 0": build(laplace(3), importance(7, 0), maximiser=end),
        "importance, floor 0, below 1": build(laplace(3), importance("1/3", 0), maximiser=end),
        "importance, floor": build(laplace(3), importance("1/3", "1/100"), maximiser=end),
        "importance, floor, many": build(laplace("1/3"), importance("11/3", "1/100"), maximiser=end),
        "importance, unweighted": build(laplace(3), importance(7, 0), weighted=False, maximiser=end),
        "importance, l2, floor 0": build(
            laplace(3), importance(2, 0, 2), dimension=54, maximiser=end | {"ratio(2)": str(root)}
        ),
        "importance, l2, floor": build(
            laplace(3), importance(2, "1/5", 2), dimension=54, maximiser=end | {"ratio(2)": str(root)}
        ),
        "importance, l2, floor 0, large scale": build(
            laplace(300), importance(2, 0, 2), dimension=54, maximiser=end | {"ratio(2)": str(root)}
        ),
        "importance, inf, floor 0": build(
            laplace(30), importance(2, 0, "inf"), dimension=54, maximiser=end | {"ratio(inf)": "1/54"}
        ),
        "sum in l3/2": build(
            laplace(3, "3/2"), importance("1/3", "1/100", "3/2"), p="3/2", maximiser={"norm(3/2)": "1", **UP}
        ),
        "importance, l3/2, floor": build(
            laplace(3),
            importance(2, "1/5", "3/2"),
            dimension=54,
            maximiser=end | {"ratio(3/2)": just_above(54, Fraction(-1, 3))},
        ),
        "importance, l3/2, a rational end": build(
            laplace(3), importance(2, "1/5", "3/2"), dimension=8, maximiser=end | {"ratio(3/2)": "1/2"}
        ),
        "importance, an order near 1": build(
            laplace(3),
            importance(2, "1/5", "1001/1000"),
            dimension=54,
            maximiser=end | {"ratio(1001/1000)": just_above(54, Fraction(-1, 1001))},
        ),
        "importance, an order near 1, one column": build(
            laplace(3), importance(2, "1/5", "1001/1000"), dimension=1, maximiser=end | {"ratio(1001/1000)": "1"}
        ),
        "l1 over l3/2": build(
            laplace(3),
            number("1/10"),
            p="3/2",
            dimension=27,
            maximiser={"norm(3/2)": "1", "ratio(1)": "3", **UP},
            own_coordinate=True,
        ),
        "count": build(["divide", W, number(2)], number("1/10"), p="2", maximiser={"norm(2)": "1", **UP}),
        "coreset": non_monotone(laplace(2, 2), CORESET),
        "coreset, other norm": non_monotone(laplace(20), CORESET, dimension=9, ratio="3"),
        "coreset, tiny slope": non_monotone(laplace(200, 2), CORESET),
    }


def non_monotone(loss: Any, rate: Any, p: str = "2", dimension: int | None = None, ratio: str = "1") -> Body:
    """Make a certificate whose supremum lies inside the domain, found by ternary search."""
    remove, _ = compose(loss, rate, True, ETA, "0")

    def at(n: Fraction) -> Fraction:
        point = {f"norm({q})": n for q in ("2", "inf")} | {"norm(1)": n * Fraction(ratio)}
        return truth(remove, point | {"rounding(rate)": 1, "rounding(weight)": 1})

    low, high = Fraction(0), Fraction(1)
    for _ in range(120):
        third = (high - low) / 3
        a, b = low + third, high - third
        low, high = (a, high) if at(a) < at(b) else (low, b)
        low, high = (Fraction(round(x * 2**120), 2**120) for x in (low, high))
    maximiser = {f"norm({p})": str(low), **UP}
    if ratio != "1":
        maximiser["ratio(1)"] = ratio
    return build(loss, rate, p=p, dimension=dimension, maximiser=maximiser)


BODIES = bodies()
SIMPLE = BODIES["laplace, exact draws"]
RICH = BODIES["importance, l2, floor"]


@pytest.mark.parametrize("name", BODIES)
def test_a_true_certificate_holds_with_little_work(name: str, counted: Counted) -> None:
    text = seal(BODIES[name])
    verdict, calls = counted(lambda: check(text))
    assert calls < FEW_CALLS
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert verdict.claim is not None
    supremum = BODIES[name]["claim"]["supremum"]
    assert verdict.claim.epsilon == (supremum["lower"], supremum["upper"])
    assert verdict.claim.domain == f"norm({supremum['domain']['norm']}) <= {supremum['domain']['radius']}"
    assert not verdict.data_compared


def test_the_interior_suprema_lie_inside() -> None:
    for name in ("coreset", "coreset, other norm"):
        place = Fraction(BODIES[name]["claim"]["supremum"]["maximiser"]["norm(2)"])
        assert Fraction(1, 5) < place < Fraction(4, 5)


@pytest.mark.repeated(2)
@pytest.mark.slow
@pytest.mark.parametrize("precision", [24, 53, 128, 1024])
def test_any_precision_will_do(precision: int) -> None:
    for body in (RICH, BODIES["coreset"]):
        assert check(seal(body | {"precision": precision})).accepted


def least(accepts: Callable[[int], bool], most: int) -> int:
    """The least number that is accepted, where all above one are; `most` is."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(middle) else (middle, high)
    return high


@pytest.mark.parametrize("digits", [20, 30, 40])
def test_the_arithmetic_has_64_bits_beyond_those_stated_and_at_least_128(digits: int) -> None:
    """Of a difference of long numbers so many digits are lost, and no upper end is proven without what is left."""
    difference = ["subtract", number(10**digits + Fraction(1, 3)), number(10**digits)]
    loss = ["multiply", W, ["multiply", norm(1), difference]]
    body = build(loss, number("1/2"), eta="0", maximiser={"norm(1)": "1"})

    def proves(bits: int) -> bool:
        arithmetic, supremum = Arithmetic(bits), body["claim"]["supremum"]
        composed = profile._compose(body, Budget())
        domain = domain_of(body)
        assert domain is not None
        try:
            profile._check_supremum(composed, domain, [], supremum, arithmetic)
        except Refused:
            return False
        return True

    needed = least(proves, 4096)
    assert least(lambda precision: check(seal(body | {"precision": precision})).accepted, 4096) == (
        24 if needed <= 128 else needed - 64
    )
    assert (needed <= 128) is (digits == 20)


def test_a_supremum_of_one_point_holds() -> None:
    """Nothing is lost: both ends are 0."""
    body = build(["multiply", number(0), norm(1)], ONE, weighted=False, eta="0", maximiser={"norm(1)": "1"})
    body["claim"]["supremum"] |= {"lower": 0.0, "upper": 0.0}
    verdict = check(seal(body))
    assert verdict.accepted, verdict.reason


def test_a_profile_without_a_domain_holds() -> None:
    told_of = with_change(RICH, lambda body: body["claim"].update(supremum=None))
    assert "name that proofs use" in check(seal(told_of)).reason
    verdict = check(seal(drop_domain(RICH)))
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert verdict.claim is not None
    assert verdict.claim.epsilon is None
    assert verdict.claim.domain is None
    assert_refused(check(seal(drop_domain(BODIES["coreset"]))), "inputs.rate")


def drop_domain(body: Body) -> Body:
    def without(body: Body) -> None:
        body["claim"]["supremum"] = None
        of_domain = {"norm", "radius", "dimension"}
        body["assumptions"] = [item for item in body["assumptions"] if item["name"] not in of_domain]

    return with_change(body, without)


def test_an_assumed_profile_is_a_verdict_of_its_own() -> None:
    body = with_change(RICH, lambda body: body["assumptions"].append(assumed("profile assumed", "opaque")))
    assert check(seal(body)).outcome is Outcome.HOLDS_ASSUMING_PROFILE


def scale_upper(body: Body) -> None:
    supremum = body["claim"]["supremum"]
    supremum.update(upper=supremum["upper"] * (1 - 1e-9), lower=None, maximiser=None)


@pytest.mark.parametrize("name", BODIES)
def test_an_upper_end_below_the_truth_is_refused(name: str, counted: Counted) -> None:
    text = seal(with_change(BODIES[name], scale_upper))
    verdict, calls = counted(lambda: check(text))
    assert_refused(verdict, "exceeds the claimed upper end")
    assert calls < FEW_CALLS


@pytest.mark.parametrize("name", BODIES)
def test_a_lower_end_above_the_truth_is_refused(name: str) -> None:
    def change(body: Body) -> None:
        supremum = body["claim"]["supremum"]
        supremum["lower"] += (supremum["upper"] - supremum["lower"]) / 2

    assert_refused(check(seal(with_change(BODIES[name], change))), "not reached at the maximiser")


def profile_of(eta: str = ETA, weighted: bool = True, cost: str = "0") -> Callable[[Body], None]:
    """Put in the profile of other inputs than those stated."""

    def change(body: Body) -> None:
        inputs = body["inputs"]
        remove, add = compose(inputs["loss"], inputs["rate"], weighted, eta, cost)
        body["claim"]["profile"] = {"remove": remove, "add": add}

    return change


def misprint(body: Body) -> None:
    profile = body["claim"]["profile"]
    profile["remove"] = ["log1p", ["multiply", body["inputs"]["rate"], ["expm1", ["divide", ONE, RATE]]]]


RATE = RICH["inputs"]["rate"]


def put(*path: Any) -> Callable[[Body], None]:
    *way, value = path

    def change(body: Body) -> None:
        inner: Any = body
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = value

    return change


def halve_profile(body: Body) -> None:
    profile = body["claim"]["profile"]
    profile["remove"] = ["multiply", number("1/2"), profile["remove"]]


def swap_directions(body: Body) -> None:
    profile = body["claim"]["profile"]
    profile["remove"], profile["add"] = profile["add"], profile["remove"]


FORGERIES: dict[str, tuple[Callable[[Body], Any], str]] = {
    "profile without its rounding": (profile_of(eta="0"), "claim.profile.remove"),
    "profile of another rounding": (profile_of(eta="1/4503599627370496"), "claim.profile.remove"),
    "profile unweighted": (profile_of(weighted=False), "claim.profile.remove"),
    "profile with a cost": (profile_of(cost="1"), "claim.profile.remove"),
    "profile halved": (halve_profile, "claim.profile.remove"),
    "the misprinted proof": (misprint, "claim.profile.remove"),
    "directions swapped": (swap_directions, "claim.profile.remove"),
    "rounding set to 0": (put("inputs", "rounding", "0"), "what drawing binary64 probabilities needs"),
    "rounding below one of binary64": (
        put("inputs", "rounding", "3/9007199254740992"),
        "what drawing binary64 probabilities needs",
    ),
    "rounding not assumed": (lambda body: body["assumptions"].pop(), "relative rounding"),
    "rounding of 1": (put("inputs", "rounding", "1"), "below 1"),
    "rounding negative": (put("inputs", "rounding", "-1"), "inputs.rounding"),
    "weighted flipped": (put("inputs", "weighted", False), "claim.profile.remove"),
    "weighted a number": (put("inputs", "weighted", 1), "inputs.weighted"),
    "cost forgotten": (put("inputs", "released_cost", "1/7"), "claim.profile.remove"),
    "loss halved": (put("inputs", "loss", laplace(6)), "claim.profile.remove"),
    "rate halved": (put("inputs", "rate", importance(1, "1/5", 2)), "claim.profile.remove"),
    "theorem renamed": (put("theorem", "IS Theorem 7"), "theorem"),
    "kind unknown": (put("kind", "sampled-gaussian"), "unknown kind"),
    "kind no string": (put("kind", []), "unknown kind"),
    "format unknown": (put("format", "certdp-certificate/2"), "format"),
    "relation replaced": (put("claim", "relation", "replace"), "claim.relation"),
    "notion replaced": (put("claim", "notion", "zcdp"), "claim.notion"),
    "unit replaced": (put("claim", "unit", "user"), "claim.unit"),
    "radius halved": (put("claim", "supremum", "domain", "radius", "1/2"), "radius"),
    "dimension raised": (put("claim", "supremum", "domain", "dimension", 55), "dimension"),
    "dimension dropped": (put("claim", "supremum", "domain", "dimension", None), "dimension"),
    "norm replaced": (put("claim", "supremum", "domain", "norm", "2"), "norm"),
    "maximiser dropped": (put("claim", "supremum", "maximiser", None), "needs the maximiser"),
    "maximiser outside": (put("claim", "supremum", "maximiser", "norm(1)", "3/2"), "leaves the range"),
    "maximiser ratio outside": (put("claim", "supremum", "maximiser", "ratio(2)", "1/8"), "leaves the range"),
    "maximiser of nothing": (put("claim", "supremum", "maximiser", "norm(3)", "1"), "unknown variable"),
    "maximiser incomplete": (lambda body: body["claim"]["supremum"]["maximiser"].pop("ratio(2)"), "lacks"),
    "lower above upper": (put("claim", "supremum", "lower", 9.0), "not reached at the maximiser"),
    "evidence upgraded": (put("mechanism", "evidence", "cited"), "evidence of mechanism p"),
    "sampler evidence upgraded": (put("sampler", "evidence", "cited"), "evidence of sampler p"),
    "heuristic": (put("sampler", "evidence", "heuristic"), "heuristic evidence never certifies"),
    "evidence unknown": (put("sampler", "evidence", "obvious"), "sampler.evidence"),
    "option changed": (put("mechanism", "options", "scale", "4"), "mechanism.scale"),
    "assumption dropped": (lambda body: body["assumptions"].pop(0), "evidence of mechanism p"),
    "radius not assumed": (lambda body: body["assumptions"].pop(5), "radius"),
    "assumption twice": (lambda body: body["assumptions"].append(body["assumptions"][0]), "twice"),
    "key missing": (lambda body: body.pop("versions"), "missing or unknown keys"),
    "key added": (put("note", "x"), "missing or unknown keys"),
    "precision too low": (put("precision", 23), "precision"),
    "precision too high": (put("precision", 4097), "precision"),
    "upper infinite by text": (put("claim", "supremum", "upper", "inf"), "upper"),
    "upper a truth value": (put("claim", "supremum", "upper", True), "upper"),
    "data in public": (put("data", {}), "data"),
    "owner without data": (put("audience", "owner"), "owner"),
    "loss uses a rounding": (put("inputs", "loss", ["rounding", "rate"]), "norms and the weight"),
    "rate uses the weight": (put("inputs", "rate", W), "norms and the weight"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name: str) -> None:
    change, reason = FORGERIES[name]
    assert_refused(check(seal(with_change(RICH, change))), reason)


MAXIMISER = ("claim", "supremum", "maximiser")
POWER_FORGERIES: dict[str, tuple[str, Callable[[Body], Any], str]] = {
    "ratio below its range": (
        "importance, l3/2, floor",
        put(*MAXIMISER, "ratio(3/2)", str(Fraction(just_above(54, Fraction(-1, 3))) - Fraction(1, 2**99))),
        "leaves the range",
    ),
    "ratio above 1": ("importance, l3/2, floor", put(*MAXIMISER, "ratio(3/2)", "1000001/1000000"), "leaves the range"),
    "ratio of 0": ("importance, l3/2, floor", put(*MAXIMISER, "ratio(3/2)", "0"), "leaves the range"),
    "ratio below a rational end": (
        "importance, l3/2, a rational end",
        put(*MAXIMISER, "ratio(3/2)", str(Fraction(1, 2) - Fraction(1, 2**600))),
        "leaves the range",
    ),
    "ratio below its range, a high degree": (
        "importance, an order near 1",
        put(*MAXIMISER, "ratio(1001/1000)", str(Fraction(just_above(54, Fraction(-1, 1001))) - Fraction(1, 2**99))),
        "leaves the range",
    ),
    "ratio of one column": (
        "importance, an order near 1, one column",
        put(*MAXIMISER, "ratio(1001/1000)", str(1 - Fraction(1, 2**600))),
        "leaves the range",
    ),
    "norm above its range": (
        "l1 over l3/2",
        put(*MAXIMISER, "norm(1)", str(3 + Fraction(1, 2**600))),
        "leaves the range",
    ),
    "dimension lowered": ("l1 over l3/2", put("claim", "supremum", "domain", "dimension", 26), "dimension"),
    "an order not in lowest terms": ("sum in l3/2", put("claim", "supremum", "domain", "norm", "6/4"), "domain.norm"),
    "an order below 1": ("sum in l3/2", put("claim", "supremum", "domain", "norm", "1/2"), "domain.norm"),
    "an order in decimals": ("sum in l3/2", put("claim", "supremum", "domain", "norm", "1.5"), "domain.norm"),
    "an order of 0": ("sum in l3/2", put("claim", "supremum", "domain", "norm", "0"), "domain.norm"),
    "an order no text": ("sum in l3/2", put("claim", "supremum", "domain", "norm", 2), "domain.norm"),
    "another order": ("sum in l3/2", put("claim", "supremum", "domain", "norm", "3"), "norm"),
    "another order in the rate": (
        "sum in l3/2",
        put("inputs", "rate", importance("1/3", "1/100", "4/3")),
        "claim.profile.remove",
    ),
    "an order in the loss that is none": (
        "sum in l3/2",
        put("inputs", "loss", laplace(3, "1/2")),
        "unknown operation",
    ),
}


@pytest.mark.parametrize("name", POWER_FORGERIES)
def test_a_forgery_in_another_norm_is_refused(name: str) -> None:
    original, change, reason = POWER_FORGERIES[name]
    assert_refused(check(seal(with_change(BODIES[original], change))), reason)


def test_a_wider_domain_than_proven_is_refused() -> None:
    def change(body: Body) -> None:
        put("claim", "supremum", "domain", "radius", "1000001/1000000")(body)
        put("assumptions", 5, "value", "1000001/1000000")(body)

    assert_refused(check(seal(with_change(RICH, change))), "exceeds the claimed upper end")


def test_premises_that_are_not_proven_are_refused() -> None:
    at = {"norm(1)": "1", **UP}
    negative = build(["subtract", laplace(3), number("1/100")], number("1/10"), maximiser=at)
    assert_refused(check(seal(negative)), "at least 0")
    too_often = build(laplace(3), ["add", number("1/2"), norm(1)], weighted=False, maximiser=at)
    assert_refused(check(seal(too_often)), "within [0, 1]")
    undefined = build(["divide", ["multiply", norm(1), norm(1)], norm(1)], number("1/2"), weighted=False, maximiser=at)
    assert_refused(check(seal(undefined)), "defined everywhere")


def test_an_unbounded_profile_is_refused() -> None:
    """A count at rate ‖x‖ has weights without bound, though the profile is 0 at the record 0."""
    body = build(["multiply", W, number("1/2")], importance(1, 0), maximiser=UP | {"norm(1)": "1"})
    body["claim"]["supremum"]["upper"] = 1e6
    assert_refused(check(seal(body)), "exceeds the claimed upper end")


def test_two_ratios_prove_no_lower_end() -> None:
    rate = ["minimum", ONE, ["add", norm(2), norm("inf")]]
    at = {"norm(1)": "1", "ratio(2)": "1", "ratio(inf)": "1", **UP}
    body = build(laplace(3), rate, weighted=False, dimension=4, maximiser=at)
    assert_refused(check(seal(body)), "two ratios")
    assert check(
        seal(with_change(body, lambda body: body["claim"]["supremum"].update(lower=None, maximiser=None)))
    ).accepted


# Any byte.


def test_every_changed_byte_is_refused() -> None:
    text = seal(SIMPLE)
    source = random.Random(1)
    for position in range(len(text)):
        changed = bytearray(text)
        changed[position] ^= 1 << source.randrange(8)
        assert_refused(check(bytes(changed)))


@pytest.mark.parametrize("name", ["importance, l2, floor", "coreset"])
def test_random_edits_are_refused(name: str) -> None:
    text = seal(BODIES[name])
    source = random.Random(name)
    for _ in range(1500):
        changed = bytearray(text)
        for _ in range(source.choice([1, 1, 2, 5])):
            position = source.randrange(len(changed))
            edit = source.randrange(3)
            if edit == 0:
                changed[position] = source.randrange(256)
            elif edit == 1:
                del changed[position]
            else:
                changed.insert(position, source.randrange(256))
        if bytes(changed) != text:
            assert_refused(check(bytes(changed)))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text + b"\n",
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b'"precision": 64', b'"precision": 64.0'),
        lambda text: text.replace(b'"precision": 64', b'"precision": 64,\n "precision": 64'),
        lambda text: text.replace(b'"precision": 64', b'"precision": NaN'),
        lambda text: text.replace(b'"precision": 64', b'"precision": 1e999'),
        lambda text: text.replace(b'"precision": 64', b'"precision": ' + b"9" * 5000),
        lambda text: text.replace(b'"scale"', b'"sc\\u0061le"'),
        lambda text: json.dumps(json.loads(text)).encode(),
        lambda text: b"",
        lambda text: b"null",
        lambda text: b"[" * 100_000,
        lambda text: b'{"a":' * 100_000,
        lambda text: b" " * (8 * 2**20 + 1),
        lambda text: b"\xff\xfe",
    ],
)
def test_other_spellings_are_refused(change: Callable[[bytes], bytes]) -> None:
    assert_refused(check(change(seal(SIMPLE))))


# Hostile content.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(text: bytes) -> None:
    assert_refused(check(text))


@pytest.mark.parametrize("other", ["certificate.json", Path("certificate.json"), bytearray(b"{}"), None])
def test_what_is_no_bytes_is_a_mistake_of_the_caller(other: Any) -> None:
    with pytest.raises(TypeError, match=r"^text: got .* Read the file first$"):
        check(other)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_any_object_is_refused(content: Body) -> None:
    kinds = {"format": "certdp-certificate/1", "kind": "sampled-pure-profile"}
    assert_refused(check(seal({key: item for key, item in content.items() if key != "digest"} | kinds)))


PLACES = list(places(RICH))


@pytest.mark.slow
@given(st.sampled_from(PLACES), JSON)
@examples(500)
def test_anything_anywhere_gives_a_verdict(way: tuple[Any, ...], junk: Any) -> None:
    verdict = check(seal(with_change(RICH, put(*way, junk))))
    assert not verdict.reason.startswith("the check failed"), verdict.reason
    assert str(verdict).isascii()


def nest(depth: int) -> Any:
    tree: Any = norm(1)
    for _ in range(depth):
        tree = ["sqrt", tree]
    return tree


@pytest.mark.parametrize(
    "expression",
    [
        nest(199),
        nest(201),
        nest(900),
        ["add", *[nest(10)] * 2],
        ["add", *[["add", *[norm(1)] * 2]] * 3],
        ["exp", ["exp", ["exp", ["exp", number(10**9)]]]],
        ["power", number(10**9), "4096"],
        ["power", ["power", ["power", number("1/3"), "-4096"], "4096"], "4096"],
        ["power", norm(1), "4097"],
        ["power", norm(1), "1/0"],
        ["constant", "1" * 5000],
        ["constant", "0x1"],
        ["constant", "\u0661"],
        ["constant", 1],
        ["norm", ["1"]],
        ["norm", "1/2"],
        ["norm", "3/2\n"],
        ["norm", "9" * 700],
        ["norm", str(10**599 + 1) + "/" + str(10**599)],
        ["log", ["constant", "0"]],
        ["divide", ONE, ["constant", "0"]],
        ["minimum", norm(1)],
        [],
        [[]],
        {},
    ],
    ids=range(25),
)
@pytest.mark.parametrize("place", ["loss", "rate"])
def test_hostile_expressions_get_a_quick_verdict(expression: Any, place: str, counted: Counted) -> None:
    body = with_change(SIMPLE, put("inputs", place, expression))
    try:
        remove, add = compose(body["inputs"]["loss"], body["inputs"]["rate"], True, "0", "0")
        body["claim"]["profile"] = {"remove": remove, "add": add}
    except (RecursionError, ValueError):
        pass
    try:
        text = seal(body)
    except RecursionError:
        return
    verdict, calls = counted(lambda: check(text))
    assert calls < CALLS_OF_HOSTILE
    assert not verdict.reason.startswith("the check failed"), verdict.reason


# No proof of what is false: random profiles against points of their domains.


def random_body(source: random.Random) -> Body:
    def value() -> Any:
        return number(Fraction(source.choice([1, 2, 3, 7]), source.choice([1, 2, 5, 40])))

    def size(depth: int) -> Any:
        if depth == 0:
            return source.choice([norm(1), norm(1), norm(2), value(), W])
        unary, binary = ["sqrt", "expm1", "log1p"], ["add", "multiply", "minimum", "maximum", "multiply"]
        shape = source.randrange(8)
        if shape < 2:
            return [source.choice(unary), size(depth - 1)]
        if shape == 2:
            return ["power", size(depth - 1), source.choice(["2", "1/2", "3"])]
        if shape == 3:
            return ["divide", size(depth - 1), ["add", size(depth - 1), value()]]
        if shape == 4:
            return ["select", *(size(depth - 1) for _ in range(4))]
        return [source.choice(binary), size(depth - 1), size(depth - 1)]

    floor = source.choice(["0", "1/5", "1/2"])
    weighted = source.random() < 0.7
    rate = source.choice([importance(value()[1], floor), importance(value()[1], floor, 2), number("1/3")])
    at = {"norm(1)": "1", "ratio(2)": "1", **UP}
    loss = ["multiply", norm(1), size(source.randint(0, 2))]
    return build(loss, rate, weighted=weighted, dimension=9, maximiser=at, exact_maximiser=False)


def float_profile(body: Body, n: float, ratio: float, roundings: tuple[float, float]) -> Fraction | None:
    point: dict[str, Any] = {"norm(1)": n, "norm(2)": Fraction(n) * Fraction(ratio)}
    point |= {"rounding(rate)": roundings[0], "rounding(weight)": roundings[1]}
    flint.ctx.prec = 200
    value = estimate(body["claim"]["profile"]["remove"], point)
    return fraction_of(value) if value.is_finite() else None


@pytest.mark.repeated(30)
@pytest.mark.parametrize("seed", range(150))
def test_no_bound_below_a_point_of_the_domain_is_accepted(seed: int) -> None:
    source = random.Random(seed)
    body = random_body(source)
    points = [
        (source.choice([1.0, source.random(), 2.0 ** -source.randint(1, 60)]), source.uniform(1 / 3, 1))
        for _ in range(30)
    ]
    points += [(1.0, 1.0), (1.0, 0.33333333333333337), (2.0**-300, 1.0)]
    values = [float_profile(body, n, ratio, (1.0, 1.0)) for n, ratio in points]
    found = max(value for value in values if value is not None)
    body["claim"]["supremum"] |= {"maximiser": None, "upper": float(found * (1 - Fraction(1, 2**40)))}
    assert_refused(check(seal(body), None, Budget(50_000_000)))
    body["claim"]["supremum"]["upper"] = float(found * 2)
    assert not check(seal(body), None, Budget(50_000_000)).reason.startswith("the check failed")


# An owner's certificate and its data.


def owner(body: Body, rows: list[list[float]], outside: str) -> Body:
    """Bind a body to rows, whose ψ and rates are computed here in 200-bit balls."""
    flint.ctx.prec = 200
    domain = body["claim"]["supremum"]["domain"]
    radius = Fraction(domain["radius"])
    losses, expected = [0.0], Fraction(0)
    for row in rows:
        sizes = [abs(Fraction(value)) for value in row]
        square = sum(size**2 for size in sizes)
        two = fraction_of(arb_of(square).sqrt())
        norms = {"norm(1)": sum(sizes), "norm(2)": two, "norm(inf)": max(sizes)}
        norms |= {f"norm({p})": power_norm(sizes, Fraction(p)) for p in ORDERS[3:]}
        own = norms[f"norm({domain['norm']})"]
        if own > radius and outside == "drop":
            continue
        if own > radius and outside == "clip":
            norms = {name: value * radius / own for name, value in norms.items()}
        point: dict[str, Any] = norms | {"rounding(rate)": 1, "rounding(weight)": 1}
        expected += truth(body["inputs"]["rate"], point)
        if own:
            losses.append(above(truth(body["claim"]["profile"]["remove"], point)))
    nonce = bytes(range(32))
    columns = len(rows[0])
    packed = b"".join(struct.pack(f">{columns}d", *row) for row in rows)
    commitment = hashlib.sha256(nonce + f"{len(rows)},{columns};".encode() + packed).hexdigest()
    data = {
        "commitment": commitment,
        "nonce": nonce.hex(),
        "records": len(rows),
        "columns": columns,
        "outside": outside,
        "psi_max": max(losses) * (1 + 2.0**-28),
        "expected_sample_size": [float(expected) * (1 - 1e-12), float(expected) * (1 + 1e-12)],
    }
    return body | {"audience": "owner", "data": data}


def power_norm(sizes: list[Fraction], order: Fraction) -> Fraction:
    exponent = arb_of(order)
    powers = (arb_of(x) ** exponent for x in sizes if x)
    total = sum(powers, flint.arb(0))
    return fraction_of(total ** (1 / exponent)) if total != 0 else Fraction(0)


def some_rows(count: int, columns: int, size: float) -> list[list[float]]:
    source = random.Random(count)
    rows = [[source.gauss(0, size) for _ in range(columns)] for _ in range(count)]
    rows[1] = [0.0] * columns
    rows[2] = [-0.0, 1e-200, *[0.0] * (columns - 2)]
    rows[3] = list(rows[0])
    return rows


OWNED = build(
    laplace(3),
    importance(2, 0, 2),
    dimension=5,
    maximiser={"norm(1)": "1", "ratio(2)": str(Fraction(math.isqrt(2**200 // 5) + 1, 2**100)), **UP},
)


OWNED_IN_OTHER_NORMS = {
    p: build(
        laplace(3, p),
        importance(2, "1/100", "1001/1000"),
        p=p,
        dimension=5,
        maximiser={f"norm({p})": "1", "ratio(1001/1000)": "1", **UP},
    )
    for p in ("3/2", "3")
}


@pytest.mark.parametrize("p", OWNED_IN_OTHER_NORMS)
@pytest.mark.parametrize(("outside", "size"), [("clip", 0.5), ("drop", 0.5), ("none", 0.01)])
def test_an_owners_certificate_in_other_norms_is_compared_with_its_data(p: str, outside: str, size: float) -> None:
    rows = [*some_rows(30, 5, size), [5e-324, 1e-310, 0.0, 0.0, 1e-300], [2.0**-30, 0.1, 0.0, 0.0, 0.0]]
    body = owner(OWNED_IN_OTHER_NORMS[p], rows, outside)
    body["claim"]["supremum"]["lower"] = body["claim"]["supremum"]["maximiser"] = None
    body["claim"]["supremum"]["upper"] = 100.0
    verdict = check(seal(body), Rows(rows))
    assert verdict.data_compared, verdict.reason
    stated = body["data"]
    smaller = with_change(body, put("data", "psi_max", stated["psi_max"] * (1 - 2.0**-27)))
    assert_refused(check(seal(smaller), Rows(rows)), "record")


def test_what_became_of_the_data_is_told() -> None:
    rows = some_rows(4, 5, 0.3)
    unchecked, unbound = "the owner's figures were not checked", "a public certificate is not bound to data"
    owners, public = seal(owner(OWNED, rows, "clip")), seal(OWNED)
    for content, data, told in (
        (owners, Rows(rows), []),
        (owners, None, [unchecked]),
        (public, None, []),
        (public, Rows(rows), [unbound]),
    ):
        verdict = check(content, data)
        assert verdict.accepted, verdict.reason
        assert [words for words in (unchecked, unbound) if words in verdict.reason] == told
        assert verdict.data_compared == (content is owners and data is not None)


@pytest.mark.slow
@pytest.mark.parametrize(("outside", "size"), [("clip", 0.3), ("drop", 0.3), ("none", 0.01)])
def test_an_owners_certificate_is_compared_with_its_data(outside: str, size: float) -> None:
    rows = some_rows(60, 5, size)
    body = owner(OWNED, rows, outside)
    verdict = check(seal(body), Rows(rows))
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert verdict.data_compared
    alone = check(seal(body))
    assert alone.outcome is Outcome.HOLDS_ASSUMING_PROFILE
    assert not alone.data_compared
    assert "not checked" in alone.reason
    for figures in (("psi_max", -5.0), ("expected_sample_size", [10.0, 5.0]), ("expected_sample_size", [-1.0, 5.0])):
        assert_refused(check(seal(with_change(body, put("data", *figures)))), "no figures")
    assert_refused(check(seal(with_change(body, put("data", "columns", 100)))), "dimension")

    def edited(*path: Any) -> Verdict:
        return check(seal(with_change(body, put("data", *path))), Rows(rows))

    stated = body["data"]
    assert_refused(edited("nonce", "0" * 64), "commitment")
    assert_refused(edited("commitment", "0" * 64), "commitment")
    assert_refused(edited("records", 61), "60 records")
    assert_refused(edited("records", 59), "number of records")
    assert_refused(edited("psi_max", stated["psi_max"] * (1 - 2.0**-27)), "record")
    assert_refused(edited("psi_max", stated["psi_max"] * (1 - 2.0**-28) ** 2), "record")
    assert_refused(edited("expected_sample_size", [x * (1 + 1e-9) for x in stated["expected_sample_size"]]))
    assert_refused(edited("columns", 4))
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda rows: rows.reverse(),
        lambda rows: rows.pop(),
        lambda rows: rows[1].__setitem__(0, -0.0),
        lambda rows: rows[0].__setitem__(0, math.nextafter(rows[0][0], 9)),
        lambda rows: rows[0].pop(),
        lambda rows: rows[0].__setitem__(2, math.nan),
        lambda rows: rows[0].__setitem__(2, math.inf),
    )
    for change in changes:
        other = copy.deepcopy(rows)
        change(other)
        assert_refused(check(seal(body), Rows(other)))


@pytest.mark.slow
def test_records_outside_the_domain_are_not_overlooked() -> None:
    rows = some_rows(60, 5, 0.3)
    assert_refused(check(seal(owner(OWNED, rows, "none")), Rows(rows)), "outside the domain")
    assert_refused(
        check(seal(with_change(owner(OWNED, rows, "clip"), put("data", "outside", "drop"))), Rows(rows)),
        "expected sample size",
    )
    body = with_change(owner(OWNED, rows, "clip"), lambda body: body["claim"].update(supremum=None))
    assert_refused(check(seal(body), Rows(rows)), "there is no domain")
    wide = [row[:4] for row in rows]
    assert_refused(check(seal(owner(OWNED, wide, "clip")), Rows(wide)), "dimension")


def test_rows_of_extreme_magnitude_are_compared() -> None:
    rows = [[1e-310, 5e-324, 0.0, 0.0, 1e-200], [1e300, 1.0, 0.0, 0.0, 1e-300], [0.1] * 5]
    body = owner(OWNED, rows, "clip")
    verdict = check(seal(body), Rows(rows))
    assert verdict.data_compared, verdict.reason


def test_a_public_certificate_is_not_compared() -> None:
    verdict = check(seal(OWNED), Rows([[1.0] * 5]))
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE
    assert not verdict.data_compared
    assert "not compared" in verdict.reason


@pytest.mark.slow
def test_a_large_table_is_compared_with_work_that_grows_by_records(counted: Counted) -> None:
    source = random.Random(0)
    rows = [[source.random() / 54 for _ in range(54)] for _ in range(10_000)]
    at = {"norm(1)": "1", "ratio(2)": str(Fraction(math.isqrt(2**200 // 54) + 1, 2**100)), **UP}
    body = build(laplace(3), importance(2, "1/5", 2), dimension=54, maximiser=at)
    packed = b"".join(struct.pack(">54d", *row) for row in rows)
    nonce = bytes(32)
    drawn = math.fsum(min(1, max(0.2, 2 * math.hypot(*row))) for row in rows)
    data = {
        "commitment": hashlib.sha256(nonce + b"10000,54;" + packed).hexdigest(),
        "nonce": nonce.hex(),
        "records": 10_000,
        "columns": 54,
        "outside": "drop",
        "psi_max": body["claim"]["supremum"]["upper"],
        "expected_sample_size": [drawn * (1 - 1e-12), drawn * (1 + 1e-12)],
    }
    content = seal(body | {"audience": "owner", "data": data})
    verdict, calls = counted(lambda: check(content, Rows(rows)))
    assert verdict.data_compared, verdict.reason
    assert calls < CALLS_PER_RECORD * len(rows)


# On its own.

FOLDER = Path(checker.__file__).parent


def test_it_imports_the_standard_library_and_mpmath_alone() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{path.name} imports from outside its folder"
                names = [] if node.level else [str(node.module)]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                assert top == "mpmath" or top in sys.stdlib_module_names, f"{path.name} imports {name}"


@pytest.mark.slow
def test_it_runs_from_a_copy_of_its_folder(tmp_path: Path) -> None:
    place = tmp_path / "packages"
    place.mkdir()
    shutil.copytree(FOLDER, place / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(mpmath.__file__).parent, place / "mpmath", ignore=shutil.ignore_patterns("tests"))
    paths = {"good": seal(RICH), "bad": seal(with_change(RICH, scale_upper)), "missing": None}
    codes = {}
    for name, text in paths.items():
        if text is not None:
            (tmp_path / name).write_bytes(text)
        run = subprocess.run(
            # no site-packages, no environment: only the copies and the standard library
            [sys.executable, "-I", "-S", "-c", RUN.format(place=str(place)), str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        codes[name] = run.returncode, (run.stdout + run.stderr).partition(":")[0]
    assert codes == {
        "good": (3, "holds assuming the profile"),
        "bad": (1, "refused"),
        "missing": (2, codes["missing"][1]),
    }


RUN = """
import runpy, sys
sys.path.append({place!r})
runpy.run_module("checker", run_name="__main__", alter_sys=True)
"""

"""Certificates of constrained sampling made here, from the format alone: true ones hold, every forgery is refused."""

import copy
import hashlib
import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.checker import Outcome, check, constrained
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.expressions import Pool
from certdp.verification.checker.homogeneous import is_proportional, prove_proportional
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.rationals import Range, rational_range
from certdp.verification.checker.statement import domain_of
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import examples
from tests.support.forgeries import Body, assert_refused, places, seal, with_change
from tests.support.lambert import largest_weight
from tests.support.stated import Rows

Counted = Callable[[Callable[[], Any]], tuple[Any, int]]
FEW_CALLS = 10**6
CALLS_PER_RECORD = 6_000
W: Any = ["weight"]
ONE: Any = ["constant", "1"]


def number(value: Any) -> Any:
    return ["constant", str(Fraction(value))]


def norm(p: Any) -> Any:
    return ["norm", str(p)]


def laplace(scale: Any, p: Any = 1) -> Any:
    return ["divide", ["multiply", W, norm(p)], number(scale)]


def up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def build(
    loss: Any,
    target: Any,
    *,
    largest: Any = None,
    cost: str = "0",
    p: str = "1",
    radius: str | None = "1",
    dimension: int | None = None,
    samples: int = 1,
    together: int = 1,
) -> Body:
    target = str(Fraction(target))
    bound = ["constant", target] if cost == "0" else ["add", ["constant", target], ["constant", cost]]
    part = {"version": "1", "distribution": "elsewhere", "evidence": "proved", "citation": "none"}
    assumptions = {
        "evidence of mechanism m": "proved",
        "evidence of sampler s": "proved",
        "mechanism.scale": "2",
        "sampler.target": target,
    }
    if radius is None:
        where = "at weight 1" if together == 1 else f"in {together} releases at weight 1"
        assumptions["records"] = f"those that lose at most {Fraction(target) / samples} {where}"
    else:
        assumptions |= {"norm": p, "radius": radius} | ({} if dimension is None else {"dimension": str(dimension)})
    if cost != "0":
        assumptions["released cost"] = cost
        name, value = ("mechanism.scale", "2") if radius is None else ("domain.radius", radius)
        assumptions[f"{name} was released"] = f"within {value} to {value}"
    if samples > 1 or together > 1:
        assumptions["releases"] = f"{samples}, each on a fresh sample" if samples > 1 else f"{together} on one sample"
    supremum = {
        "domain": {"norm": p, "radius": radius, "dimension": dimension},
        "lower": None,
        "upper": up(Fraction(target) + Fraction(cost)),
        "maximiser": None,
    }
    return {
        "format": "certdp-certificate/1",
        "kind": "constrained-pure-profile",
        "audience": "public",
        "theorem": "IS Problem 7 and Theorem 6",
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "pure",
            "profile": {"remove": bound, "add": copy.deepcopy(bound)},
            "supremum": None if radius is None else supremum,
        },
        "inputs": {
            "loss": loss,
            "target": target,
            "largest_weight": None if largest is None else str(Fraction(largest)),
            "released_cost": cost,
            "samples": samples,
            "releases_on_a_sample": together,
        },
        "mechanism": {**part, "name": "m", "options": {"scale": "2"}},
        "sampler": {**part, "name": "s", "options": {"target": target}},
        "assumptions": [{"name": name, "value": value} for name, value in assumptions.items()],
        "precision": 64,
        "versions": {"certdp": "0.1.0"},
        "data": None,
    }


def lloyd(p: Any = 1) -> Any:
    return ["multiply", W, ["add", number("1/10"), ["divide", norm(p), number(7)]]]


OTHER_PROFILES: dict[str, tuple[Any, Any]] = {
    "a loss of W squared": (["multiply", W, laplace(2)], 1),
    "a loss of W to a fraction": (["divide", ["multiply", ["power", W, "1/2"], norm(1)], number(2)], "1/2"),
    "a loss of W + 1": (["divide", ["add", W, ONE], number(4)], "1/2"),
    "a loss beside W": (["add", laplace(4), number("1/8")], 1),
    "a loss without W": (["divide", norm(1), number(2)], 1),
    "a loss that bends": (["expm1", laplace(4)], 1),
    "a loss of at least 1": (["maximum", laplace(4), ONE], 1),
    "a loss with 0 to the power 0": (["power", number(0), "0"], 1),
    "the logarithm of a square": (["log1p", ["multiply", norm(1), ["power", W, "2"]]], "7/10"),
}
"""Losses that are not proportional to the weight, with targets."""

SIMPLE = build(laplace(2), 1)
BODIES: dict[str, Body] = {
    "a sum": SIMPLE,
    "a target that is reached": build(laplace(2), "1/2"),
    "a target that is reached and no binary64": build(laplace(10), "1/10"),
    "a target that is reached, of a sum of two parts": build(lloyd(), Fraction(1, 10) + Fraction(1, 7)),
    "a cap": build(laplace(2), 1, largest=40),
    "a cap of 1": build(laplace(2), 1, largest=1),
    "released constants": build(laplace(2), "1/3", cost="2/3", radius="1/2"),
    "no domain": build(laplace(2), 1, radius=None),
    "a count": build(["divide", W, number(2)], "1/2"),
    "no loss at all": build(number(0), 1),
    "two norms": build(["multiply", W, ["maximum", norm(1), ["divide", norm(2), number(3)]]], 2, dimension=9),
    "another norm than the domain's": build(laplace(2), 2, p="2", dimension=16, largest=3),
    "a square root of W squared": build(["sqrt", ["multiply", laplace(2), laplace(2)]], 1),
    "a rise inside the domain": build(
        ["multiply", W, ["multiply", norm(1), ["subtract", number("3/2"), norm(1)]]], "5626/10000"
    ),
    "the least target": build(["multiply", W, ["multiply", norm(1), number(Fraction(1, 2**41))]], Fraction(1, 2**40)),
    "the largest target": build(laplace("1/600"), 1024),
    "the largest cap": build(laplace(2), 1, largest=2**1022),
    "the most samples": build(laplace(2**40), 2**13, samples=2**53),
    "the most releases on a sample": build(laplace(2**53), 1, together=2**53),
    "two releases on one sample that reach the target": build(laplace(2), 1, together=2),
    **{name: build(loss, target) for name, (loss, target) in OTHER_PROFILES.items()},
    "a profile that is no sum, without a domain": build(["log1p", laplace(2)], 1, radius=None),
    "four releases on one sample": build(laplace(2), 2, together=4),
    "four releases on one sample, without a domain": build(laplace(2), 2, together=4, radius=None),
    "four fresh samples": build(laplace(2), 2, samples=4, cost="1/4"),
    "four fresh samples, without a domain": build(["multiply", W, laplace(2)], 2, samples=4, radius=None),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_true_certificate_holds_with_little_work(name: str, counted: Counted) -> None:
    content = seal(BODIES[name])
    verdict, calls = counted(lambda: check(content))
    assert calls < FEW_CALLS
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert verdict.claim is not None
    supremum = BODIES[name]["claim"]["supremum"]
    assert verdict.claim.epsilon == (None if supremum is None else (None, supremum["upper"]))
    assert verdict.claim.theorem == "IS Problem 7 and Theorem 6"
    assert str(verdict).isascii()


def put(*path: Any) -> Callable[[Body], None]:
    *way, value = path

    def change(body: Body) -> None:
        inner: Any = body
        for key in way[:-1]:
            inner = inner[key]
        assert (type(inner[way[-1]]), inner[way[-1]]) != (type(value), value)
        inner[way[-1]] = value

    return change


def assume(name: str, value: str | None) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        kept = [item for item in body["assumptions"] if item["name"] != name]
        body["assumptions"] = kept if value is None else [*kept, {"name": name, "value": value}]

    return change


def retarget(value: Any) -> Callable[[Body], None]:
    """Another target, consistently everywhere."""

    def change(body: Body) -> None:
        loss, largest = body["inputs"]["loss"], body["inputs"]["largest_weight"]
        body |= build(loss, value, largest=largest)

    return change


def all_of(*changes: Callable[[Body], None]) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        for one in changes:
            one(body)

    return change


SUPREMUM = ("claim", "supremum")
FORGERIES: dict[str, tuple[Callable[[Body], None], str]] = {
    "another target in the inputs": (put("inputs", "target", "2"), "not the sampler's target"),
    "another target of inputs and sampler": (
        all_of(put("inputs", "target", "2"), put("sampler", "options", "target", "2")),
        "claim.profile.remove",
    ),
    "a target below what the domain loses": (retarget("49/100"), "loses more than the target"),
    "a target a little below what the domain loses": (
        retarget(Fraction(1, 2) - Fraction(1, 2**300)),
        "loses more than the target",
    ),
    "a target of 0": (retarget(0), "[2^-40, 1024]"),
    "a target beyond the rule's range": (retarget(1025), "[2^-40, 1024]"),
    "a target below the rule's range": (retarget(Fraction(1, 2**41)), "[2^-40, 1024]"),
    "a negative target": (put("inputs", "target", "-1"), "inputs.target"),
    "a target that is no text": (put("inputs", "target", 1), "inputs.target"),
    "a smaller upper end": (put(*SUPREMUM, "upper", math.nextafter(1.0, 0.0)), "rounded up"),
    "a larger upper end": (put(*SUPREMUM, "upper", math.nextafter(1.0, 2.0)), "rounded up"),
    "an upper end below 0": (put(*SUPREMUM, "upper", -1.0), "rounded up"),
    "a truth value as the upper end": (put(*SUPREMUM, "upper", True), "upper"),
    "a lower end": (put(*SUPREMUM, "lower", 0.5), "only a bound"),
    "a maximiser": (put(*SUPREMUM, "maximiser", {"norm(1)": "1"}), "only a bound"),
    "a profile below the target": (put("claim", "profile", "remove", number("1/2")), "claim.profile.remove"),
    "another profile when added": (put("claim", "profile", "add", number("1/2")), "claim.profile.add"),
    "a profile that is no constant": (put("claim", "profile", "remove", norm(1)), "claim.profile.remove"),
    "a loss with a rounding": (
        put("inputs", "loss", ["multiply", laplace(4), ["rounding", "rate"]]),
        "norms and the weight alone",
    ),
    "a loss that may be negative": (
        put("inputs", "loss", ["multiply", W, ["subtract", norm(1), number("1/2")]]),
        "at least 0",
    ),
    "a loss that may be undefined": (
        put("inputs", "loss", ["divide", ["multiply", W, norm(1)], norm(1)]),
        "defined everywhere",
    ),
    "a loss that is negative at large weights": (
        put("inputs", "loss", ["multiply", norm(1), ["subtract", number(2), W]]),
        "at least 0",
    ),
    "a loss that is undefined at a weight": (
        put("inputs", "loss", ["divide", norm(1), ["power", ["subtract", W, number(2)], "2"]]),
        "defined everywhere",
    ),
    "another number of samples": (put("inputs", "samples", 2), "releases"),
    "two releases on a sample": (put("inputs", "releases_on_a_sample", 2), "releases"),
    "two releases on a sample that lose a little too much": (
        all_of(
            put("inputs", "releases_on_a_sample", 2),
            assume("releases", "2 on one sample"),
            put("inputs", "loss", laplace("199/100")),
        ),
        "loses more than the target",
    ),
    "three releases on a sample that lose too much": (
        all_of(put("inputs", "releases_on_a_sample", 3), assume("releases", "3 on one sample")),
        "loses more than the target",
    ),
    "samples whose share is too small": (
        all_of(put("inputs", "samples", 3), assume("releases", "3, each on a fresh sample")),
        "loses more than the target",
    ),
    "a share below the rule's range": (put("inputs", "samples", 2**41), "[2^-40, 1024]"),
    "several releases on several samples": (
        all_of(put("inputs", "samples", 2), put("inputs", "releases_on_a_sample", 2)),
        "on one sample, or each on a fresh one",
    ),
    "no release": (put("inputs", "samples", 0), "inputs.samples"),
    "no release on a sample": (put("inputs", "releases_on_a_sample", 0), "inputs.releases_on_a_sample"),
    "samples beyond 2^53": (put("inputs", "samples", 2**53 + 1), "inputs.samples must be"),
    "releases on a sample beyond 2^53": (
        put("inputs", "releases_on_a_sample", 2**53 + 1),
        "inputs.releases_on_a_sample must be",
    ),
    "half a release": (put("inputs", "releases_on_a_sample", 0.5), "inputs.releases_on_a_sample"),
    "twice the loss and a little": (put("inputs", "loss", laplace("99/100")), "loses more than the target"),
    "a wider domain": (
        all_of(put(*SUPREMUM, "domain", "radius", "2001/1000"), assume("radius", "2001/1000")),
        "loses more than the target",
    ),
    "a domain in a norm that needs a dimension": (
        all_of(put(*SUPREMUM, "domain", "norm", "2"), assume("norm", "2")),
        "dimension",
    ),
    "a radius that is not assumed": (put(*SUPREMUM, "domain", "radius", "1/2"), "radius"),
    "no domain": (put(*SUPREMUM, None), "records"),
    "a cap below 1": (put("inputs", "largest_weight", "1/2"), "largest_weight"),
    "a cap of 0": (put("inputs", "largest_weight", "0"), "largest_weight"),
    "a cap that binary64 does not hold": (put("inputs", "largest_weight", "101/10"), "largest_weight"),
    "a cap beyond the rule's": (put("inputs", "largest_weight", str(2**1023)), "largest_weight"),
    "a cap that is no text": (put("inputs", "largest_weight", 2.0), "largest_weight"),
    "a cost that is not in the profile": (put("inputs", "released_cost", "1/10"), "claim.profile.remove"),
    "a weaker theorem": (put("theorem", "IS Theorem 6"), "theorem"),
    "another kind": (put("kind", "sampled-pure-profile"), "certificate.theorem"),
    "an unknown kind": (put("kind", "constrained-renyi-profile"), "unknown kind"),
    "another relation": (put("claim", "relation", "replace"), "claim.relation"),
    "another unit": (put("claim", "unit", "user"), "claim.unit"),
    "another notion": (put("claim", "notion", "zcdp"), "claim.notion"),
    "heuristic evidence": (put("mechanism", "evidence", "heuristic"), "heuristic evidence never certifies"),
    "evidence that is not assumed": (put("mechanism", "evidence", "cited"), "evidence of mechanism m"),
    "another scale": (put("mechanism", "options", "scale", "4"), "mechanism.scale"),
    "no evidence among the assumptions": (assume("evidence of sampler s", None), "evidence of sampler s"),
    "an assumption twice": (lambda body: body["assumptions"].append(body["assumptions"][0]), "twice"),
    "a key too many": (lambda body: body.update(note="x"), "missing or unknown keys"),
    "a rate": (lambda body: body["inputs"].update(rate=ONE), "missing or unknown keys"),
    "a key too few": (lambda body: body["inputs"].pop("largest_weight"), "missing or unknown keys"),
    "an owner without data": (put("audience", "owner"), "owner"),
    "a precision too high": (put("precision", 4097), "precision"),
}


@pytest.mark.parametrize("radius", ["1/3", "2/7", "1"])
def test_a_target_is_held_exactly_where_the_radius_is_no_binary_number(radius: str) -> None:
    most = Fraction(radius) / 2
    assert check(seal(build(laplace(2), most, radius=radius))).accepted
    assert_refused(
        check(seal(build(laplace(2), most - Fraction(1, 2**300), radius=radius))), "loses more than the target"
    )


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_with_little_work(name: str, counted: Counted) -> None:
    change, reason = FORGERIES[name]
    original = build(laplace(2), 1)
    assert check(seal(original)).accepted
    content = seal(with_change(original, change))
    verdict, calls = counted(lambda: check(content))
    assert_refused(verdict, reason)
    assert calls < FEW_CALLS


def owned(body: Body) -> Body:
    data = {"commitment": "0" * 64, "nonce": "0" * 64, "records": 1, "columns": 1, "outside": "clip"}
    return {**body, "audience": "owner", "data": {**data, "psi_max": 0.1, "expected_sample_size": [0.0, 1.0]}}


def test_owners_certificates_are_of_one_release_of_a_proportional_loss() -> None:
    assert check(seal(owned(SIMPLE))).accepted
    for loss, target in OTHER_PROFILES.values():
        assert_refused(check(seal(owned(build(loss, target)))), "proportional")
    for body in (build(laplace(2), 2, samples=2), build(laplace(2), 2, together=2)):
        assert_refused(check(seal(owned(body))), "several releases")


@pytest.mark.parametrize(
    ("key", "forged", "reason"),
    [
        ("psi_max", -5e-324, "no figures of any data"),
        ("expected_sample_size", [-5e-324, 1.0], "no figures of any data"),
        ("expected_sample_size", [1.0, math.nextafter(1.0, 0.0)], "no figures of any data"),
        ("columns", 8, "not the number of columns"),
    ],
)
def test_figures_that_no_data_have_are_refused_without_the_data(key: str, forged: Any, reason: str) -> None:
    body = owned(build(laplace(2), 1, dimension=9))
    body = with_change(body, put("data", "columns", 9))
    assert check(seal(body)).accepted
    assert_refused(check(seal(with_change(body, put("data", key, forged)))), reason)


def test_data_beside_a_public_certificate_are_not_compared() -> None:
    verdict = check(seal(SIMPLE), Rows([[0.5]]))
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert not verdict.data_compared


@pytest.mark.parametrize("bits", [60, 240, 1000])
def test_the_arithmetic_has_64_bits_beyond_those_stated_and_at_least_128(bits: int) -> None:
    """An irrational loss is told from a target next to it by its bits alone."""
    flint.ctx.prec = bits + 300
    above = Fraction(math.ceil(fraction_of(arb_of(Fraction(1)).expm1()) * 2**bits), 2**bits)
    loss = ["multiply", W, ["expm1", norm(1)]]
    body = build(loss, above)
    inputs, domain = constrained._read(body, Budget()), domain_of(body)
    assert domain is not None

    def proves(precision: int) -> bool:
        try:
            constrained._prove_drawable(inputs, domain, Arithmetic(precision))
        except Refused:
            return False
        return True

    needed = next(precision for precision in range(bits, 4096) if proves(precision))
    assert (needed <= 128) is (bits == 60)
    least = 24 if needed <= 128 else needed - 64
    assert check(seal(body | {"precision": least})).accepted
    if least > 24:
        assert_refused(check(seal(body | {"precision": least - 1})), "could not be verified at this precision")
    below = build(loss, above - Fraction(1, 2**bits))
    assert_refused(check(seal(below | {"precision": 4096})), "loses more than the target")


def of_certdp(role: str, name: str, options: dict[str, str]) -> Callable[[Body], None]:
    """A plugin of certdp in the place of another."""

    def change(body: Body) -> None:
        before = body[role]
        body[role] = {**before, "name": name, "distribution": "certdp", "options": options}
        gone = {f"evidence of {role} {before['name']}", *(f"{role}.{key}" for key in before["options"])}
        kept = [item for item in body["assumptions"] if item["name"] not in gone]
        stated = {f"evidence of {role} {name}": "proved"} | {f"{role}.{key}": value for key, value in options.items()}
        body["assumptions"] = kept + [{"name": key, "value": value} for key, value in stated.items()]

    return change


def test_digits_are_refused_beside_plugins_of_certdp_whose_weights_are_exact_alone() -> None:
    noise = of_certdp("mechanism", "discrete-laplace", {"scale": "8", "granularity": "1/2"})
    draws = of_certdp("sampler", "privacy-constrained", {"target": "1", "digits": "10"})
    steps = ["multiply", ["divide", ["multiply", W, norm(1)], number("1/2")], number("1/16")]
    with_digits = all_of(put("sampler", "options", {"target": "1", "digits": "10"}), assume("sampler.digits", "10"))
    own = with_change(build(steps, 1), all_of(noise, draws))
    for change in (with_digits, draws, all_of(noise, with_digits)):
        assert check(seal(with_change(build(steps, 1), change))).accepted
    assert_refused(check(seal(own)), "digits is of losses that are not proportional")
    other_loss = put("inputs", "loss", ["add", steps, number("1/1024")])
    verdict = check(seal(with_change(own, other_loss)))
    assert verdict.accepted, verdict.reason


def test_without_a_domain_the_records_are_told() -> None:
    body = build(laplace(2), 1, radius=None)
    assert_refused(check(seal(with_change(body, assume("records", "all")))), "records")
    assert_refused(check(seal(with_change(body, assume("records", None)))), "records")
    verdict = check(seal(body))
    assert "loses no more than the target at weight 1" in verdict.reason


@pytest.mark.parametrize("role", ["mechanism", "sampler"])
def test_cited_evidence_is_told_whatever_the_assumptions_leave_out(role: str) -> None:
    name = {"mechanism": "m", "sampler": "s"}[role]
    cited = all_of(put(role, "evidence", "cited"), assume(f"evidence of {role} {name}", "cited"))
    assert check(seal(with_change(SIMPLE, cited))).outcome is Outcome.HOLDS_ASSUMING_PROFILE
    assumed = with_change(SIMPLE, assume("profile assumed", "m"))
    assert check(seal(assumed)).outcome is Outcome.HOLDS_ASSUMING_PROFILE


# Any byte, any content.


def test_every_changed_byte_is_refused() -> None:
    text = seal(SIMPLE)
    source = random.Random(1)
    for position in range(len(text)):
        changed = bytearray(text)
        changed[position] ^= 1 << source.randrange(8)
        assert_refused(check(bytes(changed)))


@pytest.mark.parametrize(
    "spelling",
    [
        b'"target": "1",\n  "target": "2"',
        b'"target": NaN',
        b'"target": Infinity',
        b'"target": 1e999',
        b'"t\\u0061rget": "1"',
    ],
)
def test_other_spellings_are_refused(spelling: bytes) -> None:
    text = seal(SIMPLE)
    changed = text.replace(b'"target": "1"\n', spelling + b"\n")
    assert changed != text
    assert_refused(check(changed))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


RICH = build(lloyd(2), 3, largest=8, cost="1/7", dimension=9)


@given(st.sampled_from(list(places(RICH))), JSON)
@examples(300)
def test_anything_anywhere_gives_a_verdict(way: tuple[Any, ...], junk: Any) -> None:
    def change(body: Body) -> None:
        inner: Any = body
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = junk

    verdict = check(seal(with_change(RICH, change)))
    assert not verdict.reason.startswith("the check failed"), verdict.reason
    assert str(verdict).isascii()


def nested(operation: str, depth: int, *more: Any) -> Any:
    tree: Any = laplace(2)
    for _ in range(depth):
        tree = [operation, tree, *more]
    return tree


@pytest.mark.parametrize(
    "loss",
    [
        nested("sqrt", 195),
        nested("power", 150, "4095/4096"),
        nested("power", 150, "4096"),
        ["add", *(["power", W, f"{k + 1}/{10**650 + k}"] for k in range(2))],
        nested("multiply", 90, W),
        nested("divide", 150, laplace(2)),
        ["multiply", W, ["exp", ["exp", ["exp", number(10**9)]]]],
        ["multiply", W, nested("power", 3, "4096")[1]],
        ["multiply", W, ["power", norm(1), "4097"]],
        ["multiply", W, ["power", ["subtract", norm(1), number(10**600)], "4096"]],
        ["multiply", W, ["divide", ONE, norm(1)]],
        ["divide", W, number(0)],
        ["multiply", W, ["log", norm(1)]],
        ["multiply", W, ["norm", "9" * 700]],
        ["select", W, W, W, W],
        ["weight", "1"],
        [],
        {},
        None,
    ],
    ids=range(19),
)
def test_hostile_losses_get_a_quick_verdict(loss: Any, counted: Counted) -> None:
    content = seal(build(loss, 1))
    verdict, calls = counted(lambda: check(content))
    assert calls < FEW_CALLS
    assert not verdict.reason.startswith("the check failed"), verdict.reason


# The parts of the proof.


def value(tree: Any, weight: Fraction, size: Fraction) -> Any:
    """The value in 300-bit balls, not finite where it is undefined."""
    operation, *rest = tree
    if operation in ("weight", "norm", "constant"):
        known = {"weight": weight, "norm": size}.get(operation) or Fraction(0)
        chosen = Fraction(rest[0]) if operation == "constant" else known
        return arb_of(chosen)
    parts = [value(item, weight, size) for item in rest if isinstance(item, list)]
    if operation == "power":
        exponent = Fraction(rest[1])
        return parts[0] ** arb_of(exponent)
    operations: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "minimum": lambda a, b: a.min(b),
        "maximum": lambda a, b: a.max(b),
        "expm1": lambda a: a.expm1(),
        "log1p": lambda a: a.log1p(),
        "sqrt": lambda a: a.sqrt(),
        "select": lambda a, b, x, y: x if a <= b or (a - b).contains(0) else y,
    }
    return operations[operation](*parts)


TREES = st.recursive(
    st.sampled_from([W, W, W, norm(1), number(0), number("1/3"), number(2)]),
    lambda parts: st.one_of(
        st.tuples(st.sampled_from(["add", "subtract", "multiply", "divide", "minimum", "maximum"]), parts, parts),
        st.tuples(st.sampled_from(["expm1", "log1p", "sqrt"]), parts),
        st.tuples(st.just("power"), parts, st.sampled_from(["0", "1/2", "1", "2", "-1"])),
        st.tuples(st.just("select"), parts, parts, parts, parts),
    ).map(list),
    max_leaves=6,
)


@given(TREES)
@examples(400)
def test_what_is_called_proportional_is(tree: Any) -> None:
    pool = Pool()
    try:
        prove_proportional(pool, pool.parse(tree, "loss"), "loss")
    except Refused:
        return
    flint.ctx.prec = 300
    for size in (Fraction(1, 7), Fraction(5, 2)):
        at_one = value(tree, Fraction(1), size)
        for weight in (Fraction(9, 7), Fraction(40)):
            at_weight = value(tree, weight, size)
            if at_one.is_finite() and at_weight.is_finite():
                assert (at_weight - at_one * arb_of(weight)).contains(0)


def powers(*exponents: object) -> Any:
    """The weight to the product of these powers, one after the other."""
    tree = W
    for exponent in exponents:
        tree = ["power", tree, str(exponent)]
    return tree


UP_TO = [4096] * 5 + [16]  # 2^64
DOWN = [f"1/{exponent}" for exponent in UP_TO]


@pytest.mark.parametrize(
    "tree",
    [
        laplace(3),
        ["sqrt", ["multiply", W, W]],
        ["divide", ["power", W, "2"], W],
        ["minimum", W, ["multiply", number(2), W]],
        ["select", W, ["multiply", W, norm(1)], W, laplace(2)],
        ["select", norm(1), number(3), W, number(0)],
        ["maximum", number(0), ["subtract", W, laplace(2)]],
        ["multiply", ["expm1", ["divide", W, W]], W],
        ["multiply", ["expm1", number(0)], W],
        ["multiply", W, ["power", ["multiply", W, number(0)], "0"]],  # 0^0 is 1
        ["multiply", W, number(0)],
        ["multiply", number(0), W],
        ["multiply", number(0), ["power", W, "7"]],
        ["divide", number(0), W],
        ["divide", W, number(0)],  # defined nowhere
        ["sqrt", number(0)],
        powers("1/2", 2),
        powers(-1, -1),
        powers(*UP_TO, *DOWN),
        powers(-1, *UP_TO, *DOWN, -1),
        powers(*DOWN, *UP_TO),
    ],
)
def test_what_is_proportional_by_structure_is_called_so(tree: Any) -> None:
    pool = Pool()
    prove_proportional(pool, pool.parse(tree, "loss"), "loss")


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        *((tree, "is not proportional") for tree in (ONE, norm(1), powers(2), powers("1/2"), powers(-1), powers(0))),
        *((tree, "is not proportional") for tree in (["multiply", W, W], ["divide", W, W], ["divide", ONE, W])),
        *((tree, "is not proportional") for tree in (["sqrt", W], ["expm1", norm(1)], ["divide", powers(3), W])),
        *((["select", W, W, part, part], "is not proportional") for part in (ONE, powers(2))),
        *(([of, *parts], "could not be") for of in ("add", "subtract") for parts in ((W, ONE), (ONE, W))),
        *(([of, W, powers(2)], "could not be") for of in ("minimum", "maximum")),
        *((["multiply", W, [of, W]], "could not be") for of in ("expm1", "log1p")),
        *((["select", *order, W, W], "could not be") for order in ((W, ONE), (ONE, powers(2)))),
        *((["select", W, W, *parts], "could not be") for parts in ((W, ONE), (powers(2), W))),
        (powers(*UP_TO, 2, "1/2", *DOWN), "too large a power"),
        (powers(*UP_TO, "4096/4095", "4095/4096", *DOWN), "too large a power"),
        (powers(-1, *UP_TO, 2, "1/2", *DOWN, -1), "too large a power"),
        (powers(*DOWN, "1/2", 2, *UP_TO), "too large a power"),
        (powers("2/3", *DOWN, *UP_TO, "3/2"), "too large a power"),
    ],
)
def test_what_is_not_proportional_by_structure_is_refused(tree: Any, reason: str) -> None:
    pool = Pool()
    with pytest.raises(Refused, match=reason):
        prove_proportional(pool, pool.parse(tree, "loss"), "loss")
    assert not is_proportional(pool, pool.parse(tree, "loss"))


@given(TREES, st.fractions(0, 3, max_denominator=50), st.fractions(0, 3, max_denominator=50))
@examples(300)
def test_rational_ranges_hold_every_value(tree: Any, first: Fraction, second: Fraction) -> None:
    low, high = min(first, second), max(first, second)
    pool = Pool()
    found = rational_range(pool, pool.parse(tree, "loss"), {"weight": Range(low, high), "norm(1)": Range(low, high)})
    if found is None:
        return
    flint.ctx.prec = 300
    margin = Fraction(1, 2**100) * (1 + abs(found.lo) + abs(found.hi))
    for weight, size in ((low, low), (high, high), (low, high), (high, low), ((low + high) / 2, (2 * low + high) / 3)):
        ball = value(tree, weight, size)
        assert ball.is_finite()
        assert found.lo - margin <= fraction_of(ball) <= found.hi + margin


SIZES = st.recursive(
    st.sampled_from([norm(1), norm(1), number("1/3"), number(2)]),
    lambda parts: st.one_of(
        st.tuples(st.sampled_from(["add", "multiply", "divide", "minimum", "maximum"]), parts, parts),
        st.tuples(st.sampled_from(["expm1", "log1p", "sqrt"]), parts),
        st.tuples(st.just("select"), parts, parts, parts, parts),
    ).map(list),
    max_leaves=5,
)


@given(SIZES)
@examples(100)
def test_no_target_below_a_record_of_the_domain_is_accepted(size: Any) -> None:
    flint.ctx.prec = 300
    balls = [value(size, Fraction(1), Fraction(k, 16)) for k in range(17)]
    found = max((fraction_of(ball) for ball in balls if ball.is_finite()), default=Fraction(0))
    if not Fraction(1, 2**30) <= found <= 690:
        return
    below = Fraction(math.floor(found * (1 - Fraction(1, 2**40)) * 2**90), 2**90)
    assert_refused(check(seal(build(["multiply", W, size], below))))
    assert not check(seal(build(["multiply", W, size], found * 2))).reason.startswith("the check failed")


# An owner's certificate and its data.


def owner(body: Body, rows: list[list[float]], outside: str) -> Body:
    """Bind a sum's body to rows, with probabilities by Lambert's function."""
    target, cap = Fraction(body["inputs"]["target"]), body["inputs"]["largest_weight"]
    least = 0.0 if cap is None else float(1 / Fraction(cap))
    expected, psi_max = 0.0, 0.0
    for row in rows:
        size = math.fsum(map(abs, row))
        if size > 1 and outside == "drop":
            continue
        loss = min(size, 1.0) / 2
        with mpmath.workdps(60):
            probability = max(least, float(1 / largest_weight(loss, target)) if loss else 0.0)
        expected += probability
        if probability:
            psi_max = max(psi_max, math.log1p(probability * math.expm1(loss / probability)))
    nonce, columns = bytes(range(32)), len(rows[0])
    packed = b"".join(struct.pack(f">{columns}d", *row) for row in rows)
    data = {
        "commitment": hashlib.sha256(nonce + f"{len(rows)},{columns};".encode() + packed).hexdigest(),
        "nonce": nonce.hex(),
        "records": len(rows),
        "columns": columns,
        "outside": outside,
        "psi_max": min(psi_max * (1 + 2.0**-28), up(target)),
        "expected_sample_size": [expected * (1 - 1e-12), expected * (1 + 1e-12)],
    }
    return body | {"audience": "owner", "data": data}


def some_rows(size: float) -> list[list[float]]:
    source = random.Random(5)
    rows = [[source.gauss(0, size * 10.0 ** source.uniform(-6, 0)) for _ in range(4)] for _ in range(50)]
    rows[1], rows[2], rows[3] = [0.0] * 4, [5e-324, 0.0, -0.0, 0.0], list(rows[0])
    return rows


@pytest.mark.parametrize(("outside", "size"), [("clip", 2.0), ("drop", 2.0), ("none", 0.05)])
@pytest.mark.parametrize("cap", [None, 1, 40, 2**30])
def test_an_owners_figures_are_proven_beside_the_data(outside: str, size: float, cap: int | None) -> None:
    rows = some_rows(size)
    body = owner(build(laplace(2), 1, largest=cap), rows, outside)
    verdict = check(seal(body), Rows(rows))
    assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
    assert verdict.data_compared
    alone = check(seal(body))
    assert alone.accepted
    assert "not checked" in alone.reason
    stated = body["data"]
    for key, forged in (
        ("psi_max", stated["psi_max"] * (1 - 2.0**-26)),
        ("psi_max", 0.0),
        ("psi_max", 1.0000000000000002),
        ("expected_sample_size", [x * (1 + 1e-6) for x in stated["expected_sample_size"]]),
        ("expected_sample_size", [x * (1 - 1e-6) for x in stated["expected_sample_size"]]),
        ("records", 49),
        ("records", 51),
        ("columns", 3),
        ("nonce", "00" * 32),
        ("commitment", "00" * 32),
    ):
        assert_refused(check(seal(with_change(body, put("data", key, forged))), Rows(rows)))


@pytest.mark.parametrize("size", [0.5, 2.0**-20])
def test_an_expected_sample_size_may_be_off_by_what_the_rule_falls_short_and_no_more(size: float) -> None:
    """A bound of the loss in floats lies within 2^-39 above it, and the weight within 2^-39 below the largest."""
    allowed, little = mpmath.mpf(2) ** -39, mpmath.mpf(2) ** -41
    with mpmath.workdps(60):
        least = 1 / largest_weight(size / 2, Fraction(1))
        most = (1 + allowed) / largest_weight(size / 2 * (1 + allowed), Fraction(1))
        inside = [float(least * (1 + little)), float(most * (1 - little))]
        outside = [float(least * (1 - little)), float(most * (1 + little))]
    body = owner(build(laplace(2), 1), [[size]], "clip")
    for total in inside:
        verdict = check(seal(with_change(body, put("data", "expected_sample_size", [total, total]))), Rows([[size]]))
        assert verdict.data_compared, verdict.reason
    for total in outside:
        stated = with_change(body, put("data", "expected_sample_size", [total, total]))
        assert_refused(check(seal(stated), Rows([[size]])), "expected sample size")


def test_other_data_are_refused() -> None:
    rows = some_rows(2.0)
    body = owner(build(laplace(2), 1), rows, "clip")
    changes: tuple[Callable[[list[list[float]]], object], ...] = (
        lambda rows: rows.reverse(),
        lambda rows: rows.pop(),
        lambda rows: rows[1].__setitem__(0, -0.0),
        lambda rows: rows[0].__setitem__(0, math.nextafter(rows[0][0], 9)),
        lambda rows: rows[0].__setitem__(2, math.nan),
        lambda rows: rows[0].__setitem__(2, math.inf),
    )
    for change in changes:
        other = copy.deepcopy(rows)
        change(other)
        assert_refused(check(seal(body), Rows(other)))
    assert_refused(check(seal(with_change(body, put("data", "outside", "none"))), Rows(rows)), "outside the domain")
    assert_refused(check(seal(with_change(body, put("data", "outside", "drop"))), Rows(rows)), "expected sample size")


def test_a_largest_psi_above_the_target_needs_no_data_to_be_refused() -> None:
    body = owner(build(laplace(2), 1), some_rows(2.0), "clip")
    forged = with_change(body, put("data", "psi_max", 1.0000000000000002))
    assert_refused(check(seal(forged)), "exceeds the target")


def test_without_a_domain_a_record_that_cannot_be_drawn_is_told() -> None:
    rows = [[0.5, 0.1, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]]
    body = owner(build(laplace(2), 1, radius=None), [rows[0]], "none")
    assert check(seal(body), Rows(rows[:1])).data_compared
    both = owner(build(laplace(2), 1, radius=None), rows, "none")
    assert_refused(check(seal(both), Rows(rows)), "loses more than the target at weight 1")


@pytest.mark.slow
def test_a_large_table_is_compared_with_work_that_grows_by_records(counted: Counted) -> None:
    source = random.Random(0)
    rows = [[source.random() / 20 for _ in range(8)] for _ in range(1_000)]
    body = owner(build(laplace(2), 1), rows, "clip")
    content = seal(body)
    verdict, calls = counted(lambda: check(content, Rows(rows)))
    assert verdict.data_compared
    assert calls < CALLS_PER_RECORD * len(rows)

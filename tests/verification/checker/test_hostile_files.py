"""Files made to hang, exhaust or mislead the checker: each gets its verdict in bounded time and memory."""

from __future__ import annotations

import hashlib
import math
import resource
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker import LARGEST_FILE, Budget, Verdict, check
from certdp.verification.checker.budget import PER_BYTE
from certdp.verification.checker.intervals import Arithmetic
from tests.support.forgeries import Body, seal

SECONDS = 60  # of the processor, that the system grants
UNITS_PER_CALL = 15  # of work, for every function that is called, of Python or C
MEMORY = 2 * 2**30
W, NORM = ["weight"], ["norm", "2"]
ONE, HALF = ["constant", "1"], ["constant", "1/2"]


def plugin(name: str) -> Body:
    own = {"name": name, "version": "1", "distribution": "elsewhere", "evidence": "proved", "citation": "none"}
    return own | {"options": {}}


def assumed(**values: str) -> list[Body]:
    return [{"name": name.replace("_", " "), "value": value} for name, value in values.items()]


def sampled(loss: Any, rate: Any, precision: int = 64) -> Body:
    """A profile of draws that binary64 holds, on the ball of radius 1."""
    spent: Any = loss
    profile = {
        "remove": ["log1p", ["multiply", rate, ["expm1", spent]]],
        "add": [
            "subtract",
            ["constant", "0"],
            ["log1p", ["multiply", rate, ["expm1", ["subtract", ["constant", "0"], spent]]]],
        ],
    }
    domain = {"norm": "2", "radius": "1", "dimension": None}
    return {
        "format": "certdp-certificate/1",
        "kind": "sampled-pure-profile",
        "audience": "public",
        "theorem": "IS Theorem 6",
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "pure",
            "profile": profile,
            "supremum": {"domain": domain, "lower": None, "upper": 1.5, "maximiser": None},
        },
        "inputs": {"loss": loss, "rate": rate, "weighted": False, "rounding": "0", "released_cost": "0"},
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "assumptions": assumed(evidence_of_mechanism_m="proved", evidence_of_sampler_s="proved", norm="2", radius="1"),
        "precision": precision,
        "versions": {},
        "data": None,
    }


def composed(
    part: Body, count: int = 1, method: str = "pure", theorem: str = "IS Theorem 6 and basic composition"
) -> Body:
    names = [f"part {number}: " for number in range(1, count + 1)]
    told = [
        {"name": f"{place}{name}", "value": value}
        for place in names
        for name, value in (
            ("evidence of mechanism m", "proved"),
            ("evidence of sampler s", "proved"),
            ("releases", f"{part['steps']}, each on a fresh sample"),
        )
    ]
    domain = {"norm": "2", "radius": "1", "dimension": None}
    return {
        "format": "certdp-certificate/1",
        "kind": "composed-approximate",
        "audience": "public",
        "theorem": theorem,
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "approximate",
            "epsilon": "1",
            "delta": "0",
            "domain": domain,
        },
        "parts": [part] * count,
        "released_cost": "0",
        "method": {"name": method},
        "assumptions": told + assumed(norm="2", radius="1"),
        "versions": {},
    }


def part(parameter: Any, cover: Any, steps: int = 1, rate: Any = HALF) -> Body:
    return {
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "loss": {"family": "pure", "parameter": parameter, "relation": "add-remove"},
        "rate": rate,
        "weighted": False,
        "rounding": "0",
        "resample": "each",
        "steps": steps,
        "cover": cover,
    }


def balanced(operation: str, leaves: list[Any]) -> Any:
    while len(leaves) > 1:
        pairs = [[operation, *leaves[place : place + 2]] for place in range(0, len(leaves) - 1, 2)]
        leaves = pairs + leaves[len(leaves) - len(leaves) % 2 :]
    return leaves[0]


def many_series(count: int) -> Any:
    return balanced(
        "add", [["log1p", ["multiply", ["constant", f"1/{10**5 + place}"], NORM]] for place in range(count)]
    )


def along_a_curve(terms: int, precision: int = 64, over: Any = None) -> Body:
    """100·terms less products that are 0 along a curve, near which only a fine subdivision tells them from above."""
    other = ["norm", "1"]

    def one(place: int) -> Any:
        middle = ["constant", str(Fraction(place + 10**6, 2 * 10**6))]
        left, right = ["subtract", other, middle], ["subtract", middle, other]
        return ["divide", ["multiply", left, right], over] if over else ["multiply", left, right]

    products = balanced("add", [one(place) for place in range(terms)])
    body = sampled(["add", ["constant", str(100 * terms)], products], HALF, precision)
    body["claim"]["supremum"]["domain"]["dimension"] = 64
    body["claim"]["supremum"]["upper"] = 100 * terms - math.log(2) + 1e-11
    body["assumptions"] += assumed(dimension="64")
    return body


def hard_to_bound(exponent: int) -> Any:
    """1 less a sum of squares that only a fine subdivision tells from 0."""
    wave = ["subtract", NORM, ["power", NORM, "2"]]
    bump = ["multiply", ["subtract", wave, ["constant", "1/4"]], ["subtract", wave, ["constant", "1/4"]]]
    return ["add", ["constant", "1"], ["minimum", ["power", bump, str(exponent)], ["multiply", bump, ["exp", NORM]]]]


DRAWN = "1/2251799813685248"
"""The rounding that drawing takes, 4/2^53."""


def long(number: int, size: Fraction = Fraction(1)) -> str:
    """One of many numbers near `size`, of some 690 digits over 690."""
    digits = 10 ** (680 - len(str(size)))
    return str(size * Fraction(digits + number * digits // 2048 + 1, digits + 7 * number + 3))


def leaf(parameter: str, rate: str = "1") -> Body:
    return {"parameter": parameter, "rate": rate}


def long_parts(
    family: str, count: int, rate: str, resample: str, steps: int, size: Fraction, split: int = 0
) -> list[Body]:
    """Parts whose losses have hundreds of digits, the first `split` of them with two cells of the domain."""
    parts = []
    for number in range(count):
        loss = ["multiply", ["constant", long(number, size)], NORM]
        more, above = size * Fraction(101, 100), str(min(Fraction(rate) * Fraction(101, 100), Fraction(1)))
        cover: Any = leaf(long(number, more), above)
        if number < split:
            below = leaf(long(number + 99, more), above)
            cover = {"coordinate": "norm(2)", "at": "1/2", "below": below, "above": cover}
        one = part(loss, cover, steps, ["constant", rate])
        one["loss"]["family"] = family
        one |= {"resample": resample, "rounding": DRAWN}
        parts.append(one)
    return parts


def watched(content: bytes, budget: Budget) -> tuple[Verdict, int, int]:
    """The verdict, the work that was counted, and how many functions were called."""
    calls, before = 0, budget.left

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        verdict = check(content, None, budget)
    finally:
        sys.setprofile(None)
    return verdict, before - budget.left, calls


def whole_run(parts: list[Body], method: Body, theorem: str, epsilon: str = "1", delta: str = "1/2") -> Body:
    body = composed(parts[0], 1, "pure", theorem)
    body["method"], body["parts"] = method, parts
    body["claim"] |= {"epsilon": epsilon, "delta": delta}
    told = []
    for number, one in enumerate(parts, 1):
        way = "on one sample" if one["resample"] == "once" else "each on a fresh sample"
        told += [
            {"name": f"part {number}: evidence of mechanism m", "value": "proved"},
            {"name": f"part {number}: evidence of sampler s", "value": "proved"},
            {"name": f"part {number}: releases", "value": f"{one['steps']}, {way}"},
            {"name": f"part {number}: relative rounding of probability and weight", "value": DRAWN},
        ]
    body["assumptions"] = told + assumed(norm="2", radius="1")
    return body


def on_line(parts: list[Body], places: int, step: str = "1/100", real_part: str = "1") -> Body:
    side = {"real_part": real_part, "step": step, "places": places, "dither": "0"}
    method = {"name": "loss-distribution", "remove": side, "add": side}
    return whole_run(parts, method, "Poisson summation of the moments of the privacy loss")


def at_order(parts: list[Body], order: str) -> Body:
    side = {"order": order, "ratio": "1/7"}
    theorem = "Renyi composition and Asoodeh et al. 2021, Theorem 3"
    return whole_run(parts, {"name": "renyi", "remove": side, "add": side}, theorem, "100")


def closed_form(parts: list[Body], epsilon: str) -> Body:
    theorem = "hockey-stick divergence of the dominating pair after sampling"
    return whole_run(parts, {"name": "hockey-stick"}, theorem, epsilon)


def keyed(scheme: Body, table: Any, reports: str, bits: int, subdivision: int = 0, share: int = 10) -> Body:
    """A release of keys with a growth of 1.1 or so, and an allowance of 2^-share."""
    certain = 1 << bits
    return {
        "format": "certdp-certificate/1",
        "kind": "keyed-approximate",
        "audience": "public",
        "theorem": {"keys": "PWS Section 4, Lemma 4.1", "rows": "PWS Section 5, Theorem 5.1"}[reports],
        "claim": {
            "unit": "element",
            "contributions": None,
            "relation": "add-remove",
            "notion": "approximate",
            "epsilon": "2",
            "delta": "1",
            "largest_frequency": None,
        },
        "inputs": {
            "scheme": scheme,
            "releases": 1,
            "reports": reports,
            "subdivision": subdivision,
            "bits": bits,
            "growth": str(certain + certain // 10),
            "allowance": str(max(2, certain >> share)),
            "table": table,
            "released_cost": {"epsilon": "0", "delta": "0"},
        },
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "assumptions": assumed(
            evidence_of_mechanism_m="proved",
            evidence_of_sampler_s="proved",
            unit_is_an_element="one occurrence of a key",
            coins_of_each_key="independent of those of all other keys",
        ),
        "versions": {},
    }


def rows(kept: list[int]) -> Body:
    return {"kept": list(map(str, kept)), "digest": "0" * 64, "then": "absent", "period": None}


def stated(further: Any) -> Body:
    """What is true, with something large in it that nothing rests on."""
    body: Body = sampled(["divide", NORM, ["constant", "3"]], HALF) | further
    return body


EXPENSIVE: dict[str, Callable[[], Body]] = {
    "64 parts with long numbers at thousands of places": lambda: on_line(
        long_parts("gaussian", 64, "1", "each", 1, Fraction(1, 10)), 40_000
    ),
    "64 parts with long numbers, in 64 combinations": lambda: on_line(
        long_parts("gaussian", 64, "1", "each", 1, Fraction(1, 10), 6), 2000
    ),
    "64 randomised responses at thousands of places": lambda: on_line(
        long_parts("pure", 64, "1/3", "each", 2**40, Fraction(1, 2**40)), 4000
    ),
    "nodes at thousands of places": lambda: on_line(
        long_parts("gaussian", 3, long(1, Fraction(1, 3)), "each", 9, Fraction(1, 2)), 20_000
    ),
    "nodes of many parts": lambda: on_line(
        long_parts("gaussian", 64, long(1, Fraction(1, 3)), "each", 9, Fraction(1, 2)), 500
    ),
    "a normal distribution far out, in 64 combinations": lambda: closed_form(
        long_parts("gaussian", 64, "1", "each", 1, Fraction(1, 10), 6), long(3, Fraction(24))
    ),
    "responses in 64 combinations": lambda: closed_form(
        long_parts("pure", 1, long(1, Fraction(1, 3)), "each", 19_000, Fraction(2**30)), "1"
    ),
    "binomial sums of Laplace releases": lambda: at_order(
        long_parts("laplace", 64, long(1, Fraction(1, 3)), "each", 1, Fraction(1, 3)), "1301/2"
    ),
    "binomial sums of responses on one sample": lambda: at_order(
        long_parts("pure", 60, long(1, Fraction(1, 3)), "once", 3, Fraction(1, 3)), "601/2"
    ),
    "integrals between whole orders": lambda: at_order(
        long_parts("gaussian", 64, long(1, Fraction(1, 3)), "each", 3, Fraction(1, 3)), "601/2"
    ),
    "rows without tokens": lambda: keyed({"name": "every-key"}, rows([3] * 300_000), "rows", 2),
    "rows of ever more pieces": lambda: keyed(
        {"name": "ppswor", "threshold": "1/3000", "power": "1"},
        rows([2**40 * n for n in range(1, 40_000)]),
        "rows",
        52,
        3,
        30,
    ),
    "rates of fractional powers": lambda: keyed(
        {"name": "ppswor", "threshold": "1/100000000", "power": "64/67"},
        rows(list(range(1, 200_000))),
        "rows",
        40,
    ),
    "a stretch of long units and fractional powers": lambda: keyed(
        {"name": "ppswor", "threshold": long(1, Fraction(1, 1000)), "power": "131/67"},
        {"segments": [{"kept_through": 2**50}], "then": "absent"},
        "keys",
        1100,
    ),
    "a stretch of rates that are cut off": lambda: keyed(
        {"name": "pps", "threshold": long(1, Fraction(1, 2**30)), "power": "63/64"},
        {"segments": [{"kept_through": 2**50}], "then": "absent"},
        "keys",
        100,
    ),
    "many listed rates": lambda: keyed(
        {"name": "listed-rates", "rates": ["1/2"] * 200_000}, {"segments": [], "then": "absent"}, "keys", 52
    ),
    "many long listed sizes": lambda: keyed(
        {"name": "ppswor", "threshold": long(1), "sizes": sorted((long(n) for n in range(5000)), key=Fraction)},
        rows([2**20] * 5000),
        "rows",
        52,
    ),
    "thousands of norms": lambda: sampled(
        balanced("add", [["norm", f"{place + 1}/{place}"] for place in range(2, 4000)]), HALF, 4096
    ),
    "a supremum along a curve": lambda: along_a_curve(1),
    "a supremum along a curve at the highest precision": lambda: along_a_curve(1, 4096),
    "a supremum along a curve, of hundreds of terms": lambda: along_a_curve(300),
    "a supremum along a curve, of quotients": lambda: along_a_curve(40, over=["add", NORM, ONE]),
    "a million assumptions": lambda: stated(
        {"assumptions": [{"name": f"{place}", "value": ""} for place in range(60_000)]}
    ),
    "a million versions": lambda: stated({"versions": {f"{place}": "" for place in range(150_000)}}),
    "a long name of a plugin": lambda: stated({"mechanism": plugin("m" * (2**22) + "!")}),
    "a long name of a distribution": lambda: stated(
        {"mechanism": plugin("m") | {"distribution": "a" + "-_." * (2**21) + "!"}}
    ),
    "thousands of series at the highest precision": lambda: sampled(many_series(1400), HALF, 4096),
    "a supremum that needs a fine subdivision": lambda: sampled(hard_to_bound(2), HALF),
    "many parts, each with a cover that takes long": lambda: composed(
        part(many_series(600), {"parameter": "1", "rate": "1/2"}), 24
    ),
    "more responses than may be summed": lambda: composed(
        part(HALF, {"parameter": "1/2", "rate": "1/2"}, 2**53),
        1,
        "hockey-stick",
        "hockey-stick divergence of the dominating pair after sampling",
    ),
    "a tower of powers": lambda: sampled(
        ["power", ["power", ["power", ["add", ONE, NORM], "4096"], "4096"], "-4096"], HALF
    ),
    "a tower of exponentials": lambda: sampled(["exp", ["exp", ["exp", ["exp", ["exp", NORM]]]]], HALF),
    "a product of thousands": lambda: sampled(
        balanced("multiply", [["add", NORM, ["constant", f"1/{place}"]] for place in range(1, 1200)]), HALF
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPENSIVE)
def test_expensive_content_gets_its_verdict(name: str) -> None:
    content = seal(EXPENSIVE[name]())
    assert len(content) < LARGEST_FILE
    verdict, spent, calls = watched(content, Budget(PER_BYTE * len(content) + 100_000_000))
    assert not verdict.reason.startswith("the check failed"), verdict.reason
    assert calls < spent / UNITS_PER_CALL, "more is done than is counted"


@pytest.mark.soundness
@pytest.mark.parametrize("name", EXPENSIVE)
def test_expensive_content_gets_its_verdict_with_the_whole_budget(name: str) -> None:
    budget = Budget()
    verdict = check(seal(EXPENSIVE[name]()), None, budget)
    assert not verdict.reason.startswith("the check failed"), verdict.reason
    assert budget.left >= 0 or not verdict.accepted


def test_numbers_that_enter_loops_are_short() -> None:
    arithmetic = Arithmetic(192)
    for number in (LONG := Fraction(long(5))), 1 / LONG, Fraction(0), Fraction(1), Fraction(1, 3):
        above = arithmetic.above(number)
        assert number <= above <= number * (1 + Fraction(1, 2**190))
        assert above.numerator.bit_length() <= 192
        assert above.denominator.bit_count() == 1


TRUE = seal(sampled(["divide", NORM, ["constant", "3"]], HALF))


def test_what_is_forged_below_is_true() -> None:
    assert check(TRUE).accepted


def with_digest(text: bytes) -> bytes:
    """Other content under a digest of its own, as a forger writes it."""
    head = text.partition(b',\n "digest"')[0] + b"\n}"
    return head[:-2] + b',\n "digest": "sha256:' + hashlib.sha256(head).hexdigest().encode() + b'"\n}\n'


def replaced(old: bytes, new: bytes) -> bytes:
    assert old in TRUE
    return with_digest(TRUE.replace(old, new, 1))


SPELLED: dict[str, Callable[[], bytes]] = {
    "NaN": lambda: replaced(b'"upper": 1.5', b'"upper": NaN'),
    "Infinity": lambda: replaced(b'"upper": 1.5', b'"upper": Infinity'),
    "-Infinity": lambda: replaced(b'"lower": null', b'"lower": -Infinity'),
    "an infinite exponent": lambda: replaced(b'"upper": 1.5', b'"upper": 1e999999999'),
    "an exponent": lambda: replaced(b'"upper": 1.5', b'"upper": 15e-1'),
    "more digits": lambda: replaced(b'"upper": 1.5', b'"upper": 1.50'),
    "millions of digits": lambda: replaced(b'"upper": 1.5', b'"upper": ' + b"7" * (7 * 2**20)),
    "millions of digits behind the point": lambda: replaced(b'"upper": 1.5', b'"upper": 1.' + b"7" * (7 * 2**20)),
    "an integer of 18 digits": lambda: replaced(b'"precision": 64', b'"precision": 100000000000000064'),
    "the same key twice": lambda: replaced(b'"precision": 64', b'"precision": 64,\n "precision": 64'),
    "a second claim": lambda: replaced(b' "data": null', b' "claim": {},\n "data": null'),
    "keys in another order": lambda: replaced(
        b' "data": null,\n "format": "certdp-certificate/1"', b' "format": "certdp-certificate/1",\n "data": null'
    ),
    "a comment": lambda: replaced(b' "data": null', b' // none\n "data": null'),
    "a comma too many": lambda: replaced(b' "versions": {}', b' "versions": {},'),
    "a byte order mark": lambda: b"\xef\xbb\xbf" + TRUE,
    "UTF-16": lambda: TRUE.decode().encode("utf-16"),
    "two bytes for one": lambda: TRUE.replace(b"IS Theorem", b"\xc9\xd3 Theorem"),
    "an overlong null": lambda: replaced(b'"none"', b'"\xc0\x80"'),
    "a null byte": lambda: replaced(b'"none"', b'"no\x00ne"'),
    "half a surrogate pair": lambda: replaced(b'"citation": "none"', b'"citation": "\\ud800"'),
    "half a surrogate pair as a key": lambda: replaced(b'"versions": {}', b'"versions": {\n  "\\udc00": ""\n }'),
    "a letter that needs no escape": lambda: replaced(b'"none"', b'"\\u006eone"'),
    "digits of another script": lambda: replaced(b'"constant",\n    "3"', b'"constant",\n    "\\u0663"'),
    "an object that is deep": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b'{"a": ' * 10**5 + b"{}" + b"}" * 10**5
    ),
    "an array that is deep": lambda: replaced(b'"versions": {}', b'"versions": ' + b"[" * 10**5 + b"]" * 10**5),
    "deep and wide": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b"[" * 250 + b"0," * 3 * 10**6 + b"0" + b"]" * 250
    ),
    "brackets in strings that close what is open": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b'["]]]]",' * 10**4 + b"0" + b"]" * 10**4
    ),
    "only brackets": lambda: b"[" * LARGEST_FILE,
    "only quotes": lambda: b'"' * LARGEST_FILE,
    "only backslashes in a string": lambda: b'"' + b"\\" * (LARGEST_FILE - 1),
    "only escaped quotes": lambda: b'"' + b'\\"' * (LARGEST_FILE // 2 - 1),
    "escaped quotes and lines": lambda: b'"\\"\\\n' * (LARGEST_FILE // 5),
    "escaped quotes in an object": lambda: replaced(b'"none"', b'"' + b'\\"' * (LARGEST_FILE // 2 - 5000)),
    "wide": lambda: b'{"a": [' + b"0," * (LARGEST_FILE // 2 - 100) + b"0]}",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPELLED)
def test_other_spellings_are_refused(name: str) -> None:
    content = SPELLED[name]()
    verdict, spent, calls = watched(content, Budget())
    assert calls < spent / UNITS_PER_CALL + 10_000, "more is done than is counted"
    assert not verdict.accepted
    assert not verdict.reason.startswith("the check failed"), verdict.reason


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize(
    "name", ["deep and wide", "wide", "an array that is deep", "millions of digits", "huge", "endless"]
)
def test_files_are_refused_within_limits_of_time_and_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    if name == "endless":
        path = Path("/dev/stdin")
    elif name == "huge":
        with path.open("wb") as file:
            file.write(TRUE)
            file.truncate(100 * 10**6)
    else:
        path.write_bytes(SPELLED[name]())
    with Path("/dev/zero").open("rb") as zeros:
        run = subprocess.run(
            [sys.executable, "-m", "certdp.verification.checker", str(path)],
            stdin=zeros,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limited,
        )
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("refused: ")

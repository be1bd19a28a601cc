"""What a run's parts may be, each refused for the very reason: a rate, a loss, a relation, a method, many cells."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker import Budget, check
from certdp.verification.checker.approximate import run
from certdp.verification.checker.approximate.cover import Corner
from certdp.verification.checker.approximate.methods import METHODS
from certdp.verification.checker.domain import Domain
from certdp.verification.checker.verdict import Refused
from tests.support.forgeries import body_of, seal

STORED = Path(__file__).parents[3] / "answers/certificates"
NOISE = body_of((STORED / "gaussian-all.json").read_bytes())
WEIGHT = ["weight"]


def number(value: Any) -> list[Any]:
    return ["constant", str(value)]


def part(**changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(NOISE["parts"][0]), **changed}


def loss(parameter: Any, relation: str = "add-remove") -> dict[str, Any]:
    return {"family": "gaussian", "parameter": parameter, "relation": relation}


def proven(stated: dict[str, Any], relation: str = "add-remove") -> list[Corner]:
    claim = {**NOISE["claim"], "relation": relation}
    return run._prove_part(stated, "parts[0]", claim, Domain.of(claim["domain"]), Budget())


CELL = {"parameter": "8", "rate": "1"}


@pytest.mark.parametrize(
    ("rate", "parameter"),
    [
        (["divide", number(1), WEIGHT], WEIGHT),
        (["rounding", "rate"], WEIGHT),
        (["rounding", "rate"], ["multiply", WEIGHT, ["rounding", "rate"]]),
        (number(1), ["rounding", "weight"]),
        (number(1), ["multiply", WEIGHT, ["maximum", number(0), ["rounding", "rate"]]]),
    ],
)
def test_a_part_is_about_norms_and_the_weight(rate: Any, parameter: Any) -> None:
    proven(part(rate=number(1), loss=loss(["multiply", WEIGHT, ["norm", "2"]]), cover=CELL))
    with pytest.raises(Refused, match="the rate may use norms alone, the loss norms and the weight"):
        proven(part(rate=rate, loss=loss(parameter), cover=CELL))


@pytest.mark.parametrize(("rate", "weighted"), [("1/2", False), ("1", True), ("1/2", True), ("0", False)])
def test_under_replace_every_record_is_drawn_without_weight(rate: str, weighted: bool) -> None:
    stated = part(loss=loss(number(1), "replace"), cover=CELL)
    proven(stated, "replace")
    with pytest.raises(Refused, match="under replace nothing but drawing every record is proven"):
        proven({**stated, "rate": number(rate), "weighted": weighted}, "replace")
    proven(part(rate=number(rate), weighted=weighted, loss=loss(number(1)), cover=CELL))


@pytest.mark.parametrize(("of_part", "of_claim"), [("replace", "add-remove"), ("add-remove", "replace")])
def test_a_loss_is_about_the_change_of_the_claim(of_part: str, of_claim: str) -> None:
    with pytest.raises(Refused, match="another change of the data"):
        proven(part(loss=loss(number(1), of_part), cover=CELL), of_claim)


@pytest.mark.parametrize(
    "stated",
    [None, [], ["renyi"], "renyi", {}, {"name": None}, {"name": 3}, {"name": ["renyi"]}, {"name": "reny"}],
    ids=str,
)
def test_a_method_is_one_of_those_that_are_known(stated: Any) -> None:
    with pytest.raises(Refused, match=f"the method must be one of {', '.join(METHODS)}"):
        run._method({"method": stated, "theorem": METHODS["renyi"].theorem}, Budget())
    assert not check(seal({**NOISE, "method": stated})).accepted


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_one_theorem(name: str) -> None:
    line = {"real_part": "1", "step": "1", "places": 2, "dither": "1"}
    order = {"order": "2", "ratio": None}
    given: dict[str, dict[str, Any]] = {
        "renyi": {"remove": order, "add": order},
        "renyi-filter": order,
        "loss-distribution": {"remove": line, "add": line},
    }
    stated = {"name": name, **given.get(name, {})}
    assert run._method({"method": stated, "theorem": METHODS[name].theorem}, Budget()).name == name
    for other in {method.theorem for method in METHODS.values()} - {METHODS[name].theorem}:
        with pytest.raises(Refused, match="the theorem of method"):
            run._method({"method": stated, "theorem": other}, Budget())


@pytest.mark.parametrize(("cells", "admitted"), [((64,), True), ((8, 8), True), ((65,), False), ((5, 13), False)])
def test_cells_combine_in_no_more_ways_than_can_be_checked(cells: tuple[int, ...], admitted: bool) -> None:
    corners = [[Corner(Fraction(k + 1), Fraction(1)) for k in range(many)] for many in cells]
    combinations = run._combinations([part()] * len(cells), corners)
    if admitted:
        assert len(list(combinations)) == 64
        return
    with pytest.raises(Refused, match="more than 64 ways"):
        list(combinations)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"parts": []}, "from 1 to 64 runs"),
        ({"parts": NOISE["parts"] * 65}, "from 1 to 64 runs"),
        ({"released_cost": NOISE["claim"]["epsilon"]}, "released"),
        ({"theorem": METHODS["renyi"].theorem}, "the theorem of method"),
        ({"claim": {**NOISE["claim"], "delta": "11/10"}}, "claim.delta is no probability"),
        ({"claim": {**NOISE["claim"], "domain": None}}, "domain"),
    ],
)
def test_a_run_that_is_none_is_refused(change: dict[str, Any], reason: str) -> None:
    assert check(seal(NOISE)).accepted
    verdict = check(seal({**NOISE, **change}))
    assert not verdict.accepted
    assert reason in verdict.reason

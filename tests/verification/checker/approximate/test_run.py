"""What a run's parts may be, each refused for the very reason: a rate, a loss, a relation, a method, many cells."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker import Budget, check
from certdp.verification.checker.approximate import claims, run
from certdp.verification.checker.approximate.changes import ONE_RECORD
from certdp.verification.checker.approximate.cover import Corner
from certdp.verification.checker.approximate.factors import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    LAPLACE,
    PURE,
    RESPONSE_OF_MANY,
    Factor,
    Lattice,
)
from certdp.verification.checker.approximate.finite import MOST_CELLS
from certdp.verification.checker.approximate.methods import METHODS
from certdp.verification.checker.approximate.selection import PROOFS
from certdp.verification.checker.approximate.strata import Layer
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


def proven(stated: dict[str, Any]) -> list[Corner]:
    return run._prove_layer(Layer(stated, "parts[0]", Domain.of(NOISE["claim"]["domain"])), Budget())


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
def test_of_a_loss_about_replaced_records_every_record_is_drawn_without_weight(rate: str, weighted: bool) -> None:
    stated = part(loss=loss(number(1), "replace"), cover=CELL)
    proven(stated)
    with pytest.raises(Refused, match="of a loss about replaced records nothing but drawing every record is proven"):
        proven({**stated, "rate": number(rate), "weighted": weighted})
    proven(part(rate=number(rate), weighted=weighted, loss=loss(number(1)), cover=CELL))


@pytest.mark.parametrize(
    "stated",
    [None, [], ["renyi"], "renyi", {}, {"name": None}, {"name": 3}, {"name": ["renyi"]}, {"name": "reny"}],
    ids=str,
)
def test_a_method_is_one_of_those_that_are_known(stated: Any) -> None:
    with pytest.raises(Refused, match=f"the method must be one of {', '.join(PROOFS)}"):
        claims._method(stated, Budget())
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
    assert claims._method(stated, Budget()).name == name
    for other in {method.theorem for method in METHODS.values()} - {METHODS[name].theorem}:
        verdict = check(seal({**NOISE, "method": stated, "theorem": other}))
        assert f"the theorem of this method is {METHODS[name].theorem!a}" in verdict.reason


@pytest.mark.parametrize(("cells", "admitted"), [((64,), True), ((8, 8), True), ((65,), False), ((5, 13), False)])
def test_cells_combine_in_no_more_ways_than_can_be_checked(cells: tuple[int, ...], admitted: bool) -> None:
    corners = [[Corner((Fraction(k + 1),), Fraction(1)) for k in range(many)] for many in cells]
    combinations = run._combinations(
        [part()] * len(cells), corners, [ONE_RECORD] * len(cells), [None] * len(cells), Budget()
    )
    if admitted:
        assert len(list(combinations)) == 64
        return
    with pytest.raises(Refused, match="more than 64 ways"):
        list(combinations)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"parts": []}, "from 1 to 10000 runs"),
        ({"parts": NOISE["parts"] * 10_001}, "from 1 to 10000 runs"),
        ({"released_cost": NOISE["claim"]["epsilon"]}, "released"),
        ({"theorem": METHODS["renyi"].theorem}, "the theorem of this method"),
        ({"claim": {**NOISE["claim"], "delta": "11/10"}}, "claim.delta is no probability"),
        ({"claim": {**NOISE["claim"], "domain": None}}, "has a name that proofs use"),
    ],
)
def test_a_run_that_is_none_is_refused(change: dict[str, Any], reason: str) -> None:
    assert check(seal(NOISE)).accepted
    verdict = check(seal({**NOISE, **change}))
    assert not verdict.accepted
    assert reason in verdict.reason


MOST = 2**53
LATTICE = {"family": DISCRETE_GAUSSIAN, "relation": "add-remove", "variance": "5", "dimension": 1, "spread": "1"}


@pytest.mark.parametrize(("value", "admitted"), [(0, False), (1, True), (MOST, True), (MOST + 1, False)])
def test_releases_and_coordinates_are_from_1_to_2_to_53(value: int, admitted: bool) -> None:
    read: list[tuple[Any, Any]] = [
        (run._PARTS, [part(steps=value)]),
        (run._loss, {**LATTICE, "parameter": number(1), "dimension": value}),
    ]
    for shape, stated in read:
        if admitted:
            shape(stated, "certificate")
            continue
        with pytest.raises(Refused, match=rf"must be an integer in \[1, {MOST}\]"):
            shape(stated, "certificate")


STEPS = {"family": DISCRETE_LAPLACE, "relation": "add-remove", "unit": "2/7"}
MANY = {"family": RESPONSE_OF_MANY, "relation": "replace", "categories": 3}


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (STEPS, None),
        ({**STEPS, "unit": "0"}, "unit must be above 0"),
        ({**STEPS, "unit": "-2/7"}, "unit must be above 0"),
        ({**STEPS, "unit": 1}, "unit must be"),
        ({**STEPS, "categories": 3}, "missing or unknown keys"),
        ({**STEPS, "family": LAPLACE}, "missing or unknown keys"),
        (MANY, None),
        ({**MANY, "categories": 2}, None),
        ({**MANY, "categories": 1}, rf"must be an integer in \[2, {MOST}\]"),
        ({**MANY, "categories": MOST}, None),
        ({**MANY, "categories": MOST + 1}, rf"must be an integer in \[2, {MOST}\]"),
        ({**MANY, "categories": "3"}, "must be an integer"),
        ({**MANY, "categories": 3.0}, "must be an integer"),
        ({**MANY, "unit": "1"}, "missing or unknown keys"),
        ({**MANY, "family": PURE}, "missing or unknown keys"),
        ({key: MANY[key] for key in ("family", "relation")}, "missing or unknown keys"),
    ],
)
def test_what_a_family_states_beside_its_parameter(stated: dict[str, Any], reason: str | None) -> None:
    def read() -> None:
        run._loss({**stated, "parameter": number(1)}, "parts[0].loss")

    if reason is None:
        read()
        return
    with pytest.raises(Refused, match=reason):
        read()


@pytest.mark.parametrize("stated", [None, [], "gaussian", 3, True], ids=str)
def test_a_loss_is_an_object(stated: Any) -> None:
    with pytest.raises(Refused, match="parts must be an object"):
        run._loss(stated, "parts")


def many(parts: list[dict[str, Any]], **claimed: Any) -> dict[str, Any]:
    """A run of others' parts, whose losses and rates are taken as they state them."""
    theirs = {"name": "theirs", "distribution": "acme", "options": {}}
    named = [
        {**each, **{role: {**each[role], **theirs} for role in ("mechanism", "sampler")}} for each in map(dict, parts)
    ]
    way = {"once": "on one sample", "each": "each on a fresh sample"}
    told = {"norm": "2", "radius": "1"} if claimed.get("domain", True) else {}
    for place, each in enumerate(named, 1):
        told |= {f"part {place}: evidence of {role} theirs": "proved" for role in ("mechanism", "sampler")}
        told[f"part {place}: releases"] = f"{each['steps']}, {way[each['resample']]}"
    assumptions = [{"name": name, "value": value} for name, value in told.items()]
    return {**NOISE, "claim": {**NOISE["claim"], **claimed}, "parts": named, "assumptions": assumptions}


def test_as_many_parts_as_admitted_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_MOST_PARTS", 64)
    assert check(seal(many([part(steps=1)] * 64, epsilon="100"))).accepted
    assert not check(seal(many([part(steps=1)] * 64))).accepted
    assert "from 1 to 64 runs" in check(seal(many([part(steps=1)] * 65, epsilon="100"))).reason


def test_equal_releases_add_up_and_others_stay_apart() -> None:
    """About one record: what loses nothing is left out, and releases on one sample are as many as they are."""
    drawn, once = Corner((Fraction(2),), Fraction(1, 2)), {"resample": "once"}
    parts = [part(steps=steps) for steps in (3, 4, 5, 6)] + [part(steps=2, **once), part(steps=7, **once)]
    corners = [[drawn], [drawn._replace(rate=Fraction(1, 3))], [drawn], [Corner((Fraction(0),), Fraction(1))]]
    (found,) = run._combinations(parts, [*corners, [drawn], [drawn]], [ONE_RECORD] * 6, [None] * 6, Budget())
    stated = [(factor.rate >= Fraction(1, 2), factor.together, factor.samples) for factor in found]
    assert stated == [(True, 1, 8), (False, 1, 4), (True, 2, 1), (True, 7, 1)]
    assert {factor.parameter for factor in found} == {2}


def test_at_epsilon_0_delta_may_be_1() -> None:
    """Ten releases are one of √10/2 standard deviations: the total variation is 2Φ(√10/4) − 1 = 0.57080…"""
    for delta in ("1", "571/1000"):
        assert check(seal(many([part()], epsilon="0", delta=delta))).accepted
    assert "not proven" in check(seal(many([part()], epsilon="0", delta="57/100"))).reason


def test_a_run_without_a_domain_is_of_every_record() -> None:
    weighted = part(loss=loss(WEIGHT), cover={"parameter": "1/2", "rate": "1"}, steps=1)
    assert "larger loss" in check(seal(many([weighted], domain=None))).reason
    verdict = check(seal(many([{**weighted, "cover": {"parameter": "1", "rate": "1"}}], domain=None)))
    assert verdict.accepted
    assert verdict.claim is not None
    assert verdict.claim.domain == "every record"
    assert "cost every record at most" in verdict.reason
    verdict = check(seal(many([part()])))
    assert verdict.claim is not None
    assert verdict.claim.domain == "norm(2) <= 1"
    assert "cost every record with norm(2) <= 1 at most" in verdict.reason


NORM = ["norm", "2"]
FLAT = part(loss=loss(number("1/2")), cover={"parameter": "1/2", "rate": "1"}, steps=1)
BY_LOSS = part(loss=loss(NORM), cover={"parameter": "1", "rate": "1"}, steps=1)
BY_RATE = part(
    loss=loss(number(1)),
    rate=NORM,
    cover={"parameter": "1", "rate": "1"},
    steps=1,
    rounding="1/1000000",
    resample="once",
)


@pytest.mark.parametrize("parts", [[BY_LOSS, FLAT], [FLAT, BY_LOSS], [FLAT, BY_RATE], [BY_LOSS], [FLAT]], ids=len)
def test_a_released_radius_is_the_largest_where_any_part_uses_norms(parts: list[dict[str, Any]]) -> None:
    """Proven at radius 1, it would be said of radii up to 2."""
    for said, admitted in (("within 1/2 to 1", True), ("within 1/2 to 2", parts == [FLAT])):
        body = many(parts, epsilon="50")
        body["assumptions"].append({"name": "domain.radius was released", "value": said})
        for place, each in enumerate(parts, 1):
            if each["rounding"] != "0":
                name = f"part {place}: relative rounding of probability and weight"
                body["assumptions"].append({"name": name, "value": each["rounding"]})
        verdict = check(seal(body))
        assert verdict.accepted == admitted, verdict.reason
        assert admitted or "domain.radius was released" in verdict.reason


def test_a_record_that_is_never_drawn_has_no_weight() -> None:
    stated = part(rate=number(0), weighted=True, loss=loss(WEIGHT), cover={"parameter": "1", "rate": "0"})
    assert proven(stated) == [Corner((Fraction(1),), Fraction(0))]
    with pytest.raises(Refused, match="larger loss"):
        proven({**stated, "cover": {"parameter": "999/1000", "rate": "0"}})


@pytest.mark.parametrize(
    ("resample", "rate", "together", "samples"),
    [
        ("once", "511/512", 7, 1),
        ("once", "0", 7, 1),
        ("once", "1", 1, 7),
        ("each", "511/512", 1, 7),
        ("each", "1", 1, 7),
    ],
)
def test_releases_share_a_sample_where_there_is_one(resample: str, rate: str, together: int, samples: int) -> None:
    corner = Corner((Fraction(3),), Fraction(rate))
    factor = run._factor(part(resample=resample, steps=7), corner)
    assert factor == Factor("gaussian", Fraction(3), Fraction(rate), together, samples)


def test_what_a_cell_states_is_rounded_up_and_stays_a_probability() -> None:
    tiny = Fraction(1, 3**200)
    for parameter, rate in ((1 / Fraction(3), tiny), (Fraction(2, 7), 1 - tiny), (Fraction(5), Fraction(1))):
        factor = run._factor(part(), Corner((parameter,), rate))
        assert parameter <= factor.parameter <= parameter * (1 + Fraction(1, 2**190))
        assert rate <= factor.rate <= min(rate * (1 + Fraction(1, 2**190)), Fraction(1))


def test_a_lattice_counts_standard_deviations() -> None:
    corner = Corner((Fraction(3),), Fraction(1, 2))
    for spread in ("1", "3/2", "9"):
        factor = run._factor(part(loss={**LATTICE, "spread": spread}), corner)
        lattice = Lattice(Fraction(5), 1, Fraction(spread))
        square = Fraction(9, 5)
        part_of_a_step = corner._replace(parameters=(Fraction(399, 100),))
        assert run._factor(part(loss={**LATTICE, "spread": spread}), part_of_a_step) == factor
        longer = run._factor(part(loss={**LATTICE, "spread": spread, "dimension": None}), part_of_a_step)
        assert longer.parameter**2 >= Fraction(399, 100) ** 2 / 5
        assert square <= factor.parameter**2 <= square * (1 + Fraction(1, 2**185))
        assert factor == Factor(DISCRETE_GAUSSIAN, factor.parameter, Fraction(1, 2), 1, 10, lattice)
    for spread in ("0", "1/2", "999999/1000000"):
        with pytest.raises(Refused, match="the spread of a loss must be at least 1"):
            run._factor(part(loss={**LATTICE, "spread": spread}), corner)


@pytest.mark.parametrize(
    ("parameter", "steps"),
    [("0", 0), ("99/100", 0), ("1", 1), ("399/100", 3), ("4", 4), (str(MOST_CELLS), MOST_CELLS)],
)
def test_of_steps_the_whole_part_counts(parameter: str, steps: int) -> None:
    stated = part(loss=STEPS)
    factor = run._factor(stated, Corner((Fraction(parameter),), Fraction(1)))
    whole = steps * Fraction(2, 7)
    assert whole <= factor.parameter <= whole * (1 + Fraction(1, 2**190))
    assert factor == Factor(DISCRETE_LAPLACE, factor.parameter, Fraction(1), 1, 10, steps=steps)
    assert factor.null == (not steps)


@pytest.mark.parametrize(("steps", "resample", "rate"), [(3, "once", "1/2"), (MOST_CELLS + 1, "each", "1")])
def test_of_too_many_steps_and_of_several_releases_on_a_sample_noise_counts(
    steps: int, resample: str, rate: str
) -> None:
    factor = run._factor(part(loss=STEPS, resample=resample), Corner((Fraction(steps),), Fraction(rate)))
    shift = steps * Fraction(2, 7) + Fraction(1, 49)
    assert shift <= factor.parameter <= shift * (1 + Fraction(1, 2**190))
    together, samples = (10, 1) if resample == "once" else (1, 10)
    assert factor == Factor(LAPLACE, factor.parameter, Fraction(rate), together, samples)


def test_responses_keep_their_categories_but_together_on_a_sample() -> None:
    corner = Corner((Fraction(3),), Fraction(1, 2))
    found = run._factor(part(loss=MANY), corner)
    assert found == Factor(RESPONSE_OF_MANY, Fraction(3), Fraction(1, 2), 1, 10, categories=3)
    assert run._factor(part(loss=MANY, resample="once"), corner) == Factor(PURE, Fraction(3), Fraction(1, 2), 10, 1)


@pytest.mark.parametrize(
    ("trees", "used"),
    [
        ((NORM,), True),
        ((number(1), NORM), True),
        ((["add", number(1), ["multiply", WEIGHT, NORM]], number(1)), True),
        ((number(1), WEIGHT), False),
        (("norm",), False),
        ((["add", "norm", number(1)],), False),
    ],
)
def test_norms_are_found_wherever_they_stand(trees: tuple[Any, ...], used: bool) -> None:
    assert run._uses_norms(*trees) == used

"""The checker's own formulas of losses and rates against what the plugins declare, and any other number refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import entry_points
from typing import Any

import mpmath
import pytest

from certdp.accounting.expressions import serialise
from certdp.plugins.contract.options import build, stated
from certdp.verification.certificates.approximate import StatedLoss, stated_losses
from certdp.verification.checker import declared
from certdp.verification.checker.approximate.factors import DISCRETE_LAPLACE, FAMILIES, RESPONSE_OF_MANY
from certdp.verification.checker.declared import hold_keyed, hold_mechanism, hold_rule, hold_sampler
from certdp.verification.checker.options import PLUGINS
from certdp.verification.checker.verdict import Refused

Options = dict[str, str]
STEP = {"noise_multiplier": "2", "clip": "3", "size": "1000", "batch": "10"}
LLOYD = {"clusters": "3", "scale_sum": "20", "radius": "2", "iterations": "5"}
MECHANISMS: list[tuple[str, Options]] = [
    ("laplace-sum", {"scale": "7/2"}),
    ("count", {"scale": "7/2"}),
    ("lp-sum", {"scale": "7/2", "norm": "2"}),
    ("lp-sum", {"scale": "7/2", "norm": "3/2"}),
    ("gaussian-sum", {"scale": "7/2"}),
    ("gaussian-sum", {"noise_multiplier": "7/2"}),
    ("discrete-laplace", {"scale": "8", "granularity": "1/2"}),
    ("discrete-gaussian", {"scale": "8", "granularity": "1/2"}),
    ("discrete-gaussian", {"scale": "8", "granularity": "1/2", "dimension": "1"}),
    ("discrete-gaussian", {"scale": "8", "granularity": "1/2", "dimension": "2"}),
    ("lloyd", {**LLOYD, "scale_count": "7"}),
    ("lloyd", {**LLOYD, "dimension": "3", "split": "derived"}),
    ("lloyd", {**LLOYD, "dimension": "3", "split": "published"}),
    ("randomised-response", {"categories": "4", "noise": "1/3"}),
    ("randomised-response", {"categories": "4", "epsilon": "3/2"}),
    ("randomised-response", {"categories": "2", "epsilon": "1/1000"}),
    ("randomised-response", {"categories": "2", "epsilon": f"1/{2**80}"}),  # the answer is uniform
    ("quantile-choice", {"quantile": "1/4", "scale": "7/2"}),
    ("quantile-choice", {"quantile": "1", "scale": "7/2", "shift": "-5/2"}),
    ("report-noisy-max", {"scale": "7/2"}),
    ("report-noisy-max", {"scale": "7/2", "noise": "laplace", "granularity": "1/3", "signed": "true"}),
    ("above-threshold", {"threshold": "-1/3", "threshold_scale": "7/2", "scale": "5"}),
    ("above-threshold", {"threshold": "8", "threshold_scale": "7/2", "scale": "5", "answers": "3", "signed": "true"}),
    ("dpis-step", STEP),
    ("dpis-step", {**STEP, "norm_sum": "40"}),
]
SAMPLERS: list[tuple[str, Options]] = [
    ("full", {}),
    ("poisson", {"rate": "3/10"}),
    ("poisson", {"rate": "3/10", "weighted": "true"}),
    ("importance", {"rate": "3/10", "norm": "2", "floor": "1/100"}),
    ("importance", {"rate": "3/10", "norm": "1"}),
    ("coreset", {"m": "10", "n": "1000", "mean_squared_norm": "3", "radius": "2"}),
    ("coreset", {"m": "10", "n": "1000", "mean_squared_norm": "3", "radius": "2", "mixing": "1/3"}),
    ("dpis", {"batch": "10", "norm_sum": "100", "clip": "2"}),
]


def plugin(role: str, name: str, options: Options) -> tuple[Any, dict[str, Any]]:
    """The plugin with these options, and what a certificate says of it."""
    (entry,) = entry_points(group=f"certdp.{role}s", name=name)
    made = build(entry.load(), role, options)
    version = made.about.version
    about = {"name": name, "version": version, "distribution": "certdp", "evidence": "proved", "options": stated(made)}
    return made, about


def other_numbers(tree: Any) -> Iterator[Any]:
    """The tree with one of its numbers doubled, or a little larger or smaller; or with the weight left out."""
    for place, item in enumerate(tree):
        others: list[Any] = []
        if isinstance(item, list):
            others = list(other_numbers(item))
        elif place and tree[0] in ("constant", "power"):
            others = [str(Fraction(item) * factor) for factor in (2, 1 + Fraction(1, 2**75), 1 - Fraction(1, 2**75))]
        if item == ["weight"]:
            others.append(["constant", "1"])
        for other in others:
            if other != item:  # 0 doubled is 0
                yield [*tree[:place], other, *tree[place + 1 :]]


def ids(case: Any) -> str:
    return case if isinstance(case, str) else ", ".join(f"{key}={value}" for key, value in case.items())


@pytest.mark.parametrize(("name", "options"), MECHANISMS, ids=ids)
def test_the_loss_of_a_mechanism_is_that_which_it_declares(name: str, options: Options) -> None:
    made, about = plugin("mechanism", name, options)
    for loss in stated_losses(made.loss):
        hold_to(loss, about)


def hold_to(loss: StatedLoss, about: dict[str, Any]) -> None:
    """Nothing but this loss is admitted, or another one that the plugin may state."""
    tree = serialise(loss.parameter)
    relation = "replace" if about["name"] == "randomised-response" else "add-remove"
    lattice = () if loss.lattice is None else (str(loss.lattice.variance), loss.lattice.dimension)
    beside = lattice or tuple(loss.constants.values())

    def hold(
        tree: Any, family: str = loss.family, relation: str = relation, beside: Any = beside, **changed: Any
    ) -> None:
        given: Any = {"families": (family,), "relation": relation, "domain": None, "beside": beside}
        hold_mechanism({**about, **changed}, tree, ["constant", "1"], **given)

    hold(tree)
    others = [(str(number), dimension) for number in ("1", "256", "257") for dimension in (None, 1, 2, 3)]
    for other in [*others, (), (2,), (3,), (4,), (5,), ("1",), ("1/16",), ("2/7",)]:
        if other != beside:
            with pytest.raises(Refused, match="loss stated"):
                hold(tree, beside=other)
    for family in {*FAMILIES, DISCRETE_LAPLACE, RESPONSE_OF_MANY} - {loss.family}:
        with pytest.raises(Refused, match="loss stated"):
            hold(tree, family)
    with pytest.raises(Refused, match="loss stated"):
        hold(tree, relation="replace" if relation == "add-remove" else "add-remove")
    with pytest.raises(Refused, match="evidence"):
        hold(tree, evidence="cited")
    found = [*other_numbers(tree), ["constant", "1"], ["log1p", ["constant", "-1/2"]], ["log1p", ["norm", "2"]]]
    for other in found:
        with pytest.raises(Refused, match=r"loss|odds of the true category"):
            hold(other)


@pytest.mark.parametrize(
    ("wrong", "tree"),
    [
        ("half of it", ["multiply", ["multiply", ["weight"], ["norm", "1"]], ["constant", "3/14"]]),
        ("q for max(q, 1 - q)", ["multiply", ["multiply", ["weight"], ["norm", "1"]], ["constant", "1/7"]]),
        ("that of the median", ["multiply", ["multiply", ["weight"], ["norm", "1"]], ["constant", "2/7"]]),
        ("another norm", ["multiply", ["multiply", ["weight"], ["norm", "2"]], ["constant", "3/7"]]),
        ("no weight", ["multiply", ["norm", "1"], ["constant", "3/7"]]),
        ("that of a sum", ["divide", ["multiply", ["weight"], ["norm", "1"]], ["constant", "7/2"]]),
    ],
)
def test_forged_losses_of_a_choice_are_refused(wrong: str, tree: Any) -> None:
    """Of the lower quartile at scale 7/2 each value costs 2·(3/4)/(7/2) = 3/7."""
    _, about = plugin("mechanism", "quantile-choice", {"quantile": "1/4", "scale": "7/2"})
    given: Any = {"families": ("pure",), "relation": "add-remove", "domain": None}
    right = ["multiply", ["multiply", ["weight"], ["norm", "1"]], ["constant", "3/7"]]
    hold_mechanism(about, right, ["constant", "1"], **given)
    with pytest.raises(Refused, match="loss stated"):
        hold_mechanism(about, tree, ["constant", "1"], **given)
    for further in ({"candidates": "2"}, {"quantile": "5/4"}, {"quantile": "-1/4"}, {"scale": "0"}, {"shift": "all"}):
        with pytest.raises(Refused, match="option"):
            hold_mechanism({**about, "options": about["options"] | further}, right, ["constant", "1"], **given)


def stated_response(categories: int, epsilon: str, excess: Fraction) -> Any:
    """The loss of a response whose probability of a uniform answer exceeds that which epsilon admits by so much."""
    with mpmath.workprec(600):
        share = Fraction(epsilon)
        power: Any = mpmath.exp(mpmath.mpf(share.numerator) / share.denominator)
        _, mantissa, exponent, _ = power._mpf_
    grown = mantissa * Fraction(2) ** exponent
    noise = categories / (grown + categories - 1) * (1 + excess)
    return ["log1p", ["constant", str(categories / noise - categories)]]


ROUNDING = Fraction(1, 2**60)
SPARED = Fraction(1, 2**100)


@pytest.mark.parametrize(
    ("epsilon", "excess", "reason"),
    [
        ("3/2", ROUNDING, None),
        ("3/2", ROUNDING + SPARED / 2, None),
        ("3/2", ROUNDING - SPARED / 2, "at its epsilon"),
        ("3/2", ROUNDING + 3 * SPARED / 2, "at its epsilon"),
        ("3/2", ROUNDING / 2, "at its epsilon"),
        ("3/2", ROUNDING * 2, "at its epsilon"),
        ("3/2", Fraction(0), "at its epsilon"),
        (f"1/{2**50}", ROUNDING + SPARED / 2, None),
        (f"1/{2**80}", ROUNDING + SPARED / 2, "the odds of the true category are at least 0"),
        (f"1/{2**80}", -1 + 4 * Fraction(3, 2), "the odds of the true category are at least 0"),
    ],
)
def test_how_often_the_truth_is_told_follows_from_epsilon(epsilon: str, excess: Fraction, reason: str | None) -> None:
    """Less often by 2^-60, relatively, and never less than never."""
    _, about = plugin("mechanism", "randomised-response", {"categories": "4", "epsilon": epsilon})
    given: Any = {"families": ("pure",), "relation": "replace", "domain": None}
    if excess == ROUNDING:  # the rounding is of an enclosure, in whose width such a number may lie
        excess += SPARED / 2**40
    tree = stated_response(4, epsilon, excess)
    if reason is None:
        hold_mechanism(about, tree, ["constant", "1"], **given)
        return
    with pytest.raises(Refused, match=reason):
        hold_mechanism(about, tree, ["constant", "1"], **given)


@pytest.mark.parametrize(
    ("role", "known", "hold"),
    [
        (
            "mechanism",
            declared.MECHANISMS,
            lambda about: hold_mechanism(about, 0, 0, families=(), relation="", domain=None),
        ),
        ("sampler", declared.SAMPLERS, lambda about: hold_sampler(about, 0, False, None, relation="add-remove")),
        ("sampler", (declared.CONSTRAINED,), lambda about: hold_rule(about, {"target": "1"}, None)),
    ],
)
def test_plugins_of_another_kind_are_refused_as_such(role: str, known: Any, hold: Callable[[Any], Any]) -> None:
    others = set(PLUGINS[role]) - set(known)
    assert others
    for name in others:
        with pytest.raises(Refused, match=r"of another kind|has a rate of its own|draws records together"):
            hold({"name": name, "version": "1", "distribution": "certdp"})


@pytest.mark.parametrize("name", declared.STRATA)
def test_no_other_distribution_has_a_sampler_of_strata_of_this_name(name: str) -> None:
    with pytest.raises(Refused, match=f"sampler '{name}' is of certdp, not of distribution 'acme'"):
        hold_sampler({"name": name, "distribution": "acme"}, 0, False, None, relation="add-remove")


KEYS_OF_RECORDS: dict[str, Any] = {"reports": "keys", "scheme": {"name": "ppswor"}}


def test_plugins_of_records_are_refused_where_keys_are_sampled() -> None:
    keys, ppswor = (
        plugin("mechanism", "pws-keys", {"epsilon": "1/2", "delta": "1/1000"})[1],
        plugin("sampler", "ppswor", {"threshold": "1/100"})[1],
    )
    assert hold_keyed(keys, ppswor, **KEYS_OF_RECORDS)
    for name in set(PLUGINS["mechanism"]) - set(declared.SANITISERS):
        with pytest.raises(Refused, match="is of records, not of keys"):
            hold_keyed({"name": name, "version": "1", "distribution": "certdp"}, ppswor, **KEYS_OF_RECORDS)
    for name in set(PLUGINS["sampler"]) - set(declared.KEY_SAMPLERS):
        with pytest.raises(Refused, match="is of records, not of keys"):
            hold_keyed(keys, {"name": name, "version": "1", "distribution": "certdp"}, **KEYS_OF_RECORDS)


@pytest.mark.parametrize(
    "distribution", ["acmecertdp", "certdpacme", "acme-cert.dp", "cert-dp-acme", "acme.CERT_DP", "-certdp"]
)
def test_distributions_that_begin_or_end_like_certdps_read_like_it(distribution: str) -> None:
    with pytest.raises(Refused, match=r"reads like certdp|no name of a package"):
        hold_sampler(
            {"name": "theirs", "distribution": distribution}, ["constant", "1"], False, None, relation="add-remove"
        )
    hold_sampler(
        {"name": "theirs", "distribution": "acme-tools"}, ["constant", "1"], False, None, relation="add-remove"
    )


@pytest.mark.parametrize("rate", [3, None, "constant", {}, [], ["norm", "2"], ["constant"]], ids=repr)
def test_a_rate_that_is_no_expression_is_no_constant(rate: Any) -> None:
    _, about = plugin("mechanism", "gaussian-sum", {"noise_multiplier": "2"})
    loss = ["divide", ["constant", "1"], ["constant", "2"]]
    given: Any = {"families": ("gaussian",), "relation": "add-remove", "domain": None}
    if rate == ["constant"]:
        hold_mechanism(about, loss, rate, **given)
        return
    with pytest.raises(Refused, match="where the rate is constant alone"):
        hold_mechanism(about, loss, rate, **given)


LENGTH = ["multiply", ["weight"], ["norm", "2"]]
OF_DISTANCE = ["divide", ["power", ["divide", LENGTH, ["constant", "8"]], "2"], ["constant", "2"]]
STEPS = ["divide", LENGTH, ["constant", "1/2"]]
OF_STEPS = ["multiply", ["multiply", STEPS, STEPS], ["constant", "1/512"]]


@pytest.mark.parametrize(
    ("dimension", "rho", "other"),
    [
        ({}, OF_DISTANCE, OF_STEPS),
        ({"dimension": "1"}, OF_STEPS, OF_DISTANCE),
        ({"dimension": "2"}, OF_DISTANCE, OF_STEPS),
    ],
)
def test_discrete_noise_may_be_stated_by_its_concentration(dimension: Options, rho: Any, other: Any) -> None:
    """As earlier versions did: (‖x‖/σ)²/2, and of one column steps²/(2·16²), as σ = 8 is 16 steps of 1/2."""
    _, about = plugin("mechanism", "discrete-gaussian", {"scale": "8", "granularity": "1/2", **dimension})

    def hold(tree: Any, family: str = "zero-concentrated") -> None:
        given: Any = {"families": (family,), "relation": "add-remove", "domain": None}
        hold_mechanism(about, tree, ["constant", "1"], **given)

    hold(rho)
    for tree in (*other_numbers(rho), other, ["constant", "1"]):
        with pytest.raises(Refused, match="loss stated"):
            hold(tree)
    for family in set(FAMILIES) - {"zero-concentrated"}:
        with pytest.raises(Refused, match="loss stated"):
            hold(rho, family)


@pytest.mark.parametrize("per_count", ["0", "-1", "-1/7", "1", "1/1000"])
@pytest.mark.parametrize("split", ["derived", "published"])
def test_the_loss_of_a_count_is_that_of_the_split(split: str, per_count: str) -> None:
    made, about = plugin("mechanism", "lloyd", {**LLOYD, "dimension": "3", "split": split})
    tree: Any = serialise(stated_losses(made.loss)[0].parameter)
    tree[2][1] = ["constant", per_count]
    with pytest.raises(Refused, match="the loss of a count is"):
        hold_mechanism(about, tree, ["constant", "1"], families=("pure",), relation="add-remove", domain=None)


TINY = Fraction(1, 2**200)


@pytest.mark.parametrize(
    ("excess", "admitted"),
    [(Fraction(0), True), (Fraction(1, 2**79), True), (-TINY, False), (Fraction(1, 2**79) + TINY, False)],
)
@pytest.mark.parametrize("split", ["derived", "published"])
def test_the_scale_of_counts_exceeds_its_rule_by_a_rounding_at_most(
    split: str, excess: Fraction, admitted: bool
) -> None:
    """In 450 columns, where the rule is a rational number: 9/2 is the cube root of 4·450·(9/40)²."""
    made, about = plugin("mechanism", "lloyd", {**LLOYD, "dimension": "450", "split": split})
    scale_sum, radius = Fraction(LLOYD["scale_sum"]), Fraction(LLOYD["radius"])
    rule = scale_sum / radius / Fraction(9, 2) if split == "derived" else scale_sum * Fraction(9, 2)
    tree: Any = serialise(stated_losses(made.loss)[0].parameter)
    tree[2][1] = ["constant", str(1 / (rule * (1 + excess)))]
    given: Any = {"families": ("pure",), "relation": "add-remove", "domain": None}
    if admitted:
        hold_mechanism(about, tree, ["constant", "1"], **given)
        return
    with pytest.raises(Refused, match="the loss of a count is"):
        hold_mechanism(about, tree, ["constant", "1"], **given)


@pytest.mark.parametrize(("name", "options"), SAMPLERS, ids=ids)
def test_the_rate_of_a_sampler_is_that_which_it_declares(name: str, options: Options) -> None:
    made, about = plugin("sampler", name, options)
    tree, weighted = serialise(made.rate.probability), made.rate.weighted
    hold_sampler(about, tree, weighted, None, relation="add-remove")
    for other, counted in [*((other, weighted) for other in other_numbers(tree)), (tree, not weighted)]:
        with pytest.raises(Refused, match="rate and weighted are not those"):
            hold_sampler(about, other, counted, None, relation="add-remove")


@pytest.mark.parametrize(
    ("name", "options"),
    [("gaussian-sum", {"noise_multiplier": "2"}), ("dpis-step", {**STEP, "norm_sum": "40"})],
    ids=ids,
)
def test_a_multiplier_of_a_sum_is_admitted_at_a_constant_rate_alone(name: str, options: Options) -> None:
    """That of a step is relative to a bound on the weighted record, whatever its rate."""
    made, about = plugin("mechanism", name, options)
    (loss,) = stated_losses(made.loss)
    given: Any = {"families": (loss.family,), "relation": "add-remove", "domain": None}
    for rate in (["constant", "1/2"], ["minimum", ["constant", "1"], ["norm", "2"]], ["norm", "2"]):
        if name == "dpis-step" or rate[0] == "constant":
            assert "clipping" in hold_mechanism(about, serialise(loss.parameter), rate, **given)
            continue
        with pytest.raises(Refused, match="where the rate is constant alone"):
            hold_mechanism(about, serialise(loss.parameter), rate, **given)


@pytest.mark.parametrize(
    ("cap", "largest", "admitted"),
    [
        (None, None, True),
        (None, Fraction(10), False),
        ("10", None, False),
        ("10", Fraction(10), True),
        ("10", 10 / (1 + Fraction(1, 2**52)), True),
        ("10", 10 / (1 + Fraction(1, 2**51)), False),
        ("10", 10 * (1 + Fraction(1, 2**60)), False),
        ("10", Fraction(5), False),
    ],
)
def test_the_cap_of_a_rule_is_that_of_the_sampler_rounded_down(
    cap: str | None, largest: Fraction | None, admitted: bool
) -> None:
    options = {"target": "1", **({} if cap is None else {"largest_weight": cap})}
    _, about = plugin("sampler", "privacy-constrained", options)
    if admitted:
        hold_rule(about, {"target": "1"}, largest)
        with pytest.raises(Refused, match="is not the sampler's option"):
            hold_rule(about, {"target": "2"}, largest)
        return
    with pytest.raises(Refused, match="largest weight"):
        hold_rule(about, {"target": "1"}, largest)


@pytest.mark.parametrize("further", [{}, {"delta": "1/1000"}, {"order": "2"}], ids=str)
def test_a_target_is_one_at_the_delta_or_the_order_of_the_sampler_alone(further: Options) -> None:
    _, about = plugin("sampler", "privacy-constrained", {"target": "1", **further})
    hold_rule(about, {"target": "1", **further}, None)
    others: tuple[Options, ...] = ({}, {"delta": "1/1000"}, {"delta": "1/999"}, {"order": "2"}, {"order": "3"})
    for other in others:
        if other != further:
            with pytest.raises(Refused, match="the delta or order at which it is one"):
                hold_rule(about, {"target": "1", **other}, None)


KEYS = {"epsilon": "1/2", "delta": "1/1000"}
SCHEMES: list[tuple[str, Options]] = [
    ("every-key", {}),
    ("listed-rates", {"rates": "1/10,1/2"}),
    ("ppswor", {"threshold": "1/100"}),
    ("ppswor", {"threshold": "1/100", "sizes": "1,2"}),
    ("pps", {"threshold": "1/100"}),
    ("pps", {"threshold": "1/100", "sizes": "1,2"}),
]


@pytest.mark.parametrize("reports", ["keys", "frequencies"])
@pytest.mark.parametrize(("name", "options"), SCHEMES, ids=ids)
def test_a_scheme_is_that_of_the_sampler_of_keys(name: str, options: Options, reports: str) -> None:
    _, sanitiser = plugin("mechanism", f"pws-{reports}", KEYS)
    _, sampler = plugin("sampler", name, options)
    scheme = {"name": name, **({"sizes": []} if "sizes" in sampler["options"] else {})}
    assert hold_keyed(sanitiser, sampler, reports, scheme)
    others: list[dict[str, Any]] = [{**scheme, "name": other} for other, _ in SCHEMES if other != name]
    swapped = copy.deepcopy(scheme)
    if swapped.pop("sizes", None) is None:
        swapped["sizes"] = []
    for other in [*others, swapped, {key: value for key, value in scheme.items() if key != "name"}]:
        with pytest.raises(Refused, match="the scheme is not that of sampler"):
            hold_keyed(sanitiser, sampler, reports, other)
    with pytest.raises(Refused, match="does not report"):
        hold_keyed(sanitiser, sampler, "frequencies" if reports == "keys" else "keys", scheme)

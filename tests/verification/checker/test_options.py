"""The checker's table of options against the plugins themselves: admitted is what can be built and stated, exactly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import CertdpError
from certdp.plugins.contract import options as options_of
from certdp.plugins.contract.options import build, stated
from certdp.verification.checker.domain import Domain
from certdp.verification.checker.options import PLUGINS, _whole, hold_domain, hold_options
from certdp.verification.checker.verdict import Refused

Options = dict[str, str]


class BuiltIn(NamedTuple):
    """A mechanism or sampler that certdp registers."""

    role: str
    name: str
    plugin: type

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


BUILT_IN = [
    BuiltIn(role, entry.name, entry.load())
    for role in ("mechanism", "sampler")
    for entry in sorted(entry_points(group=f"certdp.{role}s"), key=lambda entry: entry.name)
    if entry.dist is not None and entry.dist.name == "certdp"
]
FRIENDLY = ("1", "2", "10", "1000", "1/2", "1/10", "3", "true", "derived", "1/10,1/2", "inf", "a:1/10,b:1")
DIGITS = 700
VALUES = (
    *("0", "1", "2", "3", "4", "5", "10", "52", "53", "64", "65", "512", "513", "1000", "1000000000000"),
    *(str(2**power + more) for power in (20, 53, 64, 128, 500, 1022, 1024) for more in (-1, 0, 1)),
    *(f"1/{2**power + more}" for power in (16, 32, 64, 500, 1074) for more in (-1, 0, 1)),
    *("1/2", "1/3", "2/3", "1/10", "9/10", "3/2", "99/100", "101/100", "13/2", "1023/2", "1025/2"),
    *("-1", "-7", "-20", "-1/2", "-1/1000", "1/1000"),
    *("9" * DIGITS, "9" * (DIGITS + 1), f"1/{'9' * DIGITS}", f"1/{'9' * (DIGITS + 1)}", "-" + "9" * DIGITS),
    *("9" * 600, "9" * 601, f"{'9' * 600}/{'8' * 599}"),
    *("0.5", ".5", "5.", "1.0", "1e3", "1E-3", "1e-330", "1e9999", "2/4", "4/2", "1/1", "0/1", "1/0", "-0", "+1", "01"),
    *("inf", "-inf", "Infinity", "nan", "INF", "true", "false", "True", "TRUE", "0x10", "1_000", "\u0661", "\uff11"),
    *("derived", "published", "Derived", "derived ", "none", "None", "null", "", " ", " 1", "1 ", "1\n", "\ud800"),
    *("7 (proved by nobody)", "-7 (proved by nobody)", "1 (released)", "1;2", "1/2/3", "--1", "1e", "p/q"),
    *(
        "1,2",
        "1,1",
        "2,1",
        "1,2,1",
        "2,1,3",
        "0,0,1",
        "1/10,1/2",
        "1/2,1/10",
        "1/2,2",
        "-1,0",
        "1,",
        ",1",
        ",",
        "1, 2",
        "0.1,0.2",
        "1,,2",
    ),
    *("a:1/2", "a:1/2,b:1", "a:1/2,a:1", "a:2", "a:0.5", "a:", ":1", "a", "a:1/2,", "a:1/2:1", " a:1", "a :1", "a: 1"),
    *(
        "a:1/2,b",
        "a,b:1",
        "\u2003a:1",
        "a\u2003b:1",
        "\u00e4:0",
        "1:1,2:1",
        f"a:1/{'9' * DIGITS}",
        f"a:1/{'9' * (DIGITS + 1)}",
    ),
)


def admitted(which: BuiltIn, values: Options) -> bool:
    try:
        hold_options(which.role, which.name, values)
    except Refused:
        return False
    return True


def built(which: BuiltIn, values: Options) -> Options | None:
    """What the plugin with these options states of itself, or None where it cannot be built."""
    try:
        return stated(build(which.plugin, which.role, values))
    except CertdpError:
        return None


def written_out(values: Options) -> bool:
    """Whether a certificate can write the numbers."""
    numbers = [part for text in values.values() for one in text.split(",") for part in one.split(":")[-1].split("/")]
    return all(len(number.removeprefix("-")) <= DIGITS for number in numbers)


def hold(which: BuiltIn, values: Options) -> None:
    """The two agree about these options, and about what a plugin that takes them states."""
    plugin = built(which, values)
    assert admitted(which, values) == (plugin == values and written_out(values)), (str(which), values)
    if plugin is not None:
        assert admitted(which, plugin) == written_out(plugin), (str(which), plugin)


@cache
def examples(which: BuiltIn) -> list[Options]:
    """Options from which a plugin can be built, as it states them: one with each choice of what is left out."""
    rng, names = random.Random(str(which)), options_of(which.plugin)
    found: dict[frozenset[str], Options] = {}
    for _ in range(4000):
        kept = [option.name for option in names if option.required or rng.random() < 0.5]
        values = {name: "1" if rng.random() < 0.8 else rng.choice(FRIENDLY) for name in kept}
        plugin = built(which, values)
        if plugin is not None:
            found.setdefault(frozenset(plugin), plugin)
    assert found, f"no options were found from which {which} can be built: add some to FRIENDLY"
    return list(found.values())


def variations(which: BuiltIn) -> Iterator[Options]:
    """Each option of each example with every value, also where it was left out; and left out."""
    for example_of in examples(which):
        for option in options_of(which.plugin):
            yield {key: text for key, text in example_of.items() if key != option.name}
            yield from (example_of | {option.name: text} for text in VALUES)


@pytest.mark.parametrize("role", PLUGINS)
def test_the_table_is_about_every_plugin_that_certdp_registers(role: str) -> None:
    assert sorted(PLUGINS[role]) == [which.name for which in BUILT_IN if which.role == role]


@pytest.mark.parametrize("which", BUILT_IN, ids=str)
def test_the_table_knows_every_version(which: BuiltIn) -> None:
    plugin: Any = which.plugin
    newest = plugin.about.version
    assert PLUGINS[which.role][which.name].versions == tuple(str(number) for number in range(1, int(newest) + 1))


@pytest.mark.parametrize("which", BUILT_IN, ids=str)
def test_the_table_knows_every_option(which: BuiltIn) -> None:
    values = PLUGINS[which.role][which.name].values
    assert sorted(values) == sorted(option.name for option in options_of(which.plugin))


@pytest.mark.parametrize("which", BUILT_IN, ids=str)
def test_options_are_admitted_exactly_where_the_plugin_can_be_built(which: BuiltIn) -> None:
    for values in variations(which):
        hold(which, values)
    for example_of in examples(which):
        assert admitted(which, example_of)
        assert not admitted(which, example_of | {"further": "1"})


NUMBERS = st.one_of(
    st.fractions().map(str),
    st.fractions(min_value=0, max_value=2).map(str),
    st.integers().map(str),
    st.integers(0, 70).map(str),
    st.decimals().map(str),
    st.floats().map(repr),
    st.booleans().map(str),
)
TEXTS = st.one_of(
    NUMBERS,
    st.sampled_from(VALUES),
    st.text(max_size=12),
    st.tuples(NUMBERS, st.text(max_size=5)).map("".join),
    st.lists(NUMBERS, max_size=4).map(",".join),
)


@pytest.mark.slow
@given(data=st.data(), which=st.sampled_from(BUILT_IN))
def test_options_of_any_text_are_admitted_exactly_where_the_plugin_can_be_built(data: Any, which: BuiltIn) -> None:
    names = [option.name for option in options_of(which.plugin)]
    values = dict(data.draw(st.sampled_from(examples(which))))
    for name in data.draw(st.lists(st.sampled_from(names), max_size=3)) if names else ():
        values[name] = data.draw(TEXTS)
    hold(which, values)


@pytest.mark.soundness
@pytest.mark.parametrize("which", BUILT_IN, ids=str)
def test_two_options_at_a_time(which: BuiltIn) -> None:
    rng, names = random.Random(str(which)), [option.name for option in options_of(which.plugin)]
    for _ in range(20_000 if len(names) > 1 else 0):
        values = dict(rng.choice(examples(which)))
        values.update((name, rng.choice(VALUES)) for name in rng.sample(names, 2))
        hold(which, values)


CORESET = {"m": "1", "n": "1000", "mean_squared_norm": "1", "mixing": "1/2"}
LLOYD = {"clusters": "3", "scale_sum": "20", "scale_count": "5", "iterations": "10"}


@pytest.mark.parametrize(
    ("norm", "dimension", "least"),
    [("2", 3, "2"), ("1", 3, "2"), ("2", None, "2"), ("inf", 9, "6"), ("inf", 2, "2.8284271247461900977")],
)
def test_a_radius_is_not_below_the_norm_of_a_record(norm: str, dimension: int | None, least: str) -> None:
    """A coreset's is of l2, the one of centres of their own norm."""
    domain = Domain(norm, Fraction("2"), dimension)
    above, below = (str(Fraction(least) * (1 + Fraction(share))) for share in ("1e-9", "-1e-9"))
    exactly = [str(Fraction(least))] if dimension != 2 else []
    for name, role, others in (("coreset", "sampler", CORESET), ("lloyd", "mechanism", LLOYD | {"norm": "2"})):
        for radius in (above, *exactly):
            hold_domain(role, name, others | {"radius": radius}, domain)
        with pytest.raises(Refused, match="the option radius is smaller"):
            hold_domain(role, name, others | {"radius": below}, domain)
    hold_domain("mechanism", "lloyd", LLOYD | {"norm": norm, "radius": "2"}, domain)


@pytest.mark.parametrize("name", ["lloyd", "discrete-gaussian"])
def test_a_dimension_is_that_of_the_domain_and_of_the_data(name: str) -> None:
    options = LLOYD | {"norm": "2", "radius": "2", "dimension": "3"}
    for dimension in (None, 3):
        hold_domain("mechanism", name, options, Domain("2", Fraction("1"), dimension), columns=3)
    with pytest.raises(Refused, match="not the domain's"):
        hold_domain("mechanism", name, options, Domain("2", Fraction("1"), 4))
    with pytest.raises(Refused, match="not the number of columns"):
        hold_domain("mechanism", name, options, None, columns=4)


LATTICE = {"scale": "1", "granularity": "1", "dimension": "1"}
RESPONSE = {"categories": "2", "noise": "1/2"}
ENDS: list[tuple[str, str, Options, Options]] = [
    ("mechanism", "lloyd", LLOYD | {"norm": "2", "radius": "2", name: str(2**20)}, {name: str(2**20 + 1)})
    for name in ("clusters", "iterations", "dimension")
]
SMALL_CORESET = {"n": "1000", "mean_squared_norm": "2", "radius": "3/2", "mixing": "1/2"}
ENDS += [
    ("mechanism", "randomised-response", RESPONSE | {"categories": str(2**53)}, {"categories": str(2**53 + 1)}),
    ("mechanism", "randomised-response", {"categories": "2", "epsilon": "512"}, {"epsilon": "1025/2"}),
    ("mechanism", "pws-frequencies", {"epsilon": "1", "delta": "1/2", "subdivision": "64"}, {"subdivision": "65"}),
    ("sampler", "privacy-constrained", {"target": "1", "order": "2", "digits": "52"}, {"digits": "53"}),
    ("sampler", "privacy-constrained", {"target": "1", "largest_weight": "1"}, {"largest_weight": "999/1000"}),
    ("sampler", "coreset", SMALL_CORESET | {"m": "16000/17"}, {"m": "942"}),
    ("mechanism", "discrete-gaussian", LATTICE | {"scale": str(2**64)}, {"scale": str(2**64 + 1)}),
    ("mechanism", "discrete-gaussian", LATTICE | {"scale": f"1/{2**16}"}, {"scale": f"1/{2**16 + 1}"}),
    ("mechanism", "discrete-gaussian", LATTICE | {"granularity": str(2**16)}, {"granularity": str(2**16 + 1)}),
]


@pytest.mark.parametrize(("role", "name", "at_the_end", "beyond"), ENDS)
def test_what_lies_beyond_the_end_of_a_range_is_refused(
    role: str, name: str, at_the_end: Options, beyond: Options
) -> None:
    hold_options(role, name, at_the_end)
    with pytest.raises(Refused, match="the option"):
        hold_options(role, name, at_the_end | beyond)


@pytest.mark.parametrize(
    ("name", "option", "admissible"),
    [
        ("lloyd", "clusters", "a whole number from 1 to 1048576"),
        ("discrete-gaussian", "dimension", "a whole number from 1"),
    ],
)
def test_what_is_admissible_is_told(name: str, option: str, admissible: str) -> None:
    given = {"lloyd": LLOYD | {"norm": "2", "radius": "2"}, "discrete-gaussian": LATTICE}[name]
    with pytest.raises(Refused) as refusal:
        hold_options("mechanism", name, given | {option: "0"})
    assert str(refusal.value) == f"the option {option} of {name} must be {admissible}, not '0'"


def test_whole_numbers_say_where_they_begin_and_end() -> None:
    assert _whole(3).admissible == "a whole number from 3"
    assert _whole(3, 9).admissible == "a whole number from 3 to 9"


def test_a_norm_that_never_exceeds_that_of_the_domain_needs_no_dimension() -> None:
    domain = Domain("1", Fraction(2), None)
    for norm in ("1", "3/2", "2", "inf"):
        hold_domain("mechanism", "lloyd", LLOYD | {"norm": norm, "radius": "2"}, domain)
        with pytest.raises(Refused, match="the option radius is smaller"):
            hold_domain("mechanism", "lloyd", LLOYD | {"norm": norm, "radius": "199/100"}, domain)
    with pytest.raises(Refused, match="needs a dimension"):
        hold_domain("mechanism", "lloyd", LLOYD | {"norm": "1", "radius": "9"}, Domain("2", Fraction(2), None))

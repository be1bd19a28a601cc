"""Whatever pairs are made into, no notion knows less than its own theorem makes of what the parts know."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import (
    Composed,
    DensityPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianGroup,
    GaussianPair,
    LaplacePair,
    Pair,
    PublicChance,
    RandomAllocation,
    RandomisedResponsePair,
    RepeatedResponse,
    Sampled,
    SampledGaussian,
    ShuffledPair,
    ZeroConcentratedCurve,
    changed,
    compose_pairs,
    symmetrised,
)
from certdp.accounting.provenance import Public
from certdp.accounting.relations import Direction
from certdp.accounting.selection import FixedRepetitions, selected
from tests.support.cases import examples

ONE, HALF, TENTH = Enclosure.of(1), Enclosure.of("1/2"), Enclosure.of("1/10")
THIRD = Enclosure.of(Fraction(1, 3))
TABLE = FinitePair((Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)))
ROUNDING = 1 + Fraction(1, 2**60)


def replaced(pair: Pair, rate: Enclosure = TENTH) -> Pair:
    found = changed(pair, rate, replaced=True)
    assert found is not None
    return found


PAIRS: dict[str, Pair] = {
    "Laplace": LaplacePair(THIRD),
    "Gaussian": GaussianPair(HALF),
    "response": RandomisedResponsePair(HALF),
    "five responses": RepeatedResponse(TENTH, 5),
    "discrete Laplace": DiscreteLaplacePair(HALF, ONE),
    "discrete Gaussian": DiscreteGaussianPair(Fraction(2), ONE),
    "sampled Laplace": Sampled(LaplacePair(THIRD), TENTH),
    "sampled Gaussian": SampledGaussian(HALF, TENTH),
    "table": TABLE,
    "table, twice": TABLE.repeated(2),
    "replaced Laplace": replaced(LaplacePair(THIRD)),
    "replaced response": replaced(RandomisedResponsePair(THIRD)),
    "replaced tables": replaced(TABLE.repeated(3)),
    "replaced Gaussian": replaced(GaussianPair(HALF)),
    "group": GaussianGroup(HALF, TENTH, 3, mirrored=False),
    "rho": ZeroConcentratedCurve(TENTH),
    "rho and mu": DensityPair(rho=Enclosure.of("1/100"), mu=TENTH, pure_law=lambda _: HALF),
    "chance": PublicChance(((HALF, LaplacePair(THIRD)), (HALF, GaussianPair(TENTH)))),
    "allocation": RandomAllocation(LaplacePair(HALF), 3),
    "shuffled": ShuffledPair(ONE, 100, HALF),
    "symmetrised": symmetrised(Sampled(LaplacePair(THIRD), HALF)),
    "composed": Composed((LaplacePair(THIRD), TABLE)),
}
pairs = st.sampled_from(sorted(PAIRS))
LEVELS = tuple(map(Enclosure.of, ("0", "1/8", "3/4")))
ORDERS = Fraction(9, 8), Fraction(2), Fraction(7, 2), Fraction(40)


def bounds(pair: Pair) -> dict[tuple[Any, ...], Fraction]:
    """The upper end of every law, at some arguments, of the larger direction."""
    found: dict[tuple[Any, ...], Enclosure | None] = {("rho",): pair.zero_concentrated, ("mu",): pair.gaussian}
    for direction in Direction:
        if pair.pure is not None:
            found["pure", direction] = pair.pure(direction)
        for order in ORDERS:
            if pair.renyi is not None:
                found["tau", direction, order] = pair.renyi(order, direction)
    return {name: value.upper for name, value in found.items() if value is not None}


def root_of_squares(*values: Fraction) -> Fraction:
    zero = Enclosure.of(0)
    return sum((Enclosure.of(value).square() for value in values), zero).sqrt().upper


def total(*values: Fraction) -> Fraction:
    return sum(values, Fraction(0))


def at_most(found: Pair, limits: dict[tuple[Any, ...], Fraction]) -> None:
    own = bounds(found)
    for name, limit in limits.items():
        assert name in own, f"{name} is forgotten"
        assert own[name] <= limit * ROUNDING, name


def combined(parts: list[Pair]) -> dict[tuple[Any, ...], Fraction]:
    """What the composition theorem of each notion says, where each part has it."""
    known = [bounds(part) for part in parts]
    return {
        name: (root_of_squares if name == ("mu",) else total)(*(one[name] for one in known))
        for name in known[0]
        if all(name in one for one in known)
    }


@example(name="replaced Laplace", times=2)
@example(name="replaced response", times=2)
@example(name="replaced tables", times=4)
@examples(25)
@given(name=pairs, times=st.integers(2, 6))
def test_repetition(name: str, times: int) -> None:
    limits = combined([PAIRS[name]] * times)
    at_most(PAIRS[name].repeated(times), limits)
    at_most(compose_pairs([PAIRS[name]] * times), limits)
    at_most(selected(FixedRepetitions(times=Public(times)), PAIRS[name]), limits)


@examples(25)
@given(names=st.lists(pairs, min_size=2, max_size=4))
def test_composition(names: list[str]) -> None:
    at_most(compose_pairs(PAIRS[name] for name in names), combined([PAIRS[name] for name in names]))


@example(name="table, twice", times=3, rate=Fraction(99, 100))
@examples(25)
@given(name=pairs, times=st.integers(1, 4), rate=st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_sampling_loses_nothing_that_the_unsampled_pair_keeps(name: str, times: int, rate: Fraction) -> None:
    pair = PAIRS[name].repeated(times)
    at_most(pair.sampled(Enclosure.of(rate)), bounds(pair))
    at_most(pair.sampled(Enclosure.of(rate)).repeated(3), combined([pair] * 3))


@examples(25)
@given(first=pairs, second=pairs, share=st.fractions(Fraction(1, 16), Fraction(15, 16), max_denominator=16))
def test_public_chance_costs_no_more_than_the_costliest_part(first: str, second: str, share: Fraction) -> None:
    parts = [bounds(PAIRS[name]) for name in (first, second)]
    mixed = PublicChance(((Enclosure.of(share), PAIRS[first]), (Enclosure.of(1 - share), PAIRS[second])))
    at_most(mixed, {name: max(one[name] for one in parts) for name in parts[0] if name in parts[1]})


@example(name="table", times=5)
@examples(25)
@given(name=st.sampled_from(("Laplace", "Gaussian", "response", "discrete Laplace", "table")), times=st.integers(1, 8))
def test_a_replaced_record_costs_at_most_two(name: str, times: int) -> None:
    """Group privacy of two: 2ε, 2μ; after sampling no more."""
    pair = PAIRS[name].repeated(times)
    own = bounds(pair)
    limits = {key: 2 * value for key, value in own.items() if key[0] == "mu"}
    if pair.pure is not None:
        worst = own["pure", Direction.REMOVE] + own["pure", Direction.ADD]
        limits |= {("pure", direction): worst for direction in Direction}
    for rate in (TENTH, HALF, ONE):
        at_most(replaced(pair, rate), limits)


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_gaussian_bound_is_one_in_the_other_notions(name: str) -> None:
    """What N(μ, 1) against N(0, 1) has in zCDP bounds the pair: ρ ≤ μ²/2; a pure loss bounds ρ and μ."""
    found = bounds(PAIRS[name])
    if ("mu",) in found:
        assert found["rho",] <= found["mu",] ** 2 / 2 * ROUNDING
    if ("pure", Direction.ADD) in found:
        worst = Enclosure.of(max(found["pure", direction] for direction in Direction))
        response = bounds(RandomisedResponsePair(worst))
        assert found["mu",] <= response["mu",] * ROUNDING
        assert found["rho",] <= response["rho",] * ROUNDING


def test_a_product_of_tables_that_forgot_its_factors_would_be_noticed() -> None:
    """The product alone, as it would be without its factors: more is lost by its pure loss than by composition."""
    one = PAIRS["replaced response"]
    made = one.repeated(2)
    assert isinstance(made, FinitePair)
    alone = FinitePair(made.present, made.absent)
    with pytest.raises(AssertionError):
        at_most(alone, combined([one, one]))


def test_symmetrised_tables_keep_the_mu_of_what_dominates() -> None:
    table = FinitePair((Fraction(2, 5), Fraction(3, 5)), (Fraction(3, 5), Fraction(2, 5))).repeated(4)
    for pair in (symmetrised(table), symmetrised(table.sampled(HALF))):
        mu, limit = pair.gaussian, table.gaussian
        assert isinstance(pair, FinitePair)
        assert mu is not None
        assert limit is not None
        assert mu.upper <= limit.upper * ROUNDING

"""Shuffled answers against sums over all numbers of clones, and what more users, clones and privacy change."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import RandomisedResponsePair, ShuffledPair
from certdp.accounting.relations import Direction
from certdp.verification.claims.shuffling import shuffled
from tests.support.cases import examples

REMOVE = Direction.REMOVE


def _pair(local: float | Fraction | str, users: int, clones: float | Fraction | str) -> ShuffledPair:
    return ShuffledPair(Enclosure.of(local), users, Enclosure.of(clones))


def _summed(local: float, users: int, clones: float, epsilon: float) -> float:
    """δ(ε) as a sum over numbers of clones, in floats."""
    numbers = np.arange(users)
    masses = binom.pmf(numbers, users - 1, clones)
    truth, factor = 1 / (1 + math.exp(-local)), math.exp(epsilon)
    share = (truth * factor - 1 + truth) / ((2 * truth - 1) * (1 + factor))
    least = np.floor((numbers + 1) * share)
    tail, mass = binom.sf(least, numbers, 0.5), binom.pmf(least, numbers, 0.5)
    return float(np.sum(masses * ((truth - factor * (1 - truth)) * mass - (factor - 1) * tail)))


@pytest.mark.parametrize("users", [1, 2, 30, 4000, 60_000])
@examples(12)  # of the last, stretches of numbers count as one
@given(local=st.floats(0.1, 4), share=st.floats(0.02, 0.9), clones=st.floats(0.05, 1))
def test_delta_is_that_of_a_sum(users: int, local: float, share: float, clones: float) -> None:
    asked = local * (share if users < 1000 else share / math.sqrt(users * clones))
    found = _pair(local, users, clones).delta(Enclosure.of(asked), REMOVE)
    direct = _summed(local, users, clones, asked)
    assert found.lower_float <= direct * (1 + 1e-9) + 1e-15
    assert direct * (1 - 1e-9) - 1e-15 <= found.upper_float
    assert found.width <= (Fraction(1, 10**20) if users < 5000 else Fraction(direct) / 50)


@example(users=3, more=0, local=5e-324, rise=0.0)
@given(users=st.integers(1, 200), more=st.integers(0, 50), local=st.floats(0, 3), rise=st.floats(0, 1))
def test_more_users_and_more_private_answers_leak_less(users: int, more: int, local: float, rise: float) -> None:
    level = Enclosure.of(local / 2)
    least = _pair(local, users + more, "1/3").delta(level, REMOVE)
    most = _pair(local + rise, users, "1/4").delta(level, REMOVE)
    assert least.lower <= most.upper
    assert most.lower <= RandomisedResponsePair(Enclosure.of(local + rise)).delta(level, REMOVE).upper


def test_every_parameter_inside_is_enclosed() -> None:
    local, clones = Enclosure.between("1/2", 1), Enclosure.between("1/4", "1/2")
    found = ShuffledPair(local, 20, clones).delta(Enclosure.between("1/8", "1/4"), REMOVE)
    for own, chance, level in product(("1/2", "1"), ("1/4", "1/2"), ("1/8", "1/4")):
        one = _pair(own, 20, chance).delta(Enclosure.of(level), REMOVE)
        assert found.lower <= one.lower
        assert one.upper <= found.upper


def test_alone_it_is_randomised_response() -> None:
    level = Enclosure.of("0.3")
    found, response = (pair.delta(level, REMOVE) for pair in (_pair(1, 1, 1), RandomisedResponsePair(Enclosure.of(1))))
    assert found.lower <= response.upper
    assert response.lower <= found.upper
    assert found.width < Fraction(1, 2**90)


@examples(12)
@given(local=st.floats(0.1, 3), users=st.integers(1, 400), digits=st.integers(1, 12))
def test_smallest_epsilon_is_where_delta_is_met(local: float, users: int, digits: int) -> None:
    pair, delta = _pair(local, users, "0.3"), Enclosure.of(Fraction(1, 10**digits))
    found = pair.smallest_epsilon(delta, REMOVE)
    assert pair.delta(Enclosure.of(found.upper), REMOVE).less_equal(delta) is Truth.TRUE
    assert not found.lower or pair.delta(Enclosure.of(found.lower), REMOVE).greater(delta) is Truth.TRUE
    assert found.upper <= pair.local.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("local", "users", "epsilon"),
    [(1, 1000, "0.18241235"), (4, 100_000, "0.16976975")],  # from the sum in floats
)
def test_values(local: int, users: int, epsilon: str) -> None:
    own = Enclosure.of(local)
    found = ShuffledPair(own, users, (-own).exp()).smallest_epsilon(Enclosure.of("1e-6"), REMOVE)
    assert found.lower < Fraction(epsilon) + Fraction(1, 10**7)
    assert Fraction(epsilon) - Fraction(1, 10**7) < found.upper
    assert found.width < Fraction(1, 10**6)


@pytest.mark.slow
def test_a_composition_has_a_bound() -> None:
    own = Enclosure.of(1)
    pair = ShuffledPair(own, 40, (-own).exp())
    twice = pair.repeated(2).smallest_epsilon(Enclosure.of("1e-6"), REMOVE)
    once = pair.smallest_epsilon(Enclosure.of("1e-6"), REMOVE)
    assert twice is not None
    assert once.upper < twice.upper < 2 * once.upper


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "2"])
def test_equal_values_and_ends(epsilon: str) -> None:
    level = Enclosure.of(epsilon)
    assert _pair(0, 10, "1/2").delta(level, REMOVE).upper == 0
    assert _pair(epsilon, 10, "1/2").delta(level, REMOVE).upper == 0


def test_counts_of_two_users_by_hand() -> None:
    # factor 3, both hold category 1: two lies 1/16, one 6/16, none 9/16; where the first holds 0: 3/16, 10/16, 3/16
    assert shuffled(Fraction(3), 2, [1], Fraction(1)) == Fraction(6, 16)


def test_what_is_no_such_pair_is_refused() -> None:
    for users in (0, 2**40 + 1):
        with pytest.raises(InvalidValue, match="users"):
            _pair(1, users, "1/2")
    with pytest.raises(InvalidValue, match="clones"):
        _pair(1, 2, "3/2")
    with pytest.raises(InvalidValue, match="local"):
        _pair(-1, 2, "1/2")
    with pytest.raises(InvalidType, match="users"):
        _pair(1, 2.5, "1/2")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="epsilon"):
        _pair(1, 2, "1/2").delta(Enclosure.of(-1), REMOVE)

"""Three-valued truth, decide, and norms."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, Truth, decide
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue, Undecided


@pytest.mark.parametrize("truth", Truth)
def test_truth_is_no_bool(truth: Truth) -> None:
    with pytest.raises(TypeError, match="decide") as caught:
        bool(truth)
    assert isinstance(caught.value, CertdpError)
    with pytest.raises(InvalidType):
        operator.not_(truth)
    assert truth.negated.negated is truth
    assert truth.negated.decided is truth.decided
    assert truth.decided is (truth is not Truth.UNDECIDED)
    assert Truth.TRUE.negated is Truth.FALSE


def test_decide_raises_the_precision_until_decided() -> None:
    asked: list[int] = []

    def question(precision: int) -> Truth:
        asked.append(precision)
        root = Enclosure.of(2, precision=precision).sqrt()
        return root.square().greater(2 - Fraction(1, 2**400))

    assert decide(question)
    assert asked == [96, 192, 384, 768]
    assert not decide(lambda bits: question(bits).negated, start=50, limit=700)


def test_decide_asks_at_the_limit_and_then_refuses() -> None:
    asked: list[int] = []

    def question(precision: int) -> Truth:
        asked.append(precision)
        return Enclosure.of(2, precision=precision).sqrt().square().less(2)

    with pytest.raises(Undecided, match=r"undecided at 500 bits.*Raise `limit`"):
        decide(question, limit=500)
    assert asked == [96, 192, 384, 500]


@pytest.mark.parametrize(("start", "limit"), [(96, 95), (3, 96), (96, 2**21), (2**21, 2**22)])
def test_decide_refuses_inadmissible_precisions(start: int, limit: int) -> None:
    with pytest.raises(InvalidValue, match=r"start|limit"):
        decide(lambda _: Truth.TRUE, start=start, limit=limit)


@pytest.mark.parametrize("start", [96.0, True, None])
def test_decide_takes_ints(start: Any) -> None:
    with pytest.raises(InvalidType, match="start"):
        decide(lambda _: Truth.TRUE, start=start)


@given(st.fractions(), st.fractions())
def test_decide_agrees_with_exact_order(one: Fraction, other: Fraction) -> None:
    assume(one != other)
    assert decide(lambda bits: Enclosure.of(one, precision=bits).less_equal(other)) == (one < other)


def test_undecided_equality_needs_exact_sides() -> None:
    assert decide(lambda bits: Enclosure.of(0.1, precision=bits).less_equal(0.1))
    with pytest.raises(Undecided):
        decide(lambda bits: Enclosure.of(math.pi, precision=bits).log().exp().less_equal(math.pi))

"""Where values come from, and where private ones may not go."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import (
    Payment,
    Private,
    PrivateValue,
    Public,
    PublicRange,
    Released,
    declared,
    publish,
)
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.domains import NormBall
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import payments
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

COST = Guarantee(
    bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("test", "a release").conclude()
)
SECRET = 8.25


def test_public_and_released_values_are_published() -> None:
    assert publish(Public(3)) == 3
    assert publish(Released(3, COST)) == 3


@pytest.mark.parametrize(
    "use",
    [
        lambda private: publish(private),
        lambda private: declared(private, float, parameter="rate"),
        lambda private: Public(private),
        lambda private: Released(private, COST),
        lambda private: Public(0).map(lambda _: private),
        lambda private: Poisson(rate=private),
        lambda private: Importance(rate=private),
        lambda private: Importance(rate=Public(1), floor=private),
        lambda private: LaplaceSum(scale=private),
        lambda private: NormBall(norm=Norm.L1, radius=private),
    ],
)
def test_private_values_are_refused_and_not_shown(use: Any) -> None:
    with pytest.raises(PrivateValue, match="got a Private value") as caught:
        use(Private(SECRET))
    assert str(SECRET) not in str(caught.value)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("use", [publish, lambda v: declared(v, float, parameter="rate"), lambda v: Poisson(rate=v)])
@pytest.mark.parametrize("value", [0.5, "0.5", None])
def test_values_without_provenance_are_refused(use: Any, value: Any) -> None:
    with pytest.raises(InvalidType, match=r"Public\(value\)"):
        use(value)


def test_the_text_of_a_private_value_does_not_show_it() -> None:
    private = Private(SECRET)
    for text in (str(private), repr(private), f"{private}", f"{[private]}", "%s" % private):  # noqa: UP031
        assert str(SECRET) not in text
    assert private.reveal() == SECRET


def test_mapping_keeps_the_provenance() -> None:
    assert Public(2).map(lambda x: x + 1) == Public(3)
    released = Released(2, COST).map(lambda x: x + 1)
    assert (released.value, released.cost) == (3, COST)
    private = Private(2).map(lambda x: x + 1)
    assert isinstance(private, Private)
    assert private.reveal() == 3


def test_a_released_value_carries_the_guarantee_of_its_release() -> None:
    with pytest.raises(InvalidType, match="carries the guarantee of its release"):
        Released(3, 0.5)  # type: ignore[arg-type]


def test_reading_keeps_the_payment() -> None:
    released = Released("2", COST)
    assert declared(released, int, parameter="rate") == Released(2, released.payment)
    assert payments(Poisson(rate=released.map(lambda _: "1/2"))) == (released.payment,)


class TestReleases:
    """What counts as one release: values of one payment, and nothing that merely looks the same."""

    def test_parts_of_one_value_are_one_release(self) -> None:
        both = Released((3, 4), COST)
        first, second = both.map(lambda pair: pair[0]), both.map(lambda pair: pair[1])
        assert first.payment is second.payment is both.payment
        assert Released(5, both.payment).payment is both.payment
        plugin = Importance(rate=first, floor=second.map(lambda value: Fraction(1, value)))
        assert payments(plugin, LaplaceSum(scale=second)) == (both.payment,)

    def test_releases_that_look_the_same_are_two(self) -> None:
        first, second = Released(3, COST), Released(3, COST)
        assert first.cost is second.cost
        assert first != second
        assert first.payment != second.payment
        plugin = Importance(rate=first, floor=second.map(lambda value: Fraction(1, value)))
        assert payments(plugin) == (first.payment, second.payment)
        assert payments(plugin, LaplaceSum(scale=second)) == (first.payment, second.payment)

    @pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
    def test_copies_stay_one_release_only_together(self, again: Callable[[Any], Any]) -> None:
        released = Released(3, COST)
        one, other = again((released, released.map(str)))
        assert one.payment is other.payment
        assert again(released).payment != released.payment  # too much is charged rather than too little

    def test_a_payment_needs_a_guarantee(self) -> None:
        with pytest.raises(InvalidType, match="carries the guarantee of its release"):
            Payment(0.5)  # type: ignore[arg-type]


def test_a_public_range_may_be_a_single_value() -> None:
    only = PublicRange(Fraction(3), Fraction(3))
    assert [only.clamp(Fraction(value)) for value in (2, 3, 4)] == [3, 3, 3]
    with pytest.raises(InvalidValue, match="within: got"):
        PublicRange(Fraction(3), Fraction(3) - Fraction(1, 2**200))

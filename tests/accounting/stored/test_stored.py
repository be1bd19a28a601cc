"""Guarantees as text: what is restored equals what was stored, and no other text is read."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import ADD_REMOVE, ELEMENT, RECORD, REPLACE, Guarantee, LaplaceSum, Norm, NormBall, Poisson, Public, User
from certdp.accounting.derivation import EX_POST, Assumption, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import refuse_ex_post
from certdp.accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.stored import canonical, guarantee_from_json, guarantee_to_json
from certdp.runs.sampled import SampledRun

numbers = st.fractions(0, 1, max_denominator=10**9)
enclosed = st.one_of(
    st.builds(lambda x, bits: Enclosure.of(x, precision=bits), numbers, st.integers(4, 300)),
    numbers.map(lambda x: Enclosure.of(x) + 0),
    st.tuples(numbers, numbers).map(lambda ends: Enclosure.between(min(ends), max(ends))),
)
bounds = st.one_of(
    enclosed.map(Pure),
    enclosed.map(ZeroConcentrated),
    enclosed.map(GaussianDP),
    st.builds(Renyi, st.fractions(Fraction(9, 8), 100), enclosed),
    st.builds(lambda epsilon, delta: Approximate(epsilon, delta.minimum(1)), enclosed, enclosed),
)
assumptions = st.lists(st.builds(Assumption, st.text(), st.text()), max_size=3)
theorems = st.builds(Theorem, st.text(), st.text())
derivations = st.recursive(
    st.builds(lambda theorem, assumed: theorem.conclude((), assumed), theorems, assumptions),
    lambda below: st.builds(
        lambda theorem, premises, assumed: theorem.conclude(premises, assumed),
        theorems,
        st.lists(below, max_size=3),
        assumptions,
    ),
    max_leaves=6,
)
guarantees: Any = st.builds(
    Guarantee,
    bound=bounds,
    relation=st.sampled_from([ADD_REMOVE, REPLACE]),
    unit=st.one_of(st.sampled_from([RECORD, ELEMENT]), st.builds(User, contributions=st.integers(1, 10**30))),
    derivation=derivations,
)


def known(guarantee: Guarantee[Any, Any, Any]) -> list[Any]:
    return [getattr(value, "number", value) for value in vars_of(guarantee.bound)]


def vars_of(bound: Any) -> list[Any]:
    return [getattr(bound, name) for name in bound.__slots__ if name != "__weakref__"]


@given(guarantees)
def test_a_guarantee_comes_back_as_it_was(guarantee: Any) -> None:
    text = guarantee_to_json(guarantee)
    again = guarantee_from_json(text)
    assert again == guarantee
    assert known(again) == known(guarantee)
    assert guarantee_to_json(again) == text
    assert text.isascii()


def test_a_runs_guarantee_comes_back() -> None:
    run = SampledRun(
        mechanism=LaplaceSum(scale=Public(1)),
        sampler=Poisson(rate=Public("0.1")),
        domain=NormBall(norm=Norm.L1, radius=Public(5)),
    )
    assert guarantee_from_json(guarantee_to_json(run.pure())) == run.pure()


def test_what_holds_at_released_values_alone_stays_marked() -> None:
    cost = Guarantee(bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=EX_POST.conclude([], []))
    with pytest.raises(InvalidValue, match="released values"):
        refuse_ex_post("cost", guarantee_from_json(guarantee_to_json(cost)))


@given(guarantees, st.data())
def test_other_texts_are_refused_or_other_guarantees(guarantee: Any, data: Any) -> None:
    text = guarantee_to_json(guarantee)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters(codec="utf-8"))
    changed = text[:place] + letter + text[place + 1 :]
    try:
        again = guarantee_from_json(changed)
    except InvalidValue:
        return
    assert guarantee_to_json(again) == changed


@pytest.mark.parametrize(
    ("entry", "value", "says"),
    [
        ("format", "certdp-guarantee/2", "certdp-guarantee/1"),
        ("relation", "swap", "add-remove or replace"),
        ("unit", {"name": "household"}, "record or element or user"),
        ("unit", {"name": "user"}, "name, contributions"),
        ("bound", {"notion": "pure"}, "notion, epsilon"),
        ("bound", {"notion": ["pure"]}, "pure"),
        ("bound", {"notion": "pure", "epsilon": "1"}, "epsilon"),
        ("derivation", {"theorem": ["a"], "premises": [], "assumptions": []}, "two texts"),
        ("derivation", {"theorem": ["a", "b"], "premises": {}, "assumptions": []}, "a list"),
    ],
)
def test_what_no_guarantee_says_is_refused(entry: str, value: Any, says: str) -> None:
    cost: Any = Guarantee(
        bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("a", "b").conclude()
    )
    with pytest.raises(InvalidValue, match=says):
        guarantee_from_json(canonical({**json.loads(guarantee_to_json(cost)), entry: value}))


def test_anything_but_a_guarantee_is_refused() -> None:
    bad: Any = Pure(Enclosure.of(1))
    with pytest.raises(InvalidType, match="a Guarantee"):
        guarantee_to_json(bad)
    not_text: Any = b"{}"
    with pytest.raises(InvalidType, match="text"):
        guarantee_from_json(not_text)


def test_a_number_too_long_to_be_written_is_refused() -> None:
    tiny = Pure(Enclosure.of(Fraction(1, 2**20_000)))
    cost: Any = Guarantee(bound=tiny, relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("a", "b").conclude())
    with pytest.raises(InvalidValue, match="3,900 digits"):
        guarantee_to_json(cost)

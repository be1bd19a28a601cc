"""The bytes of a part that no records gave: refused in one word that says nothing of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import Coins, Full, LaplaceSum, Norm, NormBall, Outside, Poisson, PrivacyConstrained, Public, SampledRun
from certdp.accounting.private import InvalidData
from certdp.accounting.stored import packed, unpacked
from certdp.parts import LossesPart, Part, SumPart, WeightsPart
from tests.support.cases import examples

RUN = SampledRun(
    mechanism=LaplaceSum(scale=Public(4)),
    sampler=Poisson(rate=Public("0.9")),
    domain=NormBall(norm=Norm.L1, radius=Public(2)),
)
CONSTRAINED = SampledRun(
    mechanism=LaplaceSum(scale=Public(4)),
    sampler=PrivacyConstrained(target=Public("1.5"), largest_weight=Public(5)),
    domain=NormBall(norm=Norm.L1, radius=Public(5)),
)
RECORDS = np.linspace(0.0, 1.5, 24).reshape(12, 2)
PARTS: dict[str, Part[Any]] = {
    "losses": LossesPart.of(RUN, RECORDS, Outside.DROP),
    "clipped": LossesPart.of(RUN, RECORDS),
    "sink": LossesPart.of(RUN, RECORDS, Outside.DROP, into=lambda _: None),
    "weights": WeightsPart.of(CONSTRAINED, RECORDS, coins=Coins.seeded(1)),
    "sums": SumPart.of(SampledRun(mechanism=LaplaceSum(scale=Public(4)), sampler=Full()), RECORDS),
}
NAMED = [(kind, name) for kind, part in PARTS.items() for name in unpacked(part.form, part.to_bytes())[1]]


def refused(part: Part[Any], content: bytes) -> None:
    with pytest.raises(InvalidData) as caught:
        type(part).from_bytes(content)
    assert str(caught.value).startswith("content: got bytes that are not whole;")


def forged(part: Part[Any], name: str, array: Any) -> bytes:
    stated, arrays = unpacked(part.form, part.to_bytes())
    others = {one: held for one, held in arrays.items() if one != name}
    return packed(part.form, stated, others if array is None else {**others, name: array})


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_arrays_of_other_lengths_and_kinds(kind: str, name: str) -> None:
    part = PARTS[kind]
    assert type(part).from_bytes(part.to_bytes()).to_bytes() == part.to_bytes()
    held = unpacked(part.form, part.to_bytes())[1][name]
    refused(part, forged(part, name, np.concatenate([held, held[:1], held[:1]])))
    refused(part, forged(part, name, held[:, None]))
    refused(part, forged(part, name, held.astype(np.uint64)))
    refused(part, forged(part, "more", held))
    if held.dtype == np.float64:
        refused(part, forged(part, name, np.full_like(held, np.nan)))
    if held.dtype == np.float64 and name != "records":
        refused(part, forged(part, name, -held - 1))
    if held.dtype == np.int64:
        refused(part, forged(part, name, -held - 1))
        refused(part, forged(part, name, held + 2**40 * (np.arange(len(held)) == 1)))
    if held.dtype == np.bool_:
        refused(part, forged(part, name, ~held))
    if name not in ("values", "inside", "reach", "records"):  # without which it may be another part
        refused(part, forged(part, name, None))


def forged_together(part: Part[Any], facts: dict[str, Any], **changed: Any) -> bytes:
    stated, arrays = unpacked(part.form, part.to_bytes())
    return packed(part.form, {**stated, "facts": {**stated["facts"], **facts}}, {**arrays, **changed})


@pytest.mark.parametrize("alter", [lambda grid: grid[::-1], lambda grid: []])
def test_no_grid_of_a_histogram(alter: Any) -> None:
    """Stated alike in the facts and in what is held."""
    part = PARTS["losses"]
    arrays = unpacked(part.form, part.to_bytes())[1]
    grid = np.array(alter(arrays["grid"].tolist()), dtype=np.float64)
    cells = np.bincount([0] * 12, minlength=len(grid) + 1).astype(np.int64)
    refused(part, forged_together(part, {"grid": grid.tolist()}, grid=grid, cells=cells))


def test_a_negative_number_of_losses_that_others_make_up_for() -> None:
    part = PARTS["losses"]
    cells = unpacked(part.form, part.to_bytes())[1]["cells"]
    emptied = np.concatenate([[-1, cells.sum() + 1], np.zeros(len(cells) - 2, dtype=np.int64)])
    refused(part, forged_together(part, {}, cells=emptied))


def test_a_negative_number_of_proofs_that_others_make_up_for() -> None:
    part = PARTS["weights"]
    reach = unpacked(part.form, part.to_bytes())[1]["reach"]
    shifted = np.array([-1, reach.sum() + 1, *np.zeros(len(reach) - 2)], dtype=np.int64)
    refused(part, forged_together(part, {}, reach=shifted))


def test_a_sample_of_more_records_than_there_are() -> None:
    part = PARTS["weights"]
    held = unpacked(part.form, part.to_bytes())[1]
    for times, admitted in ((1, True), (13, False)):
        sample = {name: np.resize(held[name], (times, *held[name].shape[1:])) for name in ("records", "weights")}
        content = forged_together(part, {}, **sample)
        if admitted:
            assert type(part).from_bytes(content).to_bytes() == content
        else:
            refused(part, content)


def every_place(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values within a value of JSON."""
    inner: Any
    match value:
        case dict():
            inner = value.items()
        case list():
            inner = enumerate(value)
        case _:
            inner = ()
    return [place, *(found for key, held in inner for found in every_place(held, (*place, key)))]


def replaced(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    key, *rest = place
    copied = value.copy()
    copied[key] = replaced(value[key], tuple(rest), other)
    return copied


@examples(300)
@given(st.sampled_from([*PARTS]), st.data())
def test_other_numbers(kind: str, draw: Any) -> None:
    """Whatever is written in place of a number, a text or a list: refused, or a part that is written as that."""
    part = PARTS[kind]
    stated, arrays = unpacked(part.form, part.to_bytes())
    place = draw.draw(st.sampled_from(every_place(stated)))
    other = draw.draw(
        st.sampled_from([None, True, -1, 2**70, 0.5, "", "0x1", "-0x1", "0X1", "1", "hidden", [], ["hidden"], {}, [[]]])
    )
    content = packed(part.form, replaced(stated, place, other), arrays)
    try:
        again = type(part).from_bytes(content)
    except InvalidData:
        refused(part, content)
    else:
        assert again.to_bytes() == content


@pytest.mark.parametrize(
    "changed",
    [
        {"totals": [["0x1"], ["0x1", "0x2"]]},
        {"totals": []},
        {"totals": "hidden"},
        {"draws": []},
        {"draws": ["00"]},
        {"draws": ["0" * 32, "0" * 32]},
        {"private": 1},
        {"more": 1},
    ],
)
def test_other_sums(changed: dict[str, Any]) -> None:
    part = PARTS["sums"]
    stated, arrays = unpacked(part.form, part.to_bytes())
    refused(part, packed(part.form, {**stated, "numbers": {**stated["numbers"], **changed}}, arrays))


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("losses", {"grid": [0.5, 1.0]}),
        ("losses", {"losses": "in a sink"}),
        ("losses", {"losses": "elsewhere"}),
        ("sink", {"losses": "held"}),
        ("weights", {"columns": 3}),
        ("weights", {"sample": "none"}),
        ("weights", {"sample": "some"}),
        *((kind, {"columns": 0}) for kind in PARTS),
        *((kind, {"columns": -1}) for kind in PARTS),
        *((kind, {"outside": "keep"}) for kind in PARTS),
        *((kind, {"run": "0"}) for kind in PARTS),
    ],
)
def test_facts_that_do_not_go_with_what_is_held(kind: str, changed: dict[str, Any]) -> None:
    part = PARTS[kind]
    stated, arrays = unpacked(part.form, part.to_bytes())
    refused(part, packed(part.form, {**stated, "facts": {**stated["facts"], **changed}}, arrays))

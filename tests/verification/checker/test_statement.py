"""The shape of what every certificate of a profile states: each key of its kind, and only upper ends that are given."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker import shapes
from certdp.verification.checker.statement import body_of, check_figures, hold_assumptions
from certdp.verification.checker.verdict import Refused

STORED = Path(__file__).parents[2] / "answers/certificates"
BODIES = [body for path in sorted(STORED.glob("*.json")) if "data" in (body := json.loads(path.read_text("utf-8")))]
OWNERS = [body for body in BODIES if body["data"] is not None]
PUBLIC = [body for body in BODIES if body["claim"]["supremum"] is not None]
WHOLE = 2**53


def read(body: dict[str, Any], *changes: tuple[tuple[str, ...], Any]) -> None:
    changed = {key: copy.deepcopy(value) for key, value in body.items() if key != "digest"}
    for way, value in changes:
        inner = changed
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = value
    body_of(body["kind"], body["theorem"], shapes.anything)(changed, "certificate")


def test_what_is_stored_has_the_shape() -> None:
    assert OWNERS
    assert PUBLIC
    for body in BODIES:
        read(body)
        with pytest.raises(Refused):
            read({**body, "kind": "another"}, (("kind",), body["kind"]))


def test_a_supremum_has_an_upper_end_and_may_have_a_lower_one() -> None:
    for body in PUBLIC:
        read(body, (("claim", "supremum", "lower"), None))
        with pytest.raises(Refused, match="upper"):
            read(body, (("claim", "supremum", "upper"), None))


@pytest.mark.parametrize(
    ("key", "admitted", "refused"),
    [
        ("commitment", ["a" * 64], ["a" * 63, "a" * 65, "A" * 64, "", None]),
        ("nonce", ["0" * 64], ["0" * 63, "0" * 65, "g" * 64]),
        ("records", [0, WHOLE], [-1, WHOLE + 1, 1.0, True]),
        ("columns", [1, WHOLE], [0, WHOLE + 1]),
        ("outside", ["clip", "drop", "none"], ["keep", None]),
        ("expected_sample_size", [[0.0, 1.0]], [[0.0], [0.0, 1.0, 2.0], None]),
    ],
)
def test_figures_of_data_have_their_kinds(key: str, admitted: list[Any], refused: list[Any]) -> None:
    for body in OWNERS:
        for value in admitted:
            read(body, (("data", key), value))
        for value in refused:
            with pytest.raises(Refused, match=key):
                read(body, (("data", key), value))


def test_a_precision_has_24_to_4096_bits() -> None:
    for body in BODIES:
        for admitted in (24, 4096):
            read(body, (("precision",), admitted))
        for refused in (23, 4097, 53.0, "53"):
            with pytest.raises(Refused, match="precision"):
                read(body, (("precision",), refused))


@pytest.mark.parametrize("length", [1, 500, 999])
def test_what_stands_beside_the_proof_has_at_most_1000_characters(length: int) -> None:
    def beside(value: str) -> Any:
        return hold_assumptions({"assumptions": [{"name": "n" * length, "value": value}]}, {}).beside

    assert beside("v" * (1000 - length)) == (("n" * length, "v" * (1000 - length)),)
    with pytest.raises(Refused, match="at most 1000 characters"):
        beside("v" * (1001 - length))


@pytest.mark.parametrize(
    ("psi_max", "size", "possible"),
    [
        (0.0, [0.0, 0.0], True),
        (0.5, [1.0, 2.0], True),
        (-5e-324, [1.0, 2.0], False),
        (0.5, [-5e-324, 2.0], False),
        (0.5, [2.0, 1.0], False),
    ],
)
def test_figures_are_those_of_some_data(psi_max: float, size: list[float], possible: bool) -> None:
    """Of no records, too: then nothing is lost and nothing is drawn."""
    body = {"data": {"psi_max": psi_max, "expected_sample_size": size, "columns": 3}}
    if possible:
        check_figures(body, None)
    else:
        with pytest.raises(Refused, match="no figures of any data"):
            check_figures(body, None)

"""Globs on names, and what comes close to one that matches nothing."""

from __future__ import annotations

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.verification.running.selection import chosen

MANY = [*(f"is/theorem-{number}" for number in range(40)), "pws/lemma-1", "DPIS-α", "zero-x/one", "declared.count-y"]


def remedy(pattern: str, names: list[str]) -> str:
    with pytest.raises(InvalidValue) as caught:
        chosen(names, lambda name: (name,), (pattern,), "claim")
    error = caught.value
    assert (error.parameter, error.value, error.admissible) == ("only", pattern, "a glob that matches a claim")
    return error.remedy


def test_order_is_kept_and_nothing_is_chosen_twice() -> None:
    found = chosen(MANY, lambda name: (name, "all"), ("pws/*", "is/theorem-3", "*-3"), "claim")
    assert found == ("is/theorem-3", "pws/lemma-1")
    for everything in (("all",), ()):
        assert chosen(MANY, lambda name: (name, "all"), everything, "claim") == tuple(MANY)


def test_a_typo_is_told_its_neighbours_and_how_many_others_there_are() -> None:
    told = remedy("is/theorm-7", MANY)
    assert told.startswith("Did you mean is/theorem-7")
    assert told.endswith("41 others, known names begin with is/, pws/, DPIS-, zero-x/, declared.")
    assert len(told) < 200


def test_where_nothing_comes_close_families_are_told() -> None:
    assert (
        remedy("zzz*", MANY)
        == "Nothing comes close among 44; known names begin with is/, pws/, DPIS-, zero-x/, declared."
    )


def test_few_names_are_all_told() -> None:
    assert remedy("zzz", ["b/two", "a/one"]) == "Known: b/two, a/one"

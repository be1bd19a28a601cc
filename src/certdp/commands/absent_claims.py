"""Plugins whose claims are not run: which, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..accounting.errors import InvalidValue, restated
from ..plugins.registry import Status
from ..verification.reports.foreign_words import shortened


def unusable(problems: Sequence[Status]) -> list[Status]:
    """Return the absences that are broken; the others are left out on demand."""
    return [problem for problem in problems if not problem.blocked]


def absent_as_json(problems: Sequence[Status]) -> dict[str, Any]:
    """Return both kinds of absences in JSON's types."""
    blocked = [problem for problem in problems if problem.blocked]
    return {"unusable": [_json(problem) for problem in unusable(problems)], "left_out": [_json(one) for one in blocked]}


def absent_in_words(problems: Sequence[Status]) -> list[str]:
    """A line for each."""
    lines = []
    for problem in problems:
        listing, verb = problem.listing, "are left out" if problem.blocked else "cannot be used"
        lines.append(f"claims {listing.name} of {listing.distribution} {verb}: {shortened(problem.problem or '')}")
    return lines


@contextmanager
def mentioning(problems: Sequence[Status]) -> Iterator[None]:
    """Where a glob matches nothing, tell also which claims it had no chance to match."""
    try:
        yield
    except InvalidValue as error:
        if error.parameter != "only" or not problems:
            raise
        remedy = ". ".join([error.remedy, *(f"Besides, {line}" for line in absent_in_words(problems))])
        raise restated(error, remedy=remedy) from None


def _json(problem: Status) -> dict[str, Any]:
    listing = problem.listing
    return {"distribution": listing.distribution, "name": listing.name, "problem": problem.problem}

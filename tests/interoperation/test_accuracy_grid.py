"""Over the runs of the accuracy page: no right claim is refuted, and no claim that the page shows to be wrong holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.accountants import RENYI
from certdp.accounting.relations import ADD_REMOVE, REPLACE
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Event,
    Finding,
    Gaussian,
    Laplace,
    PoissonSampled,
    RandomisedResponse,
    SelfComposed,
    judged,
)

DOCUMENT = (Path(__file__).parents[2] / "docs/accuracy.md").read_text("utf-8")
DELTAS = ("0.01", "1e-5", "1e-10", "1e-15")
NOISE = {"31.6228": math.sqrt(1000), "316.228": math.sqrt(100_000)}
"""What the page rounds."""

Case = tuple[str, str, str, int]
GRID: list[Case] = [
    *(("gaussian", "1", noise, steps) for noise, steps in (("1", 1), ("31.6228", 1000), ("316.228", 100_000))),
    *(("gaussian", "1", noise, steps) for noise, steps in (("2000", 100_000), ("0.2", 1))),
    *(("laplace", "1", noise, steps) for noise, steps in (("1", 1), ("10", 1), ("10", 30), ("100", 1000), ("1", 30))),
    *(
        ("response", "1", noise, steps)
        for noise, steps in (("0.5", 1), ("0.5", 10), ("0.8", 10), ("0.8", 100), ("0.98", 1000))
    ),
    *(
        ("sampled gaussian", rate, noise, steps)
        for rate in ("0.0001", "0.01", "0.1", "0.5", "1")
        for noise in ("0.5", "1", "4")
        for steps in (1, 10, 1000, 10_000, 100_000)
    ),
]


def run_of(case: Case) -> Any:
    kind, rate, noise, steps = case
    size = NOISE.get(noise, Fraction(noise))
    event: Event
    match kind:
        case "laplace":
            event = Laplace(size)
        case "response":
            event = RandomisedResponse(size, 2)
        case _:
            event = Gaussian(size)
    drawn = event if rate == "1" else PoissonSampled(Fraction(rate), event)
    return SelfComposed(drawn, steps).run(REPLACE if kind == "response" else ADD_REMOVE)


def case_of(kind: str, words: str) -> Case:
    """The case of a row, such as `q = 0.1, σ = 1, 10 ×`."""
    found = re.fullmatch(r"(?:q = ([\d.e-]+), )?\w = ([\d.]+), ([\d,]+) ×", words)
    assert found is not None, words
    return kind, found[1] or "1", found[2], int(found[3].replace(",", ""))


def rows() -> Iterator[tuple[Case, str, str]]:
    """Case, δ and proven upper end of each row of the grid's tables."""
    kind = delta = ""
    for line in DOCUMENT.splitlines():
        if heading := re.fullmatch(r"## (\w[\w ]+), δ = (\S+)", line):
            kind, delta = heading[1].lower(), heading[2]
        elif kind and (row := re.match(r"\| ([^|]+ ×) \| \[\S+, (\S+)\] \|", line)):
            last = Fraction(1, 10 ** len(row[2].partition(".")[2]))
            yield case_of(kind, row[1]), delta, str(Fraction(row[2]) + last)  # the page rounds to the nearest


def wrong() -> Iterator[tuple[Case, str, str]]:
    """Case, δ and a peer's claim, of the rows below the proven interval in which it is below as printed, too."""
    for line in DOCUMENT.splitlines():
        row = re.match(r"\| ([a-z ]+), (\S[^|]+ ×) \| (\S+) \| \[(\S+), \S+\] \| ([\d.e-]+) \|", line)
        if row and Fraction(row[5]) < Fraction(row[4]):
            yield case_of(row[1], row[2]), row[3], row[5]


UPPER, WRONG = list(rows()), list(wrong())


def test_the_page_is_read_whole() -> None:
    assert len(GRID) * len(DELTAS) == 360
    assert len(UPPER) == 4 * 15 + 2 * 75 - 1  # one has an ε of 0
    assert {case for case, _, _ in UPPER} == set(GRID)
    assert len(WRONG) > 60


@pytest.mark.slow
@pytest.mark.parametrize("case", GRID, ids=str)
def test_what_another_theorem_proves_is_not_refuted(case: Case) -> None:
    run = run_of(case)
    for delta in map(Delta, DELTAS):
        claimed = run.epsilon(delta, accountant=RENYI).epsilon.upper
        assert judged(run, Epsilon(claimed), delta).finding is not Finding.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(("case", "delta", "upper"), UPPER, ids=str)
def test_the_upper_end_on_the_page_is_not_refuted(case: Case, delta: str, upper: str) -> None:
    assert judged(run_of(case), Epsilon(upper), Delta(delta)).finding is not Finding.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(("case", "delta", "claimed"), WRONG, ids=str)
def test_what_lies_below_on_the_page_is_refuted(case: Case, delta: str, claimed: str) -> None:
    assert judged(run_of(case), Epsilon(claimed), Delta(delta)).finding is Finding.REFUTED

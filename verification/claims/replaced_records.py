"""Claims of records replaced, and of groups, under Poisson sampling: against exact enumeration and integrals.

Legend: q is the rate, P and Q are the laws of an output with and without a record that is drawn, g = e^ε is rational.
Mechanisms on finite spaces are enumerated over every sample of up to 8 records, and compared without a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import (
    FinitePair,
    GaussianGroup,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    SampledGaussian,
    changed,
)
from ...accounting.relations import Direction
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles import pairs as oracles
from .enclosed import enclosed, enclosed_log
from .finite import Law, Mechanism, hockey_stick, law, loss, poisson_sampled, tabled
from .pairs import Tables, independent

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_CLOSE = Fraction(1, 10**12)


def _sampled(outputs: Law, absent: Law, rate: Fraction) -> Law:
    """The law of an output with a record in the data, which is drawn or not."""
    return tuple(rate * p + (1 - rate) * q for p, q in zip(outputs, absent, strict=True))


def _texts(bound: object, direct: Fraction) -> dict[str, str]:
    return {"closed_form": str(bound), "independent": f"{float(direct)!r}"}


def _examine_within(case: Case, pair: Pair | None, direct: Fraction, direction: Direction) -> Finding:
    """Whether a bound in one direction is at least what is enumerated."""
    law_of = None if pair is None else pair.delta
    if law_of is None:
        return Finding(False, "no pair", "there is one")
    found = law_of(enclosed_log(case["factor"]), direction)
    return Finding(holds=direct <= found.upper, **_texts(found, direct))


# Any mechanism on a finite space, on every sample


def _mechanism(case: Case) -> tuple[Mechanism, int]:
    """A mechanism with arbitrary laws on every subset of the others, x and x', and the number of the others."""
    others, outputs = case["others"], case["outputs"]
    drawn = Random(case["seed"])
    rows = [[drawn.randint(4, 9) for _ in range(outputs)] for _ in range(2 ** (others + 2))]
    return tabled(rows, [[0] * outputs] * (others + 2)), others


def _enumerated(case: Case) -> tuple[Fraction, Law, Law]:
    """e^ε of adding or removing x or x' for certain, and the laws of the samples of both data sets."""
    mechanism, count = _mechanism(case)
    drawn: Fraction = case["rate_of_others"]
    others = dict.fromkeys(range(count), drawn)
    everyone = dict.fromkeys(range(count), _ONE)
    worst = max(loss(mechanism, record, _ONE, everyone) for record in (count, count + 1))
    here, there = (
        poisson_sampled(mechanism, {**others, record: case["rate"]}, weighted=False) for record in (count, count + 1)
    )
    return worst, here, there


def _examine_replaced(case: Case) -> Finding:
    """One of up to 8 records replaced by another, by the pure loss of adding or removing it."""
    worst, here, there = _enumerated(case)
    pair = changed(RandomisedResponsePair(enclosed_log(worst)), enclosed(case["rate"]), replaced=True)
    direct = max(hockey_stick(here, there, case["factor"]), hockey_stick(there, here, case["factor"]))
    return _examine_within(case, pair, direct, Direction.REMOVE)


# Mechanisms whose laws are given: the pair is reached


def _opposite(case: Case) -> tuple[FinitePair, Law, Law]:
    """A table against a uniform law, and the laws of samples with one record of it and with its mirror image."""
    present = law(sorted(case["present"]))
    absent = law([1] * len(present))
    here, there = (_sampled(one, absent, case["rate"]) for one in (present, present[::-1]))
    return FinitePair(present, absent), here, there


def _pair_of(case: Case) -> tuple[FinitePair, Tables]:
    base, here, there = _opposite(case)
    pair = changed(base, enclosed(case["rate"]), replaced=True)
    assert isinstance(pair, FinitePair)
    return pair, (here, there)


def _examine_reached(case: Case) -> Finding:
    """Opposite records have exactly the pair's divergence, in both orientations."""
    pair, (here, there) = _pair_of(case)
    direct = hockey_stick(here, there, case["factor"]), hockey_stick(there, here, case["factor"])
    found = tuple(pair.hockey_stick(case["factor"], direction) for direction in Direction)
    return Finding(holds=found == direct, closed_form=str(found), independent=str(direct))


def _examine_add_remove_quoted(case: Case) -> Finding:
    """A wrong form: what adding or removing the record costs, quoted for replacing it."""
    base, here, there = _opposite(case)
    bound = base.sampled(enclosed(case["rate"]))
    return _examine_within(case, bound, hockey_stick(here, there, case["factor"]), Direction.REMOVE)


def _turning(case: Case, tables: Tables) -> Fraction:
    """δ of two releases, the second of which turns the two records round where the first one's output says so."""
    here, there = tables
    first, second = [], []
    for output, (p, q) in enumerate(zip(here, there, strict=True)):
        one, other = (there, here) if output in case["turns"] else (here, there)
        first += [p * value for value in one]
        second += [q * value for value in other]
    return hockey_stick(tuple(first), tuple(second), case["factor"])


def _examine_adaptive(case: Case) -> Finding:
    """Two releases that may turn: the pair twice."""
    pair, tables = _pair_of(case)
    direct = _turning(case, tables)
    twice = pair.repeated(2)
    return _examine_within(case, twice, direct, Direction.REMOVE)


def _examine_larger_of_two(case: Case) -> Finding:
    """A wrong form: the larger of the two self-compositions, of a pair that is not the same in both orientations."""
    here, there = law(case["one"]), law(case["other"])
    twice = [independent([two, two]) for two in ((here, there), (there, here))]
    bound = max(hockey_stick(*two, case["factor"]) for two in twice)
    direct = _turning(case, (here, there))
    return Finding(holds=direct <= bound, **_texts(bound, direct))


# Gaussian noise, against integrals


def _numbers(case: Case) -> tuple[Fraction, Fraction, int, Fraction]:
    return case["shift"], case["rate"], case["size"], case["epsilon"]


def _examine_integrals(case: Case, pair: Callable[[Enclosure, Enclosure, int], Pair], *, mirrored: bool) -> Finding:
    """δ of a pair against the integral of the group's laws, in both directions."""
    shift, rate, size, epsilon = _numbers(case)
    asked = pair(enclosed(shift), enclosed(rate), size).delta
    assert asked is not None
    found = [asked(enclosed(epsilon), direction) for direction in Direction]
    direct = [
        oracles.group_delta(shift, rate, size, epsilon, mirrored=mirrored, remove=direction is Direction.REMOVE)
        for direction in Direction
    ]
    near = (value.lower - _CLOSE <= number <= value.upper + _CLOSE for value, number in zip(found, direct, strict=True))
    return Finding(all(near), str(found), str([float(number) for number in direct]))


def _examine_replaced_gaussian(case: Case) -> Finding:
    def pair(shift: Enclosure, rate: Enclosure, size: int) -> Pair:
        return GaussianGroup(shift, rate, size, mirrored=True)

    return _examine_integrals(case, pair, mirrored=True)


def _examine_replaced_laplace(case: Case) -> Finding:
    shift, rate, _, epsilon = _numbers(case)
    pair = changed(LaplacePair(enclosed(shift)), enclosed(rate), replaced=True)
    assert pair is not None
    assert pair.delta is not None
    found = [pair.delta(enclosed(epsilon), direction) for direction in Direction]
    direct = oracles.opposite_laplace_delta(shift, rate, epsilon)
    near = all(value.lower - _CLOSE <= direct <= value.upper + _CLOSE for value in found)
    return Finding(near, str(found), repr(float(direct)))


def _examine_turning_laplace(case: Case) -> Finding:
    """Two releases that may turn, each of which is seen in cells from −s to s and beyond."""
    growth, cells = case["growth"], case["cells"]
    here, there = (
        _sampled(_in_cells(growth, cells, sign), _in_cells(growth, cells, 0), case["rate"]) for sign in (1, -1)
    )
    pair = changed(LaplacePair(enclosed_log(growth) * cells), enclosed(case["rate"]), replaced=True)
    assert pair is not None
    direct = _turning(case, (here, there))
    return _examine_within(case, pair.repeated(2), direct, Direction.REMOVE)


def _in_cells(growth: Fraction, cells: int, sign: int) -> Law:
    """Masses of Laplace noise about s, 0 or −s between the places −s, …, s, log(growth) apart, and beyond."""
    below = [
        growth ** (place - sign * cells) / 2 if place <= sign * cells else 1 - growth ** (sign * cells - place) / 2
        for place in range(-cells, cells + 1)
    ]
    return tuple(high - low for low, high in zip([Fraction(0), *below], [*below, _ONE], strict=True))


def _examine_group(case: Case) -> Finding:
    def pair(shift: Enclosure, rate: Enclosure, size: int) -> Pair:
        return GaussianGroup(shift, rate, size, mirrored=False)

    return _examine_integrals(case, pair, mirrored=False)


def _examine_group_at_one_rate(case: Case) -> Finding:
    """A wrong form: a group as one record that moves the output k times as far, drawn at its rate."""
    shift, rate, size, epsilon = _numbers(case)
    bound = SampledGaussian(enclosed(shift * size), enclosed(rate)).delta(enclosed(epsilon), Direction.REMOVE)
    direct = oracles.group_delta(shift, rate, size, epsilon, mirrored=False, remove=True)
    return Finding(holds=direct <= bound.upper + _CLOSE, **_texts(bound, direct))


# Cases


def _factors() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(1, 3, max_denominator=12)


def _rates() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.integers(0, 8).map(lambda eighths: Fraction(eighths, 8))


def _enumerated_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "others": st.integers(0, 6),
            "outputs": st.integers(2, 4),
            "seed": st.integers(0, 10**6),
            "rate": _rates(),
            "rate_of_others": st.just(Fraction(1, 2)),
            "factor": _factors(),
        }
    )


def _table_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "present": st.lists(st.integers(0, 9), min_size=2, max_size=4).filter(any).map(tuple),
            "rate": _rates(),
            "factor": _factors(),
            "turns": st.sets(st.integers(0, 3)).map(tuple),
        }
    )


def _orientation_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    rows = st.tuples(*[st.integers(1, 9)] * 3)
    turns = st.sets(st.integers(0, 2)).map(tuple)
    return st.fixed_dictionaries({"one": rows, "other": rows, "factor": _factors(), "turns": turns})


def _line_cases() -> SearchStrategy[Case]:
    """Few, for an integral takes its time."""
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "shift": st.sampled_from([Fraction(1, 2), Fraction(2)]),
            "rate": st.sampled_from([Fraction(1, 100), Fraction(1, 4)]),
            "size": st.sampled_from([1, 3]),
            "epsilon": st.sampled_from([Fraction(1, 1000), Fraction(1)]),
        }
    )


def _cell_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "growth": st.fractions(Fraction(21, 20), 3, max_denominator=20),
            "cells": st.integers(1, 3),
            "rate": _rates(),
            "factor": _factors(),
            "turns": st.sets(st.integers(0, 7)).map(tuple),
        }
    )


_QUARTERS = {"present": (1, 3), "rate": Fraction(1, 2), "factor": Fraction(1)}
_TURNING = {"one": (1, 1, 4), "other": (1, 8, 8), "factor": Fraction(2), "turns": (2,)}
_WITNESS_LINE = {"shift": Fraction(1), "rate": Fraction(1, 100), "size": 2, "epsilon": Fraction(1, 1000)}

CLAIMS = (
    Claim(
        id="batches/replace-one",
        statement="docs/soundness_replace.md, replace-one",
        says="the pair of a pure loss dominates replacing one of up to 8 records, enumerated over every sample",
        cases=_enumerated_cases,
        examine=_examine_replaced,
    ),
    Claim(
        id="batches/replace-one-by-add-remove",
        statement="the misreading that what adding or removing a record costs is the cost of replacing it",
        says="replacing a record costs no more than adding or removing one",
        cases=_table_cases,
        examine=_examine_add_remove_quoted,
        expectation=Expectation.REJECTED,
        witness=_QUARTERS,
    ),
    Claim(
        id="batches/replace-one-reached",
        statement="docs/soundness_replace.md, replace-one",
        says="opposite records have exactly the divergences of the countermonotone pair, in both orientations",
        cases=_table_cases,
        examine=_examine_reached,
    ),
    Claim(
        id="batches/replace-one-adaptive",
        statement="docs/soundness_replace.md, replace-one; Zhu, Dong, Wang 2022, Theorem 10",
        says="the pair twice bounds two releases of which the second may turn the records round",
        cases=_table_cases,
        examine=_examine_adaptive,
    ),
    Claim(
        id="batches/replace-one-larger-of-two",
        statement="Lebeda, Regehr, Kamath, Steinke 2024",
        says="the larger of two self-compositions bounds a run that turns at each step",
        cases=_orientation_cases,
        examine=_examine_larger_of_two,
        expectation=Expectation.REJECTED,
        witness=_TURNING,
    ),
    Claim(
        id="batches/replace-gaussian",
        statement="docs/soundness_replace.md, Gaussian sums and groups",
        says="δ of replaced records under sampled Gaussian noise is the integral that defines it",
        cases=_line_cases,
        examine=_examine_replaced_gaussian,
    ),
    Claim(
        id="batches/replace-laplace",
        statement="docs/soundness_replace.md, Laplace sums",
        says="δ of replaced records under sampled Laplace noise is the integral that defines it",
        cases=_line_cases,
        examine=_examine_replaced_laplace,
    ),
    Claim(
        id="batches/replace-laplace-adaptive",
        statement="docs/soundness_replace.md, Laplace sums; Zhu, Dong, Wang 2022, Theorem 10",
        says="the pair twice bounds two releases with Laplace noise of which the second may turn the records round",
        cases=_cell_cases,
        examine=_examine_turning_laplace,
    ),
    Claim(
        id="batches/group-gaussian",
        statement="docs/soundness_replace.md, groups",
        says="δ of a group of records under sampled Gaussian noise is the integral that defines it, in both directions",
        cases=_line_cases,
        examine=_examine_group,
    ),
    Claim(
        id="batches/group-as-one-record",
        statement="the misreading of a group as one record that moves the output k times as far",
        says="a group of k costs at most what one record at its rate costs that moves the output k times as far",
        cases=_line_cases,
        examine=_examine_group_at_one_rate,
        expectation=Expectation.REJECTED,
        witness=_WITNESS_LINE,
    ),
)

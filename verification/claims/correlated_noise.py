"""Claims of correlated noise, against every way in which one record may take part in up to eight steps.

Legend: C is a matrix of whole numbers, `rows`; a record takes part in at most `times` steps, each two at least `apart`
apart, and adds 1 or −1 to each: ‖C·d‖² is a whole number, which is gone through for every such d.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.sampling.strategies import MatrixStrategy, Participation, ToeplitzStrategy
from ...plugins.contract import Case, Claim, Expectation, Finding

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Rows: TypeAlias = Sequence[Sequence[int]]
_NEAR = Fraction(1, 10**9)


def ways(steps: int, times: int, apart: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """Every set of at most `times` steps, each two at least `apart` apart."""
    yield ()
    if times:
        for step in range(first, steps):
            for rest in ways(steps, times - 1, apart, step + apart):
                yield (step, *rest)


def _squared(rows: Rows, moved: Mapping[int, int]) -> int:
    return sum(sum(row[step] * sign for step, sign in moved.items()) ** 2 for row in rows)


def farthest(rows: Rows, times: int, apart: int) -> int:
    """The largest ‖C·d‖²."""
    every = ways(len(rows), times, apart)
    signed = (dict(zip(steps, signs, strict=True)) for steps in every for signs in product((1, -1), repeat=len(steps)))
    return max(_squared(rows, moved) for moved in signed)


def _toeplitz(coefficients: Sequence[int], steps: int) -> Rows:
    numbers = [*coefficients, *([0] * steps)]
    return [[numbers[row - column] if column <= row else 0 for column in range(steps)] for row in range(steps)]


def _participation(case: Case) -> Participation:
    size = len(case["rows"])
    return Participation(times=min(case["times"], -(-size // case["apart"])), apart=case["apart"])


def _certified(case: Case) -> Enclosure:
    return MatrixStrategy(case["rows"]).sensitivity(_participation(case)).square()


def _covers(case: Case, quoted: Callable[[Case], Enclosure], *, exactly: bool) -> Finding:
    """Whether no d goes beyond the quoted square, and some d comes to it where all products are at least 0."""
    asked = _participation(case)
    truth = farthest(case["rows"], asked.times, asked.apart)
    bound = quoted(case)
    holds = bound.lower <= truth <= bound.upper
    if exactly:
        holds = holds and bound.upper <= truth * (1 + _NEAR)
    return Finding(holds=holds, closed_form=str(bound), independent=str(truth))


def _examine(case: Case) -> Finding:
    rows = case["rows"]
    columns = list(zip(*rows, strict=True))
    positive = all(sum(a * b for a, b in zip(one, other, strict=True)) >= 0 for one in columns for other in columns)
    return _covers(case, _certified, exactly=positive)


def _examine_toeplitz(case: Case) -> Finding:
    falling = sorted(case["coefficients"], reverse=True)
    steps = len(falling) + case["more"]
    strategy = ToeplitzStrategy(falling, steps)
    given = {**case, "rows": _toeplitz(falling, steps)}
    return _covers(given, lambda one: strategy.sensitivity(_participation(one)).square(), exactly=True)


def _quoted_turns(case: Case, rows: Rows) -> Finding:
    """Whether the squared norms of the columns of its turns add up to the most that a record of some group moves."""
    groups, norms = case["apart"], [norm.square() for norm in MatrixStrategy(rows).column_norms()]
    holds, bounds, truths = True, [], []
    for first in range(min(groups, len(rows))):
        turns = range(first, len(rows), groups)
        bound = sum((norms[step] for step in turns), Enclosure.of(0))
        every = (dict(zip(turns, signs, strict=True)) for signs in product((1, -1, 0), repeat=len(turns)))
        truth = max(_squared(rows, moved) for moved in every)
        holds = holds and bound.lower <= truth <= bound.upper
        bounds.append(str(bound))
        truths.append(str(truth))
    return Finding(holds=holds, closed_form="; ".join(bounds), independent="; ".join(truths))


def _examine_turns(case: Case) -> Finding:
    """Of a matrix cut to as many bands as there are groups."""
    rows, groups = case["rows"], case["apart"]
    return _quoted_turns(
        case, [[entry if i - j < groups else 0 for j, entry in enumerate(row)] for i, row in enumerate(rows)]
    )


def _once(case: Case) -> Enclosure:
    """A wrong form: as if a record took part once."""
    return MatrixStrategy(case["rows"]).sensitivity(Participation(times=1)).square()


def _with_signs(case: Case) -> Enclosure:
    """A wrong form: products of columns count with their signs, as if a record added the same each time."""
    asked, rows = _participation(case), case["rows"]
    every = ways(len(rows), asked.times, asked.apart)
    return Enclosure.of(max(_squared(rows, dict.fromkeys(steps, 1)) for steps in every))


def _cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def triangle(size: int) -> SearchStrategy[Rows]:
        below = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
        signs = st.sampled_from([1, 2, 3])
        rows = st.tuples(*(st.tuples(below, signs) for _ in range(size)))
        return rows.map(lambda given: [[*row[:i], d, *([0] * (size - 1 - i))] for i, (row, d) in enumerate(given)])

    return st.fixed_dictionaries(
        {"rows": st.integers(1, 8).flatmap(triangle), "times": st.integers(1, 8), "apart": st.integers(1, 4)}
    )


def _toeplitz_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "coefficients": st.lists(st.integers(1, 5), min_size=1, max_size=5),
            "more": st.integers(0, 3),
            "times": st.integers(1, 8),
            "apart": st.integers(1, 4),
        }
    )


_SOURCE = "Choquette-Choo, McMahan, Rush, Thakurta 2023, Section 2"

CLAIMS = (
    Claim(
        id="batches/correlated-sensitivity",
        statement=_SOURCE,
        says="no record moves C·x farther than the certified sensitivity, which is exact where no product is negative",
        cases=_cases,
        examine=_examine,
    ),
    Claim(
        id="batches/correlated-toeplitz",
        statement="Kalinin, Lampert 2024, Theorem 2",
        says="where coefficients never rise, a record moves C·x farthest that takes part as early and often as it may",
        cases=_toeplitz_cases,
        examine=_examine_toeplitz,
    ),
    Claim(
        id="batches/correlated-turns",
        statement="Choquette-Choo et al. 2023 (arXiv:2306.08153), Theorem 4",
        says="turns of a record that meet in no row of C move C·x as so many releases of their own",
        cases=_cases,
        examine=_examine_turns,
    ),
    Claim(
        id="batches/correlated-turns-that-meet",
        statement="Choquette-Choo et al. 2023 (arXiv:2306.08153), Theorem 4",
        says="the turns of a record count apart whatever the bands of C, as if each were a Poisson sample",
        cases=_cases,
        examine=lambda case: _quoted_turns(case, case["rows"]),
        expectation=Expectation.REJECTED,
        witness={"rows": [[1, 0], [1, 1]], "times": 2, "apart": 1},
    ),
    Claim(
        id="batches/correlated-once",
        statement=_SOURCE,
        says="the sensitivity of one participation holds for several",
        cases=_cases,
        examine=lambda case: _covers(case, _once, exactly=False),
        expectation=Expectation.REJECTED,
        witness={"rows": [[1, 0], [1, 1]], "times": 2, "apart": 1},
    ),
    Claim(
        id="batches/correlated-signs",
        statement=_SOURCE,
        says="products of columns count with their signs",
        cases=_cases,
        examine=lambda case: _covers(case, _with_signs, exactly=False),
        expectation=Expectation.REJECTED,
        witness={"rows": [[1, 0], [-1, 1]], "times": 2, "apart": 1},
    ),
)

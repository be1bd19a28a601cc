"""Gaussian noise that a strategy matrix correlates over steps, as releases of normal noise about one record.

Legend: C has a row for each number released, 0 after the step it is released at, and a column for each of n steps; a
record that takes part in the steps of a set A, chosen apart from other records and outputs, adds a row g_s, no longer
than r, to each step s in A, which may depend on earlier outputs; C·x + z is released, z of N(0, sigma^2). G is C'C.

In few steps. Given the past, the record moves the mean of row i by the sum over A of C_is·g_s; on every path the
squares add up to at most r^2 times V(A), the sum of |G_st| over s and t in A. Normal releases whose squared shifts add
up to so much on every path lose no more than one with that shift (Smith, Thakurta 2022).

In turns. If every row reaches back less than b steps, and the record is drawn at rate q by itself in each of the steps
g, g + b, …, no row holds two of its turns, and the rows of a turn come before those of the next: given the past, a turn
is normal noise about a record drawn at rate q and moved by column s. The longest bounds all n/b, rounded up.

Zeroed out, a record adds nothing where it would have added g_s. Replaced by one that takes part in its steps, the mean
moves by C_is(g_s - g_s'), and |g_s - g_s'| <= 2r. Given the past of a turn, both have the same law without either, from
which each has the ratio of noise about a record drawn at rate q: `changes` has what two such records lose.

V(A), where any two steps of A are b apart at least and no more than k are in it. Coefficients c_0 >= c_1 >= … >= 0 of
C_st = c_(s-t) have products that fall with the step and with the distance: the i-th step of A comes no earlier, and no
two nearer, than in 0, b, …, (k - 1)b, where C times the sum of these columns is added up. Else all A are gone through,
step by step: of those so far it matters how many steps they hold, and the last ones as far as rows reach. Where that
takes long, let w(s, t, j) be the most that j steps from t on weigh with s. As |G_ss| + 2w(s, s + b, j) bounds s with j
steps after it, so does H the whole: H(t, j) = max(H(t + 1, j), |G_tt| + 2w(t, t + b, j - 1) + H(t + b, j - 1)).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from math import lcm
from typing import Any, Final, NamedTuple

from .. import shapes
from ..budget import Budget
from ..declared import DISTRIBUTION
from ..intervals import Arithmetic, upper_end
from ..verdict import Refused
from .factors import GAUSSIAN, Factor

MECHANISM: Final = "gaussian-sum"
SAMPLER: Final = "full"
"""Whose releases a strategy correlates."""
BY_STRATEGY: Final = " and what one record moves by a strategy matrix"
_MOST_STEPS: Final = 2**53
_COUNT: Final = shapes.integer(1, _MOST_STEPS)
_WIDEST: Final = 256
_MOST_WAYS: Final = 200_000
_MOST_NEAR: Final = 16
_TERM: Final = 60
_STORED: Final = 1_000
"""For a number that is added up, and for one that is kept."""
_ARITHMETIC: Final = Arithmetic(192)
_FEW: Final = shapes.record(times=_COUNT, apart=_COUNT)
_TURNS: Final = shapes.record(groups=_COUNT, rate=shapes.positive)
_ENTRIES: Final = shapes.sequence(shapes.a_rational)


def _participation(value: Any, where: str) -> None:
    """Accept few steps that lie apart, or the turns of a group."""
    (_TURNS if type(value) is dict and "groups" in value else _FEW)(value, where)


_FORMS: Final = {
    "toeplitz": shapes.record(form=shapes.text, coefficients=_ENTRIES, participation=_participation),
    "rows": shapes.record(form=shapes.text, rows=shapes.sequence(_ENTRIES), participation=_participation),
    "tree": shapes.record(form=shapes.text, participation=_participation),
}


def strategy_shape(value: Any, where: str) -> None:
    """Accept a strategy: coefficients, a row for each step back to where 0 follows, or stretches of a tree."""
    form = value.get("form") if type(value) is dict else None
    if type(form) is not str or form not in _FORMS:
        raise Refused(f"{where}.form must be one of {', '.join(_FORMS)}")
    _FORMS[form](value, where)


class Row(NamedTuple):
    """A row of C in whole numbers of a unit: the entries of the steps up to the one it is released at."""

    first: int
    entries: Sequence[int]


class Moved(NamedTuple):
    """The square of what a record moves C·x by, how often, and the rate at which it then is drawn."""

    square: Fraction
    times: int
    rate: Fraction

    def of(self, factor: Factor) -> Factor:
        """Give what correlated releases lose, from what one release with noise of the same scale does.

        Raises:
            Refused: for anything but normal noise about a record that is always in it.
        """
        if factor.family != GAUSSIAN or factor.sampled or factor.together != 1:
            raise Refused("a strategy correlates normal noise on every record")
        longer = _ARITHMETIC.sqrt(_ARITHMETIC.rational(factor.parameter**2 * self.square))
        return factor._replace(parameter=upper_end(longer), rate=self.rate, samples=self.times)


def hold_correlated(part: Mapping[str, Any], *, alone: bool) -> None:
    """Hold what a strategy is known to correlate: Gaussian sums of certdp over everything, about one record alone.

    `alone` says that the claim is about one record, which is added or removed, zeroed out or replaced.

    Raises:
        Refused: for whatever else it is stated of.
    """
    if "strategy" not in part:
        return
    named = [(part[role]["name"], part[role]["distribution"]) for role in ("mechanism", "sampler")]
    if named != [(MECHANISM, DISTRIBUTION), (SAMPLER, DISTRIBUTION)] or part["loss"]["family"] != GAUSSIAN:
        raise Refused(f"a strategy correlates the noise of {MECHANISM} on {SAMPLER} data alone")
    if not alone or part["resample"] != "each":
        raise Refused("correlated noise is known about one record, at each of its steps")


def strategy_assumed(part: Mapping[str, Any], place: str) -> dict[str, str]:
    """Give what a strategy needs stated: which one it is, and who takes part."""
    if "strategy" not in part:
        return {}
    taken, strategy, steps = part["strategy"]["participation"], part["strategy"], part["steps"]
    match strategy["form"]:
        case "toeplitz":
            which = f"Toeplitz, {len(strategy['coefficients'])} of {steps} diagonals"
        case "rows":
            which = f"a matrix, {max(map(len, strategy['rows']), default=0)} of {steps} diagonals"
        case _:
            which = f"tree aggregation over {steps} steps"
    if "groups" in taken:
        who = f"in the turns of one of {taken['groups']} groups, drawn in each at rate {taken['rate']}"
    else:
        who = f"in at most {taken['times']} steps, at least {taken['apart']} apart"
    return {f"{place}strategy": which, f"{place}participation of a record": who}


def moved(strategy: Mapping[str, Any], steps: int, budget: Budget) -> Moved:
    """Bound what one record moves by a strategy over so many steps, from its exact entries.

    Raises:
        Refused: for turns that meet in a row, entries of too many digits, and what takes too long.
    """
    taken = strategy["participation"]
    if strategy["form"] == "toeplitz":
        (numbers,), unit = _whole([list(map(Fraction, strategy["coefficients"]))])
        if not 1 <= len(numbers) <= steps:
            raise Refused("a strategy has from one coefficient to as many as there are steps")
        if "groups" in taken:
            return _in_turns(taken, steps, len(numbers), sum(number**2 for number in numbers) * unit**2)
        if numbers[-1] >= 0 and all(one >= other for one, other in pairwise(numbers)):
            return Moved(_earliest(numbers, taken, steps, budget) * unit**2, 1, Fraction(1))
        weights = _of_lags(numbers, steps, budget)
    else:
        rows, unit = _rows(strategy, steps, budget)
        if "groups" in taken:
            return _in_turns(taken, steps, max(len(row.entries) for row in rows), max(_columns(rows, steps)) * unit**2)
        weights = _of_rows(rows, steps, budget)
    return Moved(_heaviest(weights, taken["times"], taken["apart"], budget) * unit**2, 1, Fraction(1))


def _in_turns(taken: Mapping[str, Any], steps: int, bands: int, square: Fraction) -> Moved:
    rate = Fraction(taken["rate"])
    if rate > 1:
        raise Refused("the rate of a group's turns is no probability")
    if bands > taken["groups"]:
        raise Refused("turns of a record meet in a row of the strategy: nothing is proven of drawing it in each")
    return Moved(square, -(-steps // taken["groups"]), rate)


def _whole(numbers: Sequence[Sequence[Fraction]]) -> tuple[list[list[int]], Fraction]:
    """Give numbers as whole multiples of one unit."""
    bottom = 1
    for number in chain.from_iterable(numbers):
        bottom = lcm(bottom, number.denominator)
        if bottom.bit_length() > _WIDEST or abs(number) >= 2**_WIDEST:
            raise Refused(f"entries of a strategy have more than {_WIDEST} binary digits")
    return [[int(number * bottom) for number in row] for row in numbers], Fraction(1, bottom)


def _rows(strategy: Mapping[str, Any], steps: int, budget: Budget) -> tuple[list[Row], Fraction]:
    """Give the rows of a matrix, or of a tree: all whole stretches of 1, 2, 4, … steps."""
    if strategy["form"] == "rows":
        if len(strategy["rows"]) != steps:
            raise Refused("a strategy has a row for each step")
        whole, unit = _whole([list(map(Fraction, row)) for row in strategy["rows"]])
        if not all(1 <= len(row) <= step for step, row in enumerate(whole, 1)):
            raise Refused("a row of a strategy holds entries of its own step and earlier ones")
        return [Row(step - len(row), row) for step, row in enumerate(whole, 1)], unit
    budget.spend(_STORED * steps * steps.bit_length())
    lengths = [1 << level for level in range(steps.bit_length())]
    stretches = [Row(end - length, [1] * length) for length in lengths for end in range(length, steps + 1, length)]
    return stretches, Fraction(1)


def _columns(rows: Sequence[Row], steps: int) -> list[int]:
    """Square the columns."""
    squares = [0] * steps
    for row in rows:
        for place, entry in enumerate(row.entries, row.first):
            squares[place] += entry * entry
    return squares


def _earliest(numbers: Sequence[int], taken: Mapping[str, Any], steps: int, budget: Budget) -> int:
    """Add up the columns of the earliest steps, and square what comes."""
    starts = range(0, min(steps, taken["times"] * taken["apart"]), taken["apart"])
    budget.spend(_STORED * len(starts) * len(numbers))
    sums: dict[int, int] = {}
    for start in starts:
        for place, number in enumerate(numbers[: steps - start], start):
            sums[place] = sums.get(place, 0) + number
    return sum(number * number for number in sums.values())


def _of_lags(numbers: Sequence[int], steps: int, budget: Budget) -> list[list[int]]:
    """List |G_st| for each s and the steps t from it on, of coefficients: what is left of the steps decides."""
    longest = min(steps, 2 * len(numbers))
    budget.spend(_STORED * (len(numbers) * longest + steps))
    lags = [
        list(accumulate((one * other for one, other in zip(numbers, numbers[lag:], strict=False)), initial=0))
        for lag in range(len(numbers))
    ]
    by_left = [
        [abs(sums[min(left - lag, len(sums) - 1)]) for lag, sums in enumerate(lags[:left])]
        for left in range(longest + 1)
    ]
    return [by_left[min(steps - step, longest)] for step in range(steps)]


def _of_rows(rows: Sequence[Row], steps: int, budget: Budget) -> list[list[int]]:
    """List |G_st| for each s and the steps t from it on, as far as a row reaches."""
    reach = [0] * steps
    for row in rows:
        for place in range(len(row.entries)):
            reach[row.first + place] = max(reach[row.first + place], len(row.entries) - place)
    budget.spend(_TERM * sum(len(row.entries) ** 2 for row in rows) + _STORED * sum(reach))
    sums = [[0] * length for length in reach]
    for row in rows:
        for place, entry in enumerate(row.entries):
            into = sums[row.first + place]
            for lag, other in enumerate(row.entries[place:]):
                into[lag] += entry * other
    return [list(map(abs, row)) for row in sums]


def _heaviest(weights: Sequence[Sequence[int]], times: int, apart: int, budget: Budget) -> int:
    """Bound V, and where there are few ways to take part find it."""
    steps, reach = len(weights), max(map(len, weights))
    apart = min(apart, steps)
    times = min(times, -(-steps // apart))
    near = min(times, (reach - 1) // apart + 1)
    if near < _MOST_NEAR and steps * times * max(reach, apart) ** near <= _MOST_WAYS:
        return _of_every_way(weights, times, apart, budget)
    return _of_later_steps(weights, times, apart, budget)


def _of_every_way(weights: Sequence[Sequence[int]], times: int, apart: int, budget: Budget) -> int:
    """Find V: the most that steps weigh so far, for each number of them and the last ones that matter."""
    states: dict[tuple[int, tuple[int, ...]], int] = {(0, ()): 0}
    for step in range(len(weights)):
        budget.spend(_STORED * len(states))
        grown: dict[tuple[int, tuple[int, ...]], int] = {}
        for (count, recent), most in states.items():
            near = tuple(one for one in recent if step - one < max(len(weights[one]), apart))
            grown[count, near] = max(grown.get((count, near), 0), most)
            if count < times and all(step - one >= apart for one in near):
                more = most + weights[step][0] + 2 * sum(weights[one][step - one] for one in near)
                grown[count + 1, (*near, step)] = max(grown.get((count + 1, (*near, step)), 0), more)
        states = grown
    return max(states.values())


def _of_later_steps(weights: Sequence[Sequence[int]], times: int, apart: int, budget: Budget) -> int:
    """Bound V: for each number of steps, from the last one on."""
    steps = len(weights)
    budget.spend(_STORED * steps + _TERM * steps * times)
    follow = [_most_with(row, times - 1, apart, budget) for row in weights]
    heavy = [0] * (steps + apart)
    for count in range(times):
        grown = [0] * (steps + apart)
        for step in reversed(range(steps)):
            later = follow[step]
            here = weights[step][0] + 2 * later[min(count, len(later) - 1)] + heavy[step + apart]
            grown[step] = max(grown[step + 1], here)
        heavy = grown
    return heavy[0]


def _most_with(row: Sequence[int], others: int, apart: int, budget: Budget) -> list[int]:
    """List what 0, 1, … steps weigh with one at most, each `apart` from it and from the others; no more weigh more."""
    fitting = min(others, (len(row) - 1) // apart)
    budget.spend(_TERM * len(row) * fitting)
    best, found = [0] * (len(row) + apart), [0]
    for _ in range(fitting):
        grown = [0] * (len(row) + apart)
        for place in reversed(range(apart, len(row))):
            grown[place] = max(grown[place + 1], row[place] + best[place + apart])
        best = grown
        found.append(best[apart])
    return found

"""What is reported of keys with tokens that tell of their frequency, proven for every frequency.

Frequency i brings the 2^r tokens from (i - 1)·2^r on; a key of frequency i gets none beyond them.

Delays (no sampling): a key of frequency i is reported with token i·2^r - 1 - t, if that is at least 0, where t has
the law of the table: 2^r columns, the column s holding the units of the delays s, s + 2^r, .... Two neighbouring rows
are cut from two copies of that law, one moved by 2^r: cutting off is post-processing, so one comparison of the law with
the moved one proves every two neighbouring frequencies.

Rows (on a sample): too many to be written. The table states with how many units each frequency is kept, and the rows
follow by the rule below, in whole units; the digest binds them. What is proven does not rest on the rule: the units of
every row add up to 1, no more are reported than kept, and both hockey-stick sums of every two neighbours are at most D.

The rule, from a row of frequency i - 1 that reports R units, u not, to the next, which keeps k units:

1. R' = min(k, ⌊G·R⌋ + D, C - ⌈(C - R - D)/G⌉), and no more than D and the sum of all ⌊G·h⌋; u' = C - R'.
2. Of D, less [u - G·u']₊, the lowest tokens are dropped to 0, the last of them partly; every other one of h units keeps
   at least ⌈h/G⌉.
3. Up to D units go to the 2^r new tokens, as evenly as whole numbers admit, the larger ones higher.
4. What is left raises tokens up to ⌊G·h⌋ each, the highest first.

The rule depends on a row's place only by the place of the new tokens. So where the rate in units stays the same from
some frequency on, and a row is the one of P frequencies before, moved by P·2^r, all further rows are such copies.
"""

import hashlib
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from .. import shapes
from ..budget import Budget
from ..intervals import floor_in_units
from ..verdict import Refused
from .rates import Rates
from .units import Units, a_whole_number

_DELAYS: Final = shapes.record(
    columns=shapes.sequence(shapes.record(width=a_whole_number, units=shapes.sequence(a_whole_number)))
)
_ROWS: Final = shapes.record(
    kept=shapes.sequence(a_whole_number),
    digest=shapes.hexadecimal(64),
    then=shapes.one_of("shifted", "constant", "absent"),
    period=shapes.optional(shapes.integer(1, 2**20)),
)
_PIECE: Final = 600
"""For a piece of a row, beside the bits of a unit."""
_REMEMBERED: Final = 1 << 14


def prove_delays(table: Any, subdivision: int, units: Units) -> None:
    """Prove a table of delays."""
    _DELAYS(table, "inputs.table")
    tokens = total = upward = downward = 0
    for column in table["columns"]:
        width, delays = int(column["width"]), [0, *map(int, column["units"]), 0]
        tokens += width
        total += width * sum(delays)
        steps = list(pairwise(delays))
        upward += width * sum(units.beyond(new, old) for old, new in steps)
        downward += width * sum(units.beyond(old, new) for old, new in steps)
    if tokens != 1 << subdivision:
        raise Refused("the columns do not hold 2^subdivision delays each")
    if total != units.certain:
        raise Refused("the units of the delays do not add up to 2^bits")
    if max(upward, downward) > units.scaled_allowance:
        raise Refused("(epsilon, delta) does not hold between neighbouring frequencies")


class _Run(NamedTuple):
    """Neighbouring tokens of equal units."""

    first: int
    width: int
    units: int


class _Piece(NamedTuple):
    """Neighbouring tokens with the same units in one row and the same limits in the next."""

    first: int
    width: int
    before: int
    least: int
    most: int


def prove_rows(table: Any, rates: Rates, subdivision: int, units: Units) -> int | None:
    """Prove a table of rows; the last frequency that it covers, or None where it covers all."""
    _ROWS(table, "inputs.table")
    kept = [int(text) for text in table["kept"]]
    last, period = len(kept), table["period"]
    if (table["then"] == "shifted") != (period is not None):
        raise Refused("inputs.table.period belongs to rows that are shifted")
    if last > rates.last:
        raise Refused(f"frequency {last} has no rate")
    rule = _Rule(units, 1 << subdivision, rates.budget)
    digest = hashlib.sha256()
    earlier: tuple[int, list[_Run]] = 0, []
    before = 0
    for frequency, most in enumerate(kept, 1):
        if most > before and most > floor_in_units(rates.rate(frequency).lo, units.bits):
            raise Refused(f"more is kept of frequency {frequency} than the rate admits")
        before = most  # rates do not fall
        rule.step(most)
        runs = ";".join(f"{run.first},{run.width},{run.units}" for run in rule.runs)
        digest.update(f"{rule.unreported}:{runs}\n".encode("ascii"))
        if period is not None and frequency == last - period:
            earlier = rule.unreported, rule.runs
    if digest.hexdigest() != table["digest"]:
        raise Refused("the rows are not those of the digest")
    if period is not None:
        moved = [run._replace(first=run.first + (period << subdivision)) for run in earlier[1]]
        if len(set(kept[-period:])) > 1 or (rule.unreported, rule.runs) != (earlier[0], moved):
            raise Refused(f"the last row is not the one of {period} frequencies before")
    return last if table["then"] == "absent" else None


class _Rule:
    """The rows one after the other, each proven against the one before.

    Attributes:
        unreported: units with which a key of the frequency reached is not reported.
        runs: its tokens of positive units, in order.
    """

    def __init__(self, units: Units, tokens: int, budget: Budget) -> None:
        self.unreported, self.runs = units.certain, list[_Run]()
        self._units, self._tokens = units, tokens
        self._frequency = 0
        self._budget = budget
        # the same units occur in most rows
        self._grown = lru_cache(maxsize=_REMEMBERED)(units.grown)
        self._shrunk = lru_cache(maxsize=_REMEMBERED)(units.shrunk)
        self._apart = lru_cache(maxsize=_REMEMBERED)(units.apart)

    def step(self, kept: int) -> None:
        """Go on to the next frequency, of which so many units are kept."""
        units = self._units
        certain, allowance = units.certain, units.allowance
        self._budget.spend((len(self.runs) + 3) * (_PIECE + units.bits))
        before = certain - self.unreported
        withheld = units.shrunk(max(0, certain - before - allowance))
        room = allowance + sum(run.width * self._grown(run.units) for run in self.runs)
        reported = min(kept, units.grown(before) + allowance, certain - withheld, room)
        unreported = certain - reported
        pieces = self._limits(units.scaled_allowance - units.beyond(self.unreported, unreported))
        rest = reported - sum(piece.width * piece.least for piece in pieces)
        fresh = min(allowance, rest)
        if fresh < 0:
            raise Refused("the rule reports less than its tokens keep")
        self._accept(_raised(pieces, rest - fresh), fresh, kept, unreported)

    def _limits(self, spare: int) -> list[_Piece]:
        """The tokens with their limits, the lowest dropped as far as `spare`, in units of 2^-2K, goes."""
        units, found = self._units, list[_Piece]()
        for first, width, value in self.runs:
            dropped, most = 0, self._grown(value)
            if spare:
                cost = value << units.bits
                dropped = min(width, spare // cost)
                found.append(_Piece(first, dropped, value, 0, most))
                spare -= dropped * cost
                if dropped < width:
                    found.append(_Piece(first + dropped, 1, value, -(-(cost - spare) // units.growth), most))
                    dropped, spare = dropped + 1, 0
            found.append(_Piece(first + dropped, width - dropped, value, self._shrunk(value), most))
        return found

    def _accept(self, changes: list[tuple[_Run, int]], fresh: int, kept: int, unreported: int) -> None:
        """Prove the next row, given as what each token has after and before, in order, and go on to it."""
        units = self._units
        upward, downward = units.apart(unreported, self.unreported)
        for (_, width, after), before in changes:
            up, down = self._apart(after, before)
            upward += width * up
            downward += width * down
        each, more = divmod(fresh, self._tokens)
        first = self._frequency * self._tokens
        new = (_Run(first, self._tokens - more, each), _Run(first + self._tokens - more, more, each + 1))
        upward += sum(run.width * units.beyond(run.units, 0) for run in new)
        runs = _merged([*(run for run, _ in changes), *new])
        total = unreported + sum(run.width * run.units for run in runs)
        self._frequency += 1
        if max(upward, downward) > units.scaled_allowance:
            raise Refused(
                f"(epsilon, delta) does not hold between frequencies {self._frequency - 1} and {self._frequency}"
            )
        if total != units.certain or units.certain - unreported > kept:
            raise Refused(f"the units of frequency {self._frequency} do not add up, or exceed what is kept")
        self.unreported, self.runs = unreported, runs


def _raised(pieces: list[_Piece], rest: int) -> list[tuple[_Run, int]]:
    """Each token's units after and before: at its lower limit, but for `rest` more units on the highest ones."""
    found: list[tuple[_Run, int]] = []
    for first, width, before, least, most in reversed(pieces):
        room, end = most - least, first + width
        full, part = divmod(min(rest, width * room), room or 1)
        rest -= full * room + part
        partly = min(part, 1)
        for count, units in ((full, most), (partly, least + part), (width - full - partly, least)):
            end -= count
            if count:
                found.append((_Run(end, count, units), before))
    found.reverse()
    return found


def _merged(runs: list[_Run]) -> list[_Run]:
    """The same tokens without those of 0 units, neighbours of equal units in one run."""
    found: list[_Run] = []
    for run in runs:
        if not run.width or not run.units:
            continue
        last = found[-1] if found else None
        if last is not None and last.units == run.units and last.first + last.width == run.first:
            found[-1] = last._replace(width=last.width + run.width)
        else:
            found.append(run)
    return found

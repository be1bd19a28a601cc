"""Releases from what an engine holds: grouped first, then paid, then drawn once, kept in the ledger, and returned.

What is drawn where, and why a task that is run again draws nothing new: docs/scale.md.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from ..accounting.draws.by_name import NamedCoins
from ..accounting.enclosures import Truth
from ..accounting.guarantees import Guarantee
from ..accounting.sampling.drawing import StatedRate
from ..accounting.sampling.rate import ALWAYS
from ..ledger import LedgerRequest, PaidFrom, request_of
from ..records.sums import SumPart
from ..runs.digests import plan_digest
from ..runs.partial import merged
from ..runs.statements import ReleaseStatement, StatedRelease
from ..weighted_sampling.release import PrivateSample
from .batches import KeyDraws, Table, UnitSums, kept_counts

Work: TypeAlias = Callable[[Table], Table]
Draw: TypeAlias = Callable[[Table], bytes]
Prepared = TypeVar("Prepared")


class Rows(Protocol):
    """Rows of an engine, those of a unit or key in one table."""

    def held(self, work: Work) -> Partitions:
        """What a task makes of each table, computed now and held; faults show here."""
        ...

    def each(self, draw: Draw) -> Sequence[bytes]:
        """What a task makes of each table in one pass, of which the engine holds nothing."""
        ...


class Partitions(Protocol):
    """Tables that an engine holds, wherever they lie: computed once, and again where they are lost."""

    def each(self, draw: Draw) -> Sequence[bytes]:
        """What is drawn of each table, one answer for each, whichever task gave it.

        Args:
            draw: a function of the table alone, so that it does not matter which.
        """
        ...

    def drop(self) -> None:
        """Hold them no longer."""
        ...


def release_sum(rows: Rows, sums: UnitSums, records: Work, pay: PaidFrom) -> StatedRelease:
    """Release what the records of all units add up to, once.

    Args:
        rows: in which all rows of a unit are together.
        sums: what is computed and drawn.
        records: makes the records of all units in a table of the rows.
        pay: a `Ledger`, or a `LedgerRequest`.
    """
    run = sums.run
    request = request_of(pay, "sum")
    plan = plan_digest(run, unit=sums.unit, columns="\0".join(sums.columns), most=sums.most, outside=sums.outside.value)
    cost = request.ledger.rule.cost_of(run)

    def finished(parts: Iterable[bytes], coins: NamedCoins) -> bytes:
        return merged([sums.empty(coins), *map(SumPart.from_bytes, parts)]).finish(run).content

    def draw(held: Partitions) -> bytes:
        coins = NamedCoins.fresh()
        return finished(held.each(lambda some: sums.part(some, coins)), coins)

    if run.drawing == StatedRate(ALWAYS):  # no task draws anything: what it adds up may be known before the payment
        named = NamedCoins.fresh()
        content = _drawn_once(
            request,
            cost,
            plan,
            lambda _: rows.each(lambda table: sums.part(records(table), named)),
            lambda parts: finished(parts, named),
        )
    else:
        content = _drawn_once(request, cost, plan, _holding(rows, records), draw)
    value = np.load(io.BytesIO(content), allow_pickle=False)
    return StatedRelease(value=value, statement=ReleaseStatement.of(run, value, private=True), run=run)


def release_keys(rows: Rows, draws: KeyDraws, pay: PaidFrom) -> PrivateSample:
    """Sample and sanitise all keys, once; arguments as of `release_sum`, with keys in the place of units."""
    sampling = draws.sampling
    request = request_of(pay, "keys")
    plan = plan_digest(sampling.accounted, contributions=sampling.contributions)

    def draw(held: Partitions) -> bytes:
        coins = NamedCoins.fresh()
        kept = [kept_counts(content) for content in held.each(lambda counts: draws.kept(counts, coins))]
        return sampling.release_kept(kept, coins).to_bytes()

    content = _drawn_once(request, sampling.guarantee, plan, _holding(rows, draws.counts), draw)
    return PrivateSample.from_bytes(content)


def _holding(rows: Rows, work: Work) -> Callable[[ExitStack], Partitions]:
    def prepare(stack: ExitStack) -> Partitions:
        held = rows.held(work)
        stack.callback(held.drop)
        return held

    return prepare


def _drawn_once(
    request: LedgerRequest,
    cost: Guarantee[Any, Any, Any],
    plan: str,
    prepare: Callable[[ExitStack], Prepared],
    draw: Callable[[Prepared], bytes],
) -> bytes:
    """The output of a request: that of an earlier call, or what is drawn now, after the payment.

    Faults of the data are found while it is prepared, before the payment, where nothing is left to chance.
    """
    ledger, prepared = request.ledger, list[Prepared]()
    with ExitStack() as stack:

        def drawn() -> bytes:
            return draw(prepared[0] if prepared else prepare(stack))

        if ledger.state(request.request) is None and ledger.would_exceed(cost) is not Truth.TRUE:
            prepared.append(prepare(stack))
        return ledger.release(cost, drawn, request=request.request, plan=plan, by=request.by).content

"""Releases from what an engine holds: grouped first, then paid, then drawn once, kept in the ledger, and returned.

What is drawn where, and why a task that is run again draws nothing new: docs/scale.md.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..accounting.draws.by_name import NamedCoins
from ..accounting.enclosures import Truth
from ..accounting.guarantees import Guarantee
from ..ledger import LedgerRequest, PaidFrom, request_of
from ..records.sums import SumPart
from ..runs.digests import plan_digest
from ..runs.partial import merged
from ..runs.statements import ReleaseStatement, StatedRelease
from ..weighted_sampling.release import PrivateSample
from .batches import KeyDraws, Table, UnitSums, kept_counts

Work: TypeAlias = Callable[[Table], Table]
Draw: TypeAlias = Callable[[Table], bytes]


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


def release_sum(group: Callable[[Work], Partitions], sums: UnitSums, pay: PaidFrom) -> StatedRelease:
    """Release what the records of all units add up to, once.

    Args:
        group: makes tables in which all rows of a unit are together, and computes a table of each, which it holds.
        sums: what is computed and drawn.
        pay: a `Ledger`, or a `LedgerRequest`.
    """
    run = sums.run
    request = request_of(pay, "sum")
    plan = plan_digest(run, unit=sums.unit, columns="\0".join(sums.columns), most=sums.most, outside=sums.outside.value)

    def draw(held: Partitions) -> bytes:
        coins = NamedCoins.fresh()
        parts = map(SumPart.from_bytes, held.each(lambda records: sums.part(records, coins)))
        return merged([sums.empty(coins), *parts]).finish(run).content

    cost = request.ledger.rule.cost_of(run)
    content = _drawn_once(request, cost, plan, lambda: group(sums.records), draw)
    value = np.load(io.BytesIO(content), allow_pickle=False)
    return StatedRelease(value=value, statement=ReleaseStatement.of(run, value, private=True), run=run)


def release_keys(group: Callable[[Work], Partitions], draws: KeyDraws, pay: PaidFrom) -> PrivateSample:
    """Sample and sanitise all keys, once; arguments as of `release_sum`, with keys in the place of units."""
    sampling = draws.sampling
    request = request_of(pay, "keys")
    plan = plan_digest(sampling.accounted, contributions=sampling.contributions)

    def draw(held: Partitions) -> bytes:
        coins = NamedCoins.fresh()
        kept = [kept_counts(content) for content in held.each(lambda counts: draws.kept(counts, coins))]
        return sampling.release_kept(kept, coins).to_bytes()

    return PrivateSample.from_bytes(_drawn_once(request, sampling.guarantee, plan, lambda: group(draws.counts), draw))


def _drawn_once(
    request: LedgerRequest,
    cost: Guarantee[Any, Any, Any],
    plan: str,
    group: Callable[[], Partitions],
    draw: Callable[[Partitions], bytes],
) -> bytes:
    """The output of a request: that of an earlier call, or what is drawn now, after the payment.

    Faults of the data are found while they are grouped, before the payment.
    """
    ledger, held = request.ledger, list[Partitions]()

    def hold() -> None:
        if not held:
            held.append(group())

    def drawn() -> bytes:
        hold()
        return draw(held[0])

    if ledger.state(request.request) is None and ledger.would_exceed(cost) is not Truth.TRUE:
        hold()
    try:
        return ledger.release(cost, drawn, request=request.request, plan=plan, by=request.by).content
    finally:
        for partitions in held:
            partitions.drop()

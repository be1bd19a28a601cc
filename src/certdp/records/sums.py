"""Exact sums over some of the records of a run, to which noise is added once, when they are all added up."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.draws.by_name import NamedCoins
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.feasible_weights.plans import on_one_sample, samples
from ..accounting.filters.spending import SecondAccount, this_process
from ..accounting.guarantees import require
from ..accounting.private import Private
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.stored import Json
from ..data import Records
from ..mechanisms.lattice import Additive
from ..plugins.contract import Coins, WeightedSample
from ..plugins.contract.coins import release_coins
from ..runs.partial import Packed, Part, run_digest
from ..runs.prepared import matrix_within, prepared, require_admissible
from ..runs.sampled import SampledRun
from ..runs.statements import ReleaseStatement, StatedRelease
from .chunks import are_facts, require_whole, whole_or_part

_Totals: TypeAlias = tuple[tuple[int, ...], ...]

_NAME_BYTES = 16
_RELEASED = set[str]()
"""Names of the draws that this process has released from."""
_LOCK = Lock()


@final
@frozen(kw_only=True, eq=False)
class _SumState:
    """What was drawn of some records.

    Attributes:
        totals: for each sample of the run, the exact sums of what was drawn.
        draws: names of the draws, each of which is to be released from once.
        private: whether all were drawn with private coins.
        processes: where this was made, or read from bytes.
    """

    totals: _Totals
    draws: frozenset[str]
    private: bool
    processes: frozenset[tuple[int, int]] = field(factory=lambda: frozenset({this_process()}))

    def __add__(self, later: _SumState) -> _SumState:
        if self.draws & later.draws:
            found, remedy = "one whose records are in the other, too", "A record that counts twice moves the sum twice"
            raise InvalidValue("part", found, "parts without common records", f"Add each part once. {remedy}")
        if [len(sample) for sample in self.totals] != [len(sample) for sample in later.totals]:
            raise InvalidValue("part", "one of another number of sums", "parts of one run", "Make all parts alike")
        return _SumState(
            totals=_added(self.totals, later.totals),
            draws=self.draws | later.draws,
            private=self.private and later.private,
            processes=self.processes | later.processes,
        )

    def to_packed(self) -> Packed:
        """All of it, for the bytes of a part."""
        totals = [[hex(total) for total in sample] for sample in self.totals]
        return {"totals": totals, "draws": sorted(self.draws), "private": self.private}, {}

    def agrees(self, facts: Json) -> bool:
        """Whether it may be what parts with these facts hold."""
        return are_facts(facts)

    def require_of(self, mechanism: Additive, run: SampledRun[Any], columns: int) -> None:
        """Refuse what the run does not add up.

        Raises:
            InvalidValue: for another number of samples, or of sums of one.
        """
        length = len(mechanism.totals(WeightedSample(np.empty((0, columns)), np.empty(0))))
        if [len(sample) for sample in self.totals] != [length] * samples(run.releases):
            raise InvalidValue("part", "one of another number of sums", "a part of this run", "Make the parts anew")

    @classmethod
    def from_packed(cls, numbers: Json, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The state that `to_packed` gave.

        Raises:
            InvalidData: for sums of samples of several lengths, and what is of no draw.
        """
        totals = tuple(tuple(int(total, 16) for total in sample) for sample in numbers["totals"])
        require_whole(len({len(sample) for sample in totals}) == 1 and isinstance(numbers["private"], bool))
        draws = [bytes.fromhex(draw) for draw in numbers["draws"]]
        require_whole(bool(draws) and {len(draw) for draw in draws} == {_NAME_BYTES})
        return cls(totals=totals, draws=frozenset(draw.hex() for draw in draws), private=numbers["private"])


@final
class SumPart(Part[_SumState]):
    """Exact sums of what was drawn of some of the records of a run; made by `of`, released by `finish`.

    A part is of a run whose mechanism adds noise to exact sums on a public grid or lattice: laplace-sum, gaussian-sum,
    lp-sum, count, discrete-laplace, discrete-gaussian; or chooses by exact numbers, as quantile-choice does. It is not
    private: the sums are exact, and its bytes are for the data's owner alone.

    `one + other` is the part over the records of both. Records are drawn once, when a part is made, and noise is drawn
    once, when the sum of all parts is finished. Two parts that come of one draw are not added, and what was finished is
    not finished again, in the same process, by itself or within another sum. A process that was forked after a part was
    made adds it up, but does not finish it. Across processes a `Ledger` is what protects: pay there for one `finish`,
    with `uses=part.draws`; and let no engine make a part anew that was added already.
    """

    __slots__ = ()
    form = "certdp-sum-part/1"
    holds = _SumState
    facts: ClassVar[Mapping[str, Any]] = {"run": str, "columns": int, "outside": str}

    @classmethod
    def of(
        cls,
        run: SampledRun[Any],
        records: ArrayLike | Records,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
        rows: int | None = None,
        first: int = 0,
    ) -> Self:
        """Draw from these records, and add up what is drawn.

        Args:
            run: what is to be released.
            records: matrix (n, d) of finite numbers, n ≥ 0; or what `open_records` gives, which is read in chunks.
            outside: what happens to records outside the run's domain.
            coins: the operating system's unless given; of a part with seeded coins no release is private.
            rows: records at a time.
            first: number of the first record in the data set, for messages to its curator.

        Guarantees: sums of what was drawn are exact: however a data set is cut into parts, they add up to the same.

        Raises:
            InvalidType: for a mechanism that does not release from exact sums.
            InvalidValue: for what `run.release` refuses of these records.
        """
        require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
        mechanism, some, done = additive(run), whole_or_part(records), first
        used, number = release_coins(coins), samples(run.releases)

        def totals(chunk: Floats) -> _Totals:
            ready = prepared(
                run.mechanism, run.drawing.realise, run.releases, chunk, run.domain, outside, used, first=done
            )
            return tuple(tuple(mechanism.totals(ready.sample())) for _ in range(number))

        total = totals(np.empty((0, some.columns)))
        for chunk in some.chunks(rows):
            total = _added(total, totals(chunk))
            done += len(chunk)
        facts = {"run": run_digest(run), "columns": some.columns, "outside": outside.value}
        draw = frozenset({secrets.token_hex(_NAME_BYTES)})
        return cls(facts, Private(_SumState(totals=total, draws=draw, private=used.private)))

    @classmethod
    def of_units(
        cls,
        run: SampledRun[Any],
        records: ArrayLike,
        names: Sequence[bytes],
        coins: NamedCoins,
        outside: Outside = Outside.CLIP,
    ) -> Self:
        """Draw from records that have names, and add up what is drawn: a task that is run again gives the same part.

        Args:
            run: what is to be released.
            records: matrix (n, d) of finite numbers, n ≥ 0.
            names: of each record, no two of them alike in the whole data set: whose it is.
            coins: of this release, the same for all its parts.
            outside: what happens to records outside the run's domain.

        Guarantees: which records are drawn follows from their names and the coins' secret, whatever parts they lie in;
            each is drawn with exactly the probability that the sampler states.

        Raises:
            InvalidType, InvalidValue: as `of`, and for names that are not one for each record.
        """
        require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
        require("coins", coins, NamedCoins, "Draw them once for all parts: NamedCoins.fresh()")
        mechanism, matrix = additive(run), matrix_within(records, run.domain)
        if len(names) != len(matrix):
            raise InvalidValue("names", f"{len(names)} for {len(matrix)} records", "one for each record")
        held = hold(matrix, run.domain, outside)
        own = list(names) if held.inside is None else [names[place] for place in np.flatnonzero(held.inside).tolist()]
        records, drawn = held.features.records, run.drawing.realise(held.features)
        require_admissible(run.mechanism, held.features, drawn)
        totals: list[tuple[int, ...]] = []
        for sample in range(samples(run.releases)):
            chosen = np.flatnonzero(coins.bernoulli(own, drawn.probability, draw=sample))
            totals.append(tuple(mechanism.totals(WeightedSample(records[chosen], drawn.weight[chosen]))))
        facts = {"run": run_digest(run), "columns": matrix.shape[1], "outside": outside.value}
        name = coins.name_of(names) if names else secrets.token_hex(_NAME_BYTES)  # empty parts are no copies
        return cls(facts, Private(_SumState(totals=tuple(totals), draws=frozenset({name}), private=coins.private)))

    @property
    def draws(self) -> tuple[str, ...]:
        """Names of the draws that it comes from, sorted: as `uses` of a payment, a ledger refuses them a second time.

        Whoever releases twice from one draw of records, in two processes, shares its coins, so what both cost together
        is not the sum of their costs. They tell nothing of the records; one for each part that was added.
        """
        return tuple(f"draw of records {name}" for name in sorted(self._state.reveal().draws))

    def finish(self, run: SampledRun[Any], coins: Coins | None = None) -> StatedRelease:
        """Draw the noise, once: the release of the run on the records of all parts added up, with its statement.

        Args:
            run: the run of the parts.
            coins: the operating system's unless given.

        Guarantees: the law of the release is that of `stated_release`, and so are its guarantee and its certificate.
            It is one release of the run, to be paid for once, before.

        Raises:
            InvalidType: for another type of run or of coins.
            InvalidValue: for another run; where a release from these draws was made in this process; and where a
                private source of random words fails. Nothing is drawn then.
            SecondAccount: in a process that was forked after a part was made. Nothing is drawn then.
        """
        self.require_of(run)
        mechanism, used, state = additive(run), release_coins(coins), self._state.reveal()
        state.require_of(mechanism, run, self._facts["columns"])
        if state.processes != {this_process()}:  # before the lock, which a thread of that process may have held
            raise SecondAccount(
                "part",
                "its finish in a forked process",
                "finish in the process that made it, or read it from bytes",
                "Each process would release from the same draws: finish in the first, and let others add up",
            )
        with _LOCK:
            if state.draws & _RELEASED:
                remedy = "Keep what the first finish returned; for another release make the parts anew, and pay again"
                raise InvalidValue("part", "one that was finished before", "parts that are finished once", remedy)
            _RELEASED.update(state.draws)
        times = range(on_one_sample(run.releases))
        value = np.concatenate([mechanism.noisy(sample, 1, used) for sample in state.totals for _ in times])
        statement = ReleaseStatement.of(run, value, private=state.private and used.private)
        return StatedRelease(value=value, statement=statement, run=run)


def additive(run: SampledRun[Any]) -> Additive:
    """The mechanism of a run that releases from exact sums of records that are drawn one by one.

    Raises:
        InvalidValue: for any other.
    """
    run.require_drawn_apart()
    if not isinstance(run.mechanism, Additive):
        admissible = "a mechanism that adds noise to exact sums, such as laplace-sum, gaussian-sum or count"
        raise InvalidValue("mechanism", run.mechanism.about.name, admissible, "Release from all records in one place")
    return run.mechanism


def _added(one: _Totals, other: _Totals) -> _Totals:
    pairs = zip(one, other, strict=True)
    return tuple(tuple(a + b for a, b in zip(first, second, strict=True)) for first, second in pairs)

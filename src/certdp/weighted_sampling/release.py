"""Private weighted sampling: from keys and counts, or from a sample of them, to a weighted sample under (ε, δ)-DP.

>>> from certdp import PrivateWeightedSampling
>>> sampling = PrivateWeightedSampling.within(epsilon=1, delta="1e-3")
>>> sample = sampling.release({"frequent": 10_000, "also frequent": 5_000})
>>> print(sample)
2 keys: (1.0, 0.001)-DP for one element, add-remove; pws-keys on every key
>>> sample.keys.to_pylist()
['also frequent', 'frequent']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from os import PathLike
from types import ModuleType
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.draws.by_name import NamedCoins
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue, known_keywords, require_callable
from ..accounting.exact import Number, python_int
from ..accounting.guarantees import Guarantee
from ..accounting.keyed.estimates import Statistic
from ..accounting.keyed.reporting import Reporting
from ..accounting.notions import Approximate, Bound, Pure
from ..accounting.provenance import Private, Public
from ..accounting.relations import AddRemove, Element, User
from ..accounting.stored import is_vector, packed, unpacked, whole_content
from ..accounting.units import Delta, Epsilon
from ..ledger import PaidFrom, request_of
from ..mechanisms.pws_frequencies import PwsFrequencies
from ..mechanisms.pws_keys import PwsKeys
from ..plugins.contract import Coins, KeySampler, Sanitiser, build, payments, stated
from ..plugins.contract.coins import release_coins
from ..plugins.contract.optional import NOT_GIVEN
from ..plugins.registry import Registry, Role
from ..runs.certificates import guarantee_certificate
from ..runs.digests import plan_digest
from ..runs.keyed import KeyedRun
from ..samplers.every_key import EveryKey
from .counts import KeyCounts, open_counts
from .drawing import Drawn, ReportDrawer, ReportThinner, require_sanitised, sanitise_reports
from .estimation import SampleEstimates, SumEstimate
from .keys import (
    Distinct,
    Keys,
    are_among,
    are_rising,
    arrow,
    as_bytes,
    gathered,
    joined,
    order,
    packed_keys,
    unpacked_keys,
)
from .report import BandTally, SampleReport
from .sample_files import CoinKind, Described, SampleStatement, StatedGuarantee, read_sample, write_sample
from .selections import Where
from .tables import ReportingTable
from .threshold_samples import ThresholdSample
from .user_budgets import element_budget

Protection: TypeAlias = "Guarantee[Approximate, AddRemove, Element] | Guarantee[Approximate, AddRemove, User]"
"""For elements, or for users who contribute a bounded number of them: two types that do not compose."""

Watch: TypeAlias = Callable[[KeyCounts, Drawn], None]

_LARGEST_EPSILON = 2**53
"""What statements and JSON can write; from far below on, one element more makes a key certain."""

_KEY, _TOKEN = "key", "token"
_FORM = "certdp-private-sample/1"


def _contributions(value: int | None) -> int | None:
    return None if value is None else whole("contributions", python_int(value), 1)


@final
@known_keywords
@frozen(kw_only=True)
class PrivateWeightedSampling:
    """Weighted samples of keyed data under (ε, δ)-DP (PWS Algorithm 2).

    Args:
        mechanism: what is reported of sampled keys: PwsKeys or PwsFrequencies; its ε and δ are for one element.
        sampler: which keys are sampled: EveryKey, Ppswor, Pps or ListedRates.
        contributions: how many elements one user contributes at most; the guarantee is then for users. Counts do not
            show whether it is so: it is assumed.

    Guarantees:
        Every key is reported independently of the others, with exactly the probabilities of `reporting`. Each release
        costs `guarantee`; what several cost, `accounted` in a `Plan` says.

    Raises:
        InvalidValue: for δ = 0, and as `KeyedRun`.
    """

    mechanism: Sanitiser
    sampler: KeySampler
    contributions: int | None = field(default=None, converter=_contributions)

    def __attrs_post_init__(self) -> None:
        _require_writable(self.accounted.reporting.epsilon)

    @classmethod
    @known_keywords
    def within(
        cls,
        *,
        epsilon: Epsilon | Number,
        delta: Delta | Number,
        sampler: KeySampler | None = None,
        frequencies: bool = False,
        largest: int | None = None,
        contributions: int | None = None,
    ) -> PrivateWeightedSampling:
        """The sampling whose guarantee is (ε, δ), with what a released threshold has cost on top of ε.

        Args:
            epsilon: ε, for an element or, where contributions are bounded, for a user.
            delta: δ likewise, above 0.
            sampler: which keys are sampled; every key unless given.
            frequencies: whether to report tokens from which frequencies can be estimated, or keys alone.
            largest: a public largest frequency, above which keys count as that.
            contributions: how many elements one user contributes at most.

        Raises:
            InvalidValue, InvalidType: as `PrivateWeightedSampling` and its mechanism.
        """
        _require_writable(Epsilon.of(epsilon))
        used: KeySampler = EveryKey() if sampler is None else sampler
        spent = sum((_epsilon_of(payment.cost.bound) for payment in payments(used)), Fraction(0))
        each = element_budget(
            Epsilon.of(epsilon), Delta.of(delta), 1 if contributions is None else contributions, spent=spent
        )
        values = Public(each[0].value), Public(each[1].value)
        kind = PwsFrequencies if frequencies else PwsKeys
        cap = NOT_GIVEN if largest is None else Public(largest)
        return cls(
            mechanism=kind(epsilon=values[0], delta=values[1], largest=cap),
            sampler=used,
            contributions=contributions,
        )

    @cached_property
    def accounted(self) -> KeyedRun:
        """Return one release as a run, to be accounted for alone or in a plan."""
        return KeyedRun(mechanism=self.mechanism, sampler=self.sampler)

    @cached_property
    def reporting(self) -> Reporting:
        """How many units of probability a key of each frequency is reported with."""
        return self.accounted.reporting

    @cached_property
    def _drawer(self) -> ReportDrawer:
        return ReportDrawer(self.reporting)

    @cached_property
    def _thinner(self) -> ReportThinner:
        return ReportThinner(self.reporting)

    @cached_property
    def guarantee(self) -> Protection:
        """(ε, δ) of a release with private coins: for users where contributions are bounded, else for elements."""
        if self.contributions is None:
            return self.accounted.guarantee()
        return self.accounted.guarantee_for_users(self.contributions)

    def certificate(self) -> bytes:
        """The publishable certificate of the guarantee, which the independent checker accepts.

        Raises:
            InvalidValue: where no kind of certificate states it.
        """
        return guarantee_certificate(self.accounted, self.contributions)

    def table(self, last: int) -> ReportingTable:
        """Return the probabilities with which keys of frequencies 0 to `last` are reported: public, and exact."""
        return ReportingTable.of(self.reporting, last)

    # Releases

    def release(self, data: Any, coins: Coins | None = None, *, ledger: PaidFrom | None = None) -> PrivateSample:
        """Sample and sanitise in one pass.

        Args:
            data: keys and counts: KeyCounts, or whatever `KeyCounts.of` takes (a mapping, an Arrow table, a data
                frame, a pair, a list of keys), or the path of a file, which is read in chunks: see `open_counts`.
            coins: of the operating system unless given; a release with seeded coins is not private, and says so.
            ledger: what the release is paid from before anything is drawn: a `Ledger`, or a `LedgerRequest`.

        Raises:
            InvalidValue: for counts that are none; nothing is paid then.
            BudgetExceeded: where the ledger does not cover the release. Otherwise as `LedgerRequest.pay`.
        """
        if isinstance(data, PathLike):
            with open_counts(data) as stream:
                return self.release_chunks(stream, coins, ledger=ledger)
        return self.release_chunks([KeyCounts.of(data)], coins, ledger=ledger)

    def release_chunks(
        self,
        chunks: Iterable[KeyCounts],
        coins: Coins | None = None,
        *,
        watch: Watch | None = None,
        ledger: PaidFrom | None = None,
    ) -> PrivateSample:
        """Sample and sanitise data that come in parts, of which only the reported keys are held.

        Args:
            chunks: keys and counts; no key may be in two of them. With a ledger a list, what `open_counts` gives, or
                what else can be gone through twice: all of it is looked at before it is paid, and then drawn for.
            coins: as for `release`.
            watch: called with each part and what was drawn of it, for the data's owner.
            ledger: as for `release`.

        Raises:
            InvalidType: with a ledger, for an iterator, which is gone through once.
            InvalidValue: for counts that are none; with a ledger, for a key in two parts, too. Nothing is paid then.
            BudgetExceeded: as for `release`. Whatever else stops it after the payment, such as files that change
                meanwhile, leaves it paid and lost.
        """
        used = release_coins(coins)
        if watch is not None:
            require_callable("watch", watch)
        if ledger is not None:
            self._require_chunks(chunks)
            self._pay(ledger, used)
        kept: list[Keys] = []
        tokens: list[NDArray[np.uint64]] = []
        for chunk in chunks:
            drawn = self._drawer.draw(chunk.counts, used)
            kept.append(chunk.keys.filter(drawn.kept))
            tokens.append(drawn.tokens)
            if watch is not None:
                watch(chunk, drawn)
        return self._sample(kept, tokens, used.private)

    def sanitise(
        self, sample: ThresholdSample, coins: Coins | None = None, *, ledger: PaidFrom | None = None
    ) -> PrivateSample:
        """Make a sample with true frequencies private, without its data (PWS Algorithm 2).

        Args:
            sample: drawn by threshold with this sampler; it is sanitised once.
            coins: as for `release`.
            ledger: as for `release`; it refuses a sample that shares a draw with one that was sanitised under it.

        Guarantees:
            The result has the law of `release` on the data that were sampled. Two results from one sample share its
            coins: together they are not what two releases are.

        Raises:
            InvalidValue: for a sample that no sanitiser makes private, and for one by another sampler; with a ledger,
                also for one without the names of its draws. Nothing is paid then.
            UsedBefore: for a sample that shares a draw with one that was sanitised under the same ledger.
            BudgetExceeded: where the ledger does not cover the release. Otherwise as `LedgerRequest.pay`.
        """
        sample.require_sanitisable()
        if sample.inclusion != self.sampler.inclusion:
            drawn_by = stated(self.sampler)
            raise InvalidValue("sampler", drawn_by, "the one that the sample was drawn with", "Use the sample's own")
        used = release_coins(coins)
        if ledger is not None and not sample.draws:
            remedy = "It was drawn by an earlier version: draw it anew, or release from the data"
            raise InvalidValue("sample", "one without names of its draws", "one that names them", remedy)
        if ledger is not None:
            require_sanitised(self.reporting, sample.counts)
            self._pay(ledger, used, sample.draws)
        drawn = sanitise_reports(self.reporting, sample.counts, used)
        return self._sample([sample.keys.filter(drawn.kept)], [drawn.tokens], used.private)

    # In two steps, where keys lie in many places

    def keep(self, counts: KeyCounts, coins: NamedCoins) -> KeyCounts:
        """Keep some of these keys, by their names: nearly those alone that are then reported. Not private by itself.

        Args:
            counts: keys and counts of one place; no key may be in two of them.
            coins: of this release, the same in all places.

        Guarantees: which keys are kept follows from their names, counts and the coins' secret, wherever they lie.
        """
        kept = np.flatnonzero(self._thinner.kept(as_bytes(counts.keys).to_pylist(), counts.counts, coins))
        return KeyCounts(counts.keys.take(kept), counts.counts[kept])

    def require(self, counts: KeyCounts) -> None:
        """Refuse counts of which some could not be drawn for, before anything is paid.

        Raises:
            InvalidValue: beyond the last frequency that has a rate, and where tokens would be too many.
        """
        self._thinner.require(counts.counts)

    def release_kept(
        self, parts: Iterable[KeyCounts], kept_by: NamedCoins, coins: Coins | None = None
    ) -> PrivateSample:
        """Report what was kept in all places, once: the release of all the keys that lay there.

        It takes no ledger: pay before the first key is kept, under one id, as `certdp.engines` does.

        Args:
            parts: what `keep` gave for all places.
            kept_by: the coins that it was given.
            coins: as for `release`.

        Guarantees: the result has the law of `release` on all the data.

        Raises:
            InvalidValue: for a key that was kept in two places.
        """
        held, used, distinct = list(parts), release_coins(coins), Distinct()
        for part in held:
            distinct.add(part.keys)
        distinct.require(lambda: (part.keys for part in held))
        counts = np.concatenate([np.zeros(0, np.uint64), *(part.counts for part in held)])
        drawn = self._thinner.reported(counts, used)
        keys = joined([part.keys for part in held]).filter(drawn.kept)
        return self._sample([keys], [drawn.tokens], used.private and kept_by.private)

    def report(self, data: Any, sample: PrivateSample) -> Private[SampleReport]:
        """How many keys were reported by frequency, beside what was to be expected: for the data's owner.

        Args:
            data: what was released, as for `release`.
            sample: the release.
        """
        counts, tally = KeyCounts.of(data), BandTally(self.reporting)
        tally.add(counts.counts, are_among(counts.keys, frozenset(as_bytes(sample.keys).to_pylist())))
        return tally.report()

    def _require_chunks(self, chunks: Iterable[KeyCounts]) -> None:
        """Look at everything that a release of these parts could refuse; nothing is drawn for it."""
        if isinstance(chunks, Iterator):
            admissible = "parts that can be gone through twice: to be looked at, and then to be drawn for"
            remedy = "Give a list of them, or a file: what open_counts gives, without .chunks()"
            raise InvalidType("chunks", f"{type(chunks).__name__}, gone through once", admissible, remedy)
        distinct = Distinct()
        for chunk in chunks:
            if not isinstance(chunk, KeyCounts):
                raise InvalidType("chunks", f"one of type {type(chunk).__name__}", "KeyCounts", "KeyCounts.of(…)")
            self._drawer.require(chunk.counts)
            distinct.add(chunk.keys)
        distinct.require(lambda: (chunk.keys for chunk in chunks))

    def _pay(self, ledger: PaidFrom, coins: Coins, uses: Iterable[str] = ()) -> None:
        """Pay for one release: everything that it could refuse was looked at."""
        digest = plan_digest(self.accounted, contributions=self.contributions)
        request_of(ledger, "keys").pay(self.guarantee, plan=digest, coins=coins, uses=uses)

    def _sample(self, kept: list[Keys], tokens: list[NDArray[np.uint64]], private: bool) -> PrivateSample:
        keys = gathered(kept)
        places = order(keys)
        held = np.concatenate(tokens)[places] if self.reporting.with_frequencies and tokens else None
        if held is None and self.reporting.with_frequencies:
            held = np.empty(0, dtype=np.uint64)
        return PrivateSample(keys=keys.take(places), tokens=held, statement=self._statement(private))

    def _statement(self, private: bool) -> SampleStatement:
        return SampleStatement(
            private=private,
            sampler=Described(self.sampler.about.name, stated(self.sampler)),
            mechanism=Described(self.mechanism.about.name, stated(self.mechanism)),
            contributions=self.contributions,
            coins=CoinKind.OPERATING_SYSTEM if private else CoinKind.SEEDED,
            guarantee=self.stated_guarantee if private else None,
        )

    @property
    def stated_guarantee(self) -> StatedGuarantee:
        """The guarantee as text, for statements of samples; numbers as declared where they are the guarantee's own."""
        guarantee = self.guarantee
        as_declared = self.contributions is None and not self.accounted.payments
        epsilon, delta = (self.reporting.epsilon.value, self.reporting.delta.value) if as_declared else (None, None)
        return StatedGuarantee(
            epsilon=_text(guarantee.bound.epsilon, epsilon),
            delta=_text(guarantee.bound.delta, delta),
            unit=guarantee.unit.name,
            relation=guarantee.relation.name,
        )


@final
@frozen(kw_only=True)
class Drawing:
    """The mechanism and sampler that a sample was drawn with; the sample's statement says what that guarantees.

    Attributes:
        mechanism: what was reported of sampled keys.
        sampler: which keys were sampled.
    """

    mechanism: Sanitiser
    sampler: KeySampler

    @property
    def reporting(self) -> Reporting:
        """How many units of probability a key of each frequency was reported with, for each token."""
        return self._reporting

    @cached_property
    def _reporting(self) -> Reporting:
        return self.mechanism.reporting(self.sampler.inclusion)


@final
@frozen(eq=False, repr=False)
class PrivateSample:
    """A released sample: keys, and where frequencies are sanitised a token of each. It prints as one line.

    Attributes:
        keys: an Arrow array of text, or of bytes where they are no UTF-8; sorted by their bytes. Where Arrow is not
            installed, what has `to_pylist`, `take`, `filter` and `slice` like one.
        tokens: of each key; the higher, the more frequent it is likely to be. None where keys alone are reported.
        statement: how it was drawn and what that guarantees.
    """

    keys: Keys
    tokens: NDArray[np.uint64] | None
    statement: SampleStatement

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrivateSample):
            return NotImplemented
        if self.statement != other.statement or not self.keys.equals(other.keys):
            return False
        if self.tokens is None or other.tokens is None:
            return self.tokens is other.tokens
        return np.array_equal(self.tokens, other.tokens)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @property
    def sampling(self) -> Drawing:
        """The drawing of the sample, built anew from its statement.

        Raises:
            PluginError: for a mechanism or a sampler that is not installed.
        """
        return self._sampling

    @cached_property
    def _sampling(self) -> Drawing:
        described = self.statement.mechanism
        if described is None:
            raise InvalidValue("sample", "one that was not sanitised", "a private sample", "Sanitise it")
        registry, sampler = Registry(), self.statement.sampler
        return Drawing(
            mechanism=build(registry.get(Role.MECHANISM, described.name), "mechanism", described.options),
            sampler=build(registry.get(Role.SAMPLER, sampler.name), "sampler", sampler.options),
        )

    @cached_property
    def estimates(self) -> SampleEstimates:
        """What the sample tells of the data: sums, counts, top keys, quantiles, ranks; all of it post-processing."""
        return SampleEstimates(self.keys, self.tokens, self.sampling.reporting)

    def estimate(
        self, where: Where = None, statistic: Statistic | None = None, *, population: int | None = None
    ) -> SumEstimate:
        """Σ L(x)·g(w) over all keys; arguments and errors as for `SampleEstimates.sum`."""
        return self.estimates.sum(where, statistic, population=population)

    def to_arrow(self) -> Any:
        """A pyarrow.Table with a column key and, with frequencies, a column token."""
        pa, columns = arrow("sample", "a table or a file of it"), {_KEY: self.keys}
        if self.tokens is not None:
            columns[_TOKEN] = pa.array(self.tokens)
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the same columns.

        Raises:
            InvalidValue: where pandas is not installed.
        """
        _installed("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars.DataFrame of the same columns.

        Raises:
            InvalidValue: where polars is not installed.
        """
        return _installed("polars").from_arrow(self.to_arrow())

    def to_dict(self) -> dict[Any, int | None]:
        """The token of each key, or None where keys alone are reported."""
        keys = self.keys.to_pylist()
        return dict(zip(keys, [None] * len(keys) if self.tokens is None else self.tokens.tolist(), strict=True))

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write rows and statement: .parquet, .csv or .tsv.

        Raises:
            InvalidValue: for another kind of file, one that exists, or a place that cannot be written.
        """
        write_sample(path, self.to_arrow(), self.statement, overwrite=overwrite)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> PrivateSample:
        """A sample that `write` wrote.

        Raises:
            InvalidValue: for a file that is none, or that holds a sample with true frequencies.
        """
        table, statement = read_sample(path)
        if statement.mechanism is None:
            raise InvalidValue("path", str(path), "a sanitised sample", "It holds true frequencies: sanitise it first")
        keys = gathered(table.column(_KEY).chunks)
        tokens = table.column(_TOKEN).to_numpy().astype(np.uint64) if _TOKEN in table.column_names else None
        return cls(keys=keys, tokens=tokens, statement=statement)

    def to_bytes(self) -> bytes:
        """Rows and statement: what a ledger keeps of a release, and hands out again."""
        tokens = {} if self.tokens is None else {_TOKEN: self.tokens}
        return packed(_FORM, self.statement.to_json(), {**packed_keys(self.keys), **tokens})

    @classmethod
    def from_bytes(cls, content: bytes) -> PrivateSample:
        """The sample that `to_bytes` gave.

        Raises:
            InvalidType: for anything but bytes.
            InvalidValue: for damaged bytes, and those of another version.
        """
        stated, arrays = unpacked(_FORM, content)
        with whole_content():
            statement, keys, tokens = SampleStatement.from_json(stated), unpacked_keys(arrays), arrays.get(_TOKEN)
            named = {"lengths", "keys"} | (set() if tokens is None else {_TOKEN})
            whole = set(arrays) == named and are_rising(keys) and statement.mechanism is not None
            if not whole or not (tokens is None or is_vector(tokens, "u8", len(keys))):
                raise InvalidValue("content", "what is no private sample", "what to_bytes gave")
        return cls(keys=keys, tokens=tokens, statement=statement)

    def __repr__(self) -> str:
        what = "keys" if self.tokens is None else "keys with tokens"
        return f"{len(self):,} {what}: {_protection(self.statement)}; {_how(self.statement)}"

    __str__ = __repr__


def _require_writable(epsilon: Epsilon) -> None:
    if epsilon.value > _LARGEST_EPSILON:
        raise InvalidValue("epsilon", "an ε above 2^53", "at most 2^53", "So large an ε protects nobody")


def _epsilon_of(cost: Bound) -> Fraction:
    match cost:
        case Pure(epsilon) | Approximate(epsilon, _):
            return epsilon.upper
    raise InvalidType("sampler", f"a parameter released for {cost}", "parameters released for an ε, or an ε and a δ")


def _installed(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidValue("sample", f"no {name}", f"an installation with {name}", f"pip install {name}") from None


def _text(bound: Enclosure, declared: Fraction | None) -> str:
    """The upper end of a bound, or the exact number declared where that is short."""
    if declared is not None and Fraction(repr(float(declared))) == declared:
        return repr(float(declared))
    return repr(bound.upper_float)


def in_words(guarantee: StatedGuarantee, contributions: int | None) -> str:
    """Write a guarantee as one phrase."""
    whom = f"one {guarantee.unit}"
    if contributions is not None:
        whom += f" with at most {contributions:,} elements"
    return f"({guarantee.epsilon}, {guarantee.delta})-DP for {whom}, {guarantee.relation}"


def _protection(statement: SampleStatement) -> str:
    if statement.guarantee is None:
        return f"not private, {statement.coins.value} coins"
    return in_words(statement.guarantee, statement.contributions)


def _how(statement: SampleStatement) -> str:
    assert statement.mechanism is not None
    sampler = statement.sampler
    options = ", ".join(f"{name} = {_short(value)}" for name, value in sampler.options.items())
    sampled = f"a sample by {sampler.name} ({options})" if options else sampler.name.replace("-", " ")
    return f"{statement.mechanism.name} on {sampled}"


def _short(text: str) -> str:
    try:
        return f"{float(Fraction(text)):.6g}"
    except ValueError:  # a list of rates
        return text if len(text) <= 20 else text[:19] + "…"

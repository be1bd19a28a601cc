"""Weighted samples that are not private: keys with their true frequencies (PWS Algorithm 1).

By threshold, a key of frequency i is kept by itself with exactly `Inclusion.drawn(i)` units of 2^−256: a uniform number
V of 256 bits is below them. V is drawn from its 64 leading bits down, as in `drawing`; as q does not fall, most keys
that are left out are known from q at a frequency of few digits that is not below theirs.

Bottom-k keeps the k keys with the smallest u/f(w), u exponential (ppswor) or uniform (priority sampling); the next
smallest is the realised threshold, given which each key is kept with the probabilities of a threshold sample (Cohen,
Kaplan 2007). It is computed in binary64.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats, Number, exact, python_int
from ..accounting.keyed.reporting import DRAWN_BITS, EveryKey, Inclusion, PoissonPps, Ppswor
from ..accounting.private import InvalidData, Private
from ..accounting.stored import Json, canonical, is_vector, packed, unpacked, whole_content
from ..plugins.contract import Coins, KeySampler, build, stated
from ..plugins.contract.coins import release_coins
from ..plugins.registry import Registry, Role
from .counts import KeyCounts
from .drawing import distinct_counts
from .frequencies import Words, counts_of
from .keys import (
    Distinct,
    Keys,
    are_rising,
    arrow,
    as_bytes,
    as_text,
    formatted_key,
    gathered,
    joined,
    order,
    packed_keys,
    require_keys,
    unpacked_keys,
)
from .sample_files import THRESHOLD, CoinKind, Described, SampleStatement, read_sample, write_sample

_WORD = 64
_LARGEST_WORD = (1 << _WORD) - 1
_REST = DRAWN_BITS - _WORD
_SIGNIFICANT = 8
_LONGEST_SALT = 64
_COUNT, _SEED = "count", "seed"
_MOST_OCTAVES = 960  # of a size: seeds down to 2^-53 divided by it are normal floats
_PART = "certdp-sample-part/1"
_SANITISABLE = "one that was drawn by threshold with coins of the operating system"


@final
@frozen
class KeyHash:
    """Coins from the keys themselves: samples of different data with one salt agree where they can.

    Such a sample is not private, and no sanitiser makes it so.

    Args:
        salt: public, at most 64 bytes.

    Raises:
        InvalidValue, InvalidType: for another salt.
    """

    salt: bytes = field()

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.salt, bytes):
            raise InvalidType("salt", self.salt, "bytes")
        if len(self.salt) > _LONGEST_SALT:
            raise InvalidValue("salt", f"{len(self.salt)} bytes", f"at most {_LONGEST_SALT} bytes")

    def number(self, key: bytes) -> int:
        """A number of 256 bits: BLAKE2b of the key, keyed with the salt."""
        digest = hashlib.blake2b(key, digest_size=DRAWN_BITS // 8, key=self.salt, person=b"certdp-sample")
        return int.from_bytes(digest.digest(), "big")


CoinSource: TypeAlias = Coins | KeyHash


@final
class SeedOrder(Enum):
    """What u is in the seeds u/f(w) of a bottom-k sample."""

    PPSWOR = "ppswor"
    PRIORITY = "priority"


@final
@frozen
class ByThreshold:
    """Each key is kept by itself, with the probabilities of a sampler.

    Attributes:
        sampler: states them.
    """

    sampler: KeySampler

    @property
    def inclusion(self) -> Inclusion:
        """The inclusion probabilities q_i by frequency i."""
        return self.sampler.inclusion

    @property
    def described(self) -> Described:
        """The rule by its name, for the statement."""
        return THRESHOLD

    @property
    def sampled_by(self) -> Described:
        """The sampler by its name and options, for the statement."""
        return Described(self.sampler.about.name, stated(self.sampler))


@final
@frozen(kw_only=True)
class BottomK:
    """The k keys with the smallest u/f(w), f(w) = w^p.

    Attributes:
        size: k ≥ 1.
        order: what u is.
        power: p ≥ 0.
        threshold: the realised one, the smallest seed left out; None where no key was.

    Raises:
        InvalidValue, InvalidType: outside these ranges.
    """

    size: int = field(converter=python_int)
    order: SeedOrder = SeedOrder.PPSWOR
    power: Fraction = field(default=Fraction(1), converter=exact)
    threshold: float | None = None

    def __attrs_post_init__(self) -> None:
        whole("size", self.size, 1)
        if not isinstance(self.order, SeedOrder):
            raise InvalidType("order", self.order, "SeedOrder.PPSWOR or SeedOrder.PRIORITY")
        if self.power < 0:
            raise InvalidValue("power", self.power, "p ≥ 0")

    @property
    def inclusion(self) -> Inclusion:
        """The inclusion probabilities q_i by frequency i, given the realised threshold."""
        if self.threshold is None:
            return EveryKey()
        kind = Ppswor if self.order is SeedOrder.PPSWOR else PoissonPps
        return kind(threshold=exact(self.threshold), power=self.power)

    @property
    def described(self) -> Described:
        """The rule by its name and options, for the statement."""
        options = {"size": str(self.size), "order": self.order.value, "power": str(self.power)}
        realised = {} if self.threshold is None else {"threshold": repr(self.threshold)}
        return Described("bottom-k", {**options, **realised})

    @property
    def sampled_by(self) -> Described:
        """The sampler by the realised threshold, for the statement."""
        if self.threshold is None:
            return Described("every-key")
        name = "ppswor" if self.order is SeedOrder.PPSWOR else "pps"
        return Described(name, {"threshold": str(exact(self.threshold)), "power": str(self.power)})

    def seeds(self, uniform: Floats, counts: Words) -> Floats:
        """u/f(w), from numbers uniform on (0, 1).

        Raises:
            InvalidValue: for a power at which a size is so large that seeds are no floats.
        """
        drawn = -np.log(uniform) if self.order is SeedOrder.PPSWOR else uniform
        octaves = float(np.log2(counts.max(initial=1)))
        if self.power * exact(octaves) > _MOST_OCTAVES:
            raise InvalidValue("power", self.power, f"sizes w^p up to 2^{_MOST_OCTAVES}", "Use a smaller power")
        power = float(min(self.power, Fraction(_MOST_OCTAVES)))  # more only where every count is 1
        return np.asarray(drawn / np.power(counts.astype(np.float64), power))


Rule: TypeAlias = ByThreshold | BottomK


@final
@frozen(kw_only=True, eq=False)
class ThresholdSample:
    """A sample of keys with their true frequencies: not private, for the data's owner.

    Attributes:
        keys: an Arrow array, large_string or large_binary, sorted by bytes.
        counts: the frequency of each.
        rule: how it was drawn.
        coins: where its randomness comes from.
        salt: of the hash of the keys, where coins come from there.
        seeds: of each key, for bottom-k.
        draws: the name of each draw that the sample comes from, sorted, where it can be sanitised: by them a ledger
            tells that two samples share coins. Empty for a sample of an earlier version.
    """

    keys: Keys = field(repr=False)
    counts: NDArray[np.uint64] = field(repr=False)
    rule: Rule
    coins: CoinKind
    salt: bytes | None = None
    seeds: Floats | None = field(default=None, repr=False)
    draws: tuple[str, ...] = field(default=(), repr=False)

    def __attrs_post_init__(self) -> None:
        require_keys(self.keys, len(self.counts))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def inclusion(self) -> Inclusion:
        """q_i; for bottom-k, given the realised threshold."""
        return self.rule.inclusion

    @property
    def statement(self) -> SampleStatement:
        """The statement of how the sample was drawn."""
        rule = self.rule.described
        if self.salt is not None:
            rule = Described(rule.name, {**rule.options, "salt": self.salt.hex()})
        return SampleStatement(
            private=False, sampler=self.rule.sampled_by, rule=rule, coins=self.coins, draws=self.draws
        )

    def require_sanitisable(self) -> None:
        """Refuse a sample that no sanitiser makes private.

        The guarantee is for one sanitised sample: two from the same sample share its coins, so theirs do not add up.

        Raises:
            InvalidValue: for one that was drawn by bottom-k, with seeded coins or with coins from a hash of its keys.
        """
        match self.rule:
            case BottomK():
                raise InvalidValue(
                    "sample",
                    "a bottom-k sample",
                    _SANITISABLE,
                    "Its threshold was realised from the data, so that a key is kept depending on all others: no "
                    "guarantee follows. Draw with a threshold that was fixed before",
                )
        if self.coins is CoinKind.KEY_HASH:
            raise InvalidValue(
                "sample",
                "a sample with coins from a hash of its keys",
                _SANITISABLE,
                "Whoever knows the salt knows from which frequency on each key is kept: no guarantee follows",
            )
        if self.coins is CoinKind.SEEDED:
            raise InvalidValue(
                "sample",
                "a sample with seeded coins",
                _SANITISABLE,
                "Whoever knows the seed knows from which frequency on each key is kept: no guarantee follows",
            )

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns key and count, and for bottom-k seed."""
        pa = arrow("sample", "a table or a file of it")
        columns = {"key": self.keys, _COUNT: pa.array(self.counts)}
        return pa.table(columns if self.seeds is None else {**columns, _SEED: pa.array(self.seeds)})

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write it to a .parquet, .csv or .tsv file that its owner alone can read: see `write_sample`."""
        write_sample(path, self.to_arrow(), self.statement, overwrite=overwrite)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> ThresholdSample:
        """A sample that `write` wrote.

        Raises:
            InvalidValue: for a file that is none, or that holds a sanitised sample.
            PluginError: for a sampler that is not installed.
        """
        table, statement = read_sample(path)
        if statement.mechanism is not None or _COUNT not in table.column_names:
            raise InvalidValue("path", str(Path(path)), "a sample with true frequencies", "This one was sanitised")
        return cls._stated(
            statement,
            gathered(table.column("key").chunks),
            counts_of(table.column(_COUNT)),
            table.column(_SEED).to_numpy().astype(np.float64) if _SEED in table.column_names else None,
        )

    @classmethod
    def _stated(
        cls, statement: SampleStatement, keys: Keys, counts: NDArray[np.uint64], seeds: Floats | None
    ) -> ThresholdSample:
        options = dict(statement.rule.options)
        salt = options.pop("salt", None)
        return cls(
            keys=keys,
            counts=counts,
            rule=_rule(Described(statement.rule.name, options), statement.sampler),
            coins=statement.coins,
            salt=None if salt is None else bytes.fromhex(salt),
            seeds=seeds,
            draws=statement.draws,
        )

    # Parts that merge

    def __add__(self, other: ThresholdSample) -> ThresholdSample:
        """The sample of two data sets without a common key, from a sample of each: one of no keys changes nothing.

        Guarantees: a sample has the same law, however its data were cut into parts by keys; with coins from the keys,
        it is the same sample. A key that was sampled in both parts is refused; one that was sampled in neither, or in
        one, cannot be seen in the other: that no key lies in two parts is for who cuts the data.

        Raises:
            InvalidValue: for samples by different schemes or with different coins, and for a key that is in both.
        """
        return merge(self, other)

    def to_bytes(self) -> bytes:
        """All of the sample, for its owner: it holds keys with their true frequencies. A pickle is the same bytes.

        Guarantees: `from_bytes` gives an equal sample.
        """
        arrays = {**packed_keys(self.keys), _COUNT: self.counts}
        if self.seeds is not None:
            arrays[_SEED] = self.seeds
        return packed(_PART, self.statement.to_json(), arrays)

    @classmethod
    def from_bytes(cls, content: bytes) -> ThresholdSample:
        """The sample that `to_bytes` gave.

        Raises:
            InvalidType: for anything but bytes.
            InvalidValue: for damaged bytes, and those of another version; for a sampler that is not installed.
            PluginError: for a sampler that cannot be used.
        """
        stated, arrays = unpacked(_PART, content)
        with whole_content():
            statement = SampleStatement.from_json(stated)
        if statement.rule.name == THRESHOLD.name:
            Registry().get(Role.SAMPLER, statement.sampler.name)  # where it cannot be used, this says so
        with whole_content():
            sample = cls._stated(statement, unpacked_keys(arrays), arrays[_COUNT], arrays.get(_SEED))
            _require_drawn(sample, stated, arrays)
        return sample

    def __reduce__(self) -> tuple[Callable[[bytes], ThresholdSample], tuple[bytes]]:
        return ThresholdSample.from_bytes, (self.to_bytes(),)


def threshold_sample(
    chunks: Iterable[KeyCounts], sampler: KeySampler, coins: CoinSource | None = None
) -> ThresholdSample:
    """A threshold sample of data that come in chunks, in one pass (PWS Algorithm 1).

    Args:
        chunks: keys and counts; no key may be in two of them.
        sampler: states q_i.
        coins: of the operating system unless given.

    Guarantees:
        A key of frequency i is kept with exactly `sampler.inclusion.drawn(i)` units of 2^−256, independently of the
        others where the coins are. The result can be sanitised where they are the operating system's.

    Raises:
        InvalidValue: for counts beyond the last that has a rate.
    """
    rule, used = ByThreshold(sampler), _working(coins)
    keys: list[Keys] = []
    counts = [np.empty(0, dtype=np.uint64)]
    for chunk in chunks:
        kept = np.flatnonzero(_kept(rule.inclusion, chunk, used))
        keys.append(chunk.keys.take(kept))
        counts.append(chunk.counts[kept])
    return _in_order(keys, np.concatenate(counts), rule, _kind(used), _salt(used), _named(used))


def bottom_k_sample(
    chunks: Iterable[KeyCounts],
    size: int,
    *,
    order: SeedOrder = SeedOrder.PPSWOR,
    power: Number = 1,
    coins: CoinSource | None = None,
) -> ThresholdSample:
    """The k keys with the smallest u/f(w), in one pass: for its owner, as nothing makes it private.

    Args:
        chunks: keys and counts; no key may be in two of them.
        size: k ≥ 1.
        order: u exponential (ppswor) or uniform (priority sampling).
        power: p ≥ 0 in f(w) = w^p.
        coins: of the operating system unless given.

    Raises:
        InvalidValue, InvalidType: for another size, order or power.
    """
    rule, used = BottomK(size=size, order=order, power=exact(power, parameter="power")), _working(coins)
    held = _Seeded(joined([]), np.empty(0, np.uint64), np.empty(0))
    for chunk in chunks:
        drawn = _Seeded(as_bytes(chunk.keys), chunk.counts, rule.seeds(_uniform(chunk.keys, used), chunk.counts))
        held = held.with_(drawn).smallest(size + 1)
    return _cut_off(held, rule, _kind(used), _salt(used))


def merge(first: ThresholdSample, second: ThresholdSample) -> ThresholdSample:
    """The sample of two data sets without a common key, from a sample of each.

    Args:
        first: of the one.
        second: of the other, by the same scheme.

    Raises:
        InvalidValue: for samples by different schemes or with different coins, and for a key that is in both.
    """
    for name, one, other in (
        ("coins", first.coins.value, second.coins.value),
        ("salt", first.salt, second.salt),
        ("rule", _scheme(first), _scheme(second)),
    ):
        if one != other:
            raise InvalidValue(name, f"{one} and {other}", "two samples by the same scheme", "Draw them alike")
    distinct, parts = Distinct(), [first.keys, second.keys]
    for part in parts:
        distinct.add(part)
    twice = distinct.repeated(lambda: parts)
    if twice is not None:
        remedy = "Its counts would have to be added before it is sampled: sum the data, then sample"
        found = Private(formatted_key(twice.key))
        raise InvalidData(
            "key", "the same one in both samples", "samples of data without a common key", remedy, found=found
        )
    match first.rule, second.rule:
        case BottomK() as one, BottomK() as other:
            held = _seeded(first).with_(_seeded(second))
            return _cut_off(held, one, first.coins, first.salt, others=(one.threshold, other.threshold))
    counts = np.concatenate([first.counts, second.counts])
    whole = first.draws and second.draws  # of a draw without a name nothing could be refused
    draws = tuple(sorted({*first.draws, *second.draws})) if whole else ()
    return _in_order(parts, counts, first.rule, first.coins, first.salt, draws)


def _require_drawn(sample: ThresholdSample, stated: Json, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse what was unpacked, unless it is a sample that may have been drawn, and all that was packed.

    Raises:
        InvalidData: for anything else.
    """
    counts, seeds, size = sample.counts, sample.seeds, len(sample.keys)
    named = {"lengths", "keys", _COUNT} | (set() if seeds is None else {_SEED})
    whole = (
        canonical(sample.statement.to_json()) == canonical(stated)
        and set(arrays) == named
        and is_vector(counts, "u8", size)
        and bool((counts >= 1).all())
        and are_rising(sample.keys)
        and (sample.salt is not None) == (sample.coins is CoinKind.KEY_HASH)
    )
    if sample.salt is not None:
        KeyHash(sample.salt)
    match sample.rule:
        case BottomK(size=most, threshold=end):
            whole = (
                whole
                and seeds is not None
                and is_vector(seeds, "f8", size)
                and bool(((seeds > 0) & np.isfinite(seeds)).all())
                and (
                    len(counts) <= most
                    if end is None
                    else len(counts) == most and np.isfinite(end) and bool((seeds <= end).all())
                )
            )
        case ByThreshold(inclusion=inclusion):
            beyond = inclusion.last is not None and bool((counts > inclusion.last).any())
            whole = whole and seeds is None and not beyond
    if not whole:
        raise InvalidData("content", "what is no sample", "a sample that was drawn")


def _scheme(sample: ThresholdSample) -> object:
    """What two samples that merge have in common."""
    match sample.rule:
        case BottomK() as rule:
            return evolve(rule, threshold=None)
    return sample.inclusion


class _Seeded(NamedTuple):
    """A table of keys with their counts and seeds."""

    keys: Keys
    counts: Words
    seeds: Floats

    def with_(self, other: _Seeded) -> _Seeded:
        """Return the keys of both tables."""
        return _Seeded(
            joined([self.keys, other.keys]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.seeds, other.seeds]),
        )

    def at(self, places: NDArray[np.int64]) -> _Seeded:
        """Return the keys at these places."""
        return _Seeded(self.keys.take(places), self.counts[places], self.seeds[places])

    def smallest(self, number: int) -> _Seeded:
        """Return the keys with the smallest seeds, so many and all with the same seed as the last of them."""
        if len(self.seeds) <= number:
            return self
        return self.at(np.flatnonzero(self.seeds <= np.partition(self.seeds, number - 1)[number - 1]))


def _seeded(sample: ThresholdSample) -> _Seeded:
    assert sample.seeds is not None
    return _Seeded(as_bytes(sample.keys), sample.counts, sample.seeds)


def _cut_off(
    held: _Seeded, rule: BottomK, coins: CoinKind, salt: bytes | None, *, others: Sequence[float | None] = ()
) -> ThresholdSample:
    """The k smallest, with the realised threshold; keys decide between equal seeds."""
    held = held.at(order(held.keys))
    ranks = np.argsort(held.seeds, kind="stable")
    thresholds = [float(seed) for seed in held.seeds[ranks[rule.size : rule.size + 1]]]
    thresholds += [threshold for threshold in others if threshold is not None]
    kept = held.at(np.sort(ranks[: rule.size]))
    return ThresholdSample(
        keys=as_text(kept.keys),
        counts=kept.counts,
        rule=evolve(rule, threshold=min(thresholds, default=None)),
        coins=coins,
        salt=salt,
        seeds=kept.seeds,
    )


def _in_order(
    keys: Sequence[Keys],
    counts: Words,
    rule: Rule,
    coins: CoinKind,
    salt: bytes | None,
    draws: tuple[str, ...],
) -> ThresholdSample:
    every = gathered(keys)
    places = order(every)
    return ThresholdSample(
        keys=every.take(places), counts=counts[places], rule=rule, coins=coins, salt=salt, draws=draws
    )


def _named(coins: CoinSource) -> tuple[str, ...]:
    """A name for what is drawn now, where it can be sanitised."""
    return (f"draw of keys {secrets.token_hex(16)}",) if _kind(coins) is CoinKind.OPERATING_SYSTEM else ()


def _working(coins: CoinSource | None) -> CoinSource:
    return coins if isinstance(coins, KeyHash) else release_coins(coins)


def _kind(coins: CoinSource) -> CoinKind:
    match coins:
        case KeyHash():
            return CoinKind.KEY_HASH
    return CoinKind.OPERATING_SYSTEM if coins.private else CoinKind.SEEDED


def _salt(coins: CoinSource) -> bytes | None:
    match coins:
        case KeyHash(salt=salt):
            return salt
    return None


class _Numbers(NamedTuple):
    """A uniform number of 256 bits for each key: its 64 leading bits, and all of it where that is asked for."""

    leads: Words
    whole: Callable[[int], int]


def _numbers(keys: Keys, coins: CoinSource) -> _Numbers:
    match coins:
        case KeyHash():
            held = as_bytes(keys)
            numbers = [coins.number(key) for key in held.to_pylist()]
            return _Numbers(np.array([number >> _REST for number in numbers], dtype=np.uint64), numbers.__getitem__)
    leads = coins.source.bits(len(keys))
    return _Numbers(leads, lambda place: (int(leads[place]) << _REST) + coins.integers(1 << _REST, 1)[0])


def _uniform(keys: Keys, coins: CoinSource) -> Floats:
    """(k + ½)·2^−52, k of 52 bits, for each key: exact, and neither 0 nor 1."""
    leads = _numbers(keys, coins).leads
    return ((leads >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def _kept(inclusion: Inclusion, chunk: KeyCounts, coins: CoinSource) -> NDArray[np.bool_]:
    """Draw for each key whether it is kept."""
    counts = chunk.counts
    if inclusion.last is not None and len(counts) and counts.max() > inclusion.last:
        admissible = f"at most {inclusion.last}, the last that has a rate"
        raise InvalidData("counts", "a larger one", admissible, "List more rates", found=Private(int(counts.max())))
    leads, number = _numbers(chunk.keys, coins)
    kept = np.zeros(len(counts), dtype=np.bool_)
    open_ = np.flatnonzero(_within_reach(inclusion, counts, leads))
    distinct, places = distinct_counts(counts[open_])
    units = [inclusion.drawn(frequency) for frequency in distinct]
    limits = np.array([min(unit >> _REST, _LARGEST_WORD) for unit in units], dtype=np.uint64)[places]
    kept[open_] = leads[open_] < limits
    for tie in np.flatnonzero(leads[open_] == limits):
        kept[open_[tie]] = number(int(open_[tie])) < units[places[tie]]
    return kept


def _within_reach(inclusion: Inclusion, counts: Words, leads: Words) -> NDArray[np.bool_]:
    """All keys that may be kept: those of which q at a frequency of few digits does not tell that they are not."""
    distinct, places = distinct_counts(counts)
    above = [_few_digits(frequency, inclusion.last) for frequency in distinct]
    ends = {frequency: min(inclusion.units(frequency, _WORD), _LARGEST_WORD) for frequency in dict.fromkeys(above)}
    return np.asarray(leads <= np.array([ends[frequency] for frequency in above], dtype=np.uint64)[places])


def _few_digits(frequency: int, last: int | None) -> int:
    """The next frequency of at most 8 binary digits and zeros, or the last there is."""
    fine = max(0, frequency.bit_length() - _SIGNIFICANT)
    above = -(-frequency >> fine) << fine
    return above if last is None else min(above, last)


def _rule(rule: Described, sampler: Described) -> Rule:
    """Return the sampling rule that a statement names."""
    match rule:
        case Described("threshold"):
            return ByThreshold(build(Registry().get(Role.SAMPLER, sampler.name), "sampler", sampler.options))
        case Described("bottom-k", {"size": size, "order": kind, "power": power, **realised}):
            threshold = float(realised["threshold"]) if "threshold" in realised else None
            return BottomK(size=int(size), order=SeedOrder(kind), power=exact(power), threshold=threshold)
    raise InvalidValue("rule", rule, "threshold or bottom-k")

"""Individual accounts that outlive a process: what each record has lost in a Parquet file, its digest in a ledger.

A run under an individual filter costs (α, B) as a whole, which is paid once. What each record has spent of B is
private, so it lies in a file of the owner's: one for each shard of the records. Every step writes a new version, and
the ledger lets one step follow each version: an older file, or a copy, cannot be stepped from a second time.

The shard of a record follows from its id alone, so a record more or less moves no other one from a release of one shard
to that of another. Each version holds a nonce, so its digest tells nobody who is in it.
"""

from __future__ import annotations

import hashlib
import io
import re
import secrets
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import CertdpError, InvalidType, InvalidValue
from ..accounting.exact import Floats, Number, exact
from ..accounting.filters.spending import SpendingState, owned
from ..accounting.guarantees import Guarantee
from ..accounting.individual.filter import INDIVIDUAL_FILTER, IndividualFilter, IndividualTotals, Mask
from ..accounting.notions import Renyi
from ..accounting.private import InvalidData
from ..accounting.provenance import Private
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.stored import Json, canonical, entries, parsed, whole_content
from ..accounting.units import Order
from ..durable.files import digest_of, whole_folder, write_whole
from .errors import LedgerDamaged, LedgerUnavailable, lost
from .ledger import Ledger

_FORMAT = "certdp-individual-account/1"
_METADATA = _FORMAT.encode()
_OPENING = "account.json"
_NAME = re.compile(r"shard-(\d{6})-step-(\d{9})-[0-9a-f]{16}\.parquet")
_UNIT, _SPENT, _ACTIVE = "unit", "spent", "active"
_IDS = 1 << 63
_LONGEST = 150  # so that the ids of steps are ids of a ledger


@final
class IndividualAccount(SpendingState):
    """The account of one shard of the records, until it is stepped from elsewhere.

    Args:
        folder: where `create` put the accounts.
        ledger: what the run was paid from.
        request: the id that it was paid under.
        shard: which of the shards, from 0.
        by: who acts; the user of the operating system unless given.
        threads: threads for the kernels.

    Guarantees: those of `IndividualFilter`, over all shards together and over all processes: from each version of an
    account one step is admitted, and whoever is told so draws. A process that is killed after that leaves a step that
    is charged and has no output; opened anew, the account goes on after it.

    Raises:
        InvalidValue: for a folder or a shard that is not there, and where Arrow is not installed.
        LedgerDamaged: for files that are altered, or older than what the ledger knows.
    """

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        request: str,
        *,
        shard: int = 0,
        by: str | None = None,
        threads: int = 1,
    ) -> None:
        self._folder, self._ledger, self._request, self._by = Path(folder), ledger, request, by
        self._threads = threads
        opening = _opening(self._folder, ledger, request)
        shards: Sequence[str] = opening["shards"]
        if whole("shard", shard, 0) >= len(shards):
            raise InvalidValue("shard", shard, f"one of {len(shards)}, numbered from 0")
        self._shard = shard
        self._order, self._budget = Fraction(opening["order"]), Fraction(opening["budget"])
        self._step, content = self._latest(shards[self._shard])
        self.units: Sequence[Any]
        """The units of this shard, in the order of every array."""
        self.units, totals = _read(content)
        self._filter = IndividualFilter.resumed(self._order, self._budget, totals, threads=threads)

    @staticmethod
    def create(
        folder: Path,
        units: Iterable[str] | Iterable[int],
        ledger: Ledger,
        request: str,
        *,
        order: Order | Number,
        budget: Number,
        shards: int = 1,
        by: str | None = None,
    ) -> None:
        """Make the accounts of all records, and pay for everything that is released under them.

        Args:
            folder: a new folder.
            units: an id of each record, all text or all whole numbers of 64 bits, also as columns of NumPy or pandas;
                each goes to a shard by its hash, and is sorted there.
            ledger: its rule is in Rényi divergence of that order.
            request: an id that names the run alone.
            order: α, fixed before the run.
            budget: B ≥ 0, the largest τ(α) of the whole run for any record.
            shards: how many files; each is stepped by itself, and may be empty. It is public.
            by: who pays; the user of the operating system unless given.

        Raises:
            InvalidValue: for an id that occurs twice, a folder that is there, and where Arrow is not installed.
            BudgetExceeded: where the ledger does not cover (α, B). Otherwise as `Ledger.pay`.
        """
        names = _sorted_units(units)
        if not isinstance(request, str) or len(request) > _LONGEST:
            raise InvalidValue(
                "request", request, f"an id of at most {_LONGEST} characters", "Steps are named after it"
            )
        number, place = whole("shards", shards, 1), Path(folder)
        if place.exists():
            raise InvalidValue("folder", str(place), "a name that is free", "Choose another, or open what is there")
        run = IndividualFilter(order, budget, 0).guarantee
        parts: list[list[Any]] = [[] for _ in range(number)]
        for name in names:
            parts[_shard_of(name, number)].append(name)
        filters = [IndividualFilter(order, budget, len(part)) for part in parts]
        contents = [_parquet(part, one.totals.reveal()) for part, one in zip(parts, filters, strict=True)]
        digests = [digest_of(content) for content in contents]
        stated = {"order": str(run.bound.order), "budget": str(exact(budget)), "shards": digests}
        opening = canonical({"format": _FORMAT, **stated}).encode("ascii")
        try:
            with whole_folder(place) as made:
                for shard, (digest, content) in enumerate(zip(digests, contents, strict=True)):
                    write_whole(made / _file_name(shard, 0, digest), content, secret=True)
                write_whole(made / _OPENING, opening, secret=True)
        except OSError as error:
            raise InvalidValue("folder", str(place), "a place for a folder", error.strerror or str(error)) from None
        try:
            ledger.pay(run, request=request, plan=digest_of(opening), by=by)
        except LedgerUnavailable:  # it may have been paid
            raise
        except CertdpError:
            shutil.rmtree(place, ignore_errors=True)
            raise

    @property
    def guarantee(self) -> Guarantee[Renyi, AddRemove, Record]:
        """What all outputs of the run keep, over all shards, however many steps they take."""
        return self._filter.guarantee

    @property
    @owned
    def steps(self) -> int:
        """How many steps were charged."""
        return self._step

    @property
    @owned
    def active(self) -> Private[Mask]:
        """A mask of the records that are not dropped yet."""
        return self._filter.active

    @property
    @owned
    def spent(self) -> Private[Floats]:
        """Bounds of τ(α) of each record over the steps in which it took part."""
        return self._filter.spent

    def step(self, rate: ArrayLike, shift: ArrayLike) -> Private[Mask]:
        """Charge a step of the sampled Gaussian mechanism; arguments and result as for `IndividualFilter.step`.

        Raises:
            SameRequest: where another process stepped from this version: open the account anew. Otherwise
                as `IndividualFilter.step` and `Ledger.pay`; nothing is charged then.
        """
        with self._own():
            following = self._copy()
            mask = following.step(rate, shift)
            return self._advanced(following, mask)

    def admit(self, losses: ArrayLike) -> Private[Mask]:
        """Charge a step of any mechanism; arguments and result as for `IndividualFilter.admit`, errors as `step`."""
        with self._own():
            following = self._copy()
            mask = following.admit(losses)
            return self._advanced(following, mask)

    def __repr__(self) -> str:
        return f"IndividualAccount({str(self._folder)!r}, shard={self._shard}, steps={self._step})"

    def _copy(self) -> IndividualFilter:
        return IndividualFilter.resumed(self._order, self._budget, self._filter.totals.reveal(), threads=self._threads)

    def _advanced(self, following: IndividualFilter, mask: Private[Mask]) -> Private[Mask]:
        """Write the next version, have the ledger take it in place of this one, and only then say who takes part."""
        content = _parquet(self.units, following.totals.reveal())
        digest, step = digest_of(content), self._step + 1
        path = self._folder / _file_name(self._shard, step, digest)
        write_whole(path, content, secret=True)
        request = self._step_id(step)
        nothing = Guarantee(
            bound=Renyi(self._order, Enclosure.of(0)),
            relation=ADD_REMOVE,
            unit=RECORD,
            derivation=INDIVIDUAL_FILTER.conclude(premises=(following.guarantee.derivation,)),
        )
        payment = self._ledger.pay(nothing, request=request, plan=digest, by=self._by)
        if not payment.new:
            raise lost(request)
        for older, number in self._files():
            if number < step:
                older.unlink(missing_ok=True)
        self._filter, self._step = following, step
        return mask

    def _step_id(self, step: int) -> str:
        return f"{self._request}: shard {self._shard}, step {step}"

    def _files(self) -> list[tuple[Path, int]]:
        """The versions of this shard that are there, with their steps, the latest first."""
        named = [(path, _NAME.fullmatch(path.name)) for path in self._folder.iterdir()]
        found = [(path, int(match[2])) for path, match in named if match and int(match[1]) == self._shard]
        return sorted(found, key=lambda one: (-one[1], one[0].name))

    def _versions(self, first: str) -> list[_Version]:
        return [
            _Version(
                path,
                step,
                first if step == 0 else self._ledger.plan(self._step_id(step)),
                self._ledger.state(self._step_id(step + 1)) is not None,
            )
            for path, step in self._files()
        ]

    def _latest(self, first: str) -> tuple[int, bytes]:
        """The last version that the ledger knows: its step and its content."""
        seen: list[_Version] = []
        while (versions := self._versions(first)) != seen:  # else another process may just have stepped
            seen = versions
            for version in versions:
                if version.known is None or version.path.name != _file_name(self._shard, version.step, version.known):
                    continue
                with suppress(FileNotFoundError):
                    content = version.path.read_bytes()
                    if digest_of(content) == version.known and not version.followed:
                        return version.step, content
                break
        remedy = f"Shard {self._shard} is missing, altered, or an older copy: restore what was written last"
        raise LedgerDamaged("folder", str(self._folder), "accounts as the ledger knows them", remedy)


class _Version(NamedTuple):
    """A file of a shard, and what the ledger says of its step."""

    path: Path
    step: int
    known: str | None
    """Digest of the version that was paid."""
    followed: bool
    """Whether a step was taken from there."""


def _opening(folder: Path, ledger: Ledger, request: str) -> Json:
    if not isinstance(ledger, Ledger):
        raise InvalidType("ledger", ledger, "a Ledger", "Open it: certdp.Ledger(…)")
    path = folder / _OPENING
    try:
        content = path.read_bytes()
    except OSError as error:
        remedy = f"{error.strerror or error}. Make it: IndividualAccount.create(…)"
        raise InvalidValue("folder", str(folder), "a folder of individual accounts", remedy) from None
    if ledger.plan(request) != digest_of(content):
        remedy = "Open it with the ledger that it was paid from and the id that it was paid under"
        raise LedgerDamaged("folder", str(folder), f"what was paid under request {request}", remedy)
    stated: Json = parsed(content.decode("ascii"), "account")
    return stated


def _file_name(shard: int, step: int, digest: str) -> str:
    return f"shard-{shard:06}-step-{step:09}-{digest.removeprefix('sha256:')[:16]}.parquet"


def _sorted_units(units: Iterable[str] | Iterable[int]) -> list[Any]:
    names: list[Any] = [name.item() if isinstance(name, np.generic) else name for name in units]  # of columns
    kinds = {type(name) for name in names}
    if not (kinds <= {str} or kinds <= {int}):
        raise InvalidType("units", "another kind, or several", "text, or whole numbers, for all of them")
    if kinds == {int} and not all(-_IDS <= name < _IDS for name in names):
        raise InvalidData("units", "one beyond 64 bits", "whole numbers from -2^63 to 2^63 - 1", "Give them as text")
    if kinds == {str} and not all(map(_is_encodable, names)):
        raise InvalidData("units", "text that no encoding has", "text without lone surrogates", "Repair it")
    names.sort()
    if any(one == other for one, other in pairwise(names)):
        raise InvalidData("units", "one that occurs twice", "each record once", "Bound users first, or name records")
    return names


def _is_encodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shard_of(unit: str | int, shards: int) -> int:
    """The shard of a record, by its own id: under neighbouring data every other record stays where it is."""
    digest = hashlib.blake2b(str(unit).encode("utf-8"), digest_size=16, person=b"certdp-shards")
    return int.from_bytes(digest.digest(), "big") % shards


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        remedy = "pip install 'certdp[parquet]'"
        raise InvalidValue("folder", "Parquet files", "an installation with pyarrow", remedy) from None
    return pyarrow


def _parquet(units: Sequence[Any], totals: IndividualTotals) -> bytes:
    """The account as a Parquet file: a row for each unit."""
    pa = _arrow()
    kind = pa.int64() if units and isinstance(units[0], int) else pa.large_string()
    columns = {_UNIT: pa.array(units, type=kind), _SPENT: pa.array(totals.moments), _ACTIVE: pa.array(totals.active)}
    stated = canonical({"format": _FORMAT, "steps": totals.steps, "nonce": secrets.token_hex(32)})
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table(columns).replace_schema_metadata({_METADATA: stated.encode("ascii")}), stream)
    return stream.getvalue()


def _read(content: bytes) -> tuple[Sequence[Any], IndividualTotals]:
    pa = _arrow()
    with whole_content():
        table = pa.parquet.read_table(io.BytesIO(content), use_threads=False)
        stated = parsed(table.schema.metadata[_METADATA].decode("ascii"), "account")
        form, steps, _ = entries("account", stated, "format", "steps", "nonce")
        if form != _FORMAT:
            raise InvalidValue("format", form, _FORMAT)
        moments = np.asarray(table.column(_SPENT).to_numpy(), dtype=np.float64)
        active = np.asarray(table.column(_ACTIVE).to_numpy(), dtype=np.bool_)
        return table.column(_UNIT).to_pylist(), IndividualTotals(moments=moments, active=active, steps=steps)

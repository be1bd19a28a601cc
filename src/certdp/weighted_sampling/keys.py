"""Keys as Arrow arrays of text or bytes, or as lists without Arrow: what they are compared by is their bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.private import InvalidData, Private
from ..accounting.stored import is_vector
from ._kernels import hashes, prefixes, shared
from .plain_keys import PlainKeys

Keys: TypeAlias = Any
"""A pyarrow.Array of type large_string or large_binary, without nulls; PlainKeys where Arrow is not installed."""

_TEXT, _BYTES = ({name, f"large_{name}", f"{name}_view"} for name in ("string", "binary"))
_AGREEING = 1 << 12
_REMEDY = "Sum their counts: aggregate=True, on the command line --aggregate"


def arrow(parameter: str = "data", wanted: str = "a file or a table of keys") -> Any:
    """pyarrow, loaded when it is first needed.

    Args:
        parameter: which needs it.
        wanted: what it is needed for.

    Raises:
        InvalidValue: where it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.compute  # so that it is there as an attribute
    except ImportError:
        raise InvalidValue(
            parameter,
            wanted,
            "an installation with pyarrow; without it mappings and lists",
            "pip install 'certdp[parquet]'",
        ) from None
    return pyarrow


def arrow_if_installed() -> Any | None:
    """pyarrow, or None where it is not installed."""
    try:
        return arrow()
    except InvalidValue:
        return None


def require_keys(keys: Keys, counts: int) -> None:
    """Refuse what are no keys, and another number of them than of counts.

    Raises:
        InvalidType: unless it is an Arrow array of type large_string or large_binary, or PlainKeys.
        InvalidValue: for missing keys, and where their number is another.
    """
    pa = arrow_if_installed()
    if not isinstance(keys, PlainKeys):
        if pa is None or not isinstance(keys, pa.Array) or keys.type not in (pa.large_string(), pa.large_binary()):
            kind = str(keys.type) if hasattr(keys, "type") else type(keys).__name__
            raise InvalidType("keys", kind, "an Arrow array of large_string or large_binary", "KeyCounts.of(…) has one")
        if keys.null_count:
            raise InvalidValue("keys", "a missing one", "a key for each count", "Remove such rows")
    if len(keys) != counts:
        raise InvalidValue("counts", f"{counts} counts for {len(keys)} keys", "one count for each")


def listed_keys(keys: Iterable[Any]) -> Keys:
    """Text and bytes from Python: as bytes where one of them is.

    Raises:
        InvalidType: for a key that is neither, and for text that cannot be encoded.
    """
    found = list(keys)
    for key in found:
        if not isinstance(key, str | bytes):
            raise InvalidType("key", f"one of type {type(key).__name__}", "text or bytes", "Write numbers as text")
    text = all(isinstance(key, str) for key in found)
    try:
        if (pa := arrow_if_installed()) is not None:
            return pa.array(found, pa.large_string() if text else pa.large_binary())
        return PlainKeys((key.encode() if isinstance(key, str) else key for key in found), text=text)
    except UnicodeEncodeError:
        raise InvalidType("key", "text with lone surrogates", "text that can be encoded", "Give it as bytes") from None


def as_keys(column: Any, *, first: int = 0) -> Keys:
    """A column of text or bytes as an array of type large_string or large_binary.

    Args:
        column: an Arrow array, chunked or not.
        first: rows before it, for messages.

    Raises:
        InvalidType: for a column of another type.
        InvalidValue: for a missing key.
    """
    pa = arrow()
    coded = pa.types.is_dictionary(column.type)
    kind = _kind(column.type.value_type if coded else column.type, len(column))
    if column.null_count:
        row = first + column.is_null().index(True).as_py() + 1
        raise InvalidValue("key", f"a missing value in row {row}", "a key in every row", "Remove such rows")
    if coded:
        parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return whole_array(
            pa.chunked_array([part.dictionary.cast(kind).take(part.indices) for part in parts], kind), kind
        )
    return whole_array(column.cast(kind), kind)


def _kind(stated: Any, rows: int) -> Any:
    """The type of array for a column of this type."""
    pa, name = arrow(), str(stated)
    if name in _TEXT or (name == "null" and not rows):
        return pa.large_string()
    if name in _BYTES or name.startswith("fixed_size_binary"):
        return pa.large_binary()
    if name == "null":
        return stated
    raise InvalidType("key", f"a column of type {name}", "text or bytes", "Write numbers as text")


def whole_array(column: Any, kind: Any) -> Any:
    """A column of this type in one piece."""
    pa = arrow()
    match column:
        case pa.ChunkedArray():
            pieces = [piece for piece in column.chunks if len(piece)]
            return pa.concat_arrays(pieces) if pieces else pa.array([], kind)
    return column


def as_bytes(keys: Keys) -> Keys:
    """The keys, as bytes."""
    match keys:
        case PlainKeys():
            return keys.as_bytes()
    return keys.cast(arrow().large_binary())


def as_text(keys: Keys) -> Keys:
    """The keys as text where every one is UTF-8, else as bytes.

    Applied to the keys that are published, it makes their type a function of them alone.
    """
    match keys:
        case PlainKeys():
            return keys.as_text()
    pa = arrow()
    try:
        return keys.cast(pa.large_string())
    except pa.ArrowInvalid:
        return as_bytes(keys)


def gathered(parts: Sequence[Keys]) -> Keys:
    """The keys of all parts in one array, as `as_text` has them."""
    return as_text(joined(parts))


def joined(parts: Sequence[Keys]) -> Keys:
    """The keys of all parts in one array, as bytes."""
    match parts:
        case []:
            return as_bytes(listed_keys([]))
        case [PlainKeys(), *_]:
            return PlainKeys(chain.from_iterable(part.items for part in parts), text=False)
    return arrow().concat_arrays([as_bytes(part) for part in parts])


def key_at(keys: Keys, place: int) -> Any:
    """The key at one place, as Python has it."""
    (key,) = keys.slice(place, 1).to_pylist()
    return key


def are_among(keys: Keys, listed: Set[bytes]) -> NDArray[np.bool_]:
    """For each key whether its bytes are listed."""
    match keys:
        case PlainKeys(items=items):
            return np.fromiter((item in listed for item in items), dtype=np.bool_, count=len(items))
    pa = arrow()
    found = pa.compute.is_in(as_bytes(keys), value_set=pa.array(sorted(listed), pa.large_binary()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def buffers(keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return where each key begins and the last one ends, and the bytes of all."""
    _, offsets, data = keys.buffers()
    size = len(keys) + 1
    if offsets is None or not offsets.size:  # as an empty array may be
        return np.zeros(size, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    places = np.frombuffer(offsets, dtype=np.int64)[keys.offset : keys.offset + size]
    return places, np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)


def packed_keys(keys: Keys) -> dict[str, NDArray[Any]]:
    """The lengths of the keys, and the bytes of all, by name."""
    offsets, data = buffers(as_bytes(keys))
    return {"lengths": np.diff(offsets), "keys": data[int(offsets[0]) : int(offsets[-1])]}


def unpacked_keys(arrays: Mapping[str, NDArray[Any]]) -> Keys:
    """The keys that `packed_keys` was given, as `as_text` has them.

    Raises:
        InvalidData: for arrays that it does not give.
        KeyError: for one that is missing.
    """
    lengths, held = arrays["lengths"], arrays["keys"]
    typed = is_vector(lengths, "i8") and is_vector(held, "u1")
    if not typed or (lengths < 0).any() or sum(lengths.tolist()) != len(held):  # Python's numbers do not overflow
        admissible = "a length of at least 0 for each key, which add up to all bytes"
        raise InvalidData("keys", "lengths that are not those of the bytes", admissible)
    ends = np.cumsum(lengths)
    data, pa = held.tobytes(), arrow_if_installed()
    if pa is None:
        places = zip([0, *ends.tolist()], ends.tolist(), strict=False)
        return PlainKeys((data[start:end] for start, end in places), text=False).as_text()
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    pieces = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data)]
    keys = pa.Array.from_buffers(pa.large_binary(), len(ends), pieces)
    keys.validate(full=True)
    return as_text(keys)


def are_rising(keys: Keys) -> bool:
    """Whether each key is above the one before it, by their bytes."""
    match keys:
        case PlainKeys(items=items):
            return all(one < other for one, other in pairwise(items))
    held, compute = as_bytes(keys), arrow().compute
    return len(held) < 2 or bool(compute.all(compute.less(held.slice(0, len(held) - 1), held.slice(1))).as_py())


def order(keys: Keys) -> NDArray[np.int64]:
    """The places of the keys in the order of their bytes."""
    match keys:
        case PlainKeys(items=items):
            return np.array(sorted(range(len(items)), key=items.__getitem__), dtype=np.int64)
    found = np.empty(len(keys), dtype=np.uint64)
    if len(keys):
        offsets, data = buffers(keys)
        prefixes(offsets, data, shared(offsets, data), found)
    places = np.argsort(found, kind="stable")
    found = found[places]
    alike = np.flatnonzero(found[1:] == found[:-1])
    if alike.size:  # neighbours that begin alike are put in order among themselves
        within = np.zeros(len(keys), dtype=np.bool_)
        within[alike] = within[alike + 1] = True
        pa = arrow()
        open_ = np.flatnonzero(within)
        rows = pa.table([pa.array(found[open_]), as_bytes(keys).take(pa.array(places[open_]))], names=["p", "k"])
        inner = pa.compute.sort_indices(rows, sort_keys=[("p", "ascending"), ("k", "ascending")])
        places[open_] = places[open_][inner.to_numpy()]
    return places


class Twice(NamedTuple):
    """A key in two rows, counted from 1."""

    key: bytes
    first: int
    second: int


@final
class Distinct:
    """Finds out whether a key comes twice, exactly, from 8 bytes for each key."""

    def __init__(self) -> None:
        self._secret = np.uint64(int.from_bytes(os.urandom(8), "little"))
        self._hashes: list[NDArray[np.uint64]] = []

    def add(self, keys: Keys) -> None:
        """Take the next keys in."""
        self._hashes.append(self._hashed(keys))

    def require(
        self, again: Callable[[], Iterable[Keys]], rows: Callable[[int, int], str] = "rows {} and {}".format
    ) -> None:
        """Refuse keys of which one comes twice.

        Args:
            again: gives all keys that were added once more; called as often as needed, as a rule never.
            rows: says where two rows are, counted from 1.

        Raises:
            InvalidValue: for such a key.
        """
        twice = self.repeated(again)
        if twice is not None:
            place = f"the same one in {rows(twice.first, twice.second)}"
            raise InvalidData("key", place, "each key once", _REMEDY, found=Private(formatted_key(twice.key)))

    def repeated(self, again: Callable[[], Iterable[Keys]]) -> Twice | None:
        """A key that was added twice, if there is one; `again` as for `require`."""
        agreeing = self._agreeing()
        for start in range(0, agreeing.size, _AGREEING):
            seen: dict[bytes, int] = {}
            for row, key in self._with(again, agreeing[start : start + _AGREEING]):
                if key in seen:
                    return Twice(key, seen[key], row)
                seen[key] = row
        return None

    def _agreeing(self) -> NDArray[np.uint64]:
        """Return the hashes that several keys have."""
        if not self._hashes:
            return np.empty(0, dtype=np.uint64)
        hashes = np.concatenate(self._hashes)
        self._hashes = []
        hashes.sort()
        return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])

    def _hashed(self, keys: Keys) -> NDArray[np.uint64]:
        found = np.empty(len(keys), dtype=np.uint64)
        hashes(*buffers(keys), self._secret, found)
        return found

    def _with(self, again: Callable[[], Iterable[Keys]], chosen: NDArray[np.uint64]) -> Iterator[tuple[int, bytes]]:
        """The keys that have one of these hashes, with their rows."""
        done = 1
        for keys in again():
            found = self._hashed(keys)
            places = np.flatnonzero(chosen[np.minimum(np.searchsorted(chosen, found), chosen.size - 1)] == found)
            alike = as_bytes(keys.take(places)).to_pylist()
            yield from zip((places + done).tolist(), alike, strict=True)
            done += len(keys)


def formatted_key(key: bytes) -> str:
    """Write a key for a message."""
    return repr(key.decode("utf-8", "backslashreplace"))

"""Files of weighted samples: rows sorted by key, with a statement of how they were drawn.

Parquet carries the statement in its metadata; a CSV or TSV file NAME has it in a file NAME.json beside, with a digest
that ties the two. A file is a function of the sample's rows and its statement alone: neither order nor types tell
anything of keys that were left out.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from enum import Enum
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, final

from attrs import field, frozen

from ..accounting.errors import InvalidType, InvalidValue
from ..data.streams import well_formed
from ..durable.files import Publication, Rank, published, writing
from .keys import arrow, as_bytes, as_keys, as_text, order, whole_array

FORMAT = "certdp-sample/1"

_METADATA = FORMAT.encode()
_KEY = "key"
_STATED = ("certdp-sample", "sha256", "statement")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DAMAGED = "Damaged, or no sample that certdp wrote"


@final
class CoinKind(Enum):
    """Where the randomness of a sample comes from."""

    OPERATING_SYSTEM = "operating system"
    SEEDED = "seeded"
    KEY_HASH = "key hash"


def _texts(options: Mapping[str, str]) -> dict[str, str]:
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidType("options", f"{name!r}: {value!r}", "text by name")
    return dict(options)


@final
@frozen
class Described:
    """A plugin or rule by its name and its parameters as text.

    Attributes:
        name: as registered.
        options: exact text by name.
    """

    name: str
    options: Mapping[str, str] = field(factory=dict, converter=_texts)

    def to_json(self) -> dict[str, Any]:
        """Return the value in the form that `json` writes."""
        return {"name": self.name, "options": dict(self.options)}

    @classmethod
    def from_json(cls, value: Any) -> Described:
        """Make the value from what `json` read; InvalidValue for anything else than what `to_json` gives."""
        name, options = _entries(value, "name", "options")
        return cls(_text("name", name), _mapping("options", options))


@final
@frozen(kw_only=True)
class StatedGuarantee:
    """(ε, δ) as text, for which unit and relation."""

    epsilon: str
    delta: str
    unit: str
    relation: str

    def to_json(self) -> dict[str, Any]:
        """Return the guarantee in the form that `json` writes."""
        return {"epsilon": self.epsilon, "delta": self.delta, "unit": self.unit, "relation": self.relation}

    @classmethod
    def from_json(cls, value: Any) -> StatedGuarantee:
        """Make the guarantee from what `json` read; InvalidValue for anything else than what `to_json` gives."""
        names = ("epsilon", "delta", "unit", "relation")
        epsilon, delta, unit, relation = (
            _text(name, one) for name, one in zip(names, _entries(value, *names), strict=True)
        )
        return cls(epsilon=epsilon, delta=delta, unit=unit, relation=relation)


THRESHOLD = Described("threshold")
"""Each key is kept by itself, with a probability that depends on its frequency alone."""


@final
@frozen(kw_only=True)
class SampleStatement:
    """How a sample was drawn: what its file says beside its rows.

    Attributes:
        private: whether it was sanitised, with private coins; a sample that was not holds true frequencies.
        sampler: the sampler of keys.
        rule: `THRESHOLD`, or bottom-k with what was realised.
        coins: where its randomness comes from.
        mechanism: the sanitiser, or None.
        contributions: how many elements a user contributes at most, where that was declared.
        guarantee: of the release; None where there is none.
        draws: names of the coins that a sample which can be sanitised was drawn with: a ledger lets each be used once.
    """

    private: bool
    sampler: Described
    rule: Described = THRESHOLD
    coins: CoinKind
    mechanism: Described | None = None
    contributions: int | None = None
    guarantee: StatedGuarantee | None = None
    draws: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.draws and (self.private or self.coins is not CoinKind.OPERATING_SYSTEM):
            raise InvalidValue("draws", self.draws, "none but for a sample with private coins, not sanitised")
        if self.private and (self.mechanism is None or self.coins is not CoinKind.OPERATING_SYSTEM):
            raise InvalidValue("private", True, "false for a sample that was not sanitised with private coins")
        if self.guarantee is not None and not self.private:
            raise InvalidValue("guarantee", self.guarantee, "none for a sample that is not private")

    def to_json(self) -> dict[str, Any]:
        """Return the statement in the form that `json` writes."""
        return {
            "format": FORMAT,
            "private": self.private,
            "sampler": self.sampler.to_json(),
            "rule": self.rule.to_json(),
            "coins": self.coins.value,
            "mechanism": None if self.mechanism is None else self.mechanism.to_json(),
            "contributions": self.contributions,
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            **({"draws": list(self.draws)} if self.draws else {}),
        }

    @classmethod
    def from_json(cls, value: object) -> SampleStatement:
        """Make the statement from what `json` read.

        Raises:
            InvalidValue: for anything that `to_json` does not give.
        """
        names = ("format", "private", "sampler", "rule", "coins", "mechanism", "contributions", "guarantee")
        beside = ("draws",) if isinstance(value, dict) and "draws" in value else ()
        version, private, sampler, rule, coins, mechanism, contributions, guarantee, *draws = _entries(
            value, *names, *beside
        )
        if version != FORMAT:
            raise InvalidValue("format", version, FORMAT)
        if not isinstance(private, bool):
            raise InvalidType("private", private, "true or false")
        if contributions is not None and (isinstance(contributions, bool) or not isinstance(contributions, int)):
            raise InvalidType("contributions", contributions, "a whole number, or null")
        kinds = [kind for kind in CoinKind if kind.value == coins]
        if not kinds:
            raise InvalidValue("coins", coins, " or ".join(kind.value for kind in CoinKind))
        return cls(
            private=private,
            sampler=Described.from_json(sampler),
            rule=Described.from_json(rule),
            coins=kinds[0],
            mechanism=None if mechanism is None else Described.from_json(mechanism),
            contributions=contributions,
            guarantee=None if guarantee is None else StatedGuarantee.from_json(guarantee),
            draws=_draws(draws[0]) if draws else (),
        )


def _draws(value: object) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, list) else ()
    if not names or not all(isinstance(name, str) for name in names) or list(names) != sorted(set(names)):
        raise InvalidValue("draws", value, "a list of one name or more, sorted, each once")
    return names


def write_sample(path: str | PathLike[str], table: Any, statement: SampleStatement, *, overwrite: bool = False) -> None:
    """Write a sample to a .parquet, .csv or .tsv file; one that is not private is for its owner's eyes alone.

    Args:
        path: where.
        table: an Arrow table with a column key of text or bytes, and others of whole numbers or binary64. Its rows are
            sorted by the bytes of the keys, and keys are text where all of them are UTF-8.
        statement: how it was drawn.
        overwrite: whether a file of that name may be replaced.

    Guarantees:
        The file is a function of the rows and the statement. It appears whole, with the statement, or not at all.

    Raises:
        InvalidValue: for another kind of file, one that exists, a place that cannot be written, and in TSV, where
            nothing is quoted, a key with a tab or a line end.
        InvalidType: for a table with other columns.
    """
    with published() as files:
        put_sample(files, path, table, statement, overwrite=overwrite)


def put_sample(
    files: Publication, path: str | PathLike[str], table: Any, statement: SampleStatement, *, overwrite: bool
) -> None:
    """Write a sample as `write_sample` does, among other files, with which it appears."""
    target, form = _form(path)
    for name in () if overwrite else form.places(target):
        if name.exists():
            raise InvalidValue("path", str(name), "a name that is free", "Choose another, or overwrite it")
    form.write(files, target, _in_order(table), statement)


def read_sample(path: str | PathLike[str]) -> tuple[Any, SampleStatement]:
    """The table of a sample, sorted by key, and its statement.

    Raises:
        InvalidValue: for a file that is missing, damaged or no sample.
    """
    target, form = _form(path)
    try:
        content = target.read_bytes()
    except OSError as error:
        raise InvalidValue("path", str(target), "a readable file", error.strerror or str(error)) from None
    with well_formed(target, target.suffix.lower()[1:]):
        table, statement = form.read(target, content)
        if _KEY not in table.column_names:
            raise InvalidValue("path", str(target), "a sample, which has a column key", _DAMAGED)
        return _in_order(table), statement


def _in_order(table: Any) -> Any:
    """Return the same rows, keys as text where they can be, sorted by their bytes, in one piece."""
    pa = arrow()
    keys = as_text(as_keys(table.column(_KEY)))
    places = pa.array(order(keys))
    columns = [
        keys if name == _KEY else whole_array(column, column.type)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    for name, column in zip(table.column_names, columns, strict=True):
        if name != _KEY and (str(column.type) not in (*_INTEGERS, "double") or column.null_count):
            raise InvalidType(name, f"a column of type {column.type}", "whole numbers or binary64, none missing")
    return pa.table([column.take(places) for column in columns], names=table.column_names)


def _encoded(statement: SampleStatement) -> bytes:
    return json.dumps(statement.to_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _to_parquet(files: Publication, target: Path, table: Any, statement: SampleStatement) -> None:
    from pyarrow.parquet import write_table

    stream = files.stream(target, Rank.RELEASE, secret=not statement.private)
    with writing(target):
        write_table(table.replace_schema_metadata({_METADATA: _encoded(statement)}), stream)


def _from_parquet(target: Path, content: bytes) -> tuple[Any, SampleStatement]:
    from pyarrow.parquet import read_table

    table = read_table(io.BytesIO(content), use_threads=False)
    stated = (table.schema.metadata or {}).get(_METADATA)
    if stated is None:
        raise InvalidValue("path", str(target), "a sample, whose metadata say how it was drawn", _DAMAGED)
    return table.replace_schema_metadata(None), SampleStatement.from_json(json.loads(stated))


def _beside(target: Path) -> Path:
    """Return the path of the statement of a text file."""
    return target.with_name(f"{target.name}.json")


def _to_text(delimiter: str) -> Callable[[Publication, Path, Any, SampleStatement], None]:
    def write(files: Publication, target: Path, table: Any, statement: SampleStatement) -> None:
        content = _lines(table, delimiter)
        beside = {"certdp-sample": 1, "sha256": sha256(content).hexdigest(), "statement": statement.to_json()}
        encoded = json.dumps(beside, ensure_ascii=False, indent=2).encode() + b"\n"
        secret = not statement.private
        files.write(_beside(target), encoded, Rank.STATEMENT, secret=secret)
        files.write(target, content, Rank.RELEASE, secret=secret)

    return write


def _from_text(delimiter: str) -> Callable[[Path, bytes], tuple[Any, SampleStatement]]:
    def read(target: Path, content: bytes) -> tuple[Any, SampleStatement]:
        beside = _beside(target)
        try:
            stated = json.loads(beside.read_bytes())
        except FileNotFoundError:
            raise InvalidValue("path", str(beside), "the statement of the sample, beside it", _DAMAGED) from None
        version, digest, statement = _entries(stated, *_STATED)
        if version != 1:
            raise InvalidValue("certdp-sample", version, "1")
        if digest != sha256(content).hexdigest():
            raise InvalidValue("path", str(target), f"the file that {beside.name} states", _DAMAGED)
        return _rows(content, delimiter), SampleStatement.from_json(statement)

    return read


def _lines(table: Any, delimiter: str) -> bytes:
    """A header and a line for each row; in CSV keys are quoted."""
    keys = as_bytes(table.column(_KEY).combine_chunks()).to_pylist()
    if delimiter == "\t":
        for key in keys:
            if any(end in key for end in (b"\t", b"\n", b"\r")):
                raise InvalidValue("key", repr(key), "keys without tabs and line ends in TSV", "Write CSV or Parquet")
    else:
        keys = [b'"' + key.replace(b'"', b'""') + b'"' for key in keys]
    numbers = [
        [repr(value).encode("ascii") for value in column.to_pylist()]
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name != _KEY
    ]
    names = [_KEY, *(name for name in table.column_names if name != _KEY)]
    separator = delimiter.encode()
    rows = map(separator.join, zip(keys, *numbers, strict=True))
    return b"".join(line + b"\n" for line in (separator.join(name.encode() for name in names), *rows))


def _rows(content: bytes, delimiter: str) -> Any:
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv

    pa, quoted = arrow(), delimiter == ","
    names = content.split(b"\n", 1)[0].decode().split(delimiter)
    types = {name: pa.large_binary() if name == _KEY else pa.string() for name in names}
    table = read_csv(
        io.BytesIO(content),
        parse_options=ParseOptions(
            delimiter=delimiter,
            quote_char='"' if quoted else False,
            newlines_in_values=quoted,
            ignore_empty_lines=len(names) > 1,  # else the empty key
        ),
        convert_options=ConvertOptions(check_utf8=False, column_types=types, strings_can_be_null=False),
    )
    for place, name in enumerate(names):
        if name != _KEY:
            table = table.set_column(place, name, _number_column(table.column(name)))
    return table


def _number_column(column: Any) -> Any:
    """Whole numbers as such, others as binary64."""
    pa = arrow()
    try:
        return column.cast(pa.uint64())
    except pa.ArrowInvalid:
        return column.cast(pa.float64())


def _entries(value: object, *names: str) -> list[Any]:
    """The values of an object with exactly these entries."""
    if not isinstance(value, dict) or set(value) != set(names):
        found = ", ".join(map(str, value)) if isinstance(value, dict) else value
        raise InvalidValue("statement", found, f"the entries {', '.join(names)}")
    return [value[name] for name in names]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidType(name, value, "text")
    return value


def _mapping(name: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise InvalidType(name, value, "text by name")
    return value


class _Format(NamedTuple):
    """A file format: how samples are written and read."""

    write: Callable[[Publication, Path, Any, SampleStatement], None]
    read: Callable[[Path, bytes], tuple[Any, SampleStatement]]
    places: Callable[[Path], tuple[Path, ...]]
    """The files that are written."""


_FORMATS = {
    ".parquet": _Format(_to_parquet, _from_parquet, lambda target: (target,)),
    ".csv": _Format(_to_text(","), _from_text(","), lambda target: (target, _beside(target))),
    ".tsv": _Format(_to_text("\t"), _from_text("\t"), lambda target: (target, _beside(target))),
}


def _form(path: str | PathLike[str]) -> tuple[Path, _Format]:
    target = Path(path)
    form = _FORMATS.get(target.suffix.lower())
    if form is None:
        raise InvalidValue("path", str(target), f"a file ending in {', '.join(_FORMATS)}")
    return target, form

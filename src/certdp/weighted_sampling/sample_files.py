"""Files of weighted samples: rows sorted by key, with a statement of how they were drawn.

Parquet carries the statement in its metadata, CSV and TSV in a file beside. A sample's file shows its rows and its
statement alone: neither the order nor the type of what it holds tells anything of keys that were left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from os import PathLike
from typing import Any, final

from attrs import field, frozen

FORMAT = "certdp-sample/1"


@final
class CoinKind(Enum):
    """Where the randomness of a sample comes from."""

    OPERATING_SYSTEM = "operating system"
    SEEDED = "seeded"
    KEY_HASH = "key hash"


@final
@frozen
class Described:
    """A plugin, order or rule by its name and its parameters as text.

    Attributes:
        name: as registered.
        options: exact text by name.
    """

    name: str
    options: Mapping[str, str] = field(factory=dict, converter=dict)


@final
@frozen(kw_only=True)
class StatedGuarantee:
    """(ε, δ) as text, for which unit and relation."""

    epsilon: str
    delta: str
    unit: str
    relation: str


@final
@frozen(kw_only=True)
class SampleStatement:
    """How a sample was drawn: what its file says beside its rows.

    Attributes:
        private: whether it was sanitised; a sample that was not holds true frequencies.
        sampler: the sampler of keys.
        rule: "threshold", or "bottom-k" with what was realised.
        coins: where its randomness comes from.
        mechanism: the sanitiser, or None.
        contributions: how many elements a user contributes at most, where that was declared.
        guarantee: of the release; None where there is none.
    """

    private: bool
    sampler: Described
    rule: Described = field(factory=lambda: Described("threshold"))
    coins: CoinKind
    mechanism: Described | None = None
    contributions: int | None = None
    guarantee: StatedGuarantee | None = None

    def to_json(self) -> dict[str, Any]:
        """As what `json` writes."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: object) -> SampleStatement:
        """From what `json` read.

        Raises:
            InvalidValue: for anything that `to_json` does not give.
        """
        raise NotImplementedError


def write_sample(path: str | PathLike[str], table: Any, statement: SampleStatement, *, overwrite: bool = False) -> None:
    """Write a sample: .parquet, .csv or .tsv.

    Args:
        path: where.
        table: an Arrow table with a column key and others of numbers; it is sorted by the bytes of its keys.
        statement: how it was drawn.
        overwrite: whether a file of that name may be replaced.
    """
    raise NotImplementedError


def read_sample(path: str | PathLike[str]) -> tuple[Any, SampleStatement]:
    """The table of a sample, sorted by key, and its statement."""
    raise NotImplementedError

"""The head of the log, kept outside of it: what tells a restored backup, and a chain that was computed anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, final

from attrs import frozen
from filelock import FileLock, Timeout

from ..accounting.errors import InvalidValue
from ..durable.files import write_whole
from .errors import LedgerUnavailable

_TEXT = re.compile(r"(\d{1,18}):(sha256:[0-9a-f]{64})")
_WAIT = 60


@final
@frozen
class Anchor:
    """An entry of the log that must be there, by number and digest; `str` and `parse` are each other's inverse.

    Attributes:
        number: of the entry.
        digest: of the entry, and by the chain of all before it.
    """

    number: int
    digest: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The anchor with this text.

        Raises:
            InvalidValue: for any other text.
        """
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise InvalidValue("anchor", text, "a number, a colon and a digest: 17:sha256:…")
        return cls(int(match[1]), match[2])

    @classmethod
    def read(cls, path: Path) -> Self:
        """The anchor in a file.

        Raises:
            InvalidValue: where it is missing or holds anything else.
        """
        try:
            return cls.parse(path.read_text("ascii"))
        except (OSError, UnicodeError) as error:
            remedy = f"{error}. Write the head that you trust: certdp ledger verify --write-anchor"
            raise InvalidValue("anchor", str(path), "a file with the head of the log", remedy) from None

    def write(self, path: Path) -> None:
        """Write the anchor to a file, unless one of a later entry is there.

        Raises:
            InvalidValue: where that cannot be written.
        """
        with _alone(path):
            if not path.exists() or Anchor.read(path).number < self.number:
                write_whole(path, f"{self}\n".encode("ascii"))

    def __str__(self) -> str:
        return f"{self.number}:{self.digest}"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=_WAIT):
            yield
    except (Timeout, OSError) as error:
        remedy = (
            f"{error}. The ledger is right, and what it paid stays paid; the anchor is an earlier entry. Free the file "
            "and ask again with the same id in this process, which goes on; to another one the output is lost"
        )
        raise LedgerUnavailable("anchor", str(path), "a file that can be written", remedy) from None

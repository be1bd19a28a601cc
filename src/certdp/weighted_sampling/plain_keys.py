"""Keys where Arrow is not installed: what the sampling of keys asks of an Arrow array, on Python's bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
class PlainKeys:
    """Text or bytes in order, with the names that an Arrow array has for the same.

    Args:
        items: the bytes of each key; of text its UTF-8.
        text: whether the keys are text.
    """

    offset = 0

    def __init__(self, items: Iterable[bytes], *, text: bool) -> None:
        self.items, self.text = tuple(items), text

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[str | bytes]:
        return iter(self.to_pylist())

    def filter(self, flags: NDArray[np.bool_]) -> PlainKeys:
        """The keys with a true flag."""
        return PlainKeys(compress(self.items, flags.tolist()), text=self.text)

    def take(self, places: NDArray[np.int64]) -> PlainKeys:
        """The keys at these places."""
        return PlainKeys((self.items[place] for place in places.tolist()), text=self.text)

    def slice(self, start: int, length: int) -> PlainKeys:
        """So many keys, from that place on."""
        return PlainKeys(self.items[start : start + length], text=self.text)

    def to_pylist(self) -> list[str | bytes]:
        """The keys as Python has them."""
        return [item.decode() for item in self.items] if self.text else list(self.items)

    def equals(self, other: object) -> bool:
        """Whether the other one has the same keys in the same order, and of the same kind."""
        return isinstance(other, PlainKeys) and (self.items, self.text) == (other.items, other.text)

    def as_bytes(self) -> PlainKeys:
        """The keys, as bytes."""
        return PlainKeys(self.items, text=False)

    def as_text(self) -> PlainKeys:
        """The keys as text where every one is UTF-8, else as bytes."""
        try:
            for item in self.items:
                item.decode()
        except UnicodeDecodeError:
            return self.as_bytes()
        return PlainKeys(self.items, text=True)

    def buffers(self) -> tuple[None, NDArray[np.int64], bytes | None]:
        """As an Arrow array has them: no flags, where each key begins and the last one ends, and the bytes of all."""
        offsets = np.zeros(len(self.items) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in self.items], out=offsets[1:])
        return None, offsets, b"".join(self.items) or None

    def __repr__(self) -> str:
        return f"{len(self)} keys"

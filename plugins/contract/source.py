"""Where random bits come from."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.uint64]


class Source(Protocol):
    """A source of random bits."""

    @property
    def private(self) -> bool:
        """Whether nobody but the operating system can know the bits."""
        ...

    def bits(self, count: int) -> Bits:
        """Return `count` independent uniform 64-bit words."""
        ...

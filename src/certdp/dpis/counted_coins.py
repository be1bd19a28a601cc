"""Coins that know how many random words they took, so that a resumed run does not take the same ones again."""

from __future__ import annotations

from typing import final

from attrs import define

from ..accounting.draws.source import Bits, Source
from ..plugins.contract import Coins

_WORDS = 1 << 20
"""Words that are passed over at a time."""


@final
@define
class CountedSource:
    """A source of random words that counts them.

    Attributes:
        source: where the words come from.
        words: how many were taken so far, in all parts of a run.
    """

    source: Source
    words: int = 0

    @property
    def private(self) -> bool:
        """Whether nobody but the operating system can know the words."""
        return self.source.private

    def bits(self, count: int) -> Bits:
        """Return `count` random words, and count them."""
        self.words += count
        return self.source.bits(count)

    def go_on_after(self, words: int) -> None:
        """Take up the stream where an earlier part of the run left it; nothing repeats in a private one anyway."""
        while not self.private and self.words < words:
            self.bits(min(_WORDS, words - self.words))
        self.words = words


def counted(coins: Coins) -> tuple[Coins, CountedSource]:
    """Return the same coins, and the source that counts their words."""
    source = CountedSource(coins.source)
    return Coins(source), source

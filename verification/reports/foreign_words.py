"""What claims and plugins of others say, as people may be shown it."""

from __future__ import annotations

from ...plugins.registry import printable

_MOST = 600


def harmless(text: str) -> str:
    """The words without what would steer a terminal: all but line ends that is not printable is escaped."""
    return "\n".join(map(printable, text.split("\n")))


def shortened(text: str) -> str:
    """The beginning of words that go on too long; JSON has them whole."""
    left = len(text) - _MOST
    return text if left <= 0 else f"{text[:_MOST]} … ({left} characters more)"

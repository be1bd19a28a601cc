"""Which keys a statistic is about: predicates on keys, and coefficients of keys (L in PWS Equation 6)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats
from .keys import Keys, are_among, arrow
from .plain_keys import PlainKeys

GRAMMAR = "key = TEXT, key ~ REGEX, key starts TEXT, key ends TEXT, key contains TEXT, key in FILE; or key not …"
"""What a predicate in words may be; text goes to the end of the line, without quotes."""


class Selection(ABC):
    """A predicate on keys, of which each is taken as the bytes of its text."""

    __slots__ = ()

    @abstractmethod
    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether the predicate holds."""


_WITHOUT_ARROW: dict[str, Callable[[bytes, bytes], bool]] = {
    "starts_with": bytes.startswith,
    "ends_with": bytes.endswith,
    "match_substring": bytes.__contains__,
}


@final
@frozen
class Like(Selection):
    """A predicate on keys: the text is at the start, at the end or anywhere in the key.

    Args:
        compute: the function of `pyarrow.compute` that looks for it.
        text: what is looked for.
    """

    compute: str
    text: str

    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether the text is there."""
        match keys:
            case PlainKeys(items=items):
                holds, text = _WITHOUT_ARROW[self.compute], self.text.encode()
                return np.fromiter((holds(item, text) for item in items), dtype=np.bool_, count=len(items))
        return _flags(getattr(arrow().compute, self.compute)(keys, self.text))


@final
@frozen
class Matching(Selection):
    """A regular expression of the RE2 kind, found anywhere in a key; ^ and $ anchor it.

    Args:
        pattern: the expression.
    """

    pattern: str

    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether the expression is found in it.

        Raises:
            InvalidValue: for what is no regular expression, and where Arrow is not installed.
        """
        pa = arrow("where", "a regular expression (RE2)")
        try:
            return _flags(pa.compute.match_substring_regex(keys, self.pattern))
        except pa.ArrowInvalid as problem:
            raise InvalidValue("where", self.pattern, "a regular expression (RE2)", str(problem)) from None


@final
@frozen
class Among(Selection):
    """A predicate on keys: the key is listed.

    Args:
        listed: the keys, as text or bytes.
    """

    listed: frozenset[str | bytes]

    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether it is listed."""
        return are_among(keys, frozenset(one.encode() if isinstance(one, str) else one for one in self.listed))


@final
@frozen
class Without(Selection):
    """A predicate on keys: another predicate does not hold."""

    other: Selection

    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether the other predicate does not hold."""
        return np.logical_not(self.other.of(keys))


@final
@frozen
class Every(Selection):
    """The keys for which all of some predicates hold; every key for none."""

    others: tuple[Selection, ...] = ()

    def of(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether all the predicates hold."""
        held = np.ones(len(keys), dtype=np.bool_)
        for other in self.others:
            held &= other.of(keys)
        return held


_WORDS: dict[str, Callable[[str], Selection]] = {
    "=": lambda text: Among(frozenset([text])),
    "~": Matching,
    "starts": lambda text: Like("starts_with", text),
    "ends": lambda text: Like("ends_with", text),
    "contains": lambda text: Like("match_substring", text),
    "in": lambda text: Among(_lines(Path(text))),
}


def selection(text: str) -> Selection:
    """A predicate in words, as `GRAMMAR` says.

    Raises:
        InvalidValue: for other words, and a file of keys that cannot be read.

    >>> selection("key starts new ")
    Like(compute='starts_with', text='new ')
    >>> selection("key not ~ ^[0-9]")
    Without(other=Matching(pattern='^[0-9]'))
    """
    subject, _, rest = text.lstrip().partition(" ")
    word, _, operand = rest.lstrip().partition(" ")
    if subject == "key" and word == "not":
        return Without(selection(f"key {operand}"))
    if subject != "key" or word not in _WORDS or not operand:
        raise InvalidValue("where", text, GRAMMAR, "Write it like --where 'key starts new'")
    return _WORDS[word](operand)


Where: TypeAlias = "Selection | Callable[[Any], bool | float] | NDArray[np.bool_] | Floats | Iterable[float] | None"
"""A predicate, a function of a key, or a value for each reported key: whether it counts, or its coefficient."""


class Coefficients(NamedTuple):
    """The coefficient L of each key."""

    values: Floats
    selecting: bool
    """Whether L is 0 or 1 by what it is, for keys that were not reported too."""


def coefficients(where: Where, keys: Keys) -> Coefficients:
    """L of each of these keys; 1 for None.

    Raises:
        InvalidType: for what is neither flags nor numbers.
        InvalidValue: for another number of them, and for some that are not finite.
    """
    match where:
        case None:
            return Coefficients(np.ones(len(keys)), selecting=True)
        case Selection():
            return Coefficients(where.of(keys).astype(np.float64), selecting=True)
    values = [where(key) for key in keys.to_pylist()] if callable(where) else where
    found = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    if found.dtype.kind not in "biuf" and found.size:
        raise InvalidType("where", where, "flags or numbers, one for each key")
    if found.shape != (len(keys),):
        raise InvalidValue("where", f"{found.size} values", f"{len(keys)}, one for each reported key")
    numbers = found.astype(np.float64)
    if not math.isfinite(float(np.abs(numbers).sum())):
        raise InvalidValue("where", "a coefficient that is not finite", "finite numbers")
    return Coefficients(numbers, selecting=found.dtype.kind == "b")


def _lines(path: Path) -> frozenset[str | bytes]:
    try:
        return frozenset(path.read_bytes().splitlines())
    except OSError as problem:
        raise InvalidValue("where", str(path), "a readable file with a key on each line", str(problem)) from None


def _flags(answer: Any) -> NDArray[np.bool_]:
    return np.asarray(answer.to_numpy(zero_copy_only=False), dtype=np.bool_)

"""What globs choose by name, and what to say where one chooses nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeVar

from ...accounting.errors import InvalidValue

Thing = TypeVar("Thing")

_FEW = 6
_FAMILY = re.compile(r"[\w-]+/|\w+[.-]")


def chosen(
    things: Iterable[Thing], names: Callable[[Thing], Sequence[str]], patterns: Sequence[str], kind: str
) -> tuple[Thing, ...]:
    """The things of which a name matches one of the globs, in their order.

    Args:
        things: what there is.
        names: those of a thing, the one to suggest first.
        patterns: globs, such as "is/*"; without any, everything is chosen.
        kind: what the things are called, in the singular.

    Raises:
        InvalidValue: where a glob matches nothing; it names what comes close.
    """
    everything = tuple(things)
    found: set[int] = set()
    for pattern in patterns or ("*",):
        matching = {
            place for place, thing in enumerate(everything) if any(fnmatchcase(name, pattern) for name in names(thing))
        }
        if not matching:
            known = [names(thing)[0] for thing in everything]
            raise InvalidValue("only", pattern, f"a glob that matches a {kind}", _suggestion(pattern, known))
        found |= matching
    return tuple(thing for place, thing in enumerate(everything) if place in found)


def _suggestion(pattern: str, known: Sequence[str]) -> str:
    """Known names that come close to the pattern, or all where they are few."""
    if len(known) <= _FEW:
        return f"Known: {', '.join(known)}"
    close = get_close_matches(pattern, known, n=_FEW // 2)
    families = dict.fromkeys(match[0] for name in known if (match := _FAMILY.match(name)))
    beginnings = f"known names begin with {', '.join(families)}"
    if not close:
        return f"Nothing comes close among {len(known)}; {beginnings}"
    return f"Did you mean {' or '.join(close)}? Of {len(known) - len(close)} others, {beginnings}"

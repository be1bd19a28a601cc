"""Which records of each user count, before a run that protects users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.bulk.clusters import Integers
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType


def first_of_each_user(users: ArrayLike, contributions: int) -> NDArray[np.bool_]:
    """Which records are among the first of their user, at most so many: what a run about users may be given.

    >>> from certdp.sampling import first_of_each_user
    >>> first_of_each_user(["ann", "bo", "ann", "ann"], 2)
    array([ True,  True,  True, False])

    Args:
        users: (n,) whose each record is: whole numbers or texts; a number is the same as its text.
        contributions: k ≥ 1, as in `User(contributions=k)`.

    Returns:
        (n,) whether a record is kept. Private. A matrix, and what lies beside it, is cut by it: `records[kept]`.

    Guarantees:
        At most k records of each user are kept, and which they are follows from that user's records alone, in the order
        in which these come: adding or removing a user changes nothing for others.

    Raises:
        InvalidType: for users of another kind, such as None and NaN, which might be anybody.
        InvalidValue: for contributions below 1.
    """
    most = whole("contributions", contributions, 1)
    numbers: dict[str, int] = {}
    names = names_of("users", users)
    return first_of_each(np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64), most)


def first_of_each(numbers: Integers, most: int) -> NDArray[np.bool_]:
    """Whether a place is among the first so many of its number."""
    order = np.argsort(numbers, kind="stable")
    grouped = numbers[order]
    first = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])
    starts = np.repeat(first, np.diff(np.r_[first, numbers.size]))
    keep = np.zeros(numbers.size, dtype=np.bool_)
    keep[order] = np.arange(numbers.size) - starts < most
    return keep


def names_of(parameter: str, members: ArrayLike) -> list[str]:
    """What tells members apart, here and elsewhere: not a number that no number is equal to.

    Raises:
        InvalidType: for anything but whole numbers and texts.
    """
    given: Any = np.asarray(members).reshape(-1).tolist() if hasattr(members, "__array__") else members
    names = [name.item() if isinstance(name, np.generic) else name for name in given]
    if other := {type(name) for name in names} - {int, str}:
        kinds = ", ".join(sorted(kind.__name__ for kind in other))
        raise InvalidType(parameter, kinds, "whole numbers or texts", "Give each an id of its own")
    return list(map(str, names))

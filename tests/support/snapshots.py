"""What an object holds, as a value that is compared: of accounts, before a call and after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Set
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any

import attrs
import numpy as np

from certdp import Coins, Ledger
from certdp.accounting.enclosures import Enclosure

APART = {"_lock", "_made_in", "_half_changed", "_priced", "_pairs", "_so_far", "_moments"}
"""What is no part of an account: whose it is, and what was computed and kept, which is the same whoever asks."""


def snapshot(value: Any) -> Any:
    """Whatever a call could change in it, but for coins: words that were drawn and thrown away change nothing."""
    match value:
        case None | bool() | int() | float() | complex() | str() | bytes() | Fraction() | Enum() | type() | Enclosure():
            return value
        case FunctionType() | MethodType():
            return value.__qualname__
        case Coins():
            return "coins"
        case Ledger():
            return value.number, str(value.spent)
        case np.ndarray():
            return value.dtype.str, value.shape, value.tolist()
        case Mapping():
            return [(snapshot(key), snapshot(held)) for key, held in value.items()]
        case list() | tuple() | deque():
            return list(map(snapshot, value))
        case Set():
            return sorted(map(repr, value))
    kind = type(value)
    if not kind.__module__.startswith("certdp."):
        return kind.__qualname__
    if attrs.has(kind):
        held = {one.name: getattr(value, one.name) for one in attrs.fields(kind)}
    else:
        cached = {name for name in dir(kind) if isinstance(getattr(kind, name, None), cached_property)}
        held = {name: one for name, one in getattr(value, "__dict__", {}).items() if name not in cached}
    return kind.__qualname__, [(name, snapshot(one)) for name, one in held.items() if name not in APART]

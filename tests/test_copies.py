"""A copy or a pickle works or says why not: no class asks itself for what an object that is being copied lacks."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.modules import import_all


def classes() -> Iterator[type]:
    """Every class of the package."""
    import_all()
    for name, module in list(sys.modules.items()):
        if name.startswith("certdp."):
            yield from (made for made in vars(module).values() if inspect.isclass(made) and made.__module__ == name)


def without_end(kind: Any) -> list[str]:
    """What does not end with an object in which nothing was written, as one that is being copied is."""
    if getattr(kind, "_is_protocol", False):
        return []  # of which there is no object, and what there is taken for one changes who is an instance
    try:
        made = kind.__new__(kind)
    except Exception:  # it takes arguments, as a tuple or an Enum does
        return []
    asked: dict[str, Callable[[], object]] = {
        "attribute": lambda: made.absent,
        "copy": lambda: copy.copy(made),
        "deepcopy": lambda: copy.deepcopy(made),
        "pickle": lambda: pickle.dumps(made),
    }
    found = []
    for what, ask in asked.items():
        try:
            ask()
        except Exception as error:
            if isinstance(error, RecursionError):
                found.append(what)
    return found


def test_no_class_asks_itself_for_what_a_copy_lacks() -> None:
    found = {f"{kind.__module__}.{kind.__qualname__}": without_end(kind) for kind in classes()}
    assert len(found) > 1000
    assert {name: asked for name, asked in found.items() if asked} == {}


def test_one_that_asks_itself_is_found() -> None:
    class Proxy:
        def __init__(self, inner: object) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    assert "attribute" in without_end(Proxy)

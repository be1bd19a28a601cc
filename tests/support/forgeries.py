"""Certificates taken apart, changed and put together again, as a forger has them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from certdp.verification.checker import Verdict
from certdp.verification.checker.verdict import Outcome

Body = dict[str, Any]
Forgery = Callable[[Body], None]


def body_of(content: bytes) -> Body:
    """What a certificate states, without its digest."""
    body: Body = json.loads(content)
    del body["digest"]
    return body


def seal(body: Any) -> bytes:
    """Write a body as the format says, anew and not through the checker."""
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, separators=(",", ": "))
    assert text.endswith("\n}")
    return f'{text[:-2]},\n "digest": "sha256:{hashlib.sha256(text.encode()).hexdigest()}"\n}}\n'.encode()


def with_change(body: Body, change: Callable[[Body], Any]) -> Body:
    """A changed copy of a body."""
    changed = copy.deepcopy(body)
    change(changed)
    return changed


def at(body: Body, *path: Any) -> tuple[Any, Any]:
    """What holds the end of a path, and the end."""
    *first, last = path
    for key in first:
        body = body[key]
    return body, last


def places(tree: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that a body holds."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield (*way, key)
        yield from places(tree[key], (*way, key))


def put(value: Any, *path: Any) -> Forgery:
    """State another value at the end of a path; a function is applied to what is there."""

    def forge(body: Body) -> None:
        where, key = at(body, *path)
        where[key] = value(where[key]) if callable(value) else value

    return forge


def drop(*path: Any) -> Forgery:
    """Leave out the end of a path."""

    def forge(body: Body) -> None:
        where, key = at(body, *path)
        del where[key]

    return forge


def assert_refused(verdict: Verdict, reason: str = "") -> None:
    """Check that a certificate was refused, for a reason and not by a failure of the check."""
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.claim is None
    assert not verdict.reason.startswith("the check failed"), verdict.reason
    assert reason in verdict.reason

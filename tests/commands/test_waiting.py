"""Long work that cannot say how far it is shows that it goes on, to who watches, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rich.console import Console

from certdp.commands import waiting as module
from certdp.commands.digits import Numbers
from certdp.commands.output import Terminal
from certdp.commands.page import Page
from certdp.commands.waiting import waiting

pty = pytest.importorskip("pty")


def terminal(*, as_json: bool = False) -> Terminal:
    return Terminal(as_json, Page(Console(file=io.StringIO()), Numbers()))


@contextmanager
def watcher(monkeypatch: pytest.MonkeyPatch, term: str = "xterm") -> Iterator[int]:
    """The other end of the terminal that stderr is."""
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", term)
        patch.setattr(module, "PATIENCE", 0.0)
        yield ours
    os.close(ours)


def read(place: int) -> bytes:
    assert select.select([place], [], [], 30)[0], "nothing moves"
    return os.read(place, 100)


def until_erased(place: int) -> None:
    seen = b""
    while not seen.endswith(b"\r\x1b[K"):
        seen += read(place)


def test_it_moves_and_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    with watcher(monkeypatch) as place:
        with waiting(terminal()):
            seen = b""
            while len(set(seen) & set(b"|/-\\")) < 4:
                seen += read(place)
        assert seen.startswith(b"\r| 0 s")
        until_erased(place)


@pytest.mark.parametrize(("as_json", "term"), [(True, "xterm"), (False, "dumb")])
def test_nobody_else_sees_it(monkeypatch: pytest.MonkeyPatch, as_json: bool, term: str) -> None:
    with watcher(monkeypatch, term) as place:
        with waiting(terminal(as_json=as_json)):
            pass
        assert not select.select([place], [], [], 0)[0]


def test_an_error_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: int) -> None:
        with waiting(terminal()):
            read(place)
            raise ZeroDivisionError

    with watcher(monkeypatch) as place:
        with pytest.raises(ZeroDivisionError):
            fail(place)
        until_erased(place)

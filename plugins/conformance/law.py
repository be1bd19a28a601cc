"""What a law is: a statement about every plugin of a kind, and the search for a case that contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, final

from attrs import frozen

from ..contract import Case, Claim, Finding
from .conformance import Audited

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

S = TypeVar("S")
"""What a law is about: a plugin of one kind, as `subjects` has it."""


class Escape(Exception):
    """A plugin raises what would end the whole program."""


def applies(_: object) -> None:
    """The law holds of every plugin of its kind."""
    return


def audits_nothing(_: object) -> tuple[Audited, ...]:
    """Return no audits, for a law that audits no neighbours."""
    return ()


def once(_: object) -> SearchStrategy[Case]:
    """Return a strategy with one case, for what holds of a plugin as a whole."""
    from hypothesis import strategies

    return strategies.just({})


@final
@frozen(kw_only=True, eq=False)
class Law(Generic[S]):
    """A statement that every plugin of a kind must keep.

    Attributes:
        name: a word or two, joined by hyphens.
        says: the statement in one line.
        absence: why it says nothing about this plugin, or None where it applies.
        cases: builds the hypothesis strategy of its cases.
        examine: what a case shows.
        most: the most cases that are worth their time; None for as many as asked for.
        audited: the neighbours that it audits, and how far that sees.
    """

    name: str
    says: str
    absence: Callable[[S], str | None] = applies
    cases: Callable[[S], SearchStrategy[Case]]
    examine: Callable[[S, Case], Finding]
    most: int | None = None
    audited: Callable[[S], tuple[Audited, ...]] = audits_nothing

    def of(self, subject: S, name: str) -> Claim:
        """The law about one plugin, as a claim."""
        return Claim(
            id=f"{name}/{self.name}",
            statement="plugin contract",
            says=self.says,
            cases=partial(self.cases, subject),
            examine=partial(_examined, self.examine, subject),
        )


def _examined(examine: Callable[[S, Case], Finding], subject: S, case: Case) -> Finding:
    with nothing_escapes():
        return examine(subject, case)


@contextmanager
def nothing_escapes() -> Iterator[None]:
    """Turn what would end the program into an error of the plugin."""
    try:
        yield
    except (SystemExit, GeneratorExit) as error:
        raise Escape(f"it raises {type(error).__name__}: {error}") from error


def kept(what: str = "as stated") -> Finding:
    """A case that the law agrees with."""
    return Finding(True, what, what)


def broken(found: object, wanted: object) -> Finding:
    """A case that contradicts the law: what was found, and what should have been."""
    return Finding(False, str(found), str(wanted))

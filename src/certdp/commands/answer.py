"""What a command answers: one value, which is JSON for programs and a page for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .page import Page

if TYPE_CHECKING:
    from ..accounting.derivation import Assumption
    from ..accounting.sampling.domains import NormBall


class Answer(ABC):
    """The answer of a command."""

    @abstractmethod
    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types; proven numbers are binary64 rounded outward."""

    @abstractmethod
    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""

    @property
    def exit_code(self) -> int:
        """The code that the command ends with."""
        return 0


def assumptions_as_json(assumptions: Iterable[Assumption]) -> list[dict[str, str]]:
    """Assumptions by name and value."""
    return [{"name": one.name, "value": one.value} for one in assumptions]


def domain_as_json(domain: NormBall | None) -> dict[str, object] | None:
    """Return a public domain in JSON's types."""
    if domain is None:
        return None
    return {"norm": domain.norm.value, "radius": str(domain.radius.value), "dimension": domain.dimension}


def path_as_json(path: Path | None) -> str | None:
    """Return the path that something was written to, in JSON's types."""
    return None if path is None else str(path)

"""Mutants that no test can kill, each with the argument why: they are listed in exemptions.toml beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import final

from attrs import frozen


@final
@frozen(kw_only=True)
class Exemption:
    """Why one mutant may survive.

    Attributes:
        module: as of the mutant; and so are place, operator, before, after and occurrence.
        argument: why the mutant does the same, or what else it is that holds it.
    """

    module: str
    place: str
    operator: str
    before: str
    after: str
    occurrence: int = 1
    argument: str

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """The key of the mutant."""
        return self.module, self.place, self.operator, self.before, self.after, self.occurrence


@cache
def exemptions() -> tuple[Exemption, ...]:
    """All of them, in the order of the file."""
    listed = tomllib.loads(Path(__file__).with_name("exemptions.toml").read_text("utf-8"))
    return tuple(Exemption(**entry) for entry in listed.get("exemption", ()))

"""What became of each module's mutants when they were last run: a file beside this one, and what of it is still so.

A module's record holds the digests of its source and of its guards. As long as both are today's, its mutants need not
be run again; otherwise the record is stale, and says so.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, final

import attrs
from attrs import field, frozen
from filelock import FileLock

from .exemptions import exemptions
from .guarded import Guarded
from .killing import claims_matching
from .mutants import Mutant, source_of
from .score import Fate, Verdict
from .scoring import Mutated, everything, test_files
from .traces import short_digest

RECORD = Path(__file__).with_name("recorded.json")
FEW = 4
"""Mutants of a module: where fewer were run, that none survived says little."""


class Freshness(Enum):
    """What a record is worth today."""

    FRESH = "scored"
    STALE = "stale"
    MISSING = "not yet scored"


class _Bare(ast.NodeTransformer):
    """Leaves out of a syntax tree what changes when modules move: imports; and docstrings."""

    def visit_Import(self, node: ast.Import) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | ast.Pass:
        return ast.copy_location(ast.Pass(), node) if isinstance(node.value, ast.Constant) else node


@cache
def _bare(text: str) -> str:
    lines = ast.unparse(_Bare().visit(ast.parse(text))).splitlines()
    return "\n".join(line for line in lines if line.strip() != "pass")


@cache
def _bare_file(file: Path) -> str:
    return _bare(file.read_text("utf-8"))


def _source_digest(mutated: Mutated) -> str:
    """Digest what the module's source does, and its mutants, which are others when the operators are."""
    mutants = ("\t".join(map(str, mutant.key[1:])) for mutant, _ in mutated.plantings())
    source = _bare(source_of(mutated.module)) if isinstance(mutated, Guarded) else ""
    return short_digest(source, *mutants)


def _guards_digest(mutated: Mutated) -> str:
    tests = (short_digest(_bare_file(file)) for file in test_files(mutated.tests))
    return short_digest(*sorted(claims_matching(mutated.claims)), *sorted(tests))


def _keys(keys: Iterable[Iterable[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(key) for key in keys)


@final
@frozen(kw_only=True)
class Recorded:
    """What became of the mutants of one module.

    Attributes:
        source: digest of the module's source and of its mutants, when they were run.
        guards: digest of the ids of its claims and of its tests, when they were run.
        mutants: how many there were.
        run: how many were run: all, or a fixed sample.
        timed_out: how many were noticed by the time that their guards took.
        unnoticed: the keys of those that nothing noticed, without the module; some of them are exempted.
    """

    source: str
    guards: str
    mutants: int
    run: int
    timed_out: int
    unnoticed: tuple[tuple[Any, ...], ...] = field(converter=_keys)

    def suffices(self, each: int | None) -> bool:
        """Whether so many mutants were run, or all there were; None stands for all."""
        return self.run >= (self.mutants if each is None else min(each, self.mutants))

    @property
    def is_thin(self) -> bool:
        """Whether fewer than `FEW` mutants were run, and not all."""
        return not self.suffices(FEW)

    def is_of_source(self, mutated: Mutated) -> bool:
        """Whether the module, and its mutants, are those that were run; its guards may be others today."""
        return self.source == _source_digest(mutated)

    def survivors(self, module: str) -> tuple[tuple[Any, ...], ...]:
        """The mutants that nothing noticed and that are not exempted today."""
        exempted = {exemption.key for exemption in exemptions()}
        return tuple(key for key in self.unnoticed if (module, *key) not in exempted)

    def split(self, module: str) -> tuple[int, int]:
        """How many of those that nothing noticed are exempted today, and how many have survived."""
        survived = len(self.survivors(module))
        return len(self.unnoticed) - survived, survived


def read() -> dict[str, Recorded]:
    """All records by module, a module that has moved with the one it had; none where the file is not there."""
    if not RECORD.exists():
        return {}
    found = {module: Recorded(**entry) for module, entry in json.loads(RECORD.read_text("utf-8")).items()}
    listed = {mutated.module: mutated for mutated in everything()}
    gone = {record.source: module for module, record in found.items() if module not in listed}
    for module in [name for name in listed if gone and name not in found]:
        before = gone.pop(_source_digest(listed[module]), None)
        if before is not None:
            found[module] = found.pop(before)
    return found


def keep(module: str, record: Recorded) -> None:
    """Put the record of a module in the place of its last one, while other processes do so for others."""
    with FileLock(Path(gettempdir()) / f"certdp-{short_digest(str(RECORD))}.lock"):
        write({**read(), module: record})


def write(records: dict[str, Recorded]) -> None:
    """Put these records in the place of those of the file, whole or not at all; modules that are gone go."""
    names = [mutated.module for mutated in everything()]
    lines = [f"{json.dumps(name)}: {_line(records[name])}" for name in names if name in records]
    draft = RECORD.with_suffix(".draft")
    draft.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    os.replace(draft, RECORD)


def _line(record: Recorded) -> str:
    """One module in the file: a line for its figures, and one for each mutant that nothing noticed."""
    entry: dict[str, Any] = attrs.asdict(record)
    unnoticed = entry.pop("unnoticed")
    keys = ",\n ".join(json.dumps(key, ensure_ascii=False) for key in unnoticed)
    return f'{json.dumps(entry)[:-1]}, "unnoticed": [{keys}]}}'


def recorded(mutated: Mutated, verdicts: tuple[Verdict, ...]) -> Recorded:
    """The record of a module, all of whose mutants were run or a fixed sample."""
    unnoticed = [v.mutant.key[1:] for v in verdicts if v.fate in (Fate.SURVIVED, Fate.EXEMPTED)]
    return Recorded(
        source=_source_digest(mutated),
        guards=_guards_digest(mutated),
        mutants=sum(1 for _ in mutated.plantings()),
        run=len(verdicts),
        timed_out=sum(v.fate is Fate.TIMED_OUT for v in verdicts),
        unnoticed=unnoticed,
    )


def freshness(mutated: Mutated, record: Recorded | None) -> Freshness:
    """What the record of a module is worth today."""
    if record is None:
        return Freshness.MISSING
    is_fresh = record.is_of_source(mutated) and record.guards == _guards_digest(mutated)
    return Freshness.FRESH if is_fresh else Freshness.STALE


def unnoticed(mutated: Mutated, record: Recorded) -> tuple[Mutant, ...]:
    """Today's mutants that the record knows as unnoticed."""
    known = set(record.unnoticed)
    return tuple(mutant for mutant, _ in mutated.plantings() if mutant.key[1:] in known)

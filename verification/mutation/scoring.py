"""Runs mutants and scores the verification suite by what it notices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from ...accounting.arguments import whole
from ...accounting.errors import InvalidValue
from ...plugins.forks import can_fork
from ..selection import chosen
from .declared import DECLARED, DeclaredFormula
from .exemptions import Exemption, exemptions
from .guarded import GUARDED, Guarded
from .killing import Ending, Outcome, attempt
from .mutants import Mutant
from .score import Fate, Score, Verdict

_MOST_SECONDS = 300.0  # that guards may take where nothing is wrong
_SLOWER, _LEAST_SECONDS = 3, 5.0

EVERYTHING: tuple[DeclaredFormula | Guarded, ...] = (*DECLARED, *GUARDED)
"""What is mutated: declared formulas, then modules."""

Progress: TypeAlias = Callable[[Verdict], None]
"""Called with each verdict as soon as it is there."""


def population(*only: str) -> tuple[Mutant, ...]:
    """The mutants of the formulas and modules that match one of the globs, or of all, in order.

    Raises:
        InvalidValue: where a glob matches none; it names those that come close.
    """
    return tuple(mutant for guarded in _matching(only) for mutant, _ in guarded.plantings())


def _matching(only: Sequence[str]) -> list[DeclaredFormula | Guarded]:
    return list(chosen(EVERYTHING, lambda guarded: (guarded.module,), only, "module"))


def score(*only: str, sample: int | None = None, seed: int = 0, progress: Progress | None = None) -> Score:
    """Run mutants one after the other, each in a process of its own.

    Args:
        only: globs on module names, such as "accounting.amplification.*"; without any, all are mutated.
        sample: how many mutants to run, chosen at random; None for all of them.
        seed: of the choice; the same seed chooses the same mutants of the same source.
        progress: told each verdict.

    Guarantees:
        A mutant counts as killed only where a claim or a test that is as expected without it is not so with it, or
        where the guards ran out of a limit of processor time that is more than three times what they take without it.

    Raises:
        InvalidValue: for a pattern that matches no module, a sample below 1, a seed below 0, and guards that are not
            as expected where nothing is wrong; and where processes cannot be forked. InvalidType: for no whole numbers.
    """
    if sample is not None:
        whole("sample", sample, 1)
    whole("seed", seed, 0)
    if not can_fork():
        raise InvalidValue("mutants", "this system", "a system that can fork processes", "Run them on Linux or macOS")
    everything = [(guarded, *planted) for guarded in _matching(only) for planted in guarded.plantings()]
    places = range(len(everything))
    drawn = places if sample is None else sorted(random.Random(seed).sample(places, min(sample, len(places))))
    arguments = {exemption.key: exemption for exemption in exemptions()}
    verdicts, tests = [], _tests()
    for guarded, group in groupby((everything[place] for place in drawn), key=itemgetter(0)):
        seconds = _SLOWER * _undisturbed(guarded, tests) + _LEAST_SECONDS
        for _, mutant, planting in group:
            verdict = _verdict(mutant, arguments.get(mutant.key), attempt(guarded, planting, seconds, tests))
            verdicts.append(verdict)
            if progress is not None:
                progress(verdict)
    known = {mutant.key for _, mutant, _ in everything}
    globs = only or ("*",)
    strays = (e for e in arguments.values() if any(fnmatchcase(e.module, g) for g in globs) and e.key not in known)
    return Score(
        population=len(everything),
        verdicts=tuple(verdicts),
        strays=tuple(strays),
        seed=None if sample is None else seed,
    )


def _tests() -> Path | None:
    """The folder of tests, in a checkout."""
    folder = Path(__file__).resolve().parents[2] / "tests"
    return folder if folder.is_dir() else None


def _undisturbed(guarded: DeclaredFormula | Guarded, tests: Path | None) -> float:
    """What the guards of a module take where nothing is wrong, in seconds of processor time."""
    ending = attempt(guarded, _nothing, _MOST_SECONDS, tests)
    if ending.outcome is not Outcome.SURVIVED:
        raise InvalidValue(
            "guards", ending.by or ending.outcome.value, f"guards of {guarded.module} that are as expected"
        )
    return ending.seconds


def _nothing() -> None:
    """Plants no mutant."""


def _verdict(mutant: Mutant, exemption: Exemption | None, ending: Ending) -> Verdict:
    match ending.outcome, exemption:
        case Outcome.BROKEN, _:
            raise InvalidValue("mutant", ending.by, f"guards that can be run with {mutant}")
        case Outcome.SURVIVED, None:
            fate, by = Fate.SURVIVED, ""
        case Outcome.SURVIVED, Exemption():
            fate, by = Fate.EXEMPTED, exemption.argument
        case Outcome.KILLED, None:
            fate, by = Fate.KILLED, ending.by
        case Outcome.TIMED_OUT, None:
            fate, by = Fate.TIMED_OUT, ""
        case _:
            fate, by = Fate.KILLED_THOUGH_EXEMPTED, ending.by or "the time limit"
    return Verdict(mutant, fate, by, ending.seconds)

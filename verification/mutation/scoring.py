"""Runs mutants and scores the verification suite by what it notices."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Self, TypeAlias, final

from attrs import define, field

from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidValue
from ...plugins.forks import can_fork
from ..running.selection import chosen
from .anew import attempt_anew, executed_by_imports
from .chances import Chances
from .declared import DECLARED, DeclaredFormula
from .exemptions import Exemption, exemptions
from .guarded import Guarded, guarded, tests_folder
from .killing import Bench, Ending, Guard, Outcome, claims_matching
from .mutants import Mutant
from .score import Fate, Score, Verdict
from .traces import Found, Traces

_MOST_SECONDS = 900.0  # that a claim or a file of tests may take where nothing is wrong
_MOST_TESTS = 20.0  # seconds of tests that a mutant is shown to, the quickest of those that have killed nothing
_WITH_TORCH = "torch_models"  # tests of what is left out, because PyTorch need not be installed

Progress: TypeAlias = Callable[[Verdict], None]
"""Called with each verdict as soon as it is there."""
Mutated: TypeAlias = DeclaredFormula | Guarded


def everything() -> tuple[Mutated, ...]:
    """Return what is mutated: declared formulas, then modules."""
    return (*DECLARED, *guarded())


def matching(*only: str) -> tuple[Mutated, ...]:
    """The formulas and modules that match one of the globs, or all, in order.

    Raises:
        InvalidValue: where a glob matches none; it names those that come close.
    """
    return chosen(everything(), lambda mutated: (mutated.module,), only, "module")


def population(*only: str) -> tuple[Mutant, ...]:
    """The mutants of the formulas and modules that match one of the globs, or of all, in order.

    Raises:
        InvalidValue: where a glob matches none; it names those that come close.
    """
    return tuple(mutant for mutated in matching(*only) for mutant, _ in mutated.plantings())


def score(
    *only: str,
    sample: int | None = None,
    each: int | None = None,
    seed: int = 0,
    minutes: float | None = None,
    leaving: Iterable[Mutant] = (),
    progress: Progress | None = None,
    benches: Benches | None = None,
) -> Score:
    """Run mutants one after the other, each in a process of its own.

    Args:
        only: globs on module names, such as "accounting.amplification.*"; without any, all are mutated.
        sample: how many mutants to run, chosen at random; None for all of them.
        each: most mutants of each module, always the same ones; None for all of them.
        seed: of the choice; the same seed chooses the same mutants of the same source.
        minutes: of wall time, after which no further mutant is begun; None for no end.
        leaving: mutants to leave out.
        progress: told each verdict.
        benches: those of other scores, which know some guards already; None for new ones.

    Guarantees:
        A mutant counts as killed only where a claim or a test that is as expected without it is not so with it, or
        where the guards ran out of a limit of processor time that is more than three times what they take without it.

    Raises:
        InvalidValue: for a pattern that matches no module, a sample below 1, a seed below 0, minutes that are not
            above 0, and claims that are not as expected where nothing is wrong; and where processes cannot be forked.
            InvalidType: for no whole numbers.
    """
    if sample is not None:
        whole("sample", sample, 1)
    if each is not None:
        whole("each", each, 1)
    whole("seed", seed, 0)
    if minutes is not None and not minutes > 0:
        raise InvalidValue("minutes", minutes, "a number of minutes above 0")
    if not can_fork():
        raise InvalidValue("mutants", "this system", "a system that can fork processes", "Run them on Linux or macOS")
    end = None if minutes is None else time.monotonic() + 60 * minutes
    left_out = {mutant.key for mutant in leaving}
    planned = [(mutated, *planted) for mutated in matching(*only) for planted in _drawn(mutated, each)]
    asked = [entry for entry in planned if entry[1].key not in left_out]
    places = range(len(asked))
    drawn = places if sample is None else sorted(random.Random(seed).sample(places, min(sample, len(places))))
    arguments = {exemption.key: exemption for exemption in exemptions()}
    verdicts: list[Verdict] = []
    with Benches() if benches is None else nullcontext(benches) as at:
        for mutated, group in groupby((asked[place] for place in drawn), key=itemgetter(0)):
            for _, mutant, planting in group:
                if end is not None and time.monotonic() > end:
                    break
                ending = at.attempt(mutated, mutant, planting)
                verdicts.append(_verdict(mutant, arguments.get(mutant.key), ending))
                if progress is not None:
                    progress(verdicts[-1])
        unfit = tuple(at.unfit)
    known = {mutant.key for mutant in population(*only)}
    globs = only or ("*",)
    strays = (e for e in arguments.values() if any(fnmatchcase(e.module, g) for g in globs) and e.key not in known)
    return Score(
        population=len(asked),
        verdicts=tuple(verdicts),
        strays=tuple(strays),
        unfit=unfit,
        seed=None if sample is None else seed,
    )


def _drawn(mutated: Mutated, most: int | None) -> Iterator[tuple[Mutant, Callable[[], None]]]:
    """Return at most so many of the mutants of one module: those of smallest digest, in order.

    Which they are hangs on each mutant alone, so that few of them change when the source does.
    """
    plantings = list(mutated.plantings())
    if most is None or most >= len(plantings):
        yield from plantings
        return
    last = sorted(mutant.digest for mutant, _ in plantings)[most - 1]
    yield from (planted for planted in plantings if planted[0].digest <= last)


@final
@define
class Benches:
    """Benches for one set of tests after the other, and what is known of the guards so far: a context.

    Attributes:
        traces: what guards execute.
        unfit: files of tests that take too long to be guards.
    """

    traces: Traces = field(factory=Traces)
    _tests: tuple[Path, ...] | None = None
    _bench: Bench | None = None
    _chances: dict[str, Chances] = field(factory=dict)
    _held: dict[str, bool] = field(factory=dict)
    unfit: dict[str, None] = field(factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._bench is not None:
            self._bench.close()
            self._bench = None

    def prepare(self, several: Iterable[Mutated]) -> None:
        """Load the tests of several modules at once."""
        self._load(tuple(dict.fromkeys(file for mutated in several for file in test_files(mutated.tests))))

    def _load(self, tests: tuple[Path, ...]) -> Bench:
        if self._bench is None or not set(tests) <= set(self._tests or ()):
            self._close()
            self._bench, self._tests = Bench(tests), tests
        return self._bench

    def attempt(self, mutated: Mutated, mutant: Mutant, planting: Callable[[], None]) -> Ending:
        """Show a mutant to the guards of its module that execute its statement, the likeliest to notice first.

        Those come first of which it is remembered; what is not known of today's sources is traced where they notice
        nothing.
        """
        chances = self._chances.setdefault(mutated.module, Chances())
        shown: dict[str, Guard] = {}
        ending = Ending(Outcome.SURVIVED, "", 0, 0.0)
        for guards in self._lots(mutated):
            reaching = guards if not isinstance(mutated, Guarded) else [g for g in guards if _reaches(g, mutant)]
            new = [guard for guard in reaching if guard.name not in shown]
            lot = list(_affordable(chances.in_order(new, mutant)))
            shown |= {guard.name: guard for guard in lot}
            if ending.outcome is Outcome.SURVIVED and (lot or not ending.tried):
                ending = self._ending(planting, lot)
                noticed = ending.outcome in (Outcome.KILLED, Outcome.TIMED_OUT)
                chances.learn(lot[: ending.tried], mutant, noticed=noticed)
            if ending.outcome not in (Outcome.SURVIVED, Outcome.UNPLANTED):
                return ending
        if ending.outcome is Outcome.UNPLANTED or self._is_imported(mutant):
            return attempt_anew(mutant, [guard for guard in self._exact(mutated) if guard.name in shown])
        return ending

    def _ending(self, planting: Callable[[], None], lot: list[Guard]) -> Ending:
        """What becomes of a mutant before these guards; those that do not hold without it leave the list."""
        assert self._bench is not None
        while True:
            ending = self._bench.attempt(planting, lot)
            if ending.outcome not in (Outcome.KILLED, Outcome.TIMED_OUT) or not ending.tried:
                return ending
            noticing = lot[ending.tried - 1]
            if self._holds(noticing):
                return ending
            lot.remove(noticing)

    def _holds(self, guard: Guard) -> bool:
        """Whether a guard is as expected where nothing is wrong: known of its trace, or tried once."""
        if guard.name not in self._held:
            assert self._bench is not None
            self._held[guard.name] = self._bench.attempt(_plant_nothing, [guard]).outcome is Outcome.SURVIVED
        return self._held[guard.name]

    def _is_imported(self, mutant: Mutant) -> bool:
        """Whether what importing the package computes may be other with the mutant."""
        if not mutant.line:  # a declared formula is planted in its class
            return False
        imports = self.traces.known("import", True, executed_by_imports) or ()
        return not mutant.in_function or any(mutant.line in each.touched.get(mutant.module, ()) for each in imports)

    def _lots(self, mutated: Mutated) -> Iterator[Sequence[Guard]]:
        """The guards of a module: all that are remembered, then those of one claim or file after the other."""
        self._load(test_files(mutated.tests))
        remembered, waiting = list[Guard](), list[tuple[str, bool]]()
        for name, is_claim in _names(mutated):
            guards, is_exact = self.traces.remembered(name, is_claim)
            if is_exact:
                self._note(name, guards)
            else:
                waiting.append((name, is_claim))
            remembered += [guard for guard in guards or () if self._held.get(guard.name, True)]
        yield remembered
        for name, is_claim in sorted(waiting, key=lambda one: not (one[1] or _calls(one[0], mutated.module))):
            yield self._traced(mutated, name, is_claim)

    def _exact(self, mutated: Mutated) -> Iterator[Guard]:
        for name, is_claim in _names(mutated):
            yield from self._traced(mutated, name, is_claim)

    def _traced(self, mutated: Mutated, name: str, is_claim: bool) -> tuple[Guard, ...]:
        assert self._bench is not None
        trace = partial(self._bench.trace, name, is_claim=is_claim, seconds=_MOST_SECONDS)
        found = self.traces.known(name, is_claim, trace)
        if is_claim and not found:
            raise InvalidValue("guards", name, f"guards of {mutated.module} that are as expected")
        self._note(name, found)
        return found or ()

    def _note(self, name: str, found: Found) -> None:
        """Note that guards are as expected, or that a file has none because it takes too long."""
        if found is None:
            self.unfit[Path(name).name] = None
        self._held.update((guard.name, True) for guard in found or ())


def _calls(file: str, module: str) -> bool:
    """Whether a file of tests names a module."""
    return module.rpartition(".")[2] in Path(file).read_text("utf-8")


def _plant_nothing() -> None:
    """Leave the library as it is."""


def _names(mutated: Mutated) -> Iterator[tuple[str, bool]]:
    """The claims of a module, then its files of tests, each with whether it is a claim."""
    yield from ((claim, True) for claim in claims_matching(mutated.claims))
    yield from ((str(file), False) for file in test_files(mutated.tests))


def test_files(tests: Sequence[str]) -> tuple[Path, ...]:
    """The files of tests, in a checkout: none elsewhere."""
    folder = tests_folder()
    if folder is None:
        return ()
    named = (folder / test for test in tests)
    return tuple(dict.fromkeys(file for path in named for file in _within(path)))


def _within(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("test_*.py") if _WITH_TORCH not in file.parts)


def _reaches(guard: Guard, mutant: Mutant) -> bool:
    """Whether a guard executes the mutant's statement; for a constant, anything of its module."""
    lines = guard.touched.get(mutant.module, frozenset())
    return mutant.line in lines if mutant.in_function else bool(lines)


def _affordable(guards: Iterable[Guard]) -> Iterator[Guard]:
    """All claims, and as many of the tests as there is time for; what several share is made once."""
    room, made = _MOST_TESTS, set[str]()
    for guard in guards:
        if guard.is_claim:
            yield guard
            continue
        seconds = guard.seconds - sum(taken for thing, taken in guard.shared.items() if thing in made)
        if seconds <= room:
            room -= seconds
            made.update(guard.shared)
            yield guard


def _verdict(mutant: Mutant, exemption: Exemption | None, ending: Ending) -> Verdict:
    match ending.outcome, exemption:
        case Outcome.BROKEN, _:
            raise InvalidValue("mutant", ending.by, f"guards that can be run with {mutant}")
        case Outcome.UNPLANTED, _:
            raise InvalidValue("mutant", str(mutant), "a mutant that can be planted: none of the guards has seen it")
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

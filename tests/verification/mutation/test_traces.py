"""What is remembered of guards: exact for today's sources, else a hint that is held against no mutant at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from certdp.verification.mutation import traces
from certdp.verification.mutation.killing import Ending, Guard, Outcome
from certdp.verification.mutation.mutants import Mutant
from certdp.verification.mutation.scoring import Benches, matching
from certdp.verification.mutation.traces import Traces

CHANGED, SAME = "accounting.norms", "accounting.exact"
GUARD = Guard("a", True, 1.0, {CHANGED: frozenset({1}), SAME: frozenset({2, 3})}, {"what it shares": 0.5})
SOURCES = {CHANGED: "before", SAME: "before"}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The digests of sources, to be changed; traces are kept in a folder of their own."""
    today = {**SOURCES, "own": "before"}
    monkeypatch.setattr(traces, "_file", lambda name: tmp_path / "runs" / f"{name}.trace")
    monkeypatch.setattr(traces, "_digests", lambda touched: {module: today[module] for module in touched})
    monkeypatch.setattr(traces, "_own_digest", lambda *_: today["own"])
    return today


def never() -> None:
    raise AssertionError("it is known")


def test_what_was_traced_is_known_as_long_as_no_source_changes(sources: dict[str, str]) -> None:
    assert Traces().remembered("a", True) == ((), False)
    found = Traces()
    assert found.known("a", True, lambda: (GUARD,)) == (GUARD,)
    assert found.remembered("a", True) == ((GUARD,), True)
    again = Traces()
    assert again.remembered("a", True) == again.remembered("a", True) == ((GUARD,), True)
    assert again.known("a", True, never) == Traces().known("a", True, never) == (GUARD,)


def test_of_other_sources_the_modules_are_remembered_that_are_the_same(sources: dict[str, str]) -> None:
    Traces().known("a", True, lambda: (GUARD,))
    sources[CHANGED] = "after"
    later = Traces()
    for _ in range(2):
        (hint,), is_exact = later.remembered("a", True)  # type: ignore[misc]
        assert not is_exact
        assert hint.touched == {SAME: GUARD.touched[SAME]}
        assert (hint.name, hint.seconds, hint.shared) == (GUARD.name, GUARD.seconds, GUARD.shared)
    assert later.known("a", True, lambda: (GUARD, GUARD)) == (GUARD, GUARD)
    assert later.remembered("a", True) == Traces().remembered("a", True) == ((GUARD, GUARD), True)
    sources["own"] = "after"
    assert Traces().remembered("a", True) == ((GUARD, GUARD), False)


def test_what_takes_too_long_is_tried_once(sources: dict[str, str]) -> None:
    assert Traces().known("a", False, lambda: None) is None
    assert Traces().remembered("a", False) == (None, True)
    assert Traces().known("a", False, never) is None
    sources["own"] = "after"
    assert Traces().remembered("a", False) == ((), False)


class Bench:
    """A bench whose guards notice mutants, or fail where there is none."""

    def __init__(self, by: Iterable[str], failing: Iterable[str]) -> None:
        self.by, self.failing = set(by), set(failing)
        self.traced: list[str] = []

    def attempt(self, planting: Callable[[], None], guards: list[Guard]) -> Ending:
        noticed = self.failing if planting.__name__ == "_plant_nothing" else self.by | self.failing
        for place, guard in enumerate(guards):
            if guard.name in noticed:
                return Ending(Outcome.KILLED, guard.name, place + 1, 0.0)
        return Ending(Outcome.SURVIVED, "", len(guards), 0.0)

    def trace(self, name: str, *, is_claim: bool, seconds: float) -> tuple[Guard, ...]:
        self.traced.append(name)
        found = tuple(guard for guard in HINTS[name] if guard.name not in self.failing)
        return (*found, Guard(f"new in {name}", is_claim, 1.0, HINTS[name][0].touched))


(MUTATED,) = matching("accounting.notions.pure")
MUTANT: Mutant = next(mutant for mutant, _ in MUTATED.plantings() if mutant.in_function)
REACHING = {MUTANT.module: frozenset({MUTANT.line})}
HINTS = {name: (Guard(f"old in {name}", False, 1.0, REACHING),) for name in ("first", "second")}


def planted() -> None:
    """Plant a mutant."""


@pytest.mark.parametrize(
    ("by", "failing", "expected", "traced"),
    [
        (["old in second"], [], "old in second", []),
        (["old in second"], ["old in first"], "old in second", []),
        (["new in first"], [], "new in first", ["first"]),
        (["new in second"], ["old in first", "old in second"], "new in second", ["first", "second"]),
        ([], ["old in first"], None, ["first", "second"]),
    ],
)
def test_a_hint_that_fails_without_a_mutant_notices_none(
    by: list[str], failing: list[str], expected: str | None, traced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, benches = Bench(by, failing), Benches()
    monkeypatch.setattr("certdp.verification.mutation.scoring._names", lambda _: iter([(n, False) for n in HINTS]))
    monkeypatch.setattr("certdp.verification.mutation.scoring._calls", lambda *_: True)
    monkeypatch.setattr(Benches, "_load", lambda *_: bench)
    monkeypatch.setattr(Benches, "_is_imported", lambda *_: False)
    monkeypatch.setattr(Traces, "remembered", lambda _, name, is_claim: (HINTS[name], False))
    monkeypatch.setattr(Traces, "known", lambda _, name, is_claim, trace: trace())
    benches._bench = bench  # type: ignore[assignment]
    ending = benches.attempt(MUTATED, MUTANT, planted)
    assert (ending.outcome is Outcome.KILLED, ending.by or None) == (expected is not None, expected)
    assert bench.traced == traced

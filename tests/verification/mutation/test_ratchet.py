"""Every module has a mutation score, or is left out by name for a reason; and what is known of the score only grows."""

from __future__ import annotations

from fractions import Fraction

from certdp.verification.mutation import recorded
from certdp.verification.mutation.exemptions import exemptions
from certdp.verification.mutation.scoring import everything

LEAST_SHARE = Fraction(185, 1000)
"""Of the mutants of all modules, those that were run: raise it whenever you can."""
MOST_SURVIVORS = 0
"""Mutants that nothing noticed and no argument exempts: each is owed a test. They are on the page of the score.

Raise it where a larger sample of a module shows some that cannot be noticed at once: a smaller sample only hides them.
"""
MOST_THIN = 214
"""Modules whose score rests on fewer than `recorded.FEW` mutants: lower it whenever you can."""


def test_every_module_is_recorded() -> None:
    listed, known = {mutated.module for mutated in everything()}, set(recorded.read())
    missing = sorted(listed - known)
    assert not missing, f"certdp mutants --record --each 4 --only {' --only '.join(missing)}"


def test_the_share_of_mutants_that_were_run_grows() -> None:
    records = recorded.read().values()
    mutants = sum(record.mutants for record in records)
    assert sum(record.run for record in records) >= LEAST_SHARE * mutants


def test_survivors_become_fewer() -> None:
    survivors = [(module, *key) for module, record in recorded.read().items() for key in record.survivors(module)]
    assert len(survivors) <= MOST_SURVIVORS, "kill them by tests, run them anew, or argue why nothing can notice them"


def test_modules_are_not_hidden_behind_small_samples() -> None:
    thin = [module for module, record in recorded.read().items() if record.is_thin]
    assert len(thin) <= MOST_THIN, f"certdp mutants --record --each {recorded.FEW}, of the new ones among {thin}"


def test_a_record_is_of_what_it_says() -> None:
    exempted = {exemption.key for exemption in exemptions()}
    for module, record in recorded.read().items():
        assert 0 < record.run <= record.mutants
        assert record.timed_out + len(record.unnoticed) <= record.run
        assert len(set(record.unnoticed)) == len(record.unnoticed)
        assert sum(record.split(module)) == len(record.unnoticed)
        assert record.split(module)[0] == sum((module, *key) in exempted for key in record.unnoticed)

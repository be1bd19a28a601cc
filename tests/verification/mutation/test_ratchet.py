"""What is known of the mutation score only grows: raise the first number, lower the second, whenever you can."""

from __future__ import annotations

from certdp.verification.mutation import recorded
from certdp.verification.mutation.exemptions import exemptions
from certdp.verification.mutation.scoring import everything

LEAST_RECORDED = 28
"""Modules and formulas with a record, whole or of a fixed sample: certdp mutants --record --each 8 --only MODULE."""
MOST_SURVIVORS = 0
"""Mutants that nothing noticed and no argument exempts: each is owed a test. They are on the page of the score."""


def test_no_record_is_lost() -> None:
    listed = {mutated.module for mutated in everything()}
    assert len(listed & set(recorded.read())) >= LEAST_RECORDED


def test_survivors_become_fewer() -> None:
    survivors = [(module, *key) for module, record in recorded.read().items() for key in record.survivors(module)]
    assert len(survivors) <= MOST_SURVIVORS, "kill them by tests, run them anew, or argue why nothing can notice them"


def test_a_record_is_of_what_it_says() -> None:
    exempted = {exemption.key for exemption in exemptions()}
    for module, record in recorded.read().items():
        assert 0 < record.run <= record.mutants
        assert record.timed_out + len(record.unnoticed) <= record.run
        assert len(set(record.unnoticed)) == len(record.unnoticed)
        assert sum(record.split(module)) == len(record.unnoticed)
        assert record.split(module)[0] == sum((module, *key) in exempted for key in record.unnoticed)

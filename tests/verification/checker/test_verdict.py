"""A verdict tells all that it rests on."""

from __future__ import annotations

from dataclasses import replace

from certdp.verification.checker import Outcome, Verdict


def test_whether_data_were_compared_is_told() -> None:
    verdict = Verdict(outcome=Outcome.HOLDS, reason="it does")
    assert str(verdict).splitlines() == ["holds: it does", "data: not compared"]
    assert str(replace(verdict, data_compared=True)).splitlines() == ["holds: it does", "data: compared"]

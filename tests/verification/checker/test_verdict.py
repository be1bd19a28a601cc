"""A verdict tells all that it rests on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from certdp.verification.checker import Artefacts, Claim, Outcome, Verdict


def test_whether_data_were_compared_is_told() -> None:
    verdict = Verdict(outcome=Outcome.HOLDS, reason="it does")
    assert str(verdict).splitlines() == ["holds: it does", "data: not compared"]
    assert str(replace(verdict, data_compared=True)).splitlines() == ["holds: it does", "data: compared"]


def test_what_is_claimed_and_released_is_told() -> None:
    claim = Claim(
        theorem="a theorem",
        guarantee="a guarantee",
        unit="record",
        whom="record",
        together=1,
        relation="add-remove",
        audience="public",
        epsilon=(None, 0.5),
        bound=(Fraction(1, 2), Fraction(0)),
        domain="a ball",
        distributions=("certdp",),
        assumptions=(("coins", "independent"),),
        beside=(("weather", ""),),
        notion="approximate",
        parameters=(),
    )
    files = Artefacts(coins="operating system", files=(("sums.npy", "sha256:00"),))
    verdict = Verdict(outcome=Outcome.HOLDS, reason="it does", claim=claim, artefacts=files)
    lines = [
        "holds: it does",
        "claim: a guarantee, by a theorem",
        "audience: public",
        "epsilon: [null, 0.5] over a ball",
        "data: not compared",
        "assuming:",
        "  coins = independent",
        "stated beside that, unchecked and not used by the proof:",
        "  weather",
        "released with it, as stated, with coins of the operating system:",
        "  sums.npy = sha256:00",
    ]
    assert str(verdict).splitlines() == lines
    lines[3] = "epsilon: none claimed, for want of a public domain; the profile alone"
    assert str(replace(verdict, claim=replace(claim, epsilon=None))).splitlines() == lines
    of_order = replace(claim, epsilon=None, notion="renyi", parameters=(("order", Fraction(2)),))
    lines[3] = "epsilon: none claimed, but renyi privacy over a ball"
    assert str(replace(verdict, claim=of_order)).splitlines() == lines

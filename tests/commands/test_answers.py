"""Answers of all commands: the same numbers for people and programs, rounded to the safe side; assumptions last."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

LAPLACE = "--mechanism laplace-sum --sampler importance --option scale=1.5 --option rate=0.3 --option floor=0.01"
GAUSSIAN = "--mechanism gaussian-sum --sampler poisson --option noise_multiplier=2 --option rate=0.01"
KEYS = "--mechanism pws-keys --sampler ppswor --option epsilon=0.5 --option delta=0.01 --option threshold=0.1"
TARGET = "--mechanism laplace-sum --option scale=10 --option radius=3 --epsilon 1"

COMMANDS = {
    "psi": f"psi {LAPLACE} --option radius=2",
    "psi without a domain": f"psi {LAPLACE}",
    "psi at a delta": f"psi {LAPLACE} --option radius=2 --delta 1e-5",
    "psi at an order": f"psi {LAPLACE} --option radius=2 --order 3",
    "psi of keys": f"psi {KEYS}",
    "epsilon": f"epsilon {GAUSSIAN} --steps 10 --resample each --delta 1e-5",
    "delta": f"delta {GAUSSIAN} --steps 10 --resample each --epsilon 1/3",
    "calibrate": "calibrate --mechanism laplace-sum --sampler full --option radius=1 --find scale --epsilon 1/3",
    "weights": f"weights {TARGET} --data {{}}/records.npy --output {{}}/weights.csv",
    "pws release": "pws release {}/counts.csv --epsilon 1 --delta 1e-6 --output {}/s.csv --overwrite",
    "dpis plan": "dpis plan --records 300 --batch 20 --epochs 2 --epsilon 8 --delta 1e-5 --order 4",
}
"""Commands that answer with a bound."""

NUMBER = "[0-9.e+/-]+"
UPPER = re.compile(f"(?P<sign>[εδτ]) ≤ (?P<number>{NUMBER})")
PAIR = re.compile(rf"\((?P<epsilon>{NUMBER}), (?P<delta>{NUMBER})\)-DP|(?P<pure>[0-9.e+]+)-DP")
NAMES = {"ε": "epsilon", "δ": "delta", "τ": "tau"}


@pytest.fixture
def words(table: Path) -> Callable[[str], list[str]]:
    (table.parent / "counts.csv").write_text("key,count\na,100\nb,2000\nc,1\n")
    return lambda name: COMMANDS[name].replace("{}", str(table.parent)).split()


def upper_ends(text: str) -> dict[str, Fraction]:
    """What the page states first, as it is written."""
    for line in text.splitlines():
        if found := PAIR.search(line):
            numbers = {name.replace("pure", "epsilon"): number for name, number in found.groupdict().items() if number}
            return {name: Fraction(number) for name, number in numbers.items()}
        if found := UPPER.search(line):
            return {NAMES[found["sign"]]: Fraction(found["number"])}
    return {}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "psi without a domain"])
def test_what_people_read_is_at_least_what_is_proven(name: str, words: Callable[[str], list[str]], certdp: Run) -> None:
    rounded, full = certdp(*words(name)), certdp(*words(name), "--full")
    data = certdp(*words(name), "--json").json
    assert (rounded.code, full.code) == (0, 0), rounded
    written, whole = upper_ends(rounded.out), upper_ends(full.out)
    assert written.keys() == whole.keys() != set()
    stated = {Fraction(word) for word in words(name) if re.fullmatch(NUMBER, word) and word[0].isdecimal()}
    for key, number in written.items():
        upper = Fraction(data[key][1])
        rounded_up = upper <= number <= upper * Fraction(100_001, 100_000)
        # what was asked about is written as it was stated; its upper end is rounded up from that
        assert rounded_up or (number in stated and abs(upper - number) < upper / 10**15)
        assert whole[key] in (Fraction(repr(data[key][1])), number)


@pytest.mark.parametrize("name", COMMANDS)
def test_assumptions_come_after_the_answer(name: str, words: Callable[[str], list[str]], certdp: Run) -> None:
    ran = certdp(*words(name))
    assert ran.code == 0, ran
    public, _, private = ran.out.partition("\nfor the data's owner only, not for publication")
    answer, found, assumptions = public.partition("  assumptions\n")
    assert found
    assert answer.strip()
    assert all(line.startswith("    ") for line in assumptions.splitlines() if line), assumptions
    assert "assumptions\n" not in private
    stated = certdp(*words(name), "--json").json["assumptions"]
    assert stated
    for one in stated:
        assert f"    {one['name']}" in assumptions


def test_no_line_ends_in_spaces_and_none_is_cut(words: Callable[[str], list[str]], certdp: Run) -> None:
    text = certdp(*words("psi without a domain")).out
    lines = text.partition("  assumptions")[0].splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 120

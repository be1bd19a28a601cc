"""Claims of DPIS about what a training run derives from its releases: Equations 12 and 17."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ..accounting.provenance import Public
from ..plugins.contract import Case, Claim, Finding
from .budget import AdaptiveClip
from .run_account import NormSumRelease

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def _examine_equation_12(case: Case) -> Finding:
    """K̃ is the number of [bC + ξ, ÑC] that is nearest to K', so that bC/K̃ < 1: found among the three candidates."""
    released, least, room = case["released"], case["batch"] * case["clip"] + case["margin"], case["room"]
    most = least + room
    found = NormSumRelease(rate=Fraction(1, 2), scale=Fraction(1), least=least, most=most).bounded(released)
    inside = [least, most, *([released] if least <= released <= most else [])]
    nearest = min(inside, key=lambda candidate: abs(candidate - released))
    drawn = case["batch"] * case["clip"]
    return Finding(
        holds=found == nearest and drawn < found,
        closed_form=f"K̃ = {found}, bC = {drawn}",
        independent=f"nearest to K' = {released} in [{least}, {most}]: {nearest}",
    )


def _examine_equation_17(case: Case) -> Finding:
    """C·Ñ = λK̃* inside the public interval, else the nearer end of it: decided by products, without a quotient."""
    lowest, highest = case["batch"], case["batch"] + case["room"]
    clip = AdaptiveClip(
        start=Public(lowest),
        external=Public(case["clip"]),
        quantile=Public(case["quantile"]),
        noise_multiplier=Public(Fraction(1)),
        lowest=Public(lowest),
        highest=Public(highest),
    )
    size, scaled = case["size"], case["quantile"] * case["released"]
    found = clip.following(case["released"], size)
    if scaled < lowest * size:
        holds, told = found == lowest, f"λK̃* < lowest·Ñ = {lowest * size}"
    elif scaled > highest * size:
        holds, told = found == highest, f"λK̃* > highest·Ñ = {highest * size}"
    else:
        holds, told = found * size == scaled, "λK̃*/Ñ lies inside"
    return Finding(
        holds=holds,
        closed_form=f"C = {found} within [{lowest}, {highest}]",
        independent=f"{told}: λK̃* = {scaled}, Ñ = {size}",
    )


def _cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    positive = st.integers(1, 4000).map(lambda n: Fraction(n, 20))
    return st.fixed_dictionaries(
        {
            "released": st.integers(-80_000, 80_000).map(lambda n: Fraction(n, 20)),
            "batch": positive,
            "clip": positive,
            "margin": st.integers(1, 1000).map(lambda n: Fraction(n, 1000)),
            "room": st.integers(0, 4000).map(lambda n: Fraction(n, 20)),
            "quantile": st.integers(10, 40).map(lambda n: Fraction(n, 20)),
            "size": positive,
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="dpis/equation-12",
        statement="DPIS Equation 12",
        says="K̃ is the number of [bC + ξ, ÑC] nearest to K', and keeps the rate bC/K̃ below 1",
        cases=_cases,
        examine=_examine_equation_12,
    ),
    Claim(
        id="dpis/equation-17",
        statement="DPIS Equation 17",
        says="the next clipping bound is λK̃*/Ñ inside its public interval, else the nearer end",
        cases=_cases,
        examine=_examine_equation_17,
    ),
)

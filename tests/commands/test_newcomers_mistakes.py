"""Mistakes that a newcomer makes on the command line: each error says what to type instead, in options."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Refusal = Callable[..., dict[str, str]]

GAUSSIAN = ("--mechanism", "gaussian-sum", "--sampler", "poisson", "--option", "rate=0.1", "--delta", "1e-5")
LAPLACE = ("--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1")
TWO_NORMS = (
    *("--mechanism", "lp-sum", "--option", "scale=1", "--option", "mechanism.norm=2"),
    *("--sampler", "importance", "--option", "sampler.norm=1", "--option", "rate=0.1", "--option", "radius=1"),
)
RESPONSE = ("--mechanism", "randomised-response", "--sampler", "full", "--option", "categories=3")

MISTAKES: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "a mechanism misspelt": (
        ("epsilon", "--mechanism", "gausian-sum", "--sampler", "full"),
        *("mechanism", "gausian-sum", "Did you mean gaussian-sum"),
    ),
    "a sampler misspelt": (
        ("epsilon", "--mechanism", "laplace-sum", "--sampler", "poison"),
        *("sampler", "poison", "Did you mean poisson"),
    ),
    "an option misspelt": (
        ("epsilon", *GAUSSIAN, "--option", "noise_multipler=1"),
        *("option", "noise_multipler=1", "Did you mean noise_multiplier"),
    ),
    "what is looked for misspelt": (
        ("calibrate", *GAUSSIAN, "--epsilon", "1", "--find", "noise_multiplir"),
        *("find", "noise_multiplir", "Did you mean noise_multiplier"),
    ),
    "no radius": (("epsilon", *LAPLACE), "radius", "nothing", "--option radius="),
    "no radius, per record": (
        ("psi", *GAUSSIAN, "--option", "scale=1"),
        *("radius", "nothing", "--option radius="),
    ),
    "no radius of an audit": (("audit", *LAPLACE), "radius", "nothing", "--option radius="),
    "no dimension": (("epsilon", *TWO_NORMS), "dimension", "nothing", "--option dimension="),
    "a norm by its sign": (
        ("epsilon", "--mechanism", "lp-sum", "--sampler", "full", "--option", "scale=1", "--option", "norm=l2"),
        *("norm", "l2", "Write the number alone"),
    ),
    "no δ": (("epsilon", *GAUSSIAN[:-2], "--option", "noise_multiplier=1"), "delta", "0.0", "state a δ above 0"),
    "ψ of what covers replace alone": (
        ("psi", *RESPONSE, "--option", "epsilon=1"),
        *("mechanism", "randomised-response", "--delta 0"),
    ),
    "ψ of what has none": (
        ("psi", *GAUSSIAN[:-2], "--option", "scale=1"),
        *("mechanism", "gaussian-sum", "--delta D"),
    ),
    "several releases, unsaid how": (
        ("epsilon", *GAUSSIAN, "--option", "noise_multiplier=1", "--steps", "10"),
        *("resample", "nothing", "say which"),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_error_says_what_to_type(refusal: Refusal, name: str) -> None:
    arguments, parameter, value, remedy = MISTAKES[name]
    error = refusal(*arguments)
    assert (error["parameter"], error["value"]) == (parameter, value)
    assert remedy in error["remedy"]


@pytest.mark.parametrize("name", MISTAKES)
def test_no_error_speaks_of_calls(refusal: Refusal, name: str) -> None:
    words = " ".join(refusal(*MISTAKES[name][0]).values())
    for python in ("None", "NormBall", "Public(", "()", "=True"):
        assert python not in words

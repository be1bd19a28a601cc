"""The plan of releases that a command is given: `--steps T --resample once|each`."""

from __future__ import annotations

from collections.abc import Callable

from ..accounting.errors import InvalidValue
from ..accounting.sampling.releases import Releases, ResampleEach, SampleOnce

WAYS: dict[str, Callable[[int], Releases]] = {"once": SampleOnce, "each": ResampleEach}
"""What --resample says, and what it means."""


def plan_of(resample: str | None, steps: int) -> Releases:
    """The plan of a run.

    Raises:
        InvalidValue: for several releases without a word on how they are sampled, and for another word.
    """
    if resample is None:
        if steps > 1:
            raise InvalidValue(
                "resample",
                "nothing",
                "once or each",
                f"{steps} releases on one sample cost something else than each on a fresh sample: say which",
            )
        return ResampleEach(steps)
    if resample not in WAYS:
        raise InvalidValue("resample", resample, "once or each")
    return WAYS[resample](steps)

"""How many samples a run of releases draws, and how many of its releases share one."""

from __future__ import annotations

from ..errors import InvalidType
from ..sampling.releases import Releases, ResampleEach, SampleOnce


def samples(releases: Releases) -> int:
    """Return how many samples the run draws."""
    match releases:
        case SampleOnce():
            return 1
        case ResampleEach():
            return releases.steps
    raise InvalidType("releases", releases, "SampleOnce or ResampleEach")


def on_one_sample(releases: Releases) -> int:
    """Return how many releases of the run share a sample."""
    return releases.steps // samples(releases)

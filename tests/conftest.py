"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

# the same cases in every run, as slow as the machine may be
settings.register_profile("suite", derandomize=True, max_examples=40, deadline=None)
settings.load_profile("suite")

_FURTHER_STREAMS = 9


@pytest.fixture(params=[0, *(pytest.param(n, marks=pytest.mark.soundness) for n in range(1, _FURTHER_STREAMS + 1))])
def stream(request: pytest.FixtureRequest) -> int:
    """Number of the random stream: a test of many draws runs on stream 0, and on more in the soundness runs."""
    number: int = request.param
    return number

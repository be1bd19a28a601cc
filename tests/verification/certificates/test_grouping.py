"""Groups of releases: every one in one of them, and few of them cost little more than all."""

from __future__ import annotations

import math
import random
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.certificates.grouping import groups
from tests.support.cases import examples

RELEASES = st.lists(st.tuples(st.floats(0, 20), st.floats(0, 1), st.integers(1, 2**40)), min_size=1, max_size=40)


@examples(200)
@given(RELEASES, st.integers(1, 50))
def test_each_release_is_in_one_group_and_there_are_no_more_than_allowed(
    releases: list[tuple[float, float, int]], most: int
) -> None:
    parameters, rates, times = zip(*releases, strict=True)
    found = groups(parameters, rates, times, most)
    assert sorted(chain(*found)) == list(range(len(releases)))
    assert 1 <= len(found) <= most


@examples(50)
@given(RELEASES)
def test_as_many_groups_as_releases_raise_nothing(releases: list[tuple[float, float, int]]) -> None:
    parameters, rates, times = zip(*releases, strict=True)
    for group in groups(parameters, rates, times, len(releases)):
        of_group = {(parameters[place], rates[place]) for place in group}
        cost = {rate**2 * math.expm1(min(parameter**2, 60.0)) for parameter, rate in of_group}
        top = max(rate for _, rate in of_group) ** 2 * math.expm1(min(max(s for s, _ in of_group) ** 2, 60.0))
        assert max(cost) == min(cost) == top or len(of_group) == 1


def test_few_groups_cost_little_more_than_what_they_are_put_together_from() -> None:
    """Both numbers vary at random: 64 groups of 2,000 releases cost a fifth more, 256 a tenth."""
    source = random.Random(3)
    parameters = [source.uniform(0.5, 1) for _ in range(2000)]
    rates = [source.uniform(0.01, 0.02) for _ in range(2000)]

    def cost(parameter: float, rate: float) -> float:
        return rate**2 * math.expm1(parameter**2)

    exact = sum(map(cost, parameters, rates))
    raised = []
    for most in (1, 64, 256):
        found = groups(parameters, rates, [1] * 2000, most)
        tops = ((max(parameters[i] for i in group), max(rates[i] for i in group), len(group)) for group in found)
        raised.append(sum(cost(s, q) * many for s, q, many in tops) / exact - 1)
    assert raised[0] > 0.5
    assert raised[1] < 0.2
    assert raised[2] < 0.1

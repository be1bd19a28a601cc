"""The sanitisers of sampled keys: their parameters, and a public largest frequency."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import EveryKey, InvalidType, InvalidValue, ListedRates, Ppswor, Private, Public, PwsFrequencies, PwsKeys
from certdp.accounting.keyed.reporting import FrequencyNoise, FrequencyTable, KeyTable
from certdp.plugins.contract import KeySampler, build, options, stated
from tests.support.cases import examples

KINDS = [PwsKeys, PwsFrequencies]
SAMPLERS: list[KeySampler] = [EveryKey(), Ppswor(threshold=Public("0.1"))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.about.name)
def test_keys_above_a_largest_frequency_count_as_it(
    kind: type[PwsKeys] | type[PwsFrequencies], sampler: KeySampler
) -> None:
    free = kind(epsilon=Public("0.5"), delta=Public("1e-2")).reporting(sampler.inclusion)
    capped = kind(epsilon=Public("0.5"), delta=Public("1e-2"), largest=Public(9)).reporting(sampler.inclusion)
    rows, capped_rows = ([*reporting.at([1, 5, 9, 10, 2**53])] for reporting in (free, capped))
    assert capped_rows[:3] == rows[:3]
    assert capped_rows[3] == capped_rows[4] == rows[2]
    assert (free.last, capped.last) == (None, 9)


@examples(10)
@given(st.integers(1, 2**53))
def test_it_is_stated_and_read_again(largest: int) -> None:
    for kind in KINDS:
        made = kind(epsilon=Public("0.5"), delta=Public("1e-2"), largest=Public(largest))
        assert stated(made)["largest"] == str(largest)
        assert build(kind, "mechanism", stated(made)) == made
        assert "largest" not in stated(kind(epsilon=Public("0.5"), delta=Public("1e-2")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [0, -1, "1.5", "many", float("inf")])
def test_largest_frequencies_that_are_refused(kind: type[PwsKeys] | type[PwsFrequencies], largest: float | str) -> None:
    with pytest.raises(InvalidValue, match="largest"):
        kind(epsilon=Public(1), delta=Public("0.1"), largest=Public(largest))


def test_a_largest_frequency_of_the_data_is_refused() -> None:
    """It would be computed from the data: only a declared one says nothing of them."""
    with pytest.raises(InvalidType, match="largest"):
        PwsKeys(epsilon=Public(1), delta=Public("0.1"), largest=Private(9))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_largest_frequency_beyond_the_listed_rates(kind: type[PwsKeys] | type[PwsFrequencies]) -> None:
    rates = ListedRates(rates=Public("0.1,0.2,0.5")).inclusion
    assert kind(epsilon=Public(1), delta=Public("0.1"), largest=Public(2)).reporting(rates).row(50).frequency == 2
    with pytest.raises(InvalidValue, match="largest"):
        kind(epsilon=Public(1), delta=Public("0.1"), largest=Public(4)).reporting(rates)


def test_which_table_is_drawn_from() -> None:
    keys = PwsKeys(epsilon=Public(1), delta=Public("0.1"))
    frequencies = PwsFrequencies(epsilon=Public(1), delta=Public("0.1"), subdivision=Public(3))
    assert isinstance(keys.reporting(SAMPLERS[1].inclusion), KeyTable)
    assert isinstance(frequencies.reporting(SAMPLERS[0].inclusion), FrequencyNoise)
    assert isinstance(frequencies.reporting(SAMPLERS[1].inclusion), FrequencyTable)
    assert frequencies.reporting(SAMPLERS[1].inclusion).budget.subdivision == 3


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_can_be_reported_at_delta_0(kind: type[PwsKeys] | type[PwsFrequencies]) -> None:
    with pytest.raises(InvalidValue, match="no key may ever be reported"):
        kind(epsilon=Public(1), delta=Public(0)).reporting(EveryKey().inclusion)


def test_options_are_named() -> None:
    assert [option.name for option in options(PwsKeys)] == ["epsilon", "delta", "largest"]
    assert [option.name for option in options(PwsFrequencies)] == ["epsilon", "delta", "subdivision", "largest"]
    for subdivision in ("-1", "65", "0.5"):
        with pytest.raises(InvalidValue, match="subdivision"):
            PwsFrequencies(epsilon=Public(1), delta=Public("0.1"), subdivision=Public(subdivision))


def test_frequencies_are_reported_at_the_epsilon_and_the_delta_declared() -> None:
    for subdivision in (0, 5, 64):
        declared = PwsFrequencies(
            epsilon=Public("1/2"), delta=Public("1/100"), subdivision=Public(subdivision), largest=Public(40)
        )
        for sampler in SAMPLERS:
            reporting = declared.reporting(sampler.inclusion)
            budget = reporting if isinstance(reporting, FrequencyNoise) else reporting.budget
            assert (budget.epsilon.value, budget.delta.value) == (Fraction(1, 2), Fraction(1, 100))
            assert budget.subdivision == subdivision

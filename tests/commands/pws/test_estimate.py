"""`certdp pws estimate`: what it prints, for people and programs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from rich.console import Console

from certdp.accounting.errors import InvalidValue
from certdp.accounting.keyed.estimates import Cap, Count, Power, Total
from certdp.accounting.provenance import Public
from certdp.commands.digits import Numbers
from certdp.commands.page import Page
from certdp.commands.pws.estimate import estimate
from certdp.plugins.contract import Coins
from certdp.samplers.ppswor import Ppswor
from certdp.weighted_sampling.counts import KeyCounts
from certdp.weighted_sampling.estimation import SampleEstimates, estimate_unsanitised_sum, expected_error
from certdp.weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from certdp.weighted_sampling.threshold_samples import ThresholdSample, threshold_sample

COUNTS = {f"{'new' if number % 3 else 'old'} {number} [x]": 3 + number * number % 400 for number in range(200)}


def estimated(capsys: pytest.CaptureFixture[str], **options: Any) -> tuple[Any, str]:
    """The answer for programs and for people."""
    answer = estimate(**options)
    answer.show(Page(Console(width=200), Numbers()))
    return json.loads(json.dumps(answer.as_json())), capsys.readouterr().out


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A release with frequencies."""
    place = tmp_path / "sample.parquet"
    sampling = PrivateWeightedSampling.within(epsilon="0.5", delta="0.01", frequencies=True)
    sampling.release(COUNTS).write(place)
    return place


@pytest.fixture
def unsanitised(tmp_path: Path) -> Path:
    """A sample with true frequencies."""
    place = tmp_path / "true.parquet"
    threshold_sample([KeyCounts.of(COUNTS)], Ppswor(threshold=Public("0.01"))).write(place)
    return place


@pytest.mark.parametrize(
    ("text", "statistic"),
    [("sum", Total()), ("count", Count()), ("power=1/2", Power("0.5")), ("power=0", Power(0)), ("cap=20", Cap(20))],
)
def test_sums(sample: Path, capsys: pytest.CaptureFixture[str], text: str, statistic: Any) -> None:
    where = ["key starts new", "key not ends 1 [x]"]
    data, printed = estimated(capsys, sample=sample, statistic=text, where=where, population="300")
    told = SampleEstimates.of(PrivateSample.read(sample)).sum(
        lambda key: key.startswith("new") and not key.endswith("1 [x]"), statistic, population=300
    )
    assert data["sum"] == json.loads(json.dumps(attrs.asdict(told)))
    assert data["where"] == where
    assert (data["is_private"], data["sample"]) == (True, str(sample))
    assert str(told) in printed
    assert "DP for one element" in printed


@pytest.mark.slow
def test_keys_ranks_quantiles_and_order(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    estimates = SampleEstimates.of(PrivateSample.read(sample))
    first = str(estimates.top(1)[0].key)
    picture = tmp_path / "out.png"
    wanted: dict[str, Any] = {"top": "3", "quantiles": "0.5,0.9", "rank": first, "kendall": True, "plot": picture}
    data, printed = estimated(capsys, sample=sample, **wanted)
    assert data["top"] == [attrs.asdict(key) for key in estimates.top(3)]
    assert data["quantiles"] == [attrs.asdict(one) for one in estimates.quantiles(["0.5", "0.9"])]
    assert data["rank"] == attrs.asdict(estimates.rank(first))
    assert data["kendall"] == estimates.kendall()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert data["plot"] == str(picture)
    for part in (f"{first} ", f"rank of {first}: about", "0.9 of them: at most", "Kendall", str(picture)):
        assert part in printed


def test_a_sample_that_is_not_private(unsanitised: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, printed = estimated(capsys, sample=unsanitised, where=["key starts old"])
    held = ThresholdSample.read(unsanitised)
    told = estimate_unsanitised_sum(held, lambda key: key.startswith("old")).reveal()
    notice = data["private"].pop("notice")
    assert data["private"] == attrs.asdict(told)
    assert not data["is_private"]
    assert "not for publication" in notice
    assert "not for publication" in printed
    only_private: dict[str, Any] = {"top": "3", "quantiles": "0.5", "rank": "a", "population": "9", "kendall": True}
    for name, value in only_private.items():
        with pytest.raises(InvalidValue, match=name):
            estimate(sample=unsanitised, **{name: value})


def test_keys_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "keys.csv"
    PrivateWeightedSampling.within(epsilon=1, delta="0.1").release(COUNTS, Coins.seeded(3)).write(place)
    data, printed = estimated(capsys, sample=place, statistic="count")
    assert not data["is_private"]
    assert data["sum"]["estimate"] == data["reported"] == len(PrivateSample.read(place))
    assert "not private" in printed
    with pytest.raises(InvalidValue, match="without frequencies"):
        estimate(sample=place)


@pytest.mark.parametrize(
    ("option", "value", "parameter"),
    [
        ("statistic", "mean", "statistic"),
        ("statistic", "power=", "statistic"),
        ("statistic", "power=-1", "power"),
        ("statistic", "cap=0.5", "statistic"),
        ("statistic", "sum=3", "statistic"),
        ("where", ["keys = a"], "where"),
        ("where", ["key ~ ("], "where"),
        ("population", "3", "population"),
        ("top", "none", "top"),
        ("quantiles", "0.5,2", "level"),
        ("rank", "nobody", "key"),
    ],
)
def test_refusals(sample: Path, option: str, value: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue) as problem:
        estimate(sample=sample, **{option: value})
    assert problem.value.parameter == parameter


def test_a_picture_is_not_replaced_unasked(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "out.png").write_bytes(b"")
    with pytest.raises(InvalidValue, match="plot"):
        estimate(sample=sample, plot=tmp_path / "out.png")


@pytest.mark.slow
def test_estimates_are_as_near_the_truth_as_expected() -> None:
    """With seeded coins: the same in every run."""
    sampling = PrivateWeightedSampling.within(epsilon="0.5", delta="0.01", frequencies=True)
    errors = [
        SampleEstimates.of(sampling.release(COUNTS, Coins.seeded(seed))).sum().estimate - sum(COUNTS.values())
        for seed in range(20)
    ]
    told = expected_error(sampling.reporting, KeyCounts.of(COUNTS)).reveal()
    assert abs(np.mean(errors) - told.bias) < 4 * (told.variance / len(errors)) ** 0.5
    assert told.variance / 3 < np.var(errors) < 3 * told.variance

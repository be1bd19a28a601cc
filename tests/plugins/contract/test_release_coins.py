"""Every door to a release asks a private source for words before anything is drawn or paid."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define

import certdp
from certdp import Coins, Full, KeyCounts, Order, PrivateWeightedSampling, Public, SampledRun
from certdp.accounting.draws.source import PROBE
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.provenance import Private
from certdp.dpis.engine import train
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import draw
from certdp.plugins.contract.coins import release_coins
from certdp.records.statistics import LossHistogram, release_count, release_quantile
from certdp.weighted_sampling.threshold_samples import bottom_k_sample, threshold_sample
from tests.support.training_plans import training_plan

RECORDS = np.eye(3)
KEYS = {"a": 5, "b": 700}
FOLDERS = ("src", "mechanisms", "samplers", "accounting", "plugins")
ROOT = Path(__file__).parents[3]


@define
class StandsStill:
    """A private source whose words are all the same."""

    asked: int = 0
    private: bool = True

    def bits(self, count: int) -> Any:
        self.asked += count
        return np.zeros(count, dtype=np.uint64)


def keys() -> KeyCounts:
    return KeyCounts.of(KEYS)


def sampling() -> PrivateWeightedSampling:
    return PrivateWeightedSampling.within(epsilon=1, delta="1e-3")


def trained(coins: Coins) -> object:
    plan = training_plan(batch=2, epochs=1, steps_per_epoch=1, records=20)
    data = LabelledData(features=np.ones((20, 2)), labels=np.arange(20) % 2)
    return train(RecordModel(Logistic(features=2, classes=2), data, Sgd(rate=1.0)), plan, coins=coins)


DOORS: dict[str, Callable[[Coins], object]] = {
    "a run": lambda coins: SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full()).release(
        RECORDS, coins=coins
    ),
    "a stated release": lambda coins: certdp.stated_release(
        SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full()), RECORDS, coins=coins
    ),
    "a sample": lambda coins: draw(Full(), RECORDS, coins),
    "a count": lambda coins: release_count(IndividualFilter(Order(4), 1, 5).active, 1, coins=coins),
    "a quantile": lambda coins: release_quantile(
        Private(LossHistogram.of([1.0], Public([0.5, 2.0]))), "0.5", 1, coins=coins
    ),
    "keys": lambda coins: sampling().release(KEYS, coins),
    "a sanitised sample": lambda coins: sampling().sanitise(threshold_sample([keys()], sampling().sampler), coins),
    "a threshold sample": lambda coins: threshold_sample([keys()], sampling().sampler, coins),
    "a bottom-k sample": lambda coins: bottom_k_sample([keys()], 1, coins=coins),
    "a model": lambda coins: RecordModel(
        Logistic(features=1, classes=2),
        LabelledData(features=np.ones((2, 1)), labels=np.arange(2)),
        Sgd(rate=1.0),
        coins=coins,
    ),
    "training": trained,
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_a_source_that_stands_still_is_refused(door: Callable[[Coins], object]) -> None:
    source = StandsStill()
    with pytest.raises(InvalidValue, match="coins: got a source whose words repeat"):
        door(Coins(source))
    assert source.asked == 2 * PROBE


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_seeded_coins_are_taken_at_every_door(door: Callable[[Coins], object]) -> None:
    assert door(Coins.seeded(1)) is not None


def test_what_is_no_coins_is_refused() -> None:
    anything: Any = 7
    with pytest.raises(InvalidType, match=r"coins: got 7.*Coins\.seeded"):
        release_coins(anything)
    assert release_coins(None).private


def test_no_release_takes_its_coins_in_another_way() -> None:
    """A door that is added later and stands in no table above is found by how it is written."""
    otherwise = re.compile(r"coins or Coins\(\)|Coins\(\) if coins is None")
    found = {
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if otherwise.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"plugins/contract/coins.py"}

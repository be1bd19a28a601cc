# pyright: reportMissingImports=false
"""Columns of Dask whose values have several types: 5, "5" and b"5" are no two units, and no one unit either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import certdp
from certdp import ADD_REMOVE, ELEMENT, RECORD, Ledger, PrivateWeightedSampling, Public
from certdp.accounting.errors import InvalidType
from certdp.accounting.filters import ApproximateFilter, PureFilter
from certdp.accounting.notions import Approximate, Pure
from tests.support.ledgers import number

pandas: Any = pytest.importorskip("pandas")
pytest.importorskip("dask.dataframe")

STEP = certdp.SampledRun(
    mechanism=certdp.LaplaceSum(scale=Public("0.001")),
    sampler=certdp.Full(),
    domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(20)),
)
SEVERAL = {
    "numbers and text": [[5, "5"], [5, "5"]],
    "numbers and text, by partition": [[5, 5], ["5", "5"]],
    "bytes and text": [[b"5", "5"], ["5", b"5"]],
    "bytes and text, by partition": [[b"5", b"5"], ["5", "5"]],
}


def frame(parts: list[list[object]], counts: str) -> Any:
    """Values that Dask leaves as they are, and 15 of each."""
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.concat(
            [
                dd.from_pandas(
                    pandas.DataFrame({"who": pandas.Series(part, dtype=object), counts: [15] * len(part)}),
                    npartitions=1,
                )
                for part in parts
            ]
        )


@pytest.fixture(params=[1, 4])
def spread(request: pytest.FixtureRequest) -> Any:
    """In how many partitions a frame lies; tasks run in this process."""
    import dask

    apart = {"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}  # whatever cluster another test left
    with dask.config.set({"dataframe.convert-string": False, **apart}):
        yield lambda whole: whole.repartition(npartitions=request.param) if request.param == 1 else whole


@pytest.mark.parametrize("parts", SEVERAL.values(), ids=list(SEVERAL))
def test_values_of_several_types_are_refused_before_the_payment(
    parts: list[list[object]], spread: Any, tmp_path: Path
) -> None:
    from certdp.engines import dask as engine

    rule = PureFilter(Pure(number(10**9)), relation=ADD_REMOVE, unit=RECORD, domain=STEP.domain)
    sums = Ledger.create(tmp_path / "sums.ledger", rule, data="events")
    with pytest.raises(InvalidType, match=r"who.*one type"):
        engine.release_sum(STEP, spread(frame(parts, "minutes")), unit="who", pay=sums)
    rule_of_keys = ApproximateFilter(Approximate(number(30), number("0.1")), relation=ADD_REMOVE, unit=ELEMENT)
    keys = Ledger.create(tmp_path / "keys.ledger", rule_of_keys, data="events")
    sampling = PrivateWeightedSampling.within(epsilon=1, delta="1e-3")
    with pytest.raises(InvalidType, match=r"who.*one type"):
        engine.release_keys(sampling, spread(frame(parts, "count")), key="who", pay=keys)
    assert sums.number == keys.number == 0


@pytest.mark.parametrize("value", [5, "5", b"5"])
def test_one_type_is_one_unit_in_every_partition(value: object, spread: Any, tmp_path: Path) -> None:
    from certdp.engines import dask as engine

    rule = PureFilter(Pure(number(10**9)), relation=ADD_REMOVE, unit=RECORD, domain=STEP.domain)
    sums = Ledger.create(tmp_path / "sums.ledger", rule, data="events")
    rows = spread(frame([[value, value], [value]], "minutes"))
    released = engine.release_sum(STEP, rows, unit="who", pay=sums)
    assert abs(released.value - 20).max() < 1  # one record, held within the domain

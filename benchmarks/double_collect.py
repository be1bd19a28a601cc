# pyright: reportMissingImports=false
"""A lazy frame that draws, collected twice, beside a release called twice: `python benchmarks/double_collect.py`.

Keys of frequencies 1 to 40, in Dask. Before: each task draws which keys are reported when it runs, as a sanitiser in
`map_partitions` does; a second action on the frame runs it again. After: `certdp.engines.dask.release_keys`, called a
second time with the same id.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import dask.dataframe
import numpy as np
import pandas

from certdp import ADD_REMOVE, ELEMENT, Coins, Enclosure, Ledger, PrivateWeightedSampling
from certdp.engines.dask import release_keys
from certdp.filters import ApproximateFilter
from certdp.ledger import LedgerRequest
from certdp.notions import Approximate
from certdp.weighted_sampling import KeyCounts, draw_reports

KEYS, PARTITIONS = 20_000, 8
SAMPLING = PrivateWeightedSampling.within(epsilon="0.25", delta="1e-3")


def drawn_when_run(frame: Any) -> Any:
    counts = KeyCounts.of(frame)
    return frame[draw_reports(SAMPLING.reporting, counts.counts, Coins()).kept]


def main() -> None:
    frame = pandas.DataFrame({"key": [f"key {n}" for n in range(KEYS)], "count": np.arange(KEYS) % 40 + 1})
    counts = dask.dataframe.from_pandas(frame, npartitions=PARTITIONS)
    rule = ApproximateFilter(Approximate(Enclosure.of(1), Enclosure.of("0.01")), relation=ADD_REMOVE, unit=ELEMENT)
    ledger = Ledger.create(Path(tempfile.mkdtemp()) / "a.ledger", rule, data="keys")

    ledger.pay(SAMPLING.guarantee, request="a lazy frame")
    lazy = counts.map_partitions(drawn_when_run, meta=counts._meta)
    one, other = (set(lazy.compute()["key"]) for _ in range(2))
    print(f"a lazy frame, collected twice: {ledger.number} payment, {len(one ^ other):,} keys differ")

    request = LedgerRequest(ledger, "a release")
    one, other = (set(release_keys(SAMPLING, counts, pay=request).keys.to_pylist()) for _ in range(2))
    print(f"a release, called twice:       {ledger.number - 1} payment, {len(one ^ other):,} keys differ")


if __name__ == "__main__":
    main()

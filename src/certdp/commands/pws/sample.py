"""`certdp pws sample`: keys with their true frequencies, for the data's owner alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ...accounting.errors import InvalidValue
from ...accounting.provenance import Public
from ...plugins.contract import Coins
from ...weighted_sampling.counts import open_counts
from ...weighted_sampling.threshold_samples import CoinSource, KeyHash, SeedOrder, bottom_k_sample, threshold_sample
from ..answering import application
from ..options import AnySeed, Output, Overwrite, whole_or_none
from .drawn import DrawnSample, check_output
from .options import Aggregate, CountColumn, Counts, KeyColumn, Power, Scheme, Threshold
from .scheme import sampler_of

_ORDERS: Mapping[str | None, SeedOrder] = {
    None: SeedOrder.PPSWOR,
    "ppswor": SeedOrder.PPSWOR,
    "pps": SeedOrder.PRIORITY,
}


def sample(
    counts: Counts,
    output: Output,
    scheme: Scheme = None,
    power: Power = None,
    threshold: Threshold = None,
    bottom: Annotated[
        str | None,
        typer.Option(metavar="K", help="Keep the K keys with the smallest u/f instead; cannot be made private."),
    ] = None,
    coordinated: Annotated[
        str | None,
        typer.Option(
            metavar="SALT", help="Coins from a hash of each key, so that samples agree; cannot be made private."
        ),
    ] = None,
    key: KeyColumn = None,
    count: CountColumn = None,
    aggregate: Aggregate = False,
    overwrite: Overwrite = False,
    seed: AnySeed = None,
) -> DrawnSample:
    """Sample keys with their true frequencies: not private, for the data's owner.

    The sample is written to --output: .parquet, .csv or .tsv.
    """
    check_output(counts, output, overwrite)
    coins = _coins(coordinated, seed)
    kept = whole_or_none("bottom", bottom)
    sampler = sampler_of(scheme, None if threshold is None else Public(threshold), power) if kept is None else None
    with open_counts(counts, aggregate=aggregate, key=key, count=count) as stream:
        if sampler is not None:
            drawn = threshold_sample(stream.chunks(), sampler, coins)
        else:
            assert kept is not None
            order = _order(scheme, threshold)
            drawn = bottom_k_sample(stream.chunks(), kept, order=order, power=power or 1, coins=coins)
    drawn.write(output, overwrite=overwrite)
    return DrawnSample(sample=drawn, output=output)


def _coins(coordinated: str | None, seed: int | None) -> CoinSource:
    if coordinated is not None:
        if seed is not None:
            raise InvalidValue("seed", seed, "nothing beside --coordinated", "State one of the two")
        return KeyHash(coordinated.encode())
    return Coins() if seed is None else Coins.seeded(seed)


def _order(scheme: str | None, threshold: str | None) -> SeedOrder:
    if threshold is not None:
        raise InvalidValue("threshold", threshold, "nothing beside --bottom", "State one of the two")
    if scheme not in _ORDERS:
        raise InvalidValue("scheme", scheme, "ppswor or pps, with --bottom", "Choose one of them")
    return _ORDERS[scheme]


command = application(sample, about_data=True)

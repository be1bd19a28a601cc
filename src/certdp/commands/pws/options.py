"""Options of `certdp pws`: how keys are sampled, counted and sanitised."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Counts = Annotated[
    list[Path],
    typer.Argument(
        metavar="COUNTS...",
        help="Keys and counts, one key a row: tsv or csv, with a header or without, or parquet; .xz. Several files, "
        "or folders of such files.",
    ),
]
KeyColumn = Annotated[str | None, typer.Option("--key", metavar="NAME", help="Column of the keys.")]
CountColumn = Annotated[str | None, typer.Option("--count", metavar="NAME", help="Column of the counts.")]
Aggregate = Annotated[
    bool, typer.Option("--aggregate", help="Count the rows of each key, or add up its counts, first.")
]
Delta = Annotated[
    str, typer.Option("--delta", metavar="D", help="δ of the budget, in (0, 1]; at 0 nothing could be reported.")
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="ppswor|pps|none",
        help="How keys are sampled; none keeps every key. By default ppswor where a threshold or a size is stated.",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold", metavar="T", help="τ > 0: a key of size f is sampled with 1 − e^{−τf} (ppswor) or min(1, τf)."
    ),
]
Power = Annotated[
    str | None, typer.Option("--power", metavar="P", help="p ≥ 0 in the size f = w^p of frequency w; by default 1.")
]
Frequencies = Annotated[
    bool, typer.Option("--frequencies", help="Report a token of each key, from which frequencies can be estimated.")
]
MaxFrequency = Annotated[
    str | None,
    typer.Option(
        "--max-frequency", metavar="M", help="Public largest frequency: keys that occur more often count as M."
    ),
]
UserBound = Annotated[
    str | None,
    typer.Option(
        "--user-bound",
        metavar="C",
        help="Protect users who contribute at most C elements: ε and δ are then theirs. The file does not show it.",
    ),
]

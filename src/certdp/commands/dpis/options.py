"""Options of `certdp dpis`: a training run and how it is accounted for."""

from __future__ import annotations

from typing import Annotated

import typer

Records = Annotated[
    str, typer.Option("--records", metavar="N", help="Number of records: public, or a public guess of it.")
]
Batch = Annotated[str, typer.Option("--batch", metavar="B", help="Expected batch size b > 0; public.")]
Epochs = Annotated[int, typer.Option("--epochs", metavar="E", min=1, help="Number of epochs; public.")]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="δ of the budget, in (0, 1).")]
StepsPerEpoch = Annotated[
    int | None,
    typer.Option("--steps-per-epoch", metavar="T", min=1, help="Steps of an epoch; public. By default N/b, rounded."),
]
Clip = Annotated[str, typer.Option("--clip", metavar="C", help="Bound C > 0 on the norm of a gradient; public.")]
SizeNoise = Annotated[
    str | None,
    typer.Option(
        "--size-noise",
        metavar="S",
        help="Release the number of records with noise of this standard deviation. By default it is public: an "
        "assumption.",
    ),
]
NormNoise = Annotated[
    str | None,
    typer.Option(
        "--norm-noise", metavar="K", help="Noise multiplier σ_K of norm sums, over C; by default 0.02 of the records."
    ),
]
NormRate = Annotated[
    str | None, typer.Option("--norm-rate", metavar="P", help="Rate p_K at which norms are summed; by default 1.")
]
Margin = Annotated[
    str | None,
    typer.Option("--margin", metavar="X", help="ξ/(b·C) > 0: K̃ is at least (1 + X)·b·C; by default 0.01."),
]
Divider = Annotated[
    str | None,
    typer.Option(
        "--divider",
        metavar="A",
        help="a_E: up to this share of the epochs, budget is kept for later ones; by default 0.8.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option("--order", metavar="A", help="Rényi order of the account; by default the best for K̃ = ÑC."),
]
LargestRate = Annotated[
    str | None,
    typer.Option(
        "--largest-rate",
        metavar="R",
        help="Account by loss distributions instead: no step has a larger rate than this, which raises K̃ to b·C/R; "
        "DP-SGD needs b/N.",
    ),
]

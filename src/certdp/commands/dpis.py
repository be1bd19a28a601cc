"""The sub-application `certdp dpis`: training by importance-sampled DP-SGD; what its commands do lies in `dpis_*`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

dpis = typer.Typer(
    name="dpis",
    help="Importance-sampled DP-SGD (DPIS) and DP-SGD, within a budget (ε, δ) per record that no run exceeds.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Batch = Annotated[str, typer.Option("--batch", metavar="B", help="Expected batch size b > 0; public.")]
Epochs = Annotated[int, typer.Option("--epochs", metavar="E", min=1, help="Number of epochs; public.")]
Epsilon = Annotated[str, typer.Option("--epsilon", metavar="E0", help="ε₀ > 0 of the whole run.")]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="δ₀ in (0, 1) of the whole run.")]
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
    str, typer.Option("--norm-rate", metavar="P", help="Rate p_K at which norms are summed; by default 1.")
]
Divider = Annotated[
    str,
    typer.Option("--divider", metavar="A", help="a_E: up to this share of the epochs, budget is kept for later ones."),
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
        help="Account by loss distributions instead: no step has a larger rate than this, which raises K̃ to b·C/R.",
    ),
]


@dpis.command()
def plan(
    records: Annotated[str, typer.Option(metavar="N", help="Number of records: public, or a public guess of it.")],
    batch: Batch,
    epochs: Epochs,
    epsilon: Epsilon,
    delta: Delta,
    steps_per_epoch: StepsPerEpoch = None,
    clip: Clip = "1",
    size_noise: SizeNoise = None,
    norm_noise: NormNoise = None,
    norm_rate: NormRate = "1",
    divider: Divider = "0.8",
    order: Order = None,
    largest_rate: LargestRate = None,
    kc_trajectory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="K̃/C as foreseen, one number a line for each epoch; by default N throughout."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Noise multipliers by epoch, of DPIS and of DP-SGD, and what every release of the run costs."""
    from .dpis_plan import Request, run
    from .output import reporting

    with reporting(json) as output:
        run(
            Request(
                records=records,
                batch=batch,
                epochs=epochs,
                epsilon=epsilon,
                delta=delta,
                steps_per_epoch=steps_per_epoch,
                clip=clip,
                size_noise=size_noise,
                norm_noise=norm_noise,
                norm_rate=norm_rate,
                divider=divider,
                order=order,
                largest_rate=largest_rate,
                kc_trajectory=kc_trajectory,
            ),
            output,
        )

"""The sub-application `certdp dpis`: training by importance-sampled DP-SGD; what its commands do lies in `dpis_*`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import Json, ShowValues

dpis = typer.Typer(
    name="dpis",
    help="Importance-sampled DP-SGD (DPIS) and DP-SGD, within a budget (ε, δ) per record that no run exceeds.",
    no_args_is_help=True,
)

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
    norm_rate: NormRate = None,
    margin: Margin = None,
    divider: Divider = None,
    order: Order = None,
    largest_rate: LargestRate = None,
    kc_trajectory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="K̃/C as foreseen, one number a line for each epoch; by default N throughout."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot σ_G by epoch, of DPIS and of DP-SGD (DPIS Figure 1).")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="OUT.json", help="Write the publishable certificate of the run as it is foreseen here."),
    ] = None,
    json: Json = False,
) -> None:
    """Noise multipliers by epoch, of DPIS and of DP-SGD, and what every release of the run costs."""
    from ..output import reporting
    from .plan import Request, run
    from .run import RunRequest

    with reporting(json) as output:
        run(
            Request(
                run=RunRequest(
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
                    margin=margin,
                    divider=divider,
                    order=order,
                    largest_rate=largest_rate,
                ),
                kc_trajectory=kc_trajectory,
                plot=plot,
                certificate=certificate,
            ),
            output,
        )


@dpis.command()
def train(
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Records: npz, csv with a header (each also .xz) or parquet.")
    ],
    target: Annotated[str, typer.Option(metavar="NAME", help="Array or column of the labels, numbered from 0.")],
    model: Annotated[
        str, typer.Option(metavar="logistic|mlp|cnn|lstm", help="What to train; cnn and lstm need PyTorch.")
    ],
    classes: Annotated[int, typer.Option(metavar="N", min=2, help="Number of classes; public.")],
    records: Annotated[str, typer.Option(metavar="N", help="Number of records: public, or a public guess of it.")],
    batch: Batch,
    epochs: Epochs,
    epsilon: Epsilon,
    delta: Delta,
    out: Annotated[Path, typer.Option(metavar="DIR", help="New folder for the model and the history.")],
    array: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array of the features in an npz archive; by default X.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Test records: a file, a column of flags, or an array of features."),
    ] = None,
    test_target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array of their labels; by default test for train in --target.")
    ] = None,
    divide_by: Annotated[float, typer.Option(metavar="B", help="Divide features by this public number.")] = 1.0,
    uniform: Annotated[bool, typer.Option("--uniform", help="DP-SGD: every record with probability b/N.")] = False,
    steps_per_epoch: StepsPerEpoch = None,
    clip: Clip = "1",
    clip_quantile: Annotated[
        str | None, typer.Option(metavar="L", help="λ: after each epoch C becomes λ times the mean norm (Section 3.5).")
    ] = None,
    clip_interval: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Public interval in which C stays as it adapts.")
    ] = None,
    clip_external: Annotated[
        str | None, typer.Option(metavar="C*", help="Bound on norms where C adapts; by default HIGH.")
    ] = None,
    clip_noise: Annotated[
        str | None, typer.Option(metavar="K", help="Its noise multiplier, over C*; by default --norm-noise.")
    ] = None,
    size_noise: SizeNoise = None,
    norm_noise: NormNoise = None,
    norm_rate: NormRate = None,
    margin: Margin = None,
    divider: Divider = None,
    noise_decay: Annotated[
        str | None, typer.Option(metavar="K", help="Let the noise multiplier fall by this factor an epoch; in (0, 1].")
    ] = None,
    order: Order = None,
    largest_rate: LargestRate = None,
    multiplier: Annotated[
        str | None,
        typer.Option(metavar="K", help="k ≥ 1: how far a norm may grow within an epoch unclipped; by default 5."),
    ] = None,
    floor: Annotated[
        str | None, typer.Option(metavar="G", help="g_L/C in (0, 1]: where bounds on norms start; by default 0.01.")
    ] = None,
    hidden: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Hidden units: by default 64 of an mlp, 32 of an lstm.")
    ] = None,
    activation: Annotated[
        str | None,
        typer.Option(
            metavar="relu|tanh|tempered-sigmoid", help="What hidden units do: by default tanh, in an lstm relu."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="scattering", help="Train on fixed features of images, which cost no budget."),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(metavar="[CHANNELSx]HEIGHTxWIDTH", help="Shape of images in rows; by default grey and square."),
    ] = None,
    words: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Words of an lstm are numbered 1 to N, 0 is none; public.")
    ] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Entries of the fixed word vectors; by default 100.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Where PyTorch computes; by default on the CPU.")
    ] = None,
    optimiser: Annotated[str, typer.Option(metavar="sgd|adam", help="The optimiser.")] = "sgd",
    rate: Annotated[float, typer.Option(metavar="R", help="Learning rate.")] = 0.5,
    momentum: Annotated[
        float | None, typer.Option(metavar="M", help="Momentum of sgd, in [0, 1); by default 0.5.")
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="A killed run loses at most as many steps.")
    ] = 100,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="SEED", min=0, help="For experiments: a run that repeats, and is not private.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="OUT.json", help="Write the publishable certificate of the run here."),
    ] = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Train a classifier by DPIS or DP-SGD within (ε, δ) per record."""
    from ...dpis.models.files import LabelledReading
    from ..output import reporting
    from .models import ModelRequest
    from .run import AdaptiveRequest, RunRequest
    from .train import OptimiserRequest, Request, run

    with reporting(json, show_values) as output:
        run(
            Request(
                data=data,
                reading=LabelledReading(
                    target=target, array=array, test=test, test_target=test_target, divide_by=divide_by
                ),
                run=RunRequest(
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
                    margin=margin,
                    divider=divider,
                    order=order,
                    largest_rate=largest_rate,
                    uniform=uniform,
                    adaptive=AdaptiveRequest(
                        quantile=clip_quantile, interval=clip_interval, external=clip_external, noise=clip_noise
                    ),
                    decay=noise_decay,
                    multiplier=multiplier,
                    floor=floor,
                ),
                model=ModelRequest(
                    model=model,
                    classes=classes,
                    hidden=hidden,
                    activation=activation,
                    features=features,
                    image=image,
                    words=words,
                    width=width,
                    device=device,
                ),
                optimiser=OptimiserRequest(name=optimiser, rate=rate, momentum=momentum),
                seed=seed,
                out=out,
                certificate=certificate,
                resume=resume,
                every=checkpoint_every,
            ),
            output,
        )

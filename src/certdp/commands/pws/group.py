"""The sub-application `certdp pws`: private weighted samples of keyed data; what its commands do lies in `pws_*`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import Json, ShowValues

pws = typer.Typer(
    name="pws",
    help="Private weighted samples of keys and counts: what is reported satisfies (ε, δ)-DP for one element, that is "
    "one occurrence of a key, or for one user.",
    no_args_is_help=True,
)

Counts = Annotated[
    Path,
    typer.Argument(
        metavar="COUNTS", help="Keys and counts, one key a row: tsv or csv, with a header or without, or parquet; .xz."
    ),
]
KeyColumn = Annotated[str | None, typer.Option("--key", metavar="NAME", help="Column of the keys.")]
CountColumn = Annotated[str | None, typer.Option("--count", metavar="NAME", help="Column of the counts.")]
Aggregate = Annotated[
    bool, typer.Option("--aggregate", help="Count the rows of each key, or add up its counts, first.")
]
Epsilon = Annotated[str, typer.Option("--epsilon", metavar="E", help="ε ≥ 0 for one element, or for one user.")]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="δ in (0, 1]; at 0 nothing could be reported.")]
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
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Certificate = Annotated[
    Path | None, typer.Option("--certificate", metavar="OUT.json", help="Write the publishable certificate here.")
]
PrivateOutput = Annotated[
    Path, typer.Option("--output", metavar="FILE", help="Write the sample here: .parquet, .csv or .tsv.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of all coins, for experiments: the result is reproducible, not private."),
]


@pws.command()
def release(
    counts: Counts,
    epsilon: Epsilon,
    delta: Delta,
    output: PrivateOutput,
    scheme: Scheme = None,
    power: Power = None,
    threshold: Threshold = None,
    size: Annotated[
        str | None, typer.Option(metavar="K", help="Sample about K keys before they are sanitised: τ = K/S.")
    ] = None,
    total: Annotated[
        str | None, typer.Option(metavar="S", help="Total size of all keys, where it was public before the data.")
    ] = None,
    total_epsilon: Annotated[
        str | None, typer.Option(metavar="E1", help="Release the total size with noise, which costs E1 more.")
    ] = None,
    frequencies: Frequencies = False,
    max_frequency: MaxFrequency = None,
    user_bound: UserBound = None,
    key: KeyColumn = None,
    count: CountColumn = None,
    aggregate: Aggregate = False,
    overwrite: Overwrite = False,
    certificate: Certificate = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the private report for the data's owner here."),
    ] = None,
    seed: Seed = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Sample and sanitise keys in one pass over a file."""
    from ..output import reporting
    from .release import Request, run

    with reporting(json, show_values) as out:
        run(
            Request(
                counts=counts,
                key=key,
                count=count,
                aggregate=aggregate,
                epsilon=epsilon,
                delta=delta,
                scheme=scheme,
                power=power,
                threshold=threshold,
                size=size,
                total=total,
                total_epsilon=total_epsilon,
                frequencies=frequencies,
                max_frequency=max_frequency,
                user_bound=user_bound,
                output=output,
                overwrite=overwrite,
                certificate=certificate,
                report=report,
                seed=seed,
            ),
            out,
        )


@pws.command()
def table(
    epsilon: Epsilon,
    delta: Delta,
    max_frequency: Annotated[
        str, typer.Option("--max-frequency", metavar="M", help="Print the rows of frequencies 0 to M.")
    ],
    scheme: Scheme = None,
    power: Power = None,
    threshold: Threshold = None,
    frequencies: Frequencies = False,
    user_bound: UserBound = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot the probabilities against the frequency.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """How often a key of each frequency is reported, exactly; no data are needed."""
    from ..output import reporting
    from .table import Request, run

    with reporting(json) as out:
        run(
            Request(
                epsilon=epsilon,
                delta=delta,
                max_frequency=max_frequency,
                scheme=scheme,
                threshold=threshold,
                power=power,
                frequencies=frequencies,
                user_bound=user_bound,
                plot=plot,
                overwrite=overwrite,
            ),
            out,
        )


OwnerOutput = Annotated[
    Path,
    typer.Option("--output", metavar="FILE", help="Write it here, for its owner alone: .parquet, .csv or .tsv."),
]


@pws.command()
def sample(
    counts: Counts,
    output: OwnerOutput,
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
    seed: Seed = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Sample keys with their true frequencies: not private, for the data's owner."""
    from ..output import reporting
    from .sample import SampleRequest, run_sample

    with reporting(json, show_values) as out:
        run_sample(
            SampleRequest(
                counts=counts,
                key=key,
                count=count,
                aggregate=aggregate,
                scheme=scheme,
                power=power,
                threshold=threshold,
                bottom=bottom,
                coordinated=coordinated,
                seed=seed,
                output=output,
                overwrite=overwrite,
            ),
            out,
        )


@pws.command()
def merge(
    first: Annotated[Path, typer.Argument(metavar="A", help="A sample of `certdp pws sample`.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="One by the same scheme, of data without a common key.")],
    output: OwnerOutput,
    overwrite: Overwrite = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Merge samples of two data sets without a common key: not private, for the data's owner."""
    from ..output import reporting
    from .sample import MergeRequest, run_merge

    with reporting(json, show_values) as out:
        run_merge(MergeRequest(first=first, second=second, output=output, overwrite=overwrite), out)


@pws.command()
def sanitize(
    sample: Annotated[Path, typer.Argument(metavar="SAMPLE", help="A sample of `certdp pws sample` or `merge`.")],
    epsilon: Epsilon,
    delta: Delta,
    output: PrivateOutput,
    frequencies: Frequencies = False,
    max_frequency: MaxFrequency = None,
    user_bound: UserBound = None,
    overwrite: Overwrite = False,
    certificate: Certificate = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Make a sample private, without the data it was drawn from."""
    from ..output import reporting
    from .sample import SanitizeRequest, run_sanitize

    with reporting(json, show_values) as out:
        run_sanitize(
            SanitizeRequest(
                sample=sample,
                epsilon=epsilon,
                delta=delta,
                frequencies=frequencies,
                max_frequency=max_frequency,
                user_bound=user_bound,
                output=output,
                overwrite=overwrite,
                certificate=certificate,
            ),
            out,
        )


@pws.command()
def estimate(
    sample: Annotated[
        Path,
        typer.Argument(metavar="SAMPLE", help="A sample of `certdp pws release`, `sanitize`, `sample` or `merge`."),
    ],
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREDICATE",
            help="Which keys: 'key = TEXT', 'key ~ REGEX', 'key in FILE', or starts, ends or contains in place of =; "
            "'key not …' negates. Repeatable: all must hold.",
        ),
    ] = None,
    statistic: Annotated[
        str, typer.Option(metavar="G", help="What is summed over keys: sum, count, power=P or cap=M of frequencies.")
    ] = "sum",
    population: Annotated[
        str | None, typer.Option(metavar="N", help="Public number of keys of the data that the predicates select.")
    ] = None,
    top: Annotated[str | None, typer.Option(metavar="K", help="List the K most frequent keys.")] = None,
    quantiles: Annotated[
        str | None, typer.Option(metavar="Q,…", help="Quantiles of the frequencies of keys, such as 0.5,0.9.")
    ] = None,
    rank: Annotated[str | None, typer.Option(metavar="KEY", help="Rank of a reported key.")] = None,
    order: Annotated[
        bool, typer.Option("--order", help="How well tokens keep the order of frequencies: expected Kendall τ.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="OUT.png", help="Plot what the sample tells.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Sums, keys, ranks and quantiles from a sample alone: estimates, which cost nothing more."""
    from ..output import reporting
    from .estimate import Request, run

    with reporting(json, show_values) as out:
        run(
            Request(
                sample=sample,
                where=where or [],
                statistic=statistic,
                population=population,
                top=top,
                quantiles=quantiles,
                rank=rank,
                order=order,
                plot=plot,
                overwrite=overwrite,
            ),
            out,
        )

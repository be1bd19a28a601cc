"""The application and its options; what the commands do lies in their own modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .dpis.group import dpis
from .options import Allow, Json, ShowValues, ThirdParty, refuse_unused
from .plugins.group import plugins
from .pws.group import pws
from .usage import Commands

app = typer.Typer(
    name="certdp",
    cls=Commands,
    help="Certified accounting for differential privacy: proven bounds per record, certificates that anyone can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(pws)
app.add_typer(dpis)
app.add_typer(plugins)

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="Records: npy, npz, csv with a header or parquet, each also .xz."),
]
Array = Annotated[
    str | None, typer.Option("--array", metavar="NAME", help="Array in an npz file; else X, or the only matrix.")
]
Transpose = Annotated[bool, typer.Option("--transpose", help="Records are the columns.")]
DivideBy = Annotated[str, typer.Option("--divide-by", metavar="BOUND", help="Divide every entry by this public bound.")]

Mechanism = Annotated[str, typer.Option(metavar="NAME", help="What is released; `certdp plugins` lists the names.")]
Sampler = Annotated[str, typer.Option(metavar="NAME", help="How records are drawn; full draws every one.")]
PlannedMechanism = Annotated[str | None, typer.Option("--mechanism", metavar="NAME", help="What is released.")]
PlannedSampler = Annotated[str | None, typer.Option("--sampler", metavar="NAME", help="How records are drawn.")]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", metavar="FILE", help="TOML file with several releases, in place of one mechanism."),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="A public constant of mechanism, sampler or run (radius, dimension); repeatable. Where several have KEY, "
        "write mechanism.KEY, sampler.KEY or run.KEY.",
    ),
]
Resample = Annotated[
    str | None,
    typer.Option(
        metavar="once|each", help="One sample for all releases or a fresh one for each; required for several."
    ),
]
Certificate = Annotated[
    Path | None, typer.Option("--certificate", metavar="OUT.json", help="Write the publishable certificate here.")
]
Steps = Annotated[int, typer.Option(min=1, help="Number of releases.")]
Accountant = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="best, or one of basic, advanced, optimal, zcdp, gdp, renyi and loss-distribution.",
    ),
]
AccountingPlot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="OUT.png", help="Plot δ(ε) by each accountant, and the trade-off curve."),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("certdp"))
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep the options of the application itself."""


@app.command()
def psi(
    mechanism: Mechanism,
    sampler: Sampler,
    option: Options = None,
    data: Data = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    outside: Annotated[
        str, typer.Option(metavar="clip|drop", help="What happens to a record outside the radius.")
    ] = "clip",
    certificate: Certificate = None,
    owner_certificate: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the data owner's private certificate here.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot the profile, which is public, here.")
    ] = None,
    owner_plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot ψ of the file's records, for the data's owner, here.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Ask for ε at this δ, not for the pure one.")] = None,
    order: Annotated[str | None, typer.Option(metavar="A", help="Ask for τ at this Rényi order above 1.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Keyed data: ask for δ at this ε, not at the mechanism's.")
    ] = None,
    max_frequency: Annotated[
        int | None, typer.Option(min=1, metavar="M", help="Keyed data: list frequencies 1 to M.")
    ] = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """What one release loses about each record, and about any record of a public domain; with a certificate.

    About sampled keys: δ between every two neighbouring frequencies, and over all frequencies.
    """
    from ..data import Reading
    from .output import reporting
    from .psi.pure import Request, run

    with reporting(json, show_values) as output:
        run(
            Request(
                mechanism=mechanism,
                sampler=sampler,
                options=option or [],
                data=data,
                reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
                outside=outside,
                certificate=certificate,
                owner_certificate=owner_certificate,
                plot=plot,
                owner_plot=owner_plot,
                delta=delta,
                order=order,
                epsilon=epsilon,
                max_frequency=max_frequency,
                third_party=third_party,
                allow=allow,
            ),
            output,
        )


@app.command()
def weights(
    mechanism: Mechanism,
    data: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Records, read in chunks: npy, npz, csv or parquet, each also .xz."),
    ],
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="Write weight and probability of each record here: csv or parquet.")
    ],
    sampler: Annotated[str, typer.Option(metavar="NAME", help="How records are drawn.")] = "privacy-constrained",
    target_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Loss that no record may exceed: ε, or τ at an order.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="δ of the target, for Gaussian sums.")] = None,
    order: Annotated[
        str | None, typer.Option(metavar="A", help="Rényi order of the target above 1, for Gaussian sums.")
    ] = None,
    resample: Resample = None,
    steps: Steps = 1,
    option: Options = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    outside: Annotated[
        str, typer.Option(metavar="clip|drop", help="What happens to a record outside the radius.")
    ] = "clip",
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Weight and probability of every record of a file, however long; by default the largest within a target."""
    from ..data import Reading
    from .output import reporting
    from .weights import Request, run

    with reporting(json, show_values) as out:
        run(
            Request(
                mechanism=mechanism,
                sampler=sampler,
                target=target_epsilon,
                delta=delta,
                order=order,
                resample=resample,
                steps=steps,
                options=option or [],
                data=data,
                reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
                outside=outside,
                output=output,
                certificate=certificate,
                third_party=third_party,
                allow=allow,
            ),
            out,
        )


@app.command()
def cluster(
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Records: npy, npz, csv with a header or parquet, each also .xz.")
    ],
    epsilon: Annotated[str, typer.Option(metavar="E", help="ε that the centres may cost.")],
    clusters: Annotated[int, typer.Option(metavar="K", min=1, help="Number of centres.")],
    output: Annotated[Path, typer.Option(metavar="FILE.csv", help="Write the released centres here.")],
    sampler: Annotated[str, typer.Option(metavar="NAME", help="How records are drawn.")] = "full",
    option: Options = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    outside: Annotated[
        str, typer.Option(metavar="clip|drop", help="What happens to a record outside the radius.")
    ] = "clip",
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Private k-means: centres by weighted DP-Lloyd on a sample, calibrated to a certified ε. Needs radius."""
    from ..data import Reading
    from .cluster import Request, run
    from .output import reporting

    with reporting(json, show_values) as out:
        run(
            Request(
                data=data,
                reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
                epsilon=epsilon,
                clusters=clusters,
                sampler=sampler,
                options=option or [],
                outside=outside,
                output=output,
                certificate=certificate,
                third_party=third_party,
                allow=allow,
            ),
            out,
        )


@app.command()
def epsilon(
    mechanism: PlannedMechanism = None,
    sampler: PlannedSampler = None,
    plan: PlanFile = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    delta: Annotated[str, typer.Option(metavar="D", help="δ in [0, 1]; at 0 the pure ε, where there is one.")] = "0",
    accountant: Accountant = "best",
    plot: AccountingPlot = None,
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """The smallest proven ε at δ of one or many releases on samples of the data."""
    from .account import Request, run_epsilon
    from .output import reporting

    with reporting(json) as output:
        request = Request(
            plan=plan,
            mechanism=mechanism,
            sampler=sampler,
            options=option or [],
            resample=resample,
            steps=steps,
            accountant=accountant,
            plot=plot,
            third_party=third_party,
            allow=allow,
            certificate=certificate,
        )
        run_epsilon(request, delta, output)


@app.command()
def delta(
    epsilon: Annotated[str, typer.Option(metavar="E", help="ε ≥ 0, in nats.")],
    mechanism: PlannedMechanism = None,
    sampler: PlannedSampler = None,
    plan: PlanFile = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    accountant: Accountant = "best",
    plot: AccountingPlot = None,
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """The smallest proven δ at ε of one or many releases on samples of the data."""
    from .account import Request, run_delta
    from .output import reporting

    with reporting(json) as output:
        request = Request(
            plan=plan,
            mechanism=mechanism,
            sampler=sampler,
            options=option or [],
            resample=resample,
            steps=steps,
            accountant=accountant,
            plot=plot,
            third_party=third_party,
            allow=allow,
            certificate=certificate,
        )
        run_delta(request, epsilon, output)


@app.command()
def calibrate(
    mechanism: Mechanism,
    sampler: Sampler,
    find: Annotated[
        str,
        typer.Option(metavar="KEY", help="What is looked for: steps, or an option of mechanism or sampler."),
    ],
    epsilon: Annotated[str, typer.Option(metavar="E", help="ε of the budget, in nats.")],
    delta: Annotated[str, typer.Option(metavar="D", help="δ of the budget; at 0 the pure ε.")] = "0",
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    at_least: Annotated[str | None, typer.Option(metavar="NUMBER", help="The least value admitted.")] = None,
    at_most: Annotated[str | None, typer.Option(metavar="NUMBER", help="The largest value admitted.")] = None,
    accountant: Accountant = "best",
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """The least noise, the most releases or the highest rate within a budget: the safe end, proven."""
    from .account import Request
    from .calibrate import Target, run_calibrate
    from .output import reporting

    with reporting(json) as output:
        request = Request(
            plan=None,
            mechanism=mechanism,
            sampler=sampler,
            options=option or [],
            resample=resample,
            steps=steps,
            accountant=accountant,
            plot=None,
            third_party=third_party,
            allow=allow,
            certificate=certificate,
        )
        target = Target(find=find, epsilon=epsilon, delta=delta, at_least=at_least, at_most=at_most)
        run_calibrate(request, target, output)


@app.command()
def audit(
    mechanism: Mechanism,
    sampler: Annotated[
        str | None, typer.Option(metavar="NAME", help="How records or keys are drawn; unless given, every one is.")
    ] = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="epsilon=E,delta=D", help="What is doubted; without an ε, what certdp proves at D, or at 0."
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=20, metavar="N", help="Runs on each of the two inputs; half of them choose an event.")
    ] = 200_000,
    confidence: Annotated[
        str, typer.Option(metavar="P", help="With this probability a right claim is not refuted.")
    ] = "0.999",
    neighbours: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of your own; the other input lacks the last, or under replace has it for the one before.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all coins, else the operating system's.")] = None,
    one_by_one: Annotated[
        bool, typer.Option("--one-by-one", help="Call the mechanism once for each release, however slow.")
    ] = False,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """Whether runs on two neighbouring inputs refute a claimed (ε, δ): a lower bound on ε, with its confidence.

    The inputs are synthetic: the record, or the frequency of a key, about which most is declared to be lost.
    """
    from .audit import Request, run
    from .output import reporting

    with reporting(json) as output:
        run(
            Request(
                mechanism=mechanism,
                sampler=sampler,
                options=option or [],
                resample=resample,
                steps=steps,
                claim=claim,
                trials=trials,
                confidence=confidence,
                neighbours=neighbours,
                seed=seed,
                one_by_one=one_by_one,
                third_party=third_party,
                allow=allow,
            ),
            output,
        )


@app.command()
def check(
    certificate: Annotated[
        Path | None, typer.Argument(metavar="CERTIFICATE", help="The certificate to verify.")
    ] = None,
    data: Data = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    require: Annotated[
        str | None,
        typer.Option(metavar="proved", help="Fail on what holds only assuming the profile, on an author's word."),
    ] = None,
    max_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Fail on a larger ε; without --max-delta also on a δ above 0.")
    ] = None,
    max_delta: Annotated[str | None, typer.Option(metavar="D", help="Fail on a larger δ.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="record|element|user", help="Fail on a claim about another unit of privacy.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option(metavar="add-remove|replace", help="Fail on a claim about another change of the data.")
    ] = None,
    distribution: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Fail on mechanisms and samplers of other distributions; repeatable."),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of certificates alone.")] = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Verify a certificate again, without the code that made it, and hold it against what is demanded.

    Exit codes: 0 it holds, 3 it holds assuming the profile (something is taken from an author), 1 it is refused or a
    demand is not met, 2 bad input.
    """
    from ..data import Reading
    from .check import policy_of, print_schema, run
    from .output import reporting

    with reporting(json, show_values) as output:
        reading = Reading(array=array, transpose=transpose, divide_by=divide_by)
        policy = policy_of(
            require=require,
            max_epsilon=max_epsilon,
            max_delta=max_delta,
            unit=unit,
            relation=relation,
            distributions=tuple(distribution or ()),
        )
        if schema:
            print_schema(certificate, data, reading, policy, output)
        else:
            run(certificate, data, reading, policy, output)


@app.command()
def verify(
    only: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Claims to run, by id; repeatable. Else all.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Cases per claim.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long one claim may take; 600 where processes can be forked."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Claims to run at a time.")] = 1,
    html: Annotated[
        Path | None, typer.Option(metavar="OUT.html", help="Write a page with everything found here.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="OUT.xml", help="Write JUnit XML for continuous integration here.")
    ] = None,
    errata: Annotated[
        bool, typer.Option("--errata", help="Every misprint of the papers: what is printed, what holds, a witness.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="OUT.md", help="Write the table of --errata as a page here.")
    ] = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """Run the claims: closed forms against independent solves, and misprints that must be rejected."""
    from .errata import run as run_errata
    from .output import reporting
    from .verify import Request, run

    request = Request(
        only=only or (),
        examples=examples,
        seed=seed,
        timeout=timeout,
        jobs=jobs,
        html=html,
        junit=junit,
        third_party=third_party,
        allow=allow,
    )
    with reporting(json) as output:
        if errata:
            run_errata(request, markdown, output)
        else:
            refuse_unused({"markdown": markdown}, "without --errata", "Add --errata")
            run(request, output)


@app.command()
def mutants(
    only: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Modules whose formulas to mutate, by name; repeatable.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many mutants, at random; or else all.")
    ] = None,
    each: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="At most so many of each module, always the same ones.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="W", help="With --record: so many modules at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample, or of the share.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0, metavar="M", help="Begin no further mutant after so many minutes.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Run modules whose record is stale or missing, and write it.")
    ] = False,
    share: Annotated[
        bool, typer.Option("--share", help="Run, for 8 minutes or so many, what is recorded as noticed.")
    ] = False,
    table: Annotated[bool, typer.Option("--table", help="Run none; show what is recorded of each module.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="OUT.md", help="With --table: write the page of the mutation score.")
    ] = None,
    json: Json = False,
) -> None:
    """Score the verification suite: which small faults, planted in the formulas, do its claims and tests notice?"""
    from .mutants import choose
    from .output import reporting

    with reporting(json) as output:
        choose(only or (), sample, each, workers, seed, minutes, record, share, table, markdown)(output)


@app.command()
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="is-fig1 to is-fig7, is-table1 to is-table3, pws-fig1 to pws-fig6, dpis-fig1, dpis-table3 to -table8.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the pictures and the CSV behind them here.")
    ] = None,
    data: Data = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    repetitions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each kind; else as many as in the paper.")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(min=1, metavar="M", help="Expected sample size, else shares of n; repeatable.")
    ] = None,
    epsilon: Annotated[
        list[str] | None, typer.Option(metavar="EPS", help="ε of training runs, else those of the paper; repeatable.")
    ] = None,
    split: Annotated[
        str, typer.Option(metavar="published|derived", help="Rule for the noise of counts beside that of sums.")
    ] = "published",
    seed: Annotated[int, typer.Option(min=0, help="Seed of all coins: the run is reproducible and not private.")] = 0,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """A figure or table of a paper, on your data or on synthetic data in their place."""
    from ..data import Reading
    from .output import reporting

    with reporting(json, show_values) as output:
        from .reproduce import Request, run

        run(
            Request(
                experiment=experiment,
                data=data,
                reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
                repetitions=repetitions,
                sizes=tuple(size or ()),
                epsilons=tuple(epsilon or ()),
                split=split,
                seed=seed,
                out=out,
            ),
            output,
        )

"""The options of the commands: what has one meaning has one name, in every command that takes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ..accounting.errors import InvalidValue


def _warned(names: list[str] | None) -> list[str] | None:
    """The names, with a warning about those that stand for nothing here: an allow-list may serve several machines."""
    if names:
        from ..plugins.registry import Registry

        for name in sorted(Registry(allow=names).absent):
            typer.echo(f"warning: --allow {name}: no installed distribution of this name has plugins", err=True)
    return names


# How the answer is wanted

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Full = Annotated[
    bool,
    typer.Option("--full", help="Print all digits, not six rounded to the safe side, and each accountant's bound."),
]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Show what was found where data are refused; for the data's owner.")
]

# Which plugins, and with which constants

_MECHANISM = typer.Option(
    "--mechanism",
    metavar="NAME",
    help="What is released: `certdp plugins` lists the names, `certdp plugins show NAME` its options.",
)
_SAMPLER = typer.Option("--sampler", metavar="NAME", help="How records or keys are drawn.")
Mechanism = Annotated[str, _MECHANISM]
AnyMechanism = Annotated[str | None, _MECHANISM]
Sampler = Annotated[str, _SAMPLER]
AnySampler = Annotated[str | None, _SAMPLER]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="A public constant of mechanism, sampler or run: radius, the largest norm of a record, and dimension, its "
        "number of columns; repeatable. Where several have KEY, write mechanism.KEY, sampler.KEY or run.KEY.",
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", metavar="FILE", help="TOML file with several releases, in place of one mechanism."),
]
Resample = Annotated[
    str | None,
    typer.Option(
        "--resample",
        metavar="once|each",
        help="One sample for all releases or a fresh one for each; required for several.",
    ),
]
Relation = Annotated[
    str | None,
    typer.Option(
        "--relation",
        metavar="add-remove|replace|zero-out",
        help="The change of the data to protect against; by default what the mechanism declares. A noise multiplier is "
        "relative to what one record adds under each.",
    ),
]
Contributions = Annotated[
    int | None,
    typer.Option("--contributions", metavar="N", help="How many records or elements a user contributes at most."),
]
Steps = Annotated[int, typer.Option("--steps", metavar="T", min=1, help="Number of releases.")]
Repetitions = Annotated[
    str | None,
    typer.Option(
        "--repetitions",
        metavar="negative-binomial|poisson|fixed",
        help="The run is repeated, and the best output alone is told: the law of how often, its constants as "
        "--option repetitions.mean=10, and repetitions.shape (1 is geometric, 0 logarithmic) or repetitions.times.",
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="tree|C0,C1,…|FILE.npy",
        help="Noise is correlated over the --steps: tree aggregation, Toeplitz coefficients or a matrix. Who takes "
        "part: --option participation.times and participation.apart, or participation.groups and participation.rate.",
    ),
]
Accountant = Annotated[
    str,
    typer.Option(
        "--accountant",
        metavar="NAME",
        help="best, or one of basic, advanced, optimal, zcdp, gdp, renyi, loss-distribution and rounded-normal.",
    ),
]
ThirdParty = Annotated[
    bool, typer.Option("--third-party/--no-third-party", help="Admit plugins of other distributions.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="DISTRIBUTION",
        callback=_warned,
        help="Admit this distribution's plugins and no others; repeatable.",
    ),
]
Role = Annotated[str | None, typer.Option("--role", metavar="mechanism|sampler|claims", help="What the plugin is.")]

# Records in files

_RECORDS = typer.Option(
    "--data",
    metavar="FILE",
    help="Records: npy, npz, csv with a header or parquet, each also .xz; for psi, "
    "weights, cluster and check folders of these and quoted patterns, too, and repeatable.",
)
Data = Annotated[Path, _RECORDS]
AnyData = Annotated[Path | None, _RECORDS]
DataSet = Annotated[list[Path], _RECORDS]
AnyDataSet = Annotated[list[Path] | None, _RECORDS]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="Read this column of csv or parquet; repeatable. Else all."),
]
Array = Annotated[
    str | None, typer.Option("--array", metavar="NAME", help="Array in an npz file; else X, or the only matrix.")
]
Transpose = Annotated[bool, typer.Option("--transpose", help="Records are the columns.")]
DivideBy = Annotated[str, typer.Option("--divide-by", metavar="BOUND", help="Divide every entry by this public bound.")]
Outside = Annotated[
    str, typer.Option("--outside", metavar="clip|drop", help="What happens to a record outside the radius.")
]

# What is written

_RESULT = typer.Option("--output", metavar="PATH", help="Write the result to this file or folder.")
Output = Annotated[Path, _RESULT]
AnyOutput = Annotated[Path | None, _RESULT]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Certificate = Annotated[
    Path | None, typer.Option("--certificate", metavar="OUT.json", help="Write the publishable certificate here.")
]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="OUT.png", help="Write a publishable picture here.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", metavar="OUT.md", help="Write the table as a page here.")]

# Numbers

Epsilon = Annotated[str, typer.Option("--epsilon", metavar="E", help="ε of the budget, or asked about; in nats.")]
_SEED = typer.Option(
    "--seed", metavar="N", min=0, help="Seed of all random choices: the run repeats, and releases nothing privately."
)
Seed = Annotated[int, _SEED]
AnySeed = Annotated[int | None, _SEED]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="GLOB", help="Run these alone, by name; repeatable. Else all.")
]
Trials = Annotated[
    int, typer.Option("--trials", metavar="N", min=20, help="Runs on each of the two inputs of an audit.")
]
Examples = Annotated[int, typer.Option("--examples", metavar="N", min=1, help="Most cases of each claim or law.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Claims or modules to run at a time.")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="How long one claim or law may take."),
]


def key_and_value(text: str, example: str) -> tuple[str, str]:
    """The two sides of KEY=VALUE.

    Raises:
        InvalidValue: where either is missing, with an example.
    """
    key, sign, value = text.partition("=")
    if not sign or not key or not value:
        raise InvalidValue("option", text, "KEY=VALUE", f"Write it like --option {example}")
    return key, value


def whole(name: str, text: str, least: int = 1) -> int:
    """A whole number from the command line, however it is written.

    Raises:
        InvalidValue: for anything else, and below `least`.
    """
    from ..accounting.exact import exact

    try:
        value = exact(text, parameter=name)
    except InvalidValue:
        value = None
    if value is None or value.denominator != 1 or value < least:
        raise InvalidValue(name, text, f"a whole number ≥ {least}", "Write a whole number")
    return int(value)


def whole_or_none(name: str, text: str | None, least: int = 1) -> int | None:
    """A whole number from the command line; None where nothing is stated; errors as `whole`."""
    return None if text is None else whole(name, text, least)


def refuse_unused(options: Mapping[str, object], where: str, remedy: str = "Leave it out") -> None:
    """Refuse what is stated although nothing comes of it.

    Args:
        options: values by the name of their option; None where it is not stated.
        where: in what kind of request nothing comes of it.
        remedy: what to do.

    Raises:
        InvalidValue: for the first one that is stated.
    """
    for name, value in options.items():
        if value is not None:
            raise InvalidValue(name, str(value), f"nothing, {where}", remedy)

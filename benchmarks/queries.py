"""Twenty queries of a table beside diffprivlib and OpenDP: the noise of each at the same proven (ε, δ).

Each figure is the root of the mean squared error against the answer without noise, over repeated releases with fresh
coins, in one process. Peers get their best settings: public bounds, integers where that lets them do without the number
of rows, the public number of rows where they need it (and then protect against replacing a row, while certdp takes no
number as public and protects against adding or removing one), equal shares of the budget, and the same candidates for
quantiles. diffprivlib needs scikit-learn < 1.6: python -m venv peers && peers/bin/pip install diffprivlib
"scikit-learn<1.6" opendp certdp, and remove the folder `tests` that diffprivlib puts beside the packages.

Run: python benchmarks/queries.py [RELEASES]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from rich.console import Console
from rich.table import Table

from certdp import queries as q

RELEASES = 200
ROWS = 1000
CANDIDATES = 1001

GENERATOR = np.random.default_rng(20)
AGE = GENERATOR.integers(18, 95, ROWS)
INCOME = np.minimum(GENERATOR.lognormal(10, 0.8, ROWS), 200_000).astype(np.int64)
BALANCE = np.clip(GENERATOR.normal(100, 300, ROWS), -1000, 1000).astype(np.int64)
SMOKER = GENERATOR.integers(0, 10, ROWS) == 0
CITY = GENERATOR.integers(0, 4, ROWS)
DATA = {"age": AGE, "income": INCOME, "balance": BALANCE, "smoker": SMOKER.astype(np.int64), "city": CITY}
BOUNDS = {"age": (0, 120), "income": (0, 200_000), "balance": (-1000, 1000), "smoker": (0, 1), "city": (0, 3)}
COLUMNS = [*(q.Column(name, *ends) for name, ends in BOUNDS.items() if name != "city"), q.Category("city", range(4))]

Numbers: TypeAlias = Any
Release: TypeAlias = Callable[[], Any]


@frozen
class Task:
    """A query, and how each tool answers it.

    Attributes:
        name: what is asked.
        true: the answer without noise.
        ours: the queries.
        peers: by the tool's name, given ε; None where it has no such thing.
        epsilon: of the whole task.
        delta: likewise.
        where: the rows that are meant; all of them by default.
    """

    name: str
    true: Numbers
    ours: tuple[q.Query, ...]
    peers: Mapping[str, Callable[[float], Release] | None]
    epsilon: float = 1.0
    delta: float = 0.0
    where: q.Condition | None = None


def ours(task: Task) -> Numbers:
    table = q.table(DATA, COLUMNS, epsilon=str(task.epsilon), delta=str(task.delta))
    table = table if task.where is None else table.where(task.where)
    return [value for result in table.release(*task.ours).values() for value in result.values]


def diffprivlib(name: str, column: str = "age", **options: Any) -> Callable[[float], Release]:
    from diffprivlib import tools

    def at(epsilon: float) -> Release:
        values = np.asarray(DATA[column], dtype=float)
        ends = {} if name == "count_nonzero" else {"bounds": tuple(map(float, BOUNDS[column]))}
        if name == "histogram":
            ends = {"range": BOUNDS[column]}
        return partial(getattr(tools, name), values, epsilon=epsilon, **ends, **options)

    return at


def opendp(name: str, column: str = "age", **options: Any) -> Callable[[float], Release]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    low, high = BOUNDS[column]
    of_integers = name in ("count", "sum", "histogram")
    atoms = dp.atom_domain(T="i64") if of_integers else dp.atom_domain(T="f64", nan=False)
    start: Any = (dp.vector_domain(atoms), dp.symmetric_distance())
    if name == "count":
        start >>= dp.t.then_count()
    elif name == "histogram":
        start >>= dp.t.then_count_by_categories(categories=options["categories"], null_category=False)
    elif name == "quantile":
        start >>= dp.t.then_quantile_score_candidates(options["candidates"].tolist(), alpha=options["at"])
    elif name == "sum":
        start = start >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()
    else:
        ends = (float(low), float(high))
        start = start >> dp.t.then_clamp(ends) >> dp.t.then_resize(size=ROWS, constant=sum(ends) / 2)
        start >>= {"mean": dp.t.then_mean, "variance": dp.t.then_variance}[name]()

    def measured(scale: float) -> Any:
        if options.get("gaussian"):
            return start >> dp.m.then_gaussian(scale)
        if name == "quantile":
            return start >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)
        return start >> dp.m.then_laplace(scale)

    def at(epsilon: float) -> Release:
        data = options["data"](DATA[column]) if "data" in options else DATA[column]
        listed = [int(x) for x in data] if of_integers else [float(x) for x in data]
        chain = dp.binary_search_chain(measured, d_in=1, d_out=epsilon)
        if name == "quantile":
            return lambda: options["candidates"][chain(listed)]
        return lambda: chain(listed)

    return at


def zero_concentrated(epsilon: float, delta: float) -> float:
    """The largest ρ that OpenDP converts to (ε, δ)."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    start = (dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance())

    def converted(scale: float) -> Any:
        return dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(start >> dp.t.then_count() >> dp.m.then_gaussian(scale)), delta
        )

    scale = dp.binary_search_param(converted, d_in=1, d_out=(epsilon, delta))
    return (start >> dp.t.then_count() >> dp.m.then_gaussian(scale)).map(1)


def shared(*parts: Callable[[float], Release] | None) -> Callable[[float], Release] | None:
    """Several queries with equal shares of ε, or of ρ."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None

    def at(epsilon: float) -> Release:
        releases = [part(epsilon / len(known)) for part in known]
        return lambda: np.concatenate([np.ravel(release()) for release in releases])

    return at


def ours_and_peers(query: str, column: str) -> dict[str, Callable[[float], Release] | None]:
    theirs = {"mean": "mean", "variance": "var", "sum": "sum", "standard_deviation": "std"}[query]
    has = query != "standard_deviation"
    return {"diffprivlib": diffprivlib(theirs, column), "OpenDP": opendp(query, column) if has else None}


def candidates(column: str) -> Any:
    return np.linspace(*BOUNDS[column], CANDIDATES)


def quantile(column: str, at: float) -> dict[str, Callable[[float], Release] | None]:
    return {
        "diffprivlib": diffprivlib("quantile", column, quant=at),
        "OpenDP": opendp("quantile", column, at=at, candidates=candidates(column)),
    }


def binned(column: str, bins: int) -> dict[str, Callable[[float], Release] | None]:
    low, high = BOUNDS[column]
    edges = np.linspace(low, high, bins + 1)

    def places(values: Any) -> Any:
        return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)

    peer = diffprivlib("histogram", column, bins=bins)
    return {
        "diffprivlib": lambda epsilon: lambda: peer(epsilon)()[0],
        "OpenDP": opendp("histogram", column, categories=list(range(bins)), data=places),
    }


def tasks() -> list[Task]:
    count = {
        "diffprivlib": diffprivlib("count_nonzero", "smoker"),
        "OpenDP": opendp("count", "smoker", data=lambda values: values[values == 1]),
    }
    smokers = q.Column("smoker", 0, 1).at_least(1)
    found = [
        Task(f"count of smokers, ε = {epsilon}", [SMOKER.sum()], (q.count(),), count, epsilon=epsilon, where=smokers)
        for epsilon in (1, 0.1)
    ]
    for query, column in (
        *(("sum", name) for name in ("age", "balance", "income")),
        *(("mean", name) for name in ("age", "income", "smoker")),
        *(("variance", name) for name in ("age", "income")),
        ("standard_deviation", "age"),
    ):
        values = np.asarray(DATA[column], dtype=float)
        kind = {"sum": np.sum, "mean": np.mean, "variance": np.var, "standard_deviation": np.std}[query]
        name = f"{query} of {column}".replace("_", " ")
        found.append(Task(name, [float(kind(values))], (getattr(q, query)(column),), ours_and_peers(query, column)))
    for column, bins in (("age", 12), ("income", 50)):
        counts = np.histogram(DATA[column], bins, BOUNDS[column])[0]
        found.append(
            Task(f"histogram of {column}, {bins} bins", counts, (q.histogram(column, bins),), binned(column, bins))
        )
    groups = {
        "diffprivlib": lambda epsilon: lambda: diffprivlib("histogram", "city", bins=4)(epsilon)()[0],
        "OpenDP": opendp("histogram", "city", categories=list(range(4))),
    }
    found.append(Task("count by city", np.bincount(CITY), (q.count(by="city"),), groups))
    for column, at in (("age", 0.5), ("income", 0.5), ("income", 0.9)):
        asked = q.quantiles(column, [str(at)], candidates=CANDIDATES)
        true = [float(np.quantile(DATA[column], at))]
        found.append(Task(f"quantile {at} of {column}", true, (asked,), quantile(column, at)))
    quartiles = (0.25, 0.5, 0.75)
    found.append(
        Task(
            "quartiles of age",
            [float(np.quantile(AGE, at)) for at in quartiles],
            (q.quantiles("age", [str(at) for at in quartiles], candidates=CANDIDATES),),
            {tool: shared(*(quantile("age", at)[tool] for at in quartiles)) for tool in ("diffprivlib", "OpenDP")},
        )
    )
    three = [ours_and_peers(query, "age") for query in ("sum", "mean", "variance")]
    found.append(
        Task(
            "sum, mean, variance of age",
            [AGE.sum(), AGE.mean(), AGE.var()],
            (q.sum("age"), q.mean("age"), q.variance("age")),
            {tool: shared(*(peers[tool] for peers in three)) for tool in ("diffprivlib", "OpenDP")},
        )
    )
    twelve = [(query, name) for query in ("mean", "sum", "variance") for name in ("age", "income", "balance", "smoker")]
    found.append(
        Task(
            "mean, sum, variance of four columns, δ = 1e-6",
            [
                float({"mean": np.mean, "sum": np.sum, "variance": np.var}[query](np.asarray(DATA[name], dtype=float)))
                for query, name in twelve
            ],
            tuple(getattr(q, query)(name) for query, name in twelve),
            {
                "diffprivlib": shared(*(ours_and_peers(*one)["diffprivlib"] for one in twelve)),
                "OpenDP": lambda epsilon: shared(*(opendp(*one, gaussian=True) for one in twelve))(
                    zero_concentrated(epsilon, 1e-6)
                ),
            },
            delta=1e-6,
        )
    )
    return found


def error(releases: list[Numbers], true: Numbers) -> Any:
    """The root of the mean squared error of each number."""
    return np.sqrt(np.mean((np.array(releases, dtype=float) - np.asarray(true, dtype=float)) ** 2, axis=0))


def main(releases: int) -> None:
    table = Table(title=f"Error of answers: root mean square over {releases} releases; a ratio is peer / certdp")
    for name in ("query", "certdp", "diffprivlib", "ratio", "OpenDP", "ratio"):
        table.add_column(name, justify="left" if name == "query" else "right")
    for task in tasks():
        mine = error([ours(task) for _ in range(releases)], task.true)
        cells = [f"{np.mean(mine):.4g}"]
        for peer in task.peers.values():
            if peer is None:
                cells += ["none", ""]
                continue
            release = peer(task.epsilon)
            theirs = error([np.ravel(release()) for _ in range(releases)], task.true)
            cells += [f"{np.mean(theirs):.4g}", f"{np.exp(np.mean(np.log(theirs / mine))):.2f}"]
        table.add_row(task.name, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RELEASES)

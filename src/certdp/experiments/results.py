"""The tables of a document, written from what the series made; cells that nobody made yet say so."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from . import printed
from .dpis_tables import PAIRED_EPSILONS, RUNS
from .networks import Convolutional, Networks, Recurrent, SmallNetworks
from .pws_order import SHOWN
from .series import read_record
from .training_runs import METHODS, PAIR, SCATTERED, Method, interval

_BLOCK = re.compile(
    r"^<!-- results: (?P<name>[^>]*?) -->\n(?P<old>.*?)^<!-- end of results -->$", re.MULTILINE | re.DOTALL
)
_MISSING = "not made"
_DATA = {
    "mnist": "MNIST",
    "fashion": "Fashion-MNIST",
    "imdb": "IMDb",
    "song": "Song",
    "covertype": "Covertype",
    "mobydick": "Moby Dick",
    "imdb-words": "IMDb",
}

_Row: TypeAlias = Sequence[str]
_Lines: TypeAlias = list[str]


def written_into(text: str, output: Path) -> str:
    """The text of a document with its tables written anew.

    Args:
        text: with tables between lines `<!-- results: NAME -->` and `<!-- end of results -->`.
        output: the folder of the results; a table of which nothing is there stays as it is.

    Raises:
        InvalidValue: for a name that is no table's, and for results that cannot be read.
    """
    results = Results(output)

    def anew(block: re.Match[str]) -> str:
        name, _, rest = block["name"].partition(" ")
        if name not in TABLES:
            raise InvalidValue("page", f"results: {name}", f"one of {', '.join(TABLES)}", "Choose one of these")
        lines = TABLES[name](results, *rest.split())
        made = block["old"] if lines is None else "\n" + "".join(f"{line}\n" for line in lines) + "\n"
        return f"<!-- results: {block['name']} -->\n{made}<!-- end of results -->"

    return _BLOCK.sub(anew, text)


@final
@frozen
class Results:
    """What the series made in a folder."""

    output: Path

    def summary(self, folder: str, experiment: str) -> Mapping[str, Any] | None:
        """What an item came to, or none where it is not finished."""
        record = read_record(self.output / folder / f"{experiment}.json")
        return None if record is None else record.summary

    def training(self, folder: str, networks: Networks | None = None) -> Training:
        """The training runs in a folder that are finished, by networks of one kind; tables that are not share them."""
        network = (networks or SmallNetworks()).name
        path = self.output / folder / RUNS
        if not path.exists():
            return Training(())
        try:
            rows = tuple(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
            wanted = {"purpose": "result", "network": network}
            found = (row for row in rows if all(row[name] == value for name, value in wanted.items()))
            return Training(tuple(found))
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise InvalidValue("output", str(path), "a table of runs", str(error)) from None


@final
@frozen
class Training:
    """Finished training runs on one set of data, by networks of one kind."""

    runs: tuple[Mapping[str, str], ...]

    def of(self, **setting: str) -> list[Mapping[str, str]]:
        """The runs with these figures, in the order of their coins; others as in Table 3."""
        wanted = {
            "method": "dpis",
            "divider": "0.8",
            "multiplier": "5.0",
            "external": "",
            "quantile": "",
            **setting,
        }
        found = [run for run in self.runs if all(run[name] == value for name, value in wanted.items())]
        return sorted(found, key=lambda run: int(run["repetition"]))


def _table(headings: _Row, rows: Iterable[_Row]) -> _Lines:
    """A table whose columns but the first are numbers."""
    rule = ["---", *("--:" for _ in headings[1:])]
    return [f"| {' | '.join(row)} |" if row is not rule else f"|{'|'.join(rule)}|" for row in (headings, rule, *rows)]


def _percent(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}"


def _against_uniform(results: Results, *items: str) -> _Lines | None:
    """How opt and core compare with unif, by item."""
    headings = (
        "Data, experiment, sampler",
        "cells",
        "median no higher",
        "quartiles lower / higher",
        "cells that learn",
        "median no higher",
        "ratio of medians: least, middle, most",
    )
    rows: list[_Row] = []
    for item in items:
        folder, _, experiment = item.partition("/")
        summary = results.summary(folder, experiment)
        for name in ("opt", "core"):
            first = f"{_data(folder)}, `{experiment}`, {name}"
            if summary is None:
                rows.append((first, _MISSING, *("" for _ in headings[2:])))
                continue
            everywhere, learning = (summary[f"{name}_against_unif"][place] for place in ("all", "where_either_learns"))
            ratios = learning["ratio_of_medians"]
            rows.append(
                (
                    first,
                    str(everywhere["compared"]),
                    str(everywhere["median_no_higher"]),
                    f"{everywhere['quartiles_all_lower']} / {everywhere['quartiles_all_higher']}",
                    str(learning["compared"]),
                    str(learning["median_no_higher"]),
                    "–" if ratios is None else ", ".join(f"{ratio:.3f}" for ratio in ratios),
                )
            )
    return _unless_empty(headings, rows)


def _times(results: Results, *folders: str) -> _Lines | None:
    """Processor time of each sampler, relative to DP-Lloyd on all data, beside m/n; both in percent."""
    rows: list[_Row] = []
    headings: list[str] = ["Data, m/n in %"]
    for folder in folders:
        summary = results.summary(folder, "is-table3")
        if summary is None:
            rows.append((f"{_data(folder)}, {_MISSING}",))
            continue
        timings = [row for row in summary["rows"] if row["sampler"] != "full"]
        sizes = list(dict.fromkeys(row["size"] for row in timings))
        headings = headings if len(headings) > 1 else [headings[0], *(f"{_share(timings, size):.1f}" for size in sizes)]
        for name in dict.fromkeys(row["sampler"] for row in timings):
            shares = [row["relative_total"] for row in timings if row["sampler"] == name]
            rows.append((f"{_data(folder)}, {name}", *(_percent(share) for share in shares)))
    return _unless_empty(headings, [[*row, *("" for _ in headings[len(row) :])] for row in rows])


def _share(timings: Sequence[Mapping[str, Any]], size: int) -> float:
    return next(float(row["relative_size"]) for row in timings if row["size"] == size)


def _figures(results: Results, *folders: str) -> _Lines | None:
    """IS Table 1, of the data here."""
    rows: list[_Row] = []
    for folder in folders:
        summary = results.summary(folder, "is-table1")
        if summary is None:
            rows.append((_data(folder), _MISSING, "", "", ""))
            continue
        for row in summary["rows"]:
            n, d, radius, mean = (row[name] for name in ("n", "d", "r", "mean_squared_norm"))
            rows.append((_data(folder), f"{n:,}", str(d), f"{radius:.2f}", f"{mean:,.2f}"))
    return _unless_empty(("Data", "n", "d", "r", "x̃"), rows)


def _weights(results: Results) -> _Lines | None:
    """IS Figure 2: the optimal weights beside the variance-optimal ones."""
    summary = results.summary("laplace-sum", "is-fig2")
    if summary is None:
        return None
    readings = summary["readings"]
    headings = [""]
    for reading in readings:
        setting = f"noise scale {reading['noise_scale']:.0f}, ε* = {reading['epsilon']:.4g}"
        headings += [f"{setting}: {name}" for name in ("opt", "unif")]
    named = {
        "relative difference of weights to the variance-optimal ones: median": "relative_difference_median",
        "95 %": "relative_difference_95_percent",
        "largest": "relative_difference_largest",
        "correlation of the logarithms": "correlation_of_logarithms",
        "variance from sampling, relative to the least": "sampling_variance_ratio",
    }
    columns = [
        reading[f"weights_of_{name}_against_variance_optimal"] for reading in readings for name in ("opt", "unif")
    ]
    rows: list[_Row] = [(words, *(_short(column[key]) for column in columns)) for words, key in named.items()]
    losses = [reading["psi_max"][name] for reading in readings for name in ("opt", "unif")]
    rows.append(("largest certified ψ over the data", *(_short(loss) for loss in losses)))
    return _table(headings, rows)


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _gains(results: Results) -> _Lines | None:
    """PWS Figure 4: gains over histograms without sampling, for readings of its law."""
    summary = results.summary("pws", "pws-fig4")
    if summary is None:
        return None
    others = summary["gain_percent_of_other_readings"]
    rows: list[_Row] = [("caption of Figure 4", *(f"{gain:g}" for gain in printed.PWS_FIGURE_4))]
    whole = [row for row in summary["without_sampling"] if row["keys"].startswith("Zipf")]
    rows.append(("by rank, n = 100,000", *(_percent(row["gain_percent"]) for row in whole)))
    for reading in (name for name in others[0] if name != "exponent"):
        rows.append((reading, *(_percent(one[reading]) for one in others)))
    tight = (_percent(row["gain_percent_over_tight"]) for row in whole)
    rows.append(("by rank, n = 100,000, over the tight threshold", *tight))
    return _table(("gain of PWS over SbH in %", *(row["keys"] for row in whole)), rows)


_WORDS = ("mobydick", "imdb-words")


def _words(results: Results) -> _Lines | None:
    """PWS Figures 2, 4 and 5 on the words of texts."""
    columns = [_figures_on_words(results, folder) for folder in _WORDS]
    if not any(columns):
        return None
    labels = list(next(column for column in columns if column))
    rows = [(label, *(column.get(label, _MISSING) for column in columns)) for label in labels]
    return _table(("", *(_data(folder) for folder in _WORDS)), rows)


def _figures_on_words(results: Results, folder: str) -> dict[str, str]:
    """What the three figures say of one text, by label; nothing where one of them is not made."""
    summaries = [results.summary(folder, f"pws-fig{number}") for number in (2, 4, 5)]
    if None in summaries:
        return {}
    by_delta, by_threshold, estimates = (summary for summary in summaries if summary is not None)
    (against_delta,), (against_threshold,) = by_delta["laws"], by_threshold["laws"]
    (whole,) = by_threshold["without_sampling"]
    gains = against_delta["gain_percent_by_delta"]
    sampled = against_threshold["gain_percent_by_tau"]
    named = ("1e-08", "1e-06", "0.0001", "0.01", "1")
    found = {
        "words, occurrences": f"{against_delta['number_of_keys']:,}, {against_delta['elements']:,}",
        "Figure 2: gain in % at δ = 10⁻⁸, 10⁻⁶, 10⁻⁴, 0.01, 1": ", ".join(f"{gains[name]:.3g}" for name in named),
        "Figure 2: most, in %": f"{against_delta['largest_gain_percent']:.0f} at δ = "
        f"{against_delta['largest_gain_at_delta']:.2g}",
        "Figure 4: share of words reported without sampling: PWS, SbH, tight": ", ".join(
            f"{whole[name]:.2%}".replace("%", " %") for name in ("pws", "sbh", "sbh_tight")
        ),
        "Figure 4: gain in % without sampling; τ = 0.01, 0.001, 10⁻⁴": f"{whole['gain_percent']:.1f}; "
        + ", ".join(f"{sampled[name]:.1f}" for name in ("0.01", "0.001", "0.0001")),
    }
    for keys in dict.fromkeys(row["keys"] for row in estimates["sums"]):
        rows = {row["tau"]: row for row in estimates["sums"] if row["keys"] == keys}
        which = "words that occur up to 200 times" if "up to" in keys else "all words"
        for name, label in (("pws", "PWS"), ("sbh", "SbH")):
            errors = ", ".join(f"{rows[tau][f'nrmse_{name}']:.3g}" for tau in (None, 0.01, 0.003, 0.001))
            found[f"Figure 5: NRMSE of occurrences, {which}, {label}: no sampling, τ = 0.01, 0.003, 0.001"] = errors
    return found


def _order(results: Results, *folders: str) -> _Lines | None:
    """PWS Section 6 on the words of texts: order, and the error that a sample states."""
    headings = (
        "Words, sampling",
        "reported",
        "Kendall τ: expected, found; not private",
        "of the 100 most frequent, %",
        "rank of the 100th: estimated ± stated",
        "sum: found − true, %",
        "expected: bias ± deviation, %",
        "stated: bias ± deviation, %",
        f"counted at frequency {', '.join(map(str, SHOWN))}, %",
    )
    rows: list[_Row] = []
    for folder in folders:
        summary = results.summary(folder, "pws-order")
        if summary is None:
            rows.append((f"{_data(folder)}, {_MISSING}", *("" for _ in headings[1:])))
            continue
        for row in summary["rows"]:
            percent = {name: f"{100 * value:.1f}" for name, value in row.items() if isinstance(value, float)}
            rank, error = row["rank_of_100"], row["rank_error_of_100"]
            rate = "no sampling" if row["tau"] is None else f"τ = {row['tau']:g}"
            rows.append(
                (
                    f"{_data(folder)}, {rate}",
                    f"{row['reported']:,.0f}",
                    f"{row['kendall']:.4f}, {row['kendall_found']:.4f}; {row['kendall_not_private']:.4f}",
                    percent["top_found"],
                    "–" if rank is None else f"{rank:.0f} ± {error:.0f}",
                    percent["sum_found"],
                    f"{percent['sum_bias']} ± {percent['sum_deviation']}",
                    f"{percent['sum_stated_bias']} ± {percent['sum_stated_deviation']}",
                    ", ".join(percent[f"counted_at_{one}"] for one in SHOWN),
                )
            )
    return _unless_empty(headings, rows)


def _noise(results: Results) -> _Lines | None:
    """DPIS Figure 1: first and last noise multiplier."""
    summary = results.summary("dpis", "dpis-fig1")
    if summary is None:
        return None
    names = ("dpis", "dp_sgd", "dp_sgd_decay", "dp_sgd_loss_distribution")
    headings = ("ε", "DPIS", "DP-SGD, same accounting", "DP-SGD, decay 0.99", "DP-SGD, loss distribution")
    rows = [
        (f"{row['epsilon']:g}", *(", ".join(f"{value:.3f}" for value in dict.fromkeys(row[name])) for name in names))
        for row in summary["first_and_last_noise_multiplier"]
    ]
    return _table(headings, rows)


def _by_method(results: Results, folder: str, kind: str = "small") -> _Lines | None:
    """DPIS Table 3 on one set of data, beside the paper's."""
    networks, methods, best = _KINDS[kind]
    epsilons, training = ("0.5", "1", "2", "3", "4"), results.training(folder, networks)
    if not training.runs:
        return None
    runs = {
        (method.name, epsilon): training.of(method=method.name, epsilon=str(float(epsilon)))
        for method in methods
        for epsilon in epsilons
    }
    rows: list[_Row] = [
        (method.label, *(_accuracy(runs[method.name, epsilon], rate=True) for epsilon in epsilons))
        for method in methods
    ]
    for method in methods:
        if method.name == best or method.name.startswith("dpis"):
            continue
        gains = (_gain(runs[best, epsilon], runs[method.name, epsilon]) for epsilon in epsilons)
        label = method.label
        rows.append((f"DPIS over {label}, run by run", *gains))
    rows += [(f"paper: {name}", *values) for name, values in printed.DPIS_TABLE_3[folder].items()]
    first, last = "first_noise_multiplier", "last_noise_multiplier"
    for name, label, figures in (
        (best, "DPIS: K̃/(Ñ·C), last epoch", ("last_share",)),
        (best, "DPIS: σ_G, first and last epoch", (first, last)),
        ("dp-sgd", "DP-SGD: σ_G", (first,)),
    ):
        rows.append((label, *(_means(runs[name, epsilon], figures) for epsilon in epsilons)))
    return _table(("", *(f"ε = {epsilon}" for epsilon in epsilons)), rows)


def _paired(results: Results, folder: str) -> _Lines | None:
    """DPIS beside DP-SGD in runs with the same coins, more of them than in Table 3."""
    epsilons, training = PAIRED_EPSILONS, results.training(folder)
    if not training.runs:
        return None
    runs = {
        (method.name, epsilon): training.of(method=method.name, epsilon=str(float(epsilon)))
        for method in PAIR
        for epsilon in epsilons
    }
    pairs = {epsilon: _differences(*(runs[method.name, epsilon] for method in PAIR)) for epsilon in epsilons}
    rows: list[_Row] = [
        (method.label, *(_accuracy(runs[method.name, epsilon], rate=True) for epsilon in epsilons)) for method in PAIR
    ]
    rows.append(("DPIS over DP-SGD, run by run", *(_mean_of(pairs[epsilon]) for epsilon in epsilons)))
    ahead = (f"{sum(gain > 0 for gain in pairs[epsilon])} of {len(pairs[epsilon])}" for epsilon in epsilons)
    rows.append(("runs in which DPIS is ahead", *ahead))
    return _table(("", *(f"ε = {epsilon}" for epsilon in epsilons)), rows)


def _by_adaptation(results: Results) -> _Lines | None:
    """DPIS Table 4, with C of the last epoch, beside the paper's."""
    epsilons = ("0.5", "1", "2", "3")
    trainings = {folder: results.training(folder) for folder in printed.DPIS_TABLE_4}
    if not any(training.runs for training in trainings.values()):
        return None
    rows: list[_Row] = []
    for folder, training in trainings.items():
        fixed = [training.of(epsilon=str(float(epsilon))) for epsilon in epsilons]
        adaptive = [training.of(epsilon=str(float(epsilon)), external="4.0", quantile="1.0") for epsilon in epsilons]
        clips = [f" ({_means(runs, ('last_clip',))})" if runs else "" for runs in adaptive]
        cells = [_accuracy(runs) + clip for runs, clip in zip(adaptive, clips, strict=True)]
        rows.append((f"{_data(folder)}, C adapts", *cells))
        rows.append((f"{_data(folder)}, C = 1", *map(_accuracy, fixed)))
        rows.append(("paper: adapting, fixed", *printed.DPIS_TABLE_4[folder]))
    return _table(("", *(f"ε = {epsilon}" for epsilon in epsilons)), rows)


_VARIED: Mapping[str, tuple[str, tuple[str, ...], Callable[[str], Mapping[str, str]]]] = MappingProxyType(
    {
        "5": ("a_E", ("0", "0.6", "0.8", "1"), lambda value: {"divider": str(float(value))}),
        "6": ("k", ("3", "4", "5", "6"), lambda value: {"multiplier": str(float(value))}),
        "7": ("C*/C₁", ("3", "4", "5", "6"), lambda value: {"external": str(float(value)), "quantile": "1.0"}),
        "8": ("λ", ("0.8", "0.9", "1", "1.1", "1.2"), lambda value: {"external": "4.0", "quantile": str(float(value))}),
    }
)


def _varied(results: Results, table: str) -> _Lines | None:
    """One of DPIS Tables 5 to 8 at ε = 1, beside the paper's."""
    name, values, setting = _VARIED[table]
    trainings = {folder: results.training(folder) for folder in ("mnist", "fashion", "imdb")}
    if not any(training.runs for training in trainings.values()):
        return None
    rows: list[_Row] = []
    for folder, training in trainings.items():
        cells = (_accuracy(training.of(epsilon="1.0", **setting(value))) for value in values)
        rows.append((_data(folder), *cells))
        rows.append((f"paper: {_data(folder)}", *printed.DPIS_VARIED[table][folder], *("" for _ in range(len(values)))))
    return _table((name, *values), [row[: len(values) + 1] for row in rows])


def _accuracy(runs: Sequence[Mapping[str, str]], *, rate: bool = False) -> str:
    """The mean in percent with half of its 95 % interval, and how many runs where they are few."""
    if not runs:
        return _MISSING
    mean, half = interval([100 * float(run["private_test_accuracy"]) for run in runs])
    found = f"{mean:.2f}" if half is None else f"{mean:.2f} ± {half:.2f}"
    rates = sorted({run["learning_rate"] for run in runs})
    return found + (f" ({', '.join(rates)})" if rate else "") + (f", {len(runs)} runs" if len(runs) < _ENOUGH else "")


_ENOUGH = 3
_KINDS: Mapping[str, tuple[Networks, Sequence[Method], str]] = MappingProxyType(
    {
        "small": (SmallNetworks(), METHODS, "dpis"),
        "cnn": (Convolutional(), (*SCATTERED, *METHODS), "dpis-hf"),
        "lstm": (Recurrent(), METHODS, "dpis"),
    }
)
"""Networks, the methods that train them, and which of these is the paper's DPIS."""


def _means(runs: Sequence[Mapping[str, str]], names: Sequence[str]) -> str:
    """Means of figures over runs."""
    if not runs:
        return _MISSING
    return ", ".join(f"{sum(float(run[name]) for run in runs) / len(runs):.2f}" for name in names)


def _gain(ours: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> str:
    """The mean difference of runs with the same coins, in points, with half of its 95 % interval."""
    return _mean_of(_differences(ours, others))


def _differences(ours: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> list[float]:
    """Differences of accuracies, in points, of runs with the same coins."""
    theirs = {run["repetition"]: run for run in others}
    pairs = [(run, theirs[run["repetition"]]) for run in ours if run["repetition"] in theirs]
    return [100 * (float(one["private_test_accuracy"]) - float(other["private_test_accuracy"])) for one, other in pairs]


def _mean_of(differences: Sequence[float]) -> str:
    if len(differences) < 2:
        return _MISSING
    mean, half = interval(differences)
    return f"{mean:.2f} ± {half:.2f}"


def _data(folder: str) -> str:
    return _DATA.get(folder.removesuffix("-derived"), folder)


def _unless_empty(headings: _Row, rows: Sequence[_Row]) -> _Lines | None:
    return None if all(_MISSING in " ".join(row) for row in rows) else _table(headings, rows)


TABLES: Mapping[str, Callable[..., _Lines | None]] = MappingProxyType(
    {
        "is-table1": _figures,
        "is-against-unif": _against_uniform,
        "is-weights": _weights,
        "is-times": _times,
        "pws-gains": _gains,
        "pws-words": _words,
        "pws-order": _order,
        "dpis-noise": _noise,
        "dpis-table3": _by_method,
        "dpis-paired": _paired,
        "dpis-table4": _by_adaptation,
        "dpis-varied": _varied,
    }
)
"""The tables of documents by name; words after a name say of what."""

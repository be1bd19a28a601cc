"""Figures of a report about claims, as SVG (extra `plot`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias, final

from attrs import frozen

from ..accounting.display import numbers
from ..verification.reports.foreign_words import harmless
from ..verification.running.results import Outcome, Report, Result
from .canvas import blank, svg

_WIDTH = 3.9
_ROW = 0.19
_MARGIN = 0.75
_SLOWEST = 15
_WIDEST = 18

_LOOKS = {  # colours that the colour-blind tell apart, each with a pattern of its own
    Outcome.HOLDS: ("#1b7f5c", ""),
    Outcome.REJECTED: ("#8fc7e8", "///"),
    Outcome.FAILS: ("#b3261e", "xxx"),
    Outcome.NOT_REJECTED: ("#e07b00", "\\\\\\"),
    Outcome.ERROR: ("#5d2a7e", "..."),
    Outcome.TIMEOUT: ("#6b6b6b", "---"),
}


@final
@frozen
class Drawing:
    """A figure of the report.

    Attributes:
        title: what it shows.
        caption: how to read it.
        svg: the picture.
    """

    title: str
    caption: str
    svg: str


_Painter: TypeAlias = Callable[[Report], Drawing | None]


def require_plots() -> None:
    """Find out whether figures can be drawn, before there is anything to draw.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    blank(1, 1, option="html")


def drawings(report: Report) -> tuple[Drawing, ...]:
    """The figures that the report has something for.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    painters: tuple[_Painter, ...] = (_outcomes, _times, _gaps)
    return tuple(drawing for paint in painters if (drawing := paint(report)) is not None)


def _rows(count: int) -> tuple[Any, Any]:
    figure = blank(_WIDTH, _MARGIN + _ROW * count, option="html")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7.5)
    axes.set_ylim(count - 0.4, -0.6)
    return figure, axes


def _outcomes(report: Report) -> Drawing:
    counts = Counter((harmless(result.claim.id.partition("/")[0]), result.outcome) for result in report.results)
    sources = sorted({source for source, _ in counts})
    figure, axes = _rows(len(sources) + 2)
    axes.set_ylim(len(sources) - 0.4, -0.6)
    reached = [0] * len(sources)
    for outcome, (colour, pattern) in _LOOKS.items():
        widths = [counts[source, outcome] for source in sources]
        if any(widths):
            axes.barh(
                range(len(sources)),
                widths,
                left=reached,
                color=colour,
                hatch=pattern,
                edgecolor="white",
                linewidth=0.5,
                height=0.72,
                label=outcome.value,
            )
        reached = [start + width for start, width in zip(reached, widths, strict=True)]
    for row, total in enumerate(reached):
        axes.annotate(str(total), (total, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7.5)
    axes.set_yticks(range(len(sources)), sources)
    axes.set_xlabel("claims", fontsize=8)
    axes.set_xmargin(0.1)
    figure.legend(fontsize=7, loc="outside lower center", ncols=2, frameon=False)
    caption = (
        "How many claims of each source hold, and how many misprints and wrong forms are rejected as they must be."
    )
    return Drawing("Outcomes by source", caption, svg(figure, "outcomes"))


def _times(report: Report) -> Drawing:
    slowest = sorted(report.results, key=lambda result: -result.seconds)[:_SLOWEST]
    figure, axes = _rows(len(slowest))
    seconds = [result.seconds for result in slowest]
    axes.barh(range(len(slowest)), seconds, color="#4a6b8a", height=0.72)
    for row, taken in enumerate(seconds):
        axes.annotate(
            f"{taken:.1f}", (taken, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7.5
        )
    axes.set_yticks(range(len(slowest)), [harmless(result.claim.id) for result in slowest])
    axes.set_xlabel("seconds", fontsize=8)
    axes.set_xmargin(0.14)
    share = sum(seconds) / (sum(result.seconds for result in report.results) or 1)
    which = "All claims" if len(slowest) == len(report.results) else f"The {len(slowest)} slowest of all claims"
    return Drawing("Where the time goes", f"{which}: {share:.0%} of the time that claims took.", svg(figure, "times"))


def _gap(result: Result) -> float | None:
    """How far apart both sides are, relatively, where each is one number; None elsewhere."""
    if result.finding is None:
        return None
    sides = numbers(result.finding.closed_form), numbers(result.finding.independent)
    match sides:
        case ((one,), (other,)):
            apart = max(one.lower - other.upper, other.lower - one.upper)
            size = max(abs(one.lower), abs(one.upper), abs(other.lower), abs(other.upper))
            return float(apart / size) if apart > 0 else None
    return None


def _gaps(report: Report) -> Drawing | None:
    title = "How wrong at the witness"
    contradicted = [result for result in report.results if result.finding is not None]
    if not contradicted:
        return None
    every = [(gap, result) for result in contradicted if (gap := _gap(result)) is not None]
    found = sorted(every, key=lambda pair: -pair[0])[:_WIDEST]
    others = len(contradicted) - len(found)
    if not found:
        witnesses = "witness below tells" if others == 1 else "witnesses below tell"
        return Drawing(title, f"No two sides state a single number each: the {witnesses} it in words.", "")
    figure, axes = _rows(len(found))
    gaps = [gap for gap, _ in found]
    colours = [_LOOKS[result.outcome][0] for _, result in found]
    least = 10.0 ** math.floor(math.log10(min(gaps)) - 1)
    axes.hlines(range(len(found)), least, gaps, color="#c8c8c8", linewidth=1)
    axes.scatter(gaps, range(len(found)), c=colours, edgecolors="#333333", linewidths=0.5, s=26, zorder=3)
    axes.set_xscale("log")
    axes.set_xlim(least, 4)
    axes.set_yticks(range(len(found)), [harmless(result.claim.id) for _, result in found])
    axes.set_xlabel("relative distance at the witness", fontsize=8)
    caption = (
        "How far what is claimed lies from what the independent side finds, at the witness: the difference over the "
        "larger of both. Only where either side states a single number"
        f"{f', the largest {_WIDEST} of them' if len(every) > _WIDEST else ''}."
        f"{f' Of {others} more the witnesses below tell it in words.' if others else ''}"
    )
    return Drawing(title, caption, svg(figure, "gaps"))

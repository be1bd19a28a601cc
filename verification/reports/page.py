"""One page of HTML with all that came of a run: it needs no other file, no network and no script to be read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, final

from attrs import frozen

from ...accounting.display import Number, format_value, parts, shorten
from ...accounting.errors import InvalidValue
from ...plugins.registry import Status
from ..errata.errata import ERRATA
from ..running.results import Outcome, Report, Result
from .foreign_words import harmless, shortened
from .sources import SOURCES, Source, source

if TYPE_CHECKING:
    import jinja2

_SLOW_SECONDS = 1.0
_MARKS = {
    Outcome.HOLDS: "✓",
    Outcome.REJECTED: "✓",
    Outcome.FAILS: "✗",
    Outcome.NOT_REJECTED: "✗",
    Outcome.ERROR: "!",
    Outcome.TIMEOUT: "…",
}


class Figure(Protocol):
    """A picture on the page."""

    @property
    def title(self) -> str:
        """What the figure shows, as its title."""
        ...

    @property
    def caption(self) -> str:
        """How to read the figure."""
        ...

    @property
    def svg(self) -> str:
        """The figure as an SVG element."""
        ...


@final
@frozen
class _Section:
    """The claims of one source, as a section of the page."""

    name: str
    source: Source
    results: tuple[Result, ...]

    @property
    def as_expected(self) -> int:
        return sum(result.passed for result in self.results)


def require_pages() -> None:
    """Find out whether pages can be made, before there is anything to put on one.

    Raises:
        InvalidValue: where Jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise InvalidValue(
            "html", "Jinja2 is missing", "an installation with it", "pip install 'certdp[report]'"
        ) from None
    _template()


def page(report: Report, problems: Sequence[Status], figures: Sequence[Figure], command: str) -> bytes:
    """Write the page of a report on claims.

    Args:
        report: what came of the claims.
        problems: plugins whose claims were not run.
        figures: pictures to show.
        command: what repeats the run.

    Guarantees:
        Whatever claims and plugins say is shown as text.

    Raises:
        InvalidValue: where Jinja2 is not installed.
    """
    require_pages()
    ordered = sorted(report.results, key=lambda result: (_place(_prefix(result)), result.claim.id))
    sections = [_Section(name, source(name), tuple(results)) for name, results in groupby(ordered, key=_prefix)]
    html = _template().render(
        report=report,
        sections=sections,
        unexpected=[result for result in report.results if not result.passed],
        passed=sum(result.passed for result in report.results),
        unusable=[problem for problem in problems if not problem.blocked],
        blocked=[problem for problem in problems if problem.blocked],
        figures=figures,
        command=command,
        errata={erratum.id: erratum for erratum in ERRATA},
        outcomes=[outcome for outcome in Outcome if any(result.outcome is outcome for result in report.results)],
        longest=max([_SLOW_SECONDS, *(result.seconds for result in report.results)]),
    )
    return html.encode("utf-8", "backslashreplace")


def _prefix(result: Result) -> str:
    return result.claim.id.partition("/")[0]


def _place(prefix: str) -> tuple[int, str]:
    """Known sources in their order, then others by name."""
    known = list(SOURCES)
    return known.index(prefix) if prefix in known else len(known), prefix


def _harmless(value: object) -> object:
    """What a page may show: plain text escaped, markup of its own as it is."""
    return harmless(value) if type(value) is str else value


@cache
def _template() -> jinja2.Template:
    """Read once, so that a long run ends with the page it began with."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, finalize=_harmless, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters: dict[str, Any] = {
        "pieces": lambda text: [
            {"short": part.short, "stated": part.stated if part.short != part.stated else ""}
            if isinstance(part, Number)
            else {"short": part, "stated": ""}
            for part in parts(text)
        ],
        "shorten": shorten,
        "shortened": shortened,
        "format_value": format_value,
        "exact": lambda value: str(value),
        "mark": _MARKS.__getitem__,
        "duration": _duration,
    }
    environment.filters.update(filters)
    text = resources.files(__name__.rpartition(".")[0]).joinpath("page.html").read_text("utf-8")
    return environment.from_string(text)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"

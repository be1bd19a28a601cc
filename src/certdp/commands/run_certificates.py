"""`--certificate` of the commands that say what a run costs as (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..accounting.enclosures import Enclosure
from ..durable.files import Publication, Rank
from ..runs.allocated import AllocatedRun
from ..runs.correlated import CorrelatedRun
from ..runs.keyed import KeyedRun
from ..runs.plan import Plan
from ..runs.run import Answer
from ..runs.sampled import SampledRun
from ..runs.selected import SelectedRun
from ..runs.stratified import StratifiedRun
from .page import Page

if TYPE_CHECKING:
    from ..runs.certificates import Certifiable, Certified


@frozen(kw_only=True)
class Certificate:
    """What a certificate that was written proves.

    Attributes:
        parameters: its numbers by name; in their order.
        method: how the checker proves it.
    """

    parameters: Mapping[str, Fraction]
    method: str

    @property
    def epsilon(self) -> Fraction:
        """Its ε, where it is of (ε, δ)."""
        return self.parameters["epsilon"]

    @property
    def delta(self) -> Fraction:
        """Its δ, where it is of (ε, δ)."""
        return self.parameters["delta"]

    def as_json(self) -> dict[str, object]:
        """Return JSON's key `certified`: rounded to the safe side, as binary64 and as the decimals that JSON writes."""
        numbers = {name.replace("-", "_"): _safe(name, value) for name, value in self.parameters.items()}
        return {**numbers, "method": self.method}

    def show(self, page: Page) -> None:
        """Show the certificate on the page, below the path of the file."""
        numbers, found = page.numbers, self.parameters
        if found.keys() == {"epsilon", "delta"}:
            page.print(f"proves ({numbers.most(self.epsilon)}, {numbers.most(self.delta)})-DP by {self.method}", 2)
            return
        told = ", ".join(
            f"{name.replace('-', ' ')} {numbers.least(value) if name == _LEAST else numbers.most(value)}"
            for name, value in found.items()
        )
        page.print(f"proves {told}, by {self.method}", 2)


_LEAST = "bayes-risk"
"""What is proven from below."""


def _safe(name: str, value: Fraction) -> float:
    enclosed, below = Enclosure.of(value), name == _LEAST
    found = enclosed.lower_float if below else enclosed.upper_float
    if math.isinf(found):
        return found
    written = Fraction(repr(found))
    if below:
        return found if written <= value else math.nextafter(found, -math.inf)
    return found if written >= value else math.nextafter(found, math.inf)


def write_certificate(
    files: Publication,
    path: Path | None,
    run: SampledRun[Any] | AllocatedRun | SelectedRun[Any] | StratifiedRun | CorrelatedRun | KeyedRun | Plan[Any],
    answer: Certifiable,
) -> Certificate | None:
    """Write the certificate of an answer, and say what it proves; None without a path.

    Raises:
        InvalidValue: where no certificate states the run, and for a place that cannot be written.
    """
    if path is None:
        return None
    from ..runs.certificates import certificate

    return write_certified(files, path, lambda: certificate(run, answer))


def write_certified(
    files: Publication, path: Path | None, certificate: Callable[[], Certified], *, released: bool = False
) -> Certificate | None:
    """Make and write a certificate where a path is given; otherwise as `write_certificate`.

    Args:
        files: where it appears.
        path: where, or None.
        certificate: makes it.
        released: whether it is that of the files beside it, whose digests it then states.
    """
    if path is None:
        return None
    from ..verification.certificates.artefacts import with_digests

    found = certificate()
    content = with_digests(found.content, files.digests()) if released else found.content
    files.write(path, content, Rank.STATEMENT)
    return Certificate(parameters=found.parameters, method=found.method)


def show_certified(page: Page, certified: Certificate | None, answer: Answer[Any]) -> None:
    """Print what a certificate proves, which may be a little more than the answer."""
    if certified is None:
        return
    certified.show(page)
    proven, answered = (certified.epsilon, certified.delta), (answer.epsilon.upper, answer.delta.upper)
    most = page.numbers.most
    if any(found > known and most(found) != most(known) for found, known in zip(proven, answered, strict=True)):
        page.print("more than above: no method of the independent checker is as sharp", 2)

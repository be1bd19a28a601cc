"""`--certificate` of the commands that say what a run costs as (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..durable.files import Publication, Rank
from ..runs.allocated import AllocatedRun
from ..runs.keyed import KeyedRun
from ..runs.plan import Plan
from ..runs.run import Answer
from ..runs.sampled import SampledRun
from .page import Page

if TYPE_CHECKING:
    from ..runs.certificates import Certified


@frozen(kw_only=True)
class Certificate:
    """What a certificate that was written proves.

    Attributes:
        epsilon: its ε.
        delta: its δ.
        method: how the checker proves it.
    """

    epsilon: Fraction
    delta: Fraction
    method: str

    def as_json(self) -> dict[str, object]:
        """Return JSON's key `certified`, in binary64 rounded up."""
        epsilon, delta = (Enclosure.of(value).upper_float for value in (self.epsilon, self.delta))
        return {"epsilon": epsilon, "delta": delta, "method": self.method}

    def show(self, page: Page) -> None:
        """Show the certificate on the page, below the path of the file."""
        numbers = page.numbers
        page.print(f"proves ({numbers.most(self.epsilon)}, {numbers.most(self.delta)})-DP by {self.method}", 2)


def write_certificate(
    files: Publication,
    path: Path | None,
    run: SampledRun[Any] | AllocatedRun | KeyedRun | Plan[Any],
    answer: Answer[Any],
) -> Certificate | None:
    """Write the certificate of an answer, and say what it proves; None without a path.

    Raises:
        InvalidValue: where no certificate states the run, and for a place that cannot be written.
    """
    if path is None:
        return None
    match run:
        case AllocatedRun():
            raise InvalidValue(
                "certificate",
                str(path),
                "nothing, for random allocation",
                "There is no kind of certificate yet: the checker has no proof of means of likelihood ratios",
            )
        case KeyedRun():
            raise InvalidValue(
                "certificate",
                str(path),
                "nothing, for keyed data",
                "There is no kind of certificate yet for what several releases cost; psi --certificate states one",
            )
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
    return Certificate(epsilon=found.epsilon, delta=found.delta, method=found.method)


def show_certified(page: Page, certified: Certificate | None, answer: Answer[Any]) -> None:
    """Print what a certificate proves, which may be a little more than the answer."""
    if certified is None:
        return
    certified.show(page)
    proven = Enclosure.of(certified.epsilon).upper_float, Enclosure.of(certified.delta).upper_float
    if proven[0] > answer.epsilon.upper or proven[1] > answer.delta.upper:
        page.print("more than above: no method of the independent checker is as sharp", 2)

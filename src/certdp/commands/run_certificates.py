"""`--certificate` of the commands that say what a run costs as (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..durable.files import Publication, Rank
from ..runs.keyed import KeyedRelease
from ..runs.plan import Plan
from ..runs.run import Answer
from ..runs.sampled_releases import SampledReleases

if TYPE_CHECKING:
    from ..runs.certificates import Certified


def write_certificate(
    files: Publication, path: Path | None, run: SampledReleases[Any] | KeyedRelease | Plan[Any], answer: Answer[Any]
) -> dict[str, Any] | None:
    """Write the certificate of an answer, and say what it proves: JSON's key `certified`; None without a path.

    Raises:
        InvalidValue: where no certificate states the run, and for a place that cannot be written.
    """
    if path is None:
        return None
    match run:
        case KeyedRelease():
            raise InvalidValue(
                "certificate",
                str(path),
                "nothing, for keyed data",
                "There is no kind of certificate yet for what several releases cost; psi --certificate states one",
            )
    return write_certified(files, path, lambda: run.certificate(answer))


def write_certified(
    files: Publication, path: Path | None, certificate: Callable[[], Certified]
) -> dict[str, Any] | None:
    """Make and write a certificate where a path is given; otherwise as `write_certificate`."""
    if path is None:
        return None
    found = certificate()
    files.write(path, found.content, Rank.STATEMENT)
    epsilon, delta = (Enclosure.of(value).upper_float for value in (found.epsilon, found.delta))
    return {"epsilon": epsilon, "delta": delta, "method": found.method}


def print_certified(console: Console, data: dict[str, Any]) -> None:
    """Say where the certificate is and what it proves, which may be a little more than the answer."""
    certified = data["certified"]
    if certified is None:
        return
    print_proven(console, data)
    if certified["epsilon"] > data["epsilon"][1] or certified["delta"] > data["delta"][1]:
        console.print("    more than above: no method of the independent checker is as sharp", markup=False)


def print_proven(console: Console, data: dict[str, Any]) -> None:
    """Say where a certificate is, if there is one, and what it proves."""
    certified = data["certified"]
    if certified is None:
        return
    console.print(f"  certificate {data['certificate']}", markup=False, soft_wrap=True)
    console.print(
        f"    proves ({certified['epsilon']!r}, {certified['delta']!r})-DP by {certified['method']}", markup=False
    )

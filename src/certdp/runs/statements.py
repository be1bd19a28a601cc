"""Releases with their statements: what was drawn, by what, on which grid, from which coins, and the output's digest."""

from __future__ import annotations

import io
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.sampling.clipping import Outside
from ..durable.files import digest_of, write_whole
from ..plugins.contract import Coins
from ..plugins.contract.coins import seeded_run, stated_source
from ..verification.certificates.artefacts import with_digests
from .certificates import certificate, profile_certificate
from .declared import plugin_to_json
from .run import Answer
from .sampled import SampledRun


@runtime_checkable
class OnGrids(Protocol):
    """A mechanism whose releases are correctly rounded to public grids, or functions of numbers that are."""

    @property
    def grids(self) -> Mapping[str, Fraction]:
        """The unit of each grid, by what is rounded to it."""
        ...


@final
@frozen(kw_only=True)
class ReleaseStatement:
    """What may be said of a release in public.

    Attributes:
        mechanism: its name, version and options, as certificates state them.
        sampler: likewise.
        releases: how many there are, and on which samples.
        grids: the unit of each public grid that the mechanism rounds to; empty where it names none.
        coins: `operating system`, its own or those of a cipher keyed by it, or `seeded`.
        digest: SHA-256 of the output as an npy file, as `StatedRelease.write` writes it.
    """

    mechanism: Mapping[str, Any]
    sampler: Mapping[str, Any]
    releases: str
    grids: Mapping[str, Fraction]
    coins: str
    digest: str

    @classmethod
    def of(cls, run: SampledRun[Any], output: Floats, *, private: bool) -> ReleaseStatement:
        """The statement of an output of a run, whose coins were private or seeded."""
        mechanism = run.mechanism
        return cls(
            mechanism=plugin_to_json(mechanism),
            sampler=plugin_to_json(run.sampler),
            releases=str(run.releases),
            grids=dict(mechanism.grids) if isinstance(mechanism, OnGrids) else {},
            coins=stated_source(private),
            digest=digest_of(_npy(output)),
        )

    @property
    def as_json(self) -> dict[str, Any]:
        """The statement as JSON, numbers as exact text."""
        grids = {name: str(unit) for name, unit in self.grids.items()}
        return {
            "mechanism": dict(self.mechanism),
            "sampler": dict(self.sampler),
            "releases": self.releases,
            "grids": grids,
            "coins": self.coins,
            "digest": self.digest,
        }


@final
@frozen(kw_only=True, eq=False)
class StatedRelease:
    """A release with its statement.

    Attributes:
        value: float64, one release of the mechanism for each step of the run.
        statement: what may be said of it.
        run: what was released.
    """

    value: Floats
    statement: ReleaseStatement
    run: SampledRun[Any]

    @property
    def content(self) -> bytes:
        """The output as an npy file, whose digest is the statement's."""
        return _npy(self.value)

    def write(self, path: Path) -> None:
        """Write the output as an npy file, whole or not at all.

        Raises:
            InvalidValue: where the folder is missing or not writable.
        """
        write_whole(path, self.content)

    def certificate(self, name: str, answer: Answer[Any] | None = None) -> bytes:
        """A certificate of the run that stands beside this output alone: `certdp check --artefact` refuses any other.

        Args:
            name: of the file that the output is published as, without folders.
            answer: the answer of the run to certify, as `certdp.certificate` takes it; the profile unless given.

        Raises:
            InvalidValue: for seeded coins, names that the checker refuses, and as `certdp.certificate` and
                `certdp.profile_certificate`.
        """
        if self.statement.coins != stated_source(private=True):
            raise seeded_run("certificate")
        found = profile_certificate(self.run) if answer is None else certificate(self.run, answer).content
        return with_digests(found, {name: self.statement.digest})


def stated_release(
    run: SampledRun[Any], records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
) -> StatedRelease:
    """Draw and release, as planned, with what may be said of it.

    Args:
        run: what to release.
        records: matrix (n, d) of finite numbers.
        outside: what happens to records outside the domain.
        coins: the operating system's unless given; a release with seeded coins is not private, and says so.

    Raises:
        InvalidType, InvalidValue: as `SampledRun.release`.
    """
    require("run", run, SampledRun, "Others release without a statement: run.release(…)")
    prepared = run.prepared(records, outside, coins=coins)
    value = np.asarray(prepared.draw(), dtype=np.float64)
    statement = ReleaseStatement.of(run, value, private=prepared.coins.private)
    return StatedRelease(value=value, statement=statement, run=run)


def _npy(value: Floats) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(value), version=(1, 0), allow_pickle=False)
    return stream.getvalue()

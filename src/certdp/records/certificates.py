"""Certificates for a data set's owner, which bind what a run loses to the records."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.guarantees import require
from ..accounting.private import InvalidData, Private
from ..accounting.sampling.clipping import Outside
from ..data import Records
from ..runs.certificates import pure_claim
from ..runs.prepared import matrix_within
from ..runs.sampled import SampledRun
from ..verification.certificates.writing import OwnersData, SampledPureClaim, commit_chunks, owners_certificate
from .losses import RecordLosses, record_losses

_ROUNDING_ALLOWANCE = 2.0**-28


def owner_certificate(
    run: SampledRun[Any],
    records: ArrayLike | Records,
    outside: Outside = Outside.CLIP,
    *,
    claim: SampledPureClaim | None = None,
    losses: Private[RecordLosses] | None = None,
) -> bytes:
    """A certificate for the data's owner, bound to the data by a salted commitment; not for publication.

    Args:
        run: one release of a mechanism with a pure ε, or a run whose weights are solved for a pure target.
        records: matrix (n, d) of finite numbers; or what `open_records` gives, which is read chunk by chunk.
        outside: what happens to records outside the run's domain.
        claim: what `pure_claim` gave for the same run; computed where it is None.
        losses: what `record_losses` gave for the same arguments; computed where it is None.

    Raises:
        ExPost: where the profile moves with a released value that has no range.
        NoPureValue: for a mechanism without a pure ε.
        InvalidValue: for several releases of a sampler that states its rate.
        InvalidData: for a record whose ψ is beyond the range of binary64, and losses of another number of records.
        InvalidType: for a run of another kind.
    """
    require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
    some = records if isinstance(records, Records) else Records.of(records)
    matrix_within(np.empty((0, some.columns)), run.domain)
    nonce = secrets.token_bytes(32)
    stated = pure_claim(run) if claim is None else claim

    def bound(found: RecordLosses) -> OwnersData:
        if math.isinf(found.largest):
            raise InvalidData(
                "records",
                "a record with ψ beyond the range of binary64",
                "records with a finite ψ",
                "Declare a public domain, or use more noise",
            )
        if some.shape[0] not in (None, found.records):
            raise InvalidData("losses", "those of another number of records", "those of these records")
        shape = (found.records, some.columns)
        return OwnersData(
            commitment=commit_chunks(some.chunks(), shape, nonce),
            nonce=nonce.hex(),
            records=found.records,
            columns=some.columns,
            outside="none" if run.domain is None else outside.value,
            psi_max=min(_allowing_for_rounding(found.largest), stated.ceiling),
            expected_sample_size=found.expected_sample_size,
        )

    figures = record_losses(run, some, outside) if losses is None else losses
    return owners_certificate(stated, figures.map(bound))


def _allowing_for_rounding(loss: float) -> float:
    """A bound for every probability and weight within the sampler's rounding, which a checker can prove anew."""
    return float(np.nextafter(loss * (1 + _ROUNDING_ALLOWANCE), math.inf)) if loss else 0.0

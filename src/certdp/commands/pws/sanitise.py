"""`certdp pws sanitise`: a sample is made private, without the data it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...durable.files import Rank, published
from ...plugins.contract import KeySampler
from ...verification.certificates.artefacts import with_digests
from ...weighted_sampling.release import PrivateWeightedSampling
from ...weighted_sampling.sample_files import put_sample
from ...weighted_sampling.threshold_samples import ByThreshold, ThresholdSample
from ..answer import Answer
from ..answering import application
from ..options import Certificate, Epsilon, Output, Overwrite, whole_or_none
from ..outputs import check_places, checked_certificate
from ..page import Page
from ..paying import LedgerOptions, Payer, among
from .drawn import NOTICE
from .options import Delta, Frequencies, MaxFrequency, UserBound
from .release import Released
from .scheme import check_new, check_sample_place, sample_places


@frozen(kw_only=True)
class Sanitised(Answer):
    """A sample that was made private.

    Attributes:
        released: what may be known.
        sampled: how many keys the sample had; for the data's owner.
    """

    released: Released
    sampled: int

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {**self.released.as_json(), "private": {"notice": NOTICE, "sampled": self.sampled}}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        self.released.show(page)
        page.owners_heading()
        page.print(f"{self.sampled:,} keys had been sampled", 2)


def sanitise(
    sample: Annotated[Path, typer.Argument(metavar="SAMPLE", help="A sample of `certdp pws sample` or `merge`.")],
    epsilon: Epsilon,
    delta: Delta,
    output: Output,
    frequencies: Frequencies = False,
    max_frequency: MaxFrequency = None,
    user_bound: UserBound = None,
    overwrite: Overwrite = False,
    certificate: Certificate = None,
    *,
    paid_from: LedgerOptions,
) -> Answer:
    """Make a sample private, once, without the data it was drawn from.

    It is written to --output: .parquet, .csv or .tsv. A ledger refuses a sample that was sanitised under it before.
    """
    places = {**sample_places(output), "certificate": certificate}

    def released(payer: Payer) -> Sanitised:
        overwrites = overwrite or payer.is_done
        for name, path in places.items():
            check_new(name, path, overwrites)
        check_sample_place(output)
        check_places(sample, places)
        drawn = ThresholdSample.read(sample)
        drawn.require_sanitisable()
        sampling = PrivateWeightedSampling.within(
            epsilon=epsilon,
            delta=delta,
            sampler=_sampler_of(drawn),
            frequencies=frequencies,
            largest=whole_or_none("max-frequency", max_frequency),
            contributions=whole_or_none("user-bound", user_bound),
        )
        content = None if certificate is None else checked_certificate("certificate", sampling.certificate())
        private = sampling.sanitise(drawn, ledger=payer.request)
        with published() as files:
            put_sample(files, output, private.to_arrow(), private.statement, overwrite=overwrites)
            if certificate is not None and content is not None:
                files.write(certificate, with_digests(content, files.digests()), Rank.STATEMENT)
            payer.hand_in(files)
        made = Released(sampling=sampling, sample=private, output=output, certificate=certificate)
        return Sanitised(released=made, sampled=len(drawn))

    return paid_from.released(released, among(places.values()))


def _sampler_of(sample: ThresholdSample) -> KeySampler:
    match sample.rule:
        case ByThreshold(sampler=sampler):
            return sampler
    raise InvalidValue("sample", sample.rule, "a sample that was drawn by threshold", "Draw one by threshold")


command = application(sanitise, about_data=True)

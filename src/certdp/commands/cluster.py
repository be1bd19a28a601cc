"""`certdp cluster`: private k-means centres of a file, with the certificate of what they cost."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..data import open_records
from ..durable.files import Rank, published
from ..plugins.contract import AnySampler, build, options
from ..plugins.registry import Role
from ..verification.certificates.artefacts import with_digests
from .answer import Answer, domain_as_json, path_as_json
from .answering import application
from .composition import sorted_options
from .options import (
    Certificate,
    DataSet,
    Epsilon,
    Options,
    Output,
    Outside,
    Sampler,
    whole,
)
from .outputs import check_places, checked_certificate
from .page import Page, whom
from .paying import LedgerOptions, Payer, among
from .requests import Admission, FileOptions

_RUN_OPTIONS = ("radius", "norm", "noise_scale", "split", "max_iter")


@frozen(kw_only=True)
class Clustered(Answer):
    """The centres that were released, and what they cost.

    Attributes:
        model: fitted.
        clusters: how many centres.
        sampler: its name.
        outside: what happened to records outside the domain.
        output: where the centres are.
        certificate: where it is.
    """

    model: Any
    clusters: int
    sampler: str
    outside: str
    output: Path
    certificate: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        model, fit = self.model, self.model.private_.reveal()
        return {
            "clusters": self.clusters,
            "sampler": self.sampler,
            "epsilon": [None, model.epsilon_spent_],
            "guarantee": {
                "notion": "pure",
                "unit": "record",
                "relation": "add-remove",
                "domain": domain_as_json(model.domain_),
            },
            "noise_scale": float(model.mechanism_.scale_sum.value),
            "iterations": model.n_iter_,
            "output": str(self.output),
            "certificate": path_as_json(self.certificate),
            "private": {
                "notice": "computed from the records: for the data's owner, not for publication",
                "n": fit.records,
                "outside_domain": fit.outside,
                "sample_size": fit.sample_size,
                "cost": fit.inertia,
            },
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        model, fit, numbers = self.model, self.model.private_.reveal(), page.numbers
        page.print(f"{self.clusters} centres after {model.n_iter_} iterations on a sample by {self.sampler}")
        page.bold(f"ε ≤ {numbers.most(model.epsilon_spent_)}", f" for {whom(model.domain_)}")
        page.print("pure DP, unit record, relation add-remove", 2)
        page.print(f"scale of the noise of sums {numbers.about(float(model.mechanism_.scale_sum.value))}", 2)
        page.files({"centres": self.output, "certificate": self.certificate})
        page.owners(
            [
                ("records", f"{fit.records:,}"),
                ("outside the domain", f"{fit.outside:,} ({self.outside})"),
                ("sample", f"{fit.sample_size:,}"),
                ("k-means cost", numbers.about(fit.inertia)),
            ]
        )


def cluster(
    data: DataSet,
    epsilon: Epsilon,
    clusters: Annotated[int, typer.Option(metavar="K", min=1, help="Number of centres.")],
    output: Output,
    sampler: Sampler = "full",
    option: Options = None,
    *,
    file: FileOptions,
    outside: Outside = "clip",
    certificate: Certificate = None,
    admission: Admission,
    paid_from: LedgerOptions,
) -> Answer:
    """Private k-means: centres by weighted DP-Lloyd on a sample, calibrated to a certified ε.

    Needs --option radius=R. The centres are written to --output as CSV.
    """
    estimators = _estimators()
    kind = admission.registry.get(Role.SAMPLER, sampler)
    found = sorted_options(option or [], {Role.SAMPLER: kind}, _RUN_OPTIONS)
    of_run, of_sampler = found["run"], found["sampler"]
    if "target" in {option.name for option in options(kind)}:  # a sampler with a target of its own gets the run's
        of_sampler.setdefault("target", epsilon)
    built: AnySampler = build(kind, "sampler", of_sampler)
    check_places(data, {"output": output, "certificate": certificate})
    settings: dict[str, Any] = {**of_run, "max_iter": whole("max_iter", of_run.get("max_iter", "10"))}
    model = estimators.DPKMeans(n_clusters=clusters, epsilon=epsilon, sampler=built, outside=outside, **settings)

    def fit(payer: Payer) -> Clustered:
        with open_records(data, file.reading) as records:
            model.set_params(ledger=payer.request).fit(records)
        with published() as files:
            files.write(output, _table_of(model.cluster_centers_), Rank.RELEASE)
            if certificate is not None:
                content = checked_certificate("certificate", model.certificate_)
                files.write(certificate, with_digests(content, files.digests()), Rank.STATEMENT)
            payer.hand_in(files)
        return Clustered(
            model=model,
            clusters=clusters,
            sampler=sampler,
            outside=outside,
            output=output,
            certificate=certificate,
        )

    return paid_from.released(fit, among([output, certificate]))


def _estimators() -> Any:
    try:
        from .. import clustering
    except ImportError:
        raise InvalidValue(
            "cluster", "an installation without scikit-learn", "one that has it", "pip install 'certdp[sklearn]'"
        ) from None
    return clustering


def _table_of(centres: Floats) -> bytes:
    """The centres as CSV, one row each, every number as written in full."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"column_{number}" for number in range(centres.shape[1]))
    writer.writerows([repr(float(value)) for value in centre] for centre in centres)
    return text.getvalue().encode("ascii")


command = application(cluster, about_data=True)

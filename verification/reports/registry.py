"""A record of a deployment for the Differential Privacy Deployments Registry, made from a certificate.

The fields are those of its schema (opendp/deployments-registry-data, schemas/deployments-schema.yaml). What a
certificate proves is filled in; what it does not speak of is stated by who publishes, or left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from math import isfinite
from typing import Any, final

from attrs import field, frozen

from ...accounting.errors import InvalidType, InvalidValue
from ..checker.intervals import upper_float
from .statement import Statement

_PARAMETERS = ("epsilon", "delta", "rho")
"""Those that the registry has a field for; others stand in the details."""


class CuratorType(Enum):
    """What publishes the data product."""

    GOVERNMENT = "Government"
    INDUSTRY = "Industry"
    NONPROFIT = "Nonprofit"


class ProductType(Enum):
    """What is published."""

    SUMMARY_STATISTICS = "Summary statistics"
    MACHINE_LEARNING_MODEL = "Machine learning model"
    DATASET = "Dataset"
    SYNTHETIC_DATA = "Synthetic data"
    INTERACTIVE_API = "Interactive API"
    SQL_QUERIES = "SQL queries"


class TrustModel(Enum):
    """Whom the people in the data trust with them."""

    LOCAL = "Local"
    CENTRAL = "Central"
    SHUFFLE = "Shuffle"
    FEDERATED = "Federated"


def _text(_: object, attribute: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidType(attribute.name, value, "text")
    if not value.strip() or not value.isprintable():
        raise InvalidValue(attribute.name, value, "a line of printable text")


@final
@frozen(kw_only=True)
class Deployment:
    """What no certificate knows of a deployment.

    Attributes:
        name: of the data product.
        curator: who publishes it.
        curator_type: what kind of body that is.
        description: of the data product.
        intended_use: what for.
        product_type: what it is.
        region: what region the data describe, or whose laws apply.
        published: when it was published first.
        author: who fills in the record.
        trust_model: whom people trust; None leaves it out, and the record in tier 1.

    Raises:
        InvalidType, InvalidValue: for anything but a line of text where text is asked for.
    """

    name: str = field(validator=_text)
    curator: str = field(validator=_text)
    curator_type: CuratorType
    description: str = field(validator=_text)
    intended_use: str = field(validator=_text)
    product_type: ProductType
    region: str = field(validator=_text)
    published: date
    author: str = field(validator=_text)
    trust_model: TrustModel | None = None

    @property
    def slug(self) -> str:
        """Name, curator and year in small letters and digits, with hyphens, as the registry makes stable addresses."""
        words = re.findall(r"[a-z0-9]+", f"{self.name} {self.curator}".lower())
        return "-".join([*(words or ["deployment"]), str(self.published.year)])


def record_of(stated: Statement, deployment: Deployment) -> Mapping[str, Any]:
    """The record, in the types of JSON and YAML.

    Raises:
        InvalidValue: for an ε beyond binary64.
    """
    claim = stated.claim
    parameters = {
        name: upper_float(end) for name, end in claim.parameters if name in _PARAMETERS and (end or name != "delta")
    }
    for name, end in parameters.items():
        if not isfinite(end):
            raise InvalidValue(name, end, "a finite number")
    found: dict[str, Any] = {
        "basic": {
            "name": deployment.name,
            "data_curators": [
                {"data_curator_name": deployment.curator, "data_curator_type": deployment.curator_type.value}
            ],
            "description": deployment.description,
            "intended_use": deployment.intended_use,
            "data_product_type": deployment.product_type.value,
            "data_product_region": deployment.region,
            "publication_date": deployment.published.isoformat(),
        },
        "dp_variant": {"variant_name": stated.variant.value},
        "privacy_loss": {
            "privacy_unit": claim.whom,
            "privacy_unit_details": f"Of neighbouring data sets: {stated.change}. Over {claim.domain}.",
            "privacy_parameters": parameters,
            "privacy_parameters_details": f"Upper ends{stated.assuming}: {claim.guarantee}, by {claim.theorem}.",
        },
    }
    if deployment.trust_model is not None:
        found["deployment_model"] = {"model_name": deployment.trust_model.value}
    mechanisms = f"Accounted for by certdp. The proof assumes: {_listed(claim.assumptions)}."
    if claim.beside:
        mechanisms += f" Stated beside, unchecked: {_listed(claim.beside)}."
    found["implementation"] = {
        "mechanisms": mechanisms,
        "composition": claim.theorem,
    }
    found["administrative"] = {
        "evidence_sources": {
            "certificate": {"evidence_source_type": "Other public source", "misc": _evidence(stated)},
        },
        "status": "Draft",
        "registry_authors": [deployment.author],
        "tier": 1 if deployment.trust_model is None else 2,
    }
    return {"url_slug": deployment.slug, "deployment": found}


def _listed(assumptions: Iterable[tuple[str, str]]) -> str:
    return "; ".join(" = ".join(filter(None, one)) for one in assumptions)


def _evidence(stated: Statement) -> dict[str, str]:
    return {
        "title": f"certdp certificate {stated.digest}",
        "howpublished": "a file that anyone can check: certdp check FILE",
        "note": f"{stated.verdict.outcome.value}: {stated.verdict.reason}",
    }


def as_registry(stated: Statement, deployment: Deployment) -> str:
    """The record as YAML, which the registry's own check accepts.

    Raises:
        InvalidValue: where PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        remedy = "pip install 'certdp[registry]'"
        raise InvalidValue("format", "YAML, for which PyYAML is missing", "an installation with it", remedy) from None
    written: str = yaml.safe_dump(record_of(stated, deployment), sort_keys=False, allow_unicode=True, width=2**31)
    return written

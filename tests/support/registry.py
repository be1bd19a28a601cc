"""What the Differential Privacy Deployments Registry admits: its schema and its further checks, written out anew.

After schemas/deployments-schema.yaml of opendp/deployments-registry-data at commit 057e5d8 of 2026, the newest that was
read, and the checks of quotes and escapes of its scripts/check.py. That follows links, too: a record has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from jsonschema import Draft7Validator

TEXT: dict[str, Any] = {"type": "string"}
ANY: dict[str, Any] = {}
TEXT_OR_NUMBER: dict[str, Any] = {"type": ["string", "number"]}


def one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def record(required: str = "", /, **fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": fields}


def fields(names: str, kind: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict.fromkeys(names.split(), kind)


BOOK = record(
    **fields("address annote author booktitle doi editor email howpublished institution journal note", TEXT),
    **fields("organization publisher school series title type url", TEXT),
    **fields("chapter edition isbn issn month number pages volume year", TEXT_OR_NUMBER),
)
SOURCES = (
    *("article", "book", "booklet", "conference", "inbook", "incollection", "inproceedings", "manual"),
    *("mastersthesis", "misc", "phdthesis", "proceedings", "techreport", "unpublished"),
)
KINDS_OF_SOURCES = one_of(
    "Peer-reviewed publication",
    "Formal publication by the deploying organization",
    "Authorized organizational attestation",
    "Other public source",
)
CURATOR = record(
    "data_curator_name data_curator_type",
    data_curator_name=TEXT,
    data_curator_type=one_of("Government", "Industry", "Nonprofit"),
)
SCHEMA = record(
    "url_slug deployment",
    url_slug=TEXT,
    deployment=record(
        "basic administrative",
        basic=record(
            "name data_curators description intended_use data_product_type data_product_region publication_date",
            **fields("name description intended_use data_product_region", TEXT),
            data_curators={"type": "array", "minItems": 1, "items": CURATOR},
            data_product_type=one_of(
                *("Summary statistics", "Machine learning model", "Dataset"),
                *("Synthetic data", "Interactive API", "SQL queries"),
            ),
            data_product_sector=one_of(
                *("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
            ),
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=record(
            variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            **fields("data_domain unprotected_quantities", TEXT),
        ),
        privacy_loss=record(
            **fields("privacy_unit privacy_unit_details", TEXT),
            number_of_privacy_units={"type": "integer"},
            privacy_parameters=record(**fields("epsilon rho", {"type": "number"}), delta=TEXT_OR_NUMBER),
            privacy_parameters_details=ANY,
        ),
        deployment_model=record(
            model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
            **fields("model_name_details trust_assumptions", TEXT),
            actors=ANY,
            release_type=one_of("One release", "Many releases"),
            data_source_type=one_of("Static", "Dynamic"),
            access_type=one_of("Interactive", "Non-interactive"),
            **fields("release_type_details data_source_type_details access_type_details", TEXT),
        ),
        implementation=record(
            **fields("preprocessing_and_hyperparameter_tuning mechanisms composition post_processing", TEXT),
            justification=TEXT,
            **fields("utility additional_information", ANY),
        ),
        administrative=record(
            "status registry_authors tier",
            evidence_sources={
                "type": "object",
                "patternProperties": {
                    r"^\w+$": {
                        "oneOf": [record(evidence_source_type=KINDS_OF_SOURCES, **{kind: BOOK}) for kind in SOURCES]
                    }
                },
            },
            status=one_of(
                *("Converted", "Draft", "Pending", "Changes Required"),
                *("Approved", "Approved (Update Requested)", "Approved (Pending)"),
            ),
            registry_authors={"type": "array", "minItems": 1, "items": TEXT},
            tier={"type": "integer", "enum": [1, 2, 3]},
        ),
    ),
)
VALIDATOR = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)


def faults(written: str) -> list[str]:
    """What the registry says of a record, as it was written; nothing where it is admitted."""
    found = [f"{'.'.join(map(str, one.path))}: {one.message}" for one in VALIDATOR.iter_errors(yaml.safe_load(written))]
    styles = {getattr(token, "style", None) for token in yaml.scan(written)}
    found += [f"folded or other text: {style}" for style in styles - {None, "'", '"', "|"}]
    return found + [text for text in texts(yaml.safe_load(written)) if re.search(r"\\\\[^()]|https?://", text)]


def texts(node: Any) -> Iterator[str]:
    """Every text of a record."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from texts(inner)

"""Certificates of keyed releases written by hand, in units so few that everything can be seen."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def plugin(name: str) -> Body:
    return {
        "name": name,
        "version": "1",
        "distribution": "nobody",
        "evidence": "proved",
        "citation": "here",
        "options": {},
    }


def certificate(table: Any, *, epsilon: str = "0", delta: str = "1/4", scheme: Any = None, **inputs: Any) -> Body:
    """In quarters: at epsilon 0 and delta 1/4, neighbours differ by one quarter."""
    return {
        "format": "certdp-certificate/1",
        "kind": "keyed-approximate",
        "audience": "public",
        "theorem": "PWS Section 4, Lemma 4.1",
        "claim": {
            "unit": "element",
            "contributions": None,
            "relation": "add-remove",
            "notion": "approximate",
            "epsilon": epsilon,
            "delta": delta,
            "largest_frequency": None,
        },
        "inputs": {
            "scheme": scheme or {"name": "every-key"},
            "releases": 1,
            "reports": "keys",
            "subdivision": 0,
            "bits": 2,
            "growth": "4",
            "allowance": "1",
            "table": table,
            "released_cost": {"epsilon": "0", "delta": "0"},
            **inputs,
        },
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "assumptions": [
            {"name": "unit is an element", "value": "one occurrence of a key"},
            {"name": "coins of each key", "value": "independent of those of all other keys"},
            {"name": "evidence of mechanism m", "value": "proved"},
            {"name": "evidence of sampler s", "value": "proved"},
        ],
        "versions": {},
    }


def rows(*units: int) -> Body:
    return {"segments": [{"reported": [str(value) for value in units]}], "then": "constant"}

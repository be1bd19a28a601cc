"""`certdp statement`: in words, in Markdown, and as a record for the registry of deployments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

ABOUT = {
    "--name": "Sums",
    "--curator": "An office",
    "--curator-type": "Government",
    "--description": "sums",
    "--intended-use": "planning",
    "--product-type": "Summary statistics",
    "--region": "nowhere",
    "--published": "2026-01-31",
    "--author": "ann",
}


@pytest.fixture
def certificate(certdp: Run, base: tuple[str, ...], tmp_path: Path) -> Path:
    assert certdp(*base, "--option", "radius=3", "--certificate", tmp_path / "c").code == 0
    return tmp_path / "c"


def test_it_is_printed_or_written(certdp: Run, certificate: Path, tmp_path: Path) -> None:
    printed = certdp("statement", certificate)
    assert printed.code == 0
    assert printed.out.startswith("Privacy statement: pure differential privacy per record")
    assert certdp("statement", certificate, "--format", "markdown", "--output", tmp_path / "s.md").code == 0
    assert (tmp_path / "s.md").read_text("utf-8").startswith("# Privacy statement: ")
    told = certdp("statement", certificate, "--json").json
    assert told["variant"] == "Pure DP"
    assert told["epsilon"] == [None, certdp("check", certificate, "--json").json["epsilon"][1]]
    assert told["sections"][0]["title"] == "Privacy parameters and unit of privacy"


def test_the_registry_needs_what_no_certificate_knows(
    certdp: Run, refusal: Refusal, certificate: Path, tmp_path: Path
) -> None:
    words = ["statement", certificate, "--format", "registry-yaml"]
    for name in ABOUT:
        given = [word for other, value in ABOUT.items() if other != name for word in (other, value)]
        assert refusal(*words, *given)["parameter"] == name.removeprefix("--")
    given = [word for pair in ABOUT.items() for word in pair]
    written = certdp(*words, *given, "--trust-model", "Central", "--output", tmp_path / "sums.yaml")
    assert written.code == 0, written
    assert yaml.safe_load((tmp_path / "sums.yaml").read_text("utf-8"))["deployment"]["administrative"]["tier"] == 2
    assert refusal(*words, *given, "--region", "a\nb")["parameter"] == "region"


def test_other_formats_take_nothing_of_it(refusal: Refusal, certificate: Path) -> None:
    for name, value in ABOUT.items():
        assert refusal("statement", certificate, name, value)["parameter"] == name.removeprefix("--")


def test_what_the_checker_refuses_is_refused(refusal: Refusal, certificate: Path, tmp_path: Path) -> None:
    certificate.write_bytes(certificate.read_bytes()[:-5])
    for output in ((), ("--output", tmp_path / "s")):
        assert refusal("statement", certificate, *output)["parameter"] == "certificate"
    assert not (tmp_path / "s").exists()

"""From files of real word counts to private samples and certificates, where there are such files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from certdp import PrivateSample
from certdp.commands.app import app

FOLDER = Path(os.environ.get("CERTDP_DATA", "no data"))
FILES = ["wordcounts_mobydick.tsv", pytest.param("wordcounts_imdb.tsv.xz", marks=pytest.mark.soundness)]
FREQUENT = {"the", "of", "and", "a", "to", "in", "that", "it"}
RELEASES = [
    "",
    "--frequencies",
    "--threshold 0.001",
    "--scheme pps --threshold 0.01 --frequencies",
    "--threshold 0.01 --frequencies --max-frequency 200 --user-bound 2",
    "--size 500 --total-epsilon 0.1",
]


def run(*arguments: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code in (0, 3), done.output  # 3: a certificate that holds under what its author vouches for
    return json.loads(done.stdout)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("more", RELEASES)
def test_a_release_and_its_certificate(file: str, more: str, tmp_path: Path) -> None:
    if not (FOLDER / file).is_file():
        pytest.skip(f"no {file}")
    places = ["--output", tmp_path / "sample.parquet", "--certificate", tmp_path / "certificate.json"]
    data = run("pws", "release", FOLDER / file, "--epsilon", "0.5", "--delta", "1e-6", *more.split(), *places)
    private = data["private"]
    # the variance of a number of independent keys is at most its expectation
    assert abs(data["reported"] - private["expected"]) < 7 * private["expected"] ** 0.5 + 7
    assert private["baseline"] < private["expected"]
    for band in private["bands"]:
        assert band["reported"] <= band["keys"]
    sample = PrivateSample.read(tmp_path / "sample.parquet")
    assert len(sample) == data["reported"]
    assert FREQUENT.intersection(sample.keys.to_pylist())  # each with probability 1 − e^−2 at least, as 200 counts 2
    verdict = run("check", tmp_path / "certificate.json")["verdict"]
    assert verdict == ("holds assuming the profile" if "--total-epsilon" in more else "holds")
    if "--frequencies" in more:
        estimate = run("pws", "estimate", tmp_path / "sample.parquet", "--where", "key = the")["sum"]
        assert estimate["at_least"] <= {"wordcounts_mobydick.tsv": 14536, "wordcounts_imdb.tsv.xz": 666832}[file]

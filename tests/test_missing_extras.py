"""On a base install, what needs an extra says which one before any work is done, and the rest works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXTRAS = ("pyarrow", "matplotlib", "jinja2", "yaml", "sklearn", "cryptography", "torch", "kymatio", "pandas", "polars")
WITHOUT = f"""
import json, sys
for name in {EXTRAS}:
    sys.modules[name] = None
"""
RUN = """
from certdp.__main__ import main
found = {}
for line in json.load(open("commands.json")):
    sys.argv = ["certdp", *line.split()]
    try:
        main()
    except SystemExit as end:
        found[line] = end.code
    else:
        found[line] = 0
    print("", file=sys.stderr)
    print("§", file=sys.stderr, flush=True)
json.dump(found, open("codes.json", "w"))
"""
SUM = "--mechanism laplace-sum --sampler importance --option scale=1 --option rate=0.3"
NOISE = "--mechanism gaussian-sum --sampler full --delta 1e-5"
TRAINING = (
    "dpis train --data records.csv --target y --epsilon 1 --delta 1e-3 --epochs 1 --batch 20 --clip 1 --records 300 "
    "--classes 2 --image 4x4 --learning-rate 1 --output model"
)
DEPLOYMENT = (
    "--name a --curator b --curator-type Nonprofit --description c --intended-use d --product-type Dataset --region e "
    "--published 2026-01-31 --author f"
)
NEEDING = {
    f"psi {SUM} --option radius=1 --data records.parquet": "parquet",
    f"psi {SUM} --option radius=1 --data records.csv --plot out.png": "plot",
    f"weights {SUM} --data records.csv --output out.parquet": "parquet",
    f"epsilon {NOISE} --option noise_multiplier=1 --plot out.png": "plot",
    f"calibrate {NOISE} --find noise_multiplier --epsilon 1 --plot out.png": "plot",
    "cluster --data records.csv --clusters 2 --epsilon 1 --option radius=2 --output out.csv": "sklearn",
    "pws release counts.csv --epsilon 1 --delta 1e-3 --output out.csv": "parquet",
    "pws sample counts.csv --scheme ppswor --threshold 0.1 --output out.csv": "parquet",
    "pws table --epsilon 1 --delta 1e-3 --rows 5 --plot out.png": "plot",
    "reproduce is-fig1 --output out": "plot",
    "verify --only mechanisms/response --html out.html": "report",
    "sign proof.json --signing-key private.pem": "signatures",
    "check proof.json --signed-by public.pem": "signatures",
    f"statement proof.json --format registry-yaml {DEPLOYMENT}": "registry",
    f"{TRAINING} --model cnn": "torch",
    f"{TRAINING} --model logistic --features scattering": "scattering",
}
WORKING = (
    f"epsilon {NOISE} --option noise_multiplier=1 --certificate proof.json",
    "check proof.json",
    f"psi {SUM} --option radius=2 --data records.csv",
    f"weights {SUM} --data records.csv --output weights.csv",
    "pws table --epsilon 1 --delta 1e-3 --rows 5",
)
CALLS = {
    "certdp.read_records('records.parquet')": "parquet",
    "q.table('records.parquet', [q.Column('a', 0, 1)], epsilon=1)": "parquet",
    "certdp.plot_accounting(certdp.SampledRun(mechanism=certdp.GaussianSum(noise_multiplier=certdp.Public(1)), "
    "sampler=certdp.Full()), certdp.Delta('1e-5'))": "plot",
    "certdp.DPKMeans": "sklearn",
    "__import__('certdp.dpis.torch')": "torch",
    "certdp.dpis.History.table(None)": "parquet",
}


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "400"},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("base")
    rows = np.random.default_rng(1).uniform(size=(300, 16)).round(3).tolist()
    lines = [",".join(map(str, [*row, number % 2])) for number, row in enumerate(rows)]
    (place / "records.csv").write_text("\n".join([",".join([*(f"x{k}" for k in range(16)), "y"]), *lines]))
    (place / "records.parquet").write_bytes(b"PAR1")
    (place / "counts.csv").write_text("key,count\na,3\n")
    for name in ("private.pem", "public.pem"):
        (place / name).write_text("a key")
    return place


@pytest.mark.slow
def test_commands_say_which_extra_they_need_and_write_nothing(folder: Path) -> None:
    lines = [*WORKING, *NEEDING]
    (folder / "commands.json").write_text(json.dumps(lines))
    ended = run(folder, RUN)
    codes: dict[str, Any] = json.loads((folder / "codes.json").read_text())
    messages = dict(zip(lines, ended.stderr.split("§\n"), strict=False))
    assert {line: codes[line] for line in WORKING} == dict.fromkeys(WORKING, 0), ended.stderr
    for line, extra in NEEDING.items():
        assert codes[line] == 2, line
        assert f"pip install 'certdp[{extra}]'" in messages[line], (line, messages[line])
    assert not [path.name for path in folder.iterdir() if path.name.startswith(("out", "model"))]


@pytest.mark.slow
def test_calls_say_which_extra_they_need(folder: Path) -> None:
    (folder / "calls.json").write_text(json.dumps(list(CALLS)))
    ended = run(
        folder,
        """
import certdp, certdp.dpis
from certdp import queries as q
for call in json.load(open("calls.json")):
    try:
        eval(call)
    except (ImportError, certdp.CertdpError) as error:
        print(json.dumps([call, str(error)]))
""",
    )
    messages = dict(map(json.loads, ended.stdout.splitlines()))
    assert messages.keys() == CALLS.keys(), ended.stderr
    for call, extra in CALLS.items():
        assert f"pip install 'certdp[{extra}]'" in messages[call], messages[call]

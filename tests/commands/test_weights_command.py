"""`certdp weights`: what it says, writes and refuses."""

from __future__ import annotations

import json
import lzma
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import concat_tables, parquet

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

KEYS = {
    *("mechanism", "sampler", "resample", "steps", "notion", "epsilon", "delta", "order", "tau", "theorem", "domain"),
    *("assumptions", "output", "taken_up", "certificate", "private"),
}
PRIVATE_KEYS = {"notice", "n", "expected_sample_size", "psi_max", "gap", "gap_proven", "outside_domain", "reach"}
LAPLACE = ("weights", "--mechanism", "laplace-sum", "--option", "scale=5")
CONSTRAINED = (*LAPLACE, "--epsilon", "1.5")
IMPORTANCE = (*LAPLACE, "--sampler", "importance", "--option", "rate=0.2", "--option", "floor=0.01")


def pairs(path: Path) -> Any:
    return np.genfromtxt(path, delimiter=",", names=True)


def test_the_largest_weights_within_a_target(certdp: Run, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "w.csv"
    ran = certdp(*CONSTRAINED, "--option", "radius=6", "--data", table, "--output", output, "--json")
    assert (ran.code, ran.err) == (0, "")
    data = ran.json
    assert set(data) == KEYS
    assert data["sampler"]["name"] == "privacy-constrained"
    assert data["sampler"]["options"] == {"target": "3/2"}
    assert data["epsilon"] == [None, 1.5]
    assert data["domain"] == {"norm": "1", "radius": "6", "dimension": None}
    assert (data["output"], data["certificate"]) == (str(output), None)
    norms = np.abs(np.load(table)).sum(axis=1)
    weights = pairs(output)
    psi = np.log1p(weights["probability"] * np.expm1(np.minimum(norms, 6) / 5 * weights["weight"]))
    assert psi == pytest.approx(1.5, rel=1e-9)
    private = data["private"]
    assert set(private) == PRIVATE_KEYS
    assert "not for publication" in private["notice"]
    assert (private["n"], private["outside_domain"]) == (60, (norms > 6).sum())
    low, high = private["expected_sample_size"]
    assert low <= math.fsum(weights["probability"]) <= high <= low * (1 + 1e-12)
    assert private["psi_max"] == 1.5
    assert 0 < private["gap"] <= 1e-12
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_without_a_domain_there_is_no_epsilon(certdp: Run, table: Path, tmp_path: Path) -> None:
    data = certdp(*CONSTRAINED, "--option", "mechanism.scale=5", "--data", table, "--output", tmp_path / "w.csv")
    assert data.code == 2  # given twice
    ran = certdp(
        *("weights", "--mechanism", "laplace-sum", "--option", "scale=20", "--epsilon", "1"),
        *("--data", table, "--output", tmp_path / "w.csv", "--json"),
    )
    assert ran.json["epsilon"] is ran.json["domain"] is None
    assert "records" in {item["name"] for item in ran.json["assumptions"]}


def test_a_sampler_that_states_its_rate(certdp: Run, table: Path, tmp_path: Path) -> None:
    certificate, output = tmp_path / "c.json", tmp_path / "w.parquet"
    arguments = (*IMPORTANCE, "--option", "radius=6", "--data", table, "--output", output)
    data = certdp(*arguments, "--certificate", certificate, "--json").json
    lower, upper = data["epsilon"]
    truth = 6 / 5  # drawn with probability 1 at the radius
    assert lower <= truth * (1 + 1e-12)
    assert truth <= upper <= truth * (1 + 1e-11)
    assert data["private"]["gap"] is None
    checked = certdp("check", certificate, "--json")
    assert (checked.code, checked.json["verdict"]) == (0, "holds")
    assert "private" not in json.loads(certificate.read_bytes())
    probability = parquet.read_table(output)["probability"].to_numpy()
    norms = np.minimum(np.abs(np.load(table)).sum(axis=1), 6)
    assert probability == pytest.approx(np.clip(0.2 * norms, 0.01, 1), rel=1e-12)


def test_a_certificate_of_the_target(certdp: Run, table: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    arguments = (*CONSTRAINED, "--option", "radius=6", "--data", table, "--output", tmp_path / "w.csv")
    assert certdp(*arguments, "--certificate", certificate, "--json").json["certificate"] == str(certificate)
    checked = certdp("check", certificate, "--json")
    assert (checked.code, checked.json["verdict"]) == (0, "holds")
    assert checked.json["epsilon"] == [None, 1.5]


def test_the_figures_are_those_of_psi(certdp: Run, table: Path, tmp_path: Path) -> None:
    shared = ("--option", "radius=6", "--data", table, "--json", "--outside", "drop")
    weights = certdp(*IMPORTANCE, *shared, "--output", tmp_path / "w.csv").json
    psi = certdp("psi", *IMPORTANCE[1:], *shared).json
    assert weights["epsilon"] == psi["epsilon"]
    assert weights["assumptions"] == psi["assumptions"]
    for name in ("n", "outside_domain", "expected_sample_size", "psi_max"):
        assert weights["private"][name] == psi["private"][name]
    dropped = np.isinf(pairs(tmp_path / "w.csv")["weight"])
    assert dropped.sum() == psi["private"]["outside_domain"] > 0


def test_the_text_says_the_same(certdp: Run, table: Path, tmp_path: Path) -> None:
    arguments = (*CONSTRAINED, "--option", "radius=6", "--data", table, "--output", tmp_path / "w.csv")
    text, data = certdp(*arguments).out, certdp(*arguments, "--json").json
    assert "ε ≤ 1.5 for every record with ‖x‖₁ ≤ 6" in text
    for item in data["assumptions"]:
        assert item["name"] in text
    public, _, private = text.partition("not for publication")
    assert "ψ, largest" not in public
    assert repr(data["private"]["psi_max"]) in private
    assert f"weights: {tmp_path / 'w.csv'}" in text.replace("\n", "")


def test_every_format_gives_the_same_weights(certdp: Run, tmp_path: Path) -> None:
    records = np.random.default_rng(3).integers(-3, 4, size=(30, 3)).astype(np.float64)
    np.save(tmp_path / "d.npy", records)
    np.save(tmp_path / "t.npy", records.T)
    np.savez(tmp_path / "d.npz", X=records, y=records)
    np.savetxt(tmp_path / "d.csv", records, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "d.csv.xz").write_bytes(lzma.compress((tmp_path / "d.csv").read_bytes()))
    found = set()
    for path in sorted(tmp_path.iterdir()):
        transpose = ["--transpose"] if path.name == "t.npy" else []
        output = tmp_path / f"{path.name}.weights.csv"
        ran = certdp(*CONSTRAINED, "--option", "radius=7", "--data", path, "--output", output, *transpose)
        assert ran.code == 0, ran
        found.add(output.read_bytes())
    assert len(found) == 1


def test_a_data_set_of_many_files_is_taken_up(certdp: Run, table: Path, tmp_path: Path) -> None:
    data, into, certificate = tmp_path / "data", tmp_path / "weights", tmp_path / "c.json"
    data.mkdir()
    first, second = np.split(np.load(table), [17])
    np.save(data / "1.npy", first)
    np.save(data / "2.npy", np.full_like(second, np.nan))
    base = (*CONSTRAINED, "--option", "radius=6")
    arguments = (*base, "--data", data, "--output", into, "--certificate", certificate)
    assert certdp(*arguments).code == 2
    assert not certificate.exists()
    np.save(data / "2.npy", second)
    found = certdp(*arguments, "--json").json
    assert (found["output"], found["taken_up"]) == (str(into), 1)
    whole = certdp(*base, "--data", table, "--output", tmp_path / "w.parquet", "--json").json
    assert found["private"] == whole["private"]
    assert (whole["taken_up"], certdp("check", certificate).code) == (None, 0)
    tables = [parquet.read_table(file) for file in sorted(into.glob("*.parquet"))]
    assert concat_tables(tables).equals(parquet.read_table(tmp_path / "w.parquet"))
    assert "2 files, not weighed again" in certdp(*arguments).out


class TestRefusals:
    @pytest.fixture
    def refuse(self, refusal: Refusal, table: Path, tmp_path: Path) -> Refusal:
        """Refused, and nothing is written."""

        def run(*arguments: object) -> dict[str, str]:
            before = sorted(tmp_path.iterdir())
            error = refusal(*arguments)
            assert sorted(tmp_path.iterdir()) == before
            return error

        return run

    def test_a_target_for_a_sampler_without_one(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        error = refuse(*IMPORTANCE, "--epsilon", "1", "--data", table, "--output", tmp_path / "w.csv")
        assert error["parameter"] == "epsilon"
        assert "privacy-constrained" in error["remedy"]

    def test_no_target_or_two(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        places = ("--data", table, "--output", tmp_path / "w.csv")
        assert refuse(*LAPLACE, *places)["parameter"] == "target"
        assert "once" in refuse(*CONSTRAINED, "--option", "target=2", *places)["remedy"]

    @pytest.mark.parametrize("target", ["0", "-1", "nan", "text", "1025"])
    def test_a_target_that_is_none(self, refuse: Refusal, table: Path, tmp_path: Path, target: str) -> None:
        places = ("--option", "radius=1", "--data", table, "--output", tmp_path / "w.csv")
        assert refuse(*LAPLACE, "--epsilon", target, *places)["parameter"] == "target"

    def test_a_target_below_what_a_record_loses(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        error = refuse(*CONSTRAINED, "--option", "radius=9", "--data", table, "--output", tmp_path / "w.csv")
        assert error["parameter"] == "target"
        assert "1.8" in error["admissible"]

    def test_a_mechanism_without_a_pure_loss(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        error = refuse(
            *("weights", "--mechanism", "gaussian-sum", "--option", "scale=5", "--epsilon", "1"),
            *("--data", table, "--output", tmp_path / "w.csv"),
        )
        assert error["parameter"] == "mechanism"

    @pytest.mark.parametrize("name", ["w.npy", "none/w", "none/w.csv"])
    def test_outputs(self, refuse: Refusal, table: Path, tmp_path: Path, name: str) -> None:
        places = ("--data", table, "--output", tmp_path / name)
        assert refuse(*CONSTRAINED, "--option", "radius=1", *places)["parameter"] == "output"

    def test_a_folder_within_that_of_the_data(self, refusal: Refusal, table: Path, tmp_path: Path) -> None:
        (table.parent / "weights").mkdir(exist_ok=True)
        error = refusal(*CONSTRAINED, "--data", table.parent, "--output", table.parent / "weights")
        assert (error["parameter"], error["admissible"]) == ("output", "a file outside of the folder of --data")

    def test_a_folder_with_something_else(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        (tmp_path / "weights").mkdir()
        (tmp_path / "weights" / "notes.txt").write_text("mine")
        base = (*CONSTRAINED, "--option", "radius=6", "--data", table)
        error = refuse(*base, "--output", tmp_path / "weights", "--certificate", tmp_path / "c.json")
        assert (error["parameter"], error["remedy"]) == ("output", "Choose another folder")

    def test_one_file_for_two(self, refuse: Refusal, tmp_path: Path) -> None:
        data = tmp_path / "d.csv"
        data.write_text("a\n1\n")
        base = (*IMPORTANCE, "--option", "radius=1", "--data", data)
        assert refuse(*base, "--output", data)["admissible"] == "another file than that of --data"
        output = tmp_path / "w.csv"
        error = refuse(*base, "--output", output, "--certificate", output)
        assert (error["parameter"], error["admissible"]) == ("certificate", "another file than that of --output")

    def test_a_certificate_among_the_weights(self, refuse: Refusal, table: Path, tmp_path: Path) -> None:
        """It would take the place of those of a data file."""
        folder = tmp_path / "weights"
        folder.mkdir()
        base = (*CONSTRAINED, "--option", "radius=6", "--data", table)
        error = refuse(*base, "--output", folder, "--certificate", folder / f"00000-{table.name}.parquet")
        assert (error["parameter"], error["admissible"]) == ("certificate", "a file outside of the folder of --output")

    @pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", "a,b\n1,nan\n", "a,b\n1,x\n", "a,b\n", "1,2\n3,4\n"])
    def test_faulty_data(self, refuse: Refusal, tmp_path: Path, text: str) -> None:
        data = tmp_path / "d.csv"
        data.write_text(text)
        base = (*CONSTRAINED, "--option", "radius=1", "--data", data, "--output", tmp_path / "w.csv")
        assert refuse(*base, "--certificate", tmp_path / "c.json")["parameter"] == "data"

    def test_no_data(self, certdp: Run, tmp_path: Path) -> None:
        assert certdp(*CONSTRAINED, "--output", tmp_path / "w.csv").code == 2

    def test_a_disk_that_is_full(
        self, refuse: Refusal, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        error = refuse(*CONSTRAINED, "--option", "radius=1", "--data", table, "--output", tmp_path / "w.csv")
        assert "No space left on device" in error["remedy"]


@pytest.mark.skipif(not os.environ.get("CERTDP_DATA"), reason="CERTDP_DATA is not set: no real data here")
def test_the_song_sample(certdp: Run, tmp_path: Path) -> None:
    data = Path(os.environ["CERTDP_DATA"]) / "song_uniform_25000.npz"
    ran = certdp(
        *("weights", "--mechanism", "laplace-sum", "--option", "scale=20", "--option", "radius=15"),
        *("--epsilon", "1", "--data", data, "--divide-by", "1000", "--output", tmp_path / "w.csv", "--json"),
    )
    assert ran.code == 0, ran
    assert (ran.json["private"]["n"], ran.json["private"]["psi_max"]) == (25_000, 1.0)
    assert len(pairs(tmp_path / "w.csv")) == 25_000


GAUSSIAN = ("weights", "--mechanism", "gaussian-sum", "--option", "scale=40", "--epsilon", "1")
PLUGIN = """
from typing import Any, ClassVar
import attrs
from certdp.accounting.derivation import Evidence
from certdp.accounting.expressions import W, log1p, norm
from certdp.accounting.sampling.losses import PureLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Real, named, positive


@attrs.frozen(kw_only=True, field_transformer=named)
class Logarithmic:
    about: ClassVar[Any] = About(
        name="logarithmic", version="7", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="Nobody 2026"
    )
    scale: Real = attrs.field(converter=positive, metadata={"help": "how wide"})

    @property
    def loss(self):
        return PureLoss(log1p(W * W * norm(1) / self.scale.value))

    def release(self, sample, coins):
        return sample.weights @ sample.records
"""


class TestGeneralTargets:
    def test_a_gaussian_sum_at_a_delta(self, certdp: Run, table: Path, tmp_path: Path) -> None:
        arguments = (*GAUSSIAN, "--option", "radius=5", "--data", table, "--output", tmp_path / "w.csv")
        data = certdp(*arguments, "--delta", "1e-6", "--json").json
        assert (data["notion"], data["epsilon"], data["tau"], data["order"]) == ("approximate", [None, 1.0], None, None)
        assert data["delta"] == pytest.approx(1e-6)
        assert data["sampler"]["options"] == {"target": "1", "delta": "1/1000000"}
        private = data["private"]
        assert private["reach"] == [{**private["reach"][0], "name": "first crossing", "n": 60}]
        assert (0 < private["gap"] < 0.01, private["gap_proven"]) == (True, True)
        assert 0.9 < private["psi_max"] <= 1.0
        text = certdp(*arguments, "--delta", "1e-6").out
        assert "first crossing" in text
        assert "at δ = " in text

    def test_a_gaussian_sum_at_an_order_over_several_samples(self, certdp: Run, table: Path, tmp_path: Path) -> None:
        plan = ("--order", "3", "--steps", "4", "--resample", "each")
        arguments = (*GAUSSIAN, "--option", "radius=5", "--data", table, "--output", tmp_path / "w.csv", *plan)
        data = certdp(*arguments, "--json").json
        assert (data["notion"], data["epsilon"], data["tau"], data["order"]) == ("Rényi", None, [None, 1.0], 3.0)
        assert (data["steps"], data["resample"], data["private"]["gap_proven"]) == (4, "each", False)
        assert {"name": "releases", "value": "4, each on a fresh sample"} in data["assumptions"]
        text = certdp(*arguments).out
        assert "τ ≤ 1 at order 3" in text
        assert "4 releases, sampled afresh for each" in text

    @pytest.mark.parametrize("resample", ["once", "each"])
    def test_several_releases_of_a_pure_loss(self, certdp: Run, table: Path, tmp_path: Path, resample: str) -> None:
        certificate, output = tmp_path / "c.json", tmp_path / "w.csv"
        ran = certdp(
            *("weights", "--mechanism", "laplace-sum", "--option", "scale=60", "--epsilon", "2"),
            *("--option", "radius=6", "--steps", "5", "--resample", resample, "--data", table, "--output", output),
            *("--certificate", certificate, "--json"),
        )
        assert (ran.code, ran.json["epsilon"]) == (0, [None, 2.0])
        checked = certdp("check", certificate, "--json")
        assert (checked.code, checked.json["verdict"], checked.json["epsilon"]) == (0, "holds", [None, 2.0])
        norms, weights = np.minimum(np.abs(np.load(table)).sum(axis=1), 6), pairs(output)
        loss = norms / 60 * weights["weight"]
        if resample == "once":
            psi = np.log1p(weights["probability"] * np.expm1(5 * loss))
        else:
            psi = 5 * np.log1p(weights["probability"] * np.expm1(loss))
        assert psi == pytest.approx(2, rel=1e-9)

    def test_a_plugin_whose_loss_is_not_linear(
        self, certdp: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = tmp_path / "site"
        (site / "logarithmic-7.dist-info").mkdir(parents=True)
        (site / "logarithmic_plugin.py").write_text(PLUGIN)
        entry = "[certdp.mechanisms]\nlogarithmic = logarithmic_plugin:Logarithmic\n"
        (site / "logarithmic-7.dist-info/entry_points.txt").write_text(entry)
        (site / "logarithmic-7.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: logarithmic\nVersion: 7\n")
        monkeypatch.syspath_prepend(str(site))
        certificate, output = tmp_path / "c.json", tmp_path / "w.csv"
        ran = certdp(
            *("weights", "--mechanism", "logarithmic", "--option", "scale=3", "--option", "radius=6"),
            *("--epsilon", "2", "--data", table, "--output", output, "--certificate", certificate, "--json"),
        )
        assert ran.code == 0, ran
        assert ran.json["mechanism"]["distribution"] == "logarithmic"
        assert ran.json["private"]["gap"] < 1e-12
        assert [one["name"] for one in ran.json["private"]["reach"]] == ["largest"]
        norms, weights = np.minimum(np.abs(np.load(table)).sum(axis=1), 6), pairs(output)
        assert weights["weight"] == pytest.approx(np.expm1(2) / norms * 3, rel=1e-9)  # the root of w²·x/3 = c·w
        assert certdp("check", certificate).code == 3  # its loss is its author's word

    @pytest.mark.slow
    def test_refusals(self, refusal: Refusal, table: Path, tmp_path: Path) -> None:
        places = ("--option", "radius=5", "--data", table, "--output", tmp_path / "w.csv")
        bare = (*places[2:], "--certificate", tmp_path / "c.json")
        assert refusal(*GAUSSIAN, "--delta", "1e-6", *bare)["parameter"] == "domain"
        assert refusal(*GAUSSIAN, "--delta", "1e-6", "--order", "3", *places)["parameter"] == "order"
        assert refusal(*GAUSSIAN, "--delta", "2", *places)["parameter"] == "delta"
        assert refusal(*GAUSSIAN, *places)["parameter"] == "mechanism"
        assert refusal(*CONSTRAINED, "--delta", "1e-6", *places)["parameter"] == "mechanism"
        assert refusal(*CONSTRAINED, "--steps", "3", *places)["parameter"] == "resample"
        assert refusal(*CONSTRAINED, "--steps", "3", "--resample", "twice", *places)["parameter"] == "resample"
        assert refusal(*IMPORTANCE, "--delta", "1e-6", *places)["parameter"] == "delta"
        assert refusal(*IMPORTANCE, "--steps", "3", "--resample", "each", *places)["parameter"] == "steps"
        error = refusal(
            *("weights", "--mechanism", "gaussian-sum", "--option", "scale=5", "--epsilon", "1"),
            *("--delta", "1e-6", *places),
        )
        assert error["parameter"] == "target"
        assert error["admissible"].startswith("at least 4.88")
        assert not (tmp_path / "w.csv").exists()


def test_a_folder_of_files_gives_the_weights_of_one(certdp: Run, refusal: Refusal, tmp_path: Path) -> None:
    matrix = np.random.default_rng(8).normal(size=(60, 4))
    folder = tmp_path / "parts"
    folder.mkdir()
    np.save(tmp_path / "whole.npy", matrix)
    np.savetxt(folder / "0.csv", matrix[:15], fmt="%.17g", delimiter=",", header="a,b,c,d", comments="")
    np.save(folder / "1.npy", matrix[15:40])
    np.save(folder / "2.npy", matrix[40:])
    one, many, several = (tmp_path / f"{name}.csv" for name in ("one", "many", "several"))
    request = (*CONSTRAINED, "--option", "radius=6")
    assert certdp(*request, "--data", tmp_path / "whole.npy", "--output", one).code == 0
    assert certdp(*request, "--data", folder, "--output", many).code == 0
    split = ("--data", folder / "0.csv", "--data", f"{folder}/[1-9].npy")
    assert certdp(*request, *split, "--output", several).code == 0
    assert one.read_bytes() == many.read_bytes() == several.read_bytes()
    error = refusal(*request, "--data", folder, "--output", folder / "weights.csv")
    assert (error["parameter"], error["admissible"]) == ("output", "a file outside of the folder of --data")


def test_columns_by_name(certdp: Run, tmp_path: Path) -> None:
    matrix = np.random.default_rng(8).normal(size=(20, 2))
    path = tmp_path / "d.csv"
    lines = [f"x{place},{row[0]!r},{row[1]!r}" for place, row in enumerate(matrix.tolist())]
    path.write_text("\n".join(["name,a,b", *lines, ""]))
    np.save(tmp_path / "d.npy", matrix[:, ::-1])
    request = (*CONSTRAINED, "--option", "radius=6")
    chosen = certdp(*request, "--data", path, "--column", "b", "--column", "a", "--output", tmp_path / "1.csv")
    assert chosen.code == 0, chosen.err
    assert certdp(*request, "--data", tmp_path / "d.npy", "--output", tmp_path / "2.csv").code == 0
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()

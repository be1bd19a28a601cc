"""`certdp psi`: what it says, writes and refuses."""

from __future__ import annotations

import json
import lzma
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from certdp.accounting.derivation import REAL_VALUED_NOISE

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]
Base = tuple[str, ...]

CERTDP = [sys.executable, "-m", "certdp"]


def save(path: Path, matrix: Any) -> Path:
    np.save(path, np.asarray(matrix))
    return path


class TestJson:
    def test_with_a_domain(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        public, owner = tmp_path / "public.json", tmp_path / "owner.json"
        ran = certdp(*base, "--option", "radius=2", "--certificate", public, "--owner-certificate", owner, "--json")
        assert (ran.code, ran.err) == (0, "")
        data = ran.json
        assert set(data) == {
            *("mechanism", "sampler", "epsilon", "guarantee", "assumptions", "certificate"),
            *("owner_certificate", "plot", "owner_plot", "private"),
        }
        lower, upper = data["epsilon"]
        # ψ at ‖x‖₁ = 2: q = 0.6, ε = 2/(0.6·1.5); it grows with the norm
        truth = np.log1p(0.6 * np.expm1(2 / 0.9))
        assert lower <= truth * (1 + 1e-12)
        assert truth <= upper <= truth * (1 + 1e-11)
        assert data["certificate"] == str(public)
        assert data["owner_certificate"] == str(owner)
        assert data["plot"] is None
        guarantee = data["guarantee"]
        assert guarantee["kind"] == "differential privacy on the public domain"
        assert (guarantee["notion"], guarantee["unit"], guarantee["relation"]) == ("pure", "record", "add-remove")
        assert guarantee["theorem"] == "IS Theorem 6"
        assert (guarantee["domain"]["norm"], guarantee["domain"]["radius"]) == ("1", "2")
        assert guarantee["maximiser"]["norm(1)"] == "2"
        assumptions = {item["name"]: item["value"] for item in data["assumptions"]}
        assert assumptions["mechanism.scale"] == "3/2"
        assert assumptions["sampler.rate"] == "3/10"
        assert assumptions["sampler.floor"] == "1/100"
        assert assumptions["radius"] == "2"
        assert REAL_VALUED_NOISE.name not in assumptions
        assert assumptions["evidence of mechanism laplace-sum"] == "proved"

    def test_private_figures_are_marked(self, certdp: Run, base: Base, table: Path) -> None:
        private = certdp(*base, "--data", table, "--json").json["private"]
        assert set(private) == {
            "notice",
            "n",
            "outside_domain",
            "expected_sample_size",
            "psi_max",
            "quantiles",
            "source",
        }
        assert "not for publication" in private["notice"]
        records = np.load(table)
        q = np.clip(0.3 * np.abs(records).sum(axis=1), 0.01, 1)
        psi = np.log1p(q * np.expm1(np.abs(records).sum(axis=1) / q / 1.5))
        assert private["n"] == 60
        low, high = private["expected_sample_size"]
        assert low <= q.sum() <= high <= low * (1 + 1e-12)
        assert private["psi_max"] == pytest.approx(psi.max(), rel=1e-12)
        assert set(private["quantiles"]) == {"0.05", "0.25", "0.5", "0.75", "0.95"}
        assert private["quantiles"]["0.5"] == pytest.approx(np.quantile(psi, 0.5, method="higher"), rel=1e-12)

    def test_without_a_domain_there_is_no_epsilon(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        data = certdp(*base, "--certificate", tmp_path / "c.json", "--json").json
        assert data["epsilon"] is None
        assert data["guarantee"]["kind"] == "psi-PDP profile"
        assert data["guarantee"]["domain"] is data["guarantee"]["maximiser"] is None
        assert "‖x‖₁" in data["guarantee"]["psi"]
        checked = certdp("check", tmp_path / "c.json", "--json").json
        assert (checked["verdict"], checked["epsilon"]) == ("holds", None)

    def test_without_data_it_takes_the_example(self, certdp: Run, base: Base) -> None:
        assert certdp(*base, "--json").json["private"]["n"] == 1000


class TestText:
    def test_it_says_the_same(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        arguments = (*base, "--option", "radius=2", "--certificate", tmp_path / "c.json")
        text, data = certdp(*arguments, "--full").out, certdp(*arguments, "--json").json
        assert f"ε ≤ {data['epsilon'][1]!r} for every record with ‖x‖₁ ≤ 2" in text
        for item in data["assumptions"]:
            assert f"{item['name']} = {item['value']}" in text
        public, _, private = text.partition("not for publication")
        assert "ψ, largest" not in public
        assert repr(data["private"]["psi_max"]) in private
        assert f"certificate: {tmp_path / 'c.json'}" in text.replace("\n", "")

    def test_without_a_domain_it_says_what_to_declare(self, certdp: Run, base: Base) -> None:
        text = certdp(*base).out
        assert "no public domain was declared" in text
        assert "--option radius=R" in text


class TestOptions:
    def test_each_goes_to_whoever_declares_it(self, certdp: Run) -> None:
        ran = certdp(
            *("psi", "--mechanism", "count", "--sampler", "poisson", "--json"),
            *("--option", "scale=3", "--option", "rate=0.5", "--option", "weighted=true", "--option", "radius=1"),
        )
        assert ran.json["mechanism"]["options"] == {"scale": "3"}
        assert ran.json["sampler"]["options"] == {"rate": "1/2", "weighted": "true"}
        assert ran.json["guarantee"]["domain"]["radius"] == "1"

    def test_the_owner_may_be_named(self, certdp: Run) -> None:
        ran = certdp(
            *("psi", "--mechanism", "count", "--sampler", "poisson", "--json"),
            *("--option", "mechanism.scale=3", "--option", "sampler.rate=0.5", "--option", "run.radius=1"),
        )
        assert ran.json["mechanism"]["options"] == {"scale": "3"}
        assert ran.json["sampler"]["options"]["rate"] == "1/2"
        assert ran.json["guarantee"]["domain"]["radius"] == "1"

    @pytest.mark.parametrize("text", ["1/3", "0.5", "5e-1", "1e-3"])
    def test_values_are_read_exactly(self, certdp: Run, base: Base, text: str) -> None:
        data = certdp(*base, "--option", f"radius={text}", "--json").json
        assert Fraction(data["guarantee"]["domain"]["radius"]) == Fraction(text)

    @pytest.mark.parametrize(
        ("option", "parameter", "admissible", "remedy"),
        [
            ("colour=red", "option", "mechanism: scale; sampler: rate, norm, floor; run: radius", "names"),
            ("mechanism.rate=1", "option", "mechanism: scale", "names"),
            ("sampler.scale=1", "option", "sampler: rate", "names"),
            ("scale=2", "option", "one value for mechanism.scale", "once"),
            ("mechanism.scale=2", "option", "one value for mechanism.scale", "once"),
            ("floor", "option", "KEY=VALUE", "--option scale=1"),
            ("=1", "option", "KEY=VALUE", "--option scale=1"),
            ("floor=", "option", "KEY=VALUE", "--option scale=1"),
        ],
    )
    def test_those_without_a_place(
        self, refusal: Refusal, base: Base, option: str, parameter: str, admissible: str, remedy: str
    ) -> None:
        error = refusal(*base, "--option", option)
        assert (error["parameter"], error["value"]) == (parameter, option)
        assert admissible in error["admissible"]
        assert remedy in error["remedy"]

    @pytest.mark.parametrize(
        ("mechanism", "sampler", "options", "parameter", "value", "admissible"),
        [
            ("laplace-sum", "full", ["scale=0"], "scale", "0", "> 0"),
            ("laplace-sum", "full", ["scale=-1e-9"], "scale", "-1e-9", "> 0"),
            ("laplace-sum", "full", ["scale=nan"], "scale", "nan", "a number"),
            ("laplace-sum", "full", ["scale=inf"], "scale", "inf", "a number"),
            ("laplace-sum", "full", ["scale=wide"], "scale", "wide", "a number"),
            ("laplace-sum", "full", ["scale=1/0"], "scale", "1/0", "non-zero denominator"),
            ("laplace-sum", "full", [], "scale", "nothing", "scale of the Laplace noise"),
            ("laplace-sum", "poisson", ["scale=1"], "rate", "nothing", "probability of drawing a record"),
            ("laplace-sum", "poisson", ["scale=1", "rate=1.1"], "rate", "1.1", "0 ≤ q ≤ 1"),
            ("laplace-sum", "poisson", ["scale=1", "rate=-0.1"], "rate", "-0.1", "0 ≤ q ≤ 1"),
            ("laplace-sum", "poisson", ["scale=1", "rate=nan"], "rate", "nan", "a number"),
            ("laplace-sum", "poisson", ["scale=1", "rate=1", "weighted=maybe"], "weighted", "maybe", "true or false"),
            ("laplace-sum", "importance", ["scale=1", "rate=0"], "rate", "0", "> 0"),
            ("laplace-sum", "importance", ["scale=1", "rate=1", "floor=2"], "floor", "2", "0 ≤ q ≤ 1"),
            ("laplace-sum", "importance", ["scale=1", "rate=1", "norm=1/2"], "norm", "1/2", "a number ≥ 1"),
            ("laplace-sum", "full", ["scale=1", "radius=0"], "radius", "0", "> 0"),
            ("laplace-sum", "full", ["scale=1", "radius=-2"], "radius", "-2", "> 0"),
            ("laplace-sum", "full", ["scale=1", "radius=nan"], "radius", "nan", "a number"),
            ("laplace-sum", "full", ["scale=1e-300", "radius=1e300"], "radius", "1e300", "binary64"),
        ],
    )
    def test_values_outside_what_is_admissible(
        self,
        refusal: Refusal,
        mechanism: str,
        sampler: str,
        options: list[str],
        parameter: str,
        value: str,
        admissible: str,
    ) -> None:
        flags = [word for option in options for word in ("--option", option)]
        error = refusal("psi", "--mechanism", mechanism, "--sampler", sampler, *flags)
        assert (error["parameter"], error["value"]) == (parameter, value)
        assert admissible in error["admissible"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("role", "names"),
        [("mechanism", ["laplace-sum", "count"]), ("sampler", ["full", "poisson", "importance"])],
    )
    def test_an_unknown_plugin(self, refusal: Refusal, role: str, names: list[str]) -> None:
        chosen = {"mechanism": "count", "sampler": "full", role: "laplace"}
        error = refusal("psi", "--mechanism", chosen["mechanism"], "--sampler", chosen["sampler"])
        assert (error["parameter"], error["value"]) == (role, "laplace")
        assert all(name in error["admissible"] for name in names)
        assert "certdp plugins" in error["remedy"]

    @pytest.mark.slow
    def test_a_profile_without_bound_on_the_domain(self, refusal: Refusal) -> None:
        error = refusal(
            *("psi", "--mechanism", "count", "--sampler", "importance"),
            *("--option", "scale=1", "--option", "rate=0.3", "--option", "radius=1"),
        )
        assert (error["parameter"], error["value"]) == ("radius", "1")
        assert "bounded" in error["admissible"]
        assert "Set a floor above 0" in error["remedy"]

    def test_a_choice_for_records_outside(self, refusal: Refusal, base: Base) -> None:
        error = refusal(*base, "--option", "radius=1", "--outside", "ignore")
        assert (error["parameter"], error["value"], error["admissible"]) == ("outside", "ignore", "clip or drop")

    def test_dropping_needs_a_domain(self, refusal: Refusal, base: Base) -> None:
        error = refusal(*base, "--outside", "drop")
        assert (error["parameter"], error["value"]) == ("outside", "drop")
        assert "radius" in error["remedy"]

    @pytest.mark.parametrize(
        ("arguments", "parameter"),
        [(["--divide-by", "4"], "divide-by"), (["--transpose"], "transpose"), (["--array", "X"], "array")],
    )
    def test_how_to_read_no_file(self, refusal: Refusal, base: Base, arguments: list[str], parameter: str) -> None:
        error = refusal(*base, *arguments)
        assert error["parameter"] == parameter
        assert "--data" in error["remedy"]

    def test_a_dimension_that_is_not_the_datas(self, refusal: Refusal, base: Base, table: Path) -> None:
        error = refusal(*base, "--data", table, "--option", "radius=1", "--option", "dimension=5")
        assert (error["parameter"], error["value"]) == ("dimension", "5")
        assert error["admissible"].startswith("4")

    def test_a_record_whose_loss_is_beyond_binary64(self, refusal: Refusal, tmp_path: Path, certdp: Run) -> None:
        huge = save(tmp_path / "huge.npy", [[1e300], [1.0]])
        arguments = ("psi", "--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1e-300")
        data = certdp(*arguments, "--data", huge, "--json").json
        assert data["private"]["psi_max"] is None
        assert "none within binary64" in certdp(*arguments, "--data", huge).out
        error = refusal(*arguments, "--data", huge, "--owner-certificate", tmp_path / "o.json")
        assert error["parameter"] == "records"
        assert not (tmp_path / "o.json").exists()

    def test_constants_that_the_checker_does_not_take(self, refusal: Refusal, tmp_path: Path) -> None:
        error = refusal(
            *("psi", "--mechanism", "laplace-sum", "--sampler", "poisson", "--option", "scale=1e-900"),
            *("--option", "rate=0", "--certificate", tmp_path / "c.json"),
        )
        assert error["parameter"] == "certificate"
        assert "700 digits" in error["remedy"]
        assert list(tmp_path.iterdir()) == []


class TestBadData:
    @pytest.mark.parametrize(
        ("matrix", "value", "admissible"),
        [
            ([[1, 2], [3, np.nan]], "NaN or inf in row 1, column 1", "finite numbers"),
            ([[1, 2], [np.inf, 3]], "NaN or inf in row 1, column 0", "finite numbers"),
            (np.empty((0, 2)), "shape (0, 2)", "at least one record"),
            ([1.0, 2.0], "shape (2,)", "a matrix"),
            ([["a", "b"]], "type <U1", "numbers"),
            ([[2**53 + 2, 1]], "beyond 2^53", "exactly"),
        ],
    )
    def test_matrices(
        self, refusal: Refusal, base: Base, tmp_path: Path, matrix: Any, value: str, admissible: str
    ) -> None:
        error = refusal(*base, "--data", save(tmp_path / "d.npy", matrix))
        assert error["parameter"] == "data"
        assert value in error["value"]
        assert admissible in error["admissible"]

    @pytest.mark.parametrize(
        ("name", "content", "admissible"),
        [
            ("d.txt", b"1,2", ".npy, .npz, .csv, .parquet"),
            ("d.npy.xz", lzma.compress(b"x" * 99)[:-5], "a file compressed with xz"),
            ("d.npy", b"\x93NUMPY\x01\x00", "a well-formed .npy file"),
            ("d.npz", b"PK\x03\x04 and no more", "a well-formed .npz file"),
            ("d.parquet", b"PAR1 and no more", "a well-formed .parquet file"),
            ("d.csv", b"1,2\n3,4\n", "a CSV file with a header line"),
            ("d.csv", b"a,b\n1,2\n3\n", "2 columns"),
            ("d.csv", b"a,b\n1,red\n", "2 columns"),
        ],
    )
    def test_files(
        self, refusal: Refusal, base: Base, tmp_path: Path, name: str, content: bytes, admissible: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        error = refusal(*base, "--data", tmp_path / name)
        assert error["parameter"] == "data"
        assert admissible in error["admissible"]

    def test_a_missing_file(self, refusal: Refusal, base: Base, tmp_path: Path) -> None:
        error = refusal(*base, "--data", tmp_path / "n.npy")
        assert error["parameter"] == "data"
        assert "No such file" in error["remedy"]

    def test_a_pickle(self, refusal: Refusal, base: Base, tmp_path: Path) -> None:
        np.save(tmp_path / "d.npy", np.array([[print]], dtype=object), allow_pickle=True)
        assert "allow_pickle=False" in refusal(*base, "--data", tmp_path / "d.npy")["remedy"]

    def test_several_matrices(self, refusal: Refusal, certdp: Run, base: Base, tmp_path: Path) -> None:
        np.savez(tmp_path / "d.npz", A=np.ones((2, 2)), B=np.ones((3, 2)))
        error = refusal(*base, "--data", tmp_path / "d.npz")
        assert (error["parameter"], error["admissible"]) == ("array", "one of: A, B")
        error = refusal(*base, "--data", tmp_path / "d.npz", "--array", "C")
        assert (error["parameter"], error["value"]) == ("array", "C")
        assert certdp(*base, "--data", tmp_path / "d.npz", "--array", "B", "--json").json["private"]["n"] == 3
        transposed = certdp(*base, "--data", tmp_path / "d.npz", "--array", "B", "--transpose", "--json")
        assert transposed.json["private"]["n"] == 2

    def test_missing_values(self, refusal: Refusal, base: Base, tmp_path: Path) -> None:
        parquet.write_table(pyarrow.table({"a": [1.0, None]}), tmp_path / "d.parquet")
        error = refusal(*base, "--data", tmp_path / "d.parquet")
        assert "missing values in column 1" in error["value"]

    @pytest.mark.parametrize("bound", ["0", "-1", "nan", "ten"])
    def test_a_bound_that_is_none(self, refusal: Refusal, base: Base, table: Path, bound: str) -> None:
        error = refusal(*base, "--data", table, "--divide-by", bound)
        assert (error["parameter"], error["value"]) == ("divide-by", bound)


class TestPlaces:
    @pytest.mark.parametrize("option", ["--certificate", "--owner-certificate", "--plot", "--owner-plot"])
    def test_a_missing_folder_is_noticed_first(self, refusal: Refusal, base: Base, tmp_path: Path, option: str) -> None:
        path = tmp_path / "none" / "out"
        error = refusal(*base, option, path, "--data", tmp_path / "not-read-yet.npy")
        assert (error["parameter"], error["admissible"]) == (option[2:], "a file in an existing, writable folder")
        assert error["value"].startswith(str(path)[:70])
        assert list(tmp_path.iterdir()) == []

    def test_one_file_for_two_certificates(self, refusal: Refusal, base: Base, tmp_path: Path) -> None:
        one, same = tmp_path / "c.json", tmp_path / "." / "c.json"
        error = refusal(*base, "--certificate", one, "--owner-certificate", same)
        assert error["parameter"] == "owner-certificate"
        assert "--certificate" in error["admissible"]
        assert list(tmp_path.iterdir()) == []

    def test_the_data_are_not_overwritten(self, refusal: Refusal, base: Base, table: Path) -> None:
        before = table.read_bytes()
        error = refusal(*base, "--data", table, "--certificate", table)
        assert "--data" in error["admissible"]
        assert table.read_bytes() == before

    def test_all_or_none_is_written(
        self, refusal: Refusal, base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        error = refusal(*base, "--certificate", tmp_path / "c.json", "--plot", tmp_path / "p.png")
        assert "certdp[plot]" in error["remedy"]
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_leaves_the_old_file(
        self, refusal: Refusal, base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: int) -> NoReturn:
            raise OSError(28, "No space left on device")

        path = tmp_path / "c.json"
        path.write_bytes(b"old")
        monkeypatch.setattr(os, "fsync", full)
        error = refusal(*base, "--certificate", path)
        assert "No space left on device" in error["remedy"]
        assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]

    @pytest.mark.slow
    def test_a_public_plot_and_one_for_the_owner(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        plots = {"plot": tmp_path / "p.png", "owner_plot": tmp_path / "o.png"}
        asked = (*base, "--option", "radius=2", "--plot", plots["plot"], "--owner-plot", plots["owner_plot"])
        ran = certdp(*asked, "--json")
        for name, path in plots.items():
            assert ran.json[name] == str(path)
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert stat.S_IMODE(plots["plot"].stat().st_mode) & 0o044
        assert stat.S_IMODE(plots["owner_plot"].stat().st_mode) == 0o600
        public, _, private = certdp(*asked).out.partition("not for publication")
        assert f"plot: {plots['plot']}" in public
        assert f"owner plot: {plots['owner_plot']}" in private

    @pytest.mark.slow
    def test_a_public_plot_does_not_depend_on_the_data(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        drawn = []
        for scale in (0.1, 1.5):
            np.save(tmp_path / "d.npy", scale * np.eye(4, 3))
            path = tmp_path / "p.png"
            assert certdp(*base, "--option", "radius=2", "--data", tmp_path / "d.npy", "--plot", path).code == 0
            drawn.append(path.read_bytes())
        assert drawn[0] == drawn[1]


class TestPublicAndOwnerCertificates:
    def both(self, certdp: Run, base: Base, folder: Path, data: Path) -> tuple[bytes, bytes]:
        folder.mkdir()
        public, owner = folder / "public.json", folder / "owner.json"
        ran = certdp(
            *base, "--data", data, "--option", "radius=3", "--certificate", public, "--owner-certificate", owner
        )
        assert ran.code == 0
        assert stat.S_IMODE(owner.stat().st_mode) == 0o600
        return public.read_bytes(), owner.read_bytes()

    def test_nothing_of_the_data_is_published(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        draw = np.random.default_rng(2)
        first = save(tmp_path / "first.npy", draw.normal(size=(50, 3)))
        second = save(tmp_path / "second.npy", draw.laplace(size=(80, 3)) * 5)
        one = self.both(certdp, base, tmp_path / "one", first)
        two = self.both(certdp, base, tmp_path / "two", second)
        assert one[0] == two[0]
        body, owned = json.loads(one[0]), json.loads(one[1])
        assert (body["audience"], body["data"]) == ("public", None)
        assert owned["audience"] == "owner"
        assert set(owned["data"]) == {
            *("commitment", "nonce", "records", "columns", "outside", "psi_max", "expected_sample_size"),
        }
        assert (owned["data"]["records"], owned["data"]["columns"], owned["data"]["outside"]) == (50, 3, "clip")
        assert json.loads(two[1])["data"]["records"] == 80
        same = {**body, "audience": "owner", "data": owned["data"], "digest": owned["digest"]}
        assert same == owned

    def test_each_owners_certificate_has_its_own_nonce(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        data = save(tmp_path / "d.npy", np.ones((3, 2)))
        first, second = (
            json.loads(self.both(certdp, base, tmp_path / name, data)[1])["data"] for name in ("one", "two")
        )
        assert first["nonce"] != second["nonce"]
        assert first["commitment"] != second["commitment"]


class TestReading:
    def psi(self, certdp: Run, base: Base, *arguments: object) -> Any:
        ran = certdp(*base, "--option", "radius=3", *arguments, "--json")
        assert ran.code == 0, ran
        return ran.json["private"]

    @pytest.mark.slow
    def test_every_format_and_order_gives_the_same_figures(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        records = np.random.default_rng(3).integers(-9, 9, size=(30, 3)).astype(np.float64)
        names = ["a", "b", "c"]
        np.save(tmp_path / "c.npy", records)
        np.save(tmp_path / "f.npy", np.asfortranarray(records))
        np.savez(tmp_path / "x.npz", y=np.arange(30.0), X=records, Z=records * 2)
        np.savez(tmp_path / "only.npz", features=records, y=np.arange(30.0))
        np.save(tmp_path / "t.npy", records.T)
        np.savetxt(tmp_path / "d.csv", records, delimiter=",", header=",".join(names), comments="")
        table = pyarrow.table({name: records[:, j] for j, name in enumerate(names)})
        parquet.write_table(table, tmp_path / "d.parquet")
        for kind in ("int16", "float32", "int64"):
            np.save(tmp_path / f"{kind}.npy", records.astype(kind))
        figures = [
            self.psi(certdp, base, "--data", path, *(["--transpose"] if path.name == "t.npy" else []))
            for path in sorted(tmp_path.iterdir())
        ]
        for path in sorted(tmp_path.iterdir()):
            (tmp_path / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
            transpose = ["--transpose"] if path.name == "t.npy" else []
            figures.append(self.psi(certdp, base, "--data", f"{path}.xz", *transpose))
        assert len(figures) == 20
        assert all(figure == figures[0] for figure in figures)

    def test_bytes_divided_by_a_bound(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        pixels = np.random.default_rng(3).integers(0, 256, size=(20, 3)).astype(np.uint8)
        divided = self.psi(certdp, base, "--data", save(tmp_path / "u.npy", pixels), "--divide-by", "255")
        assert divided == self.psi(certdp, base, "--data", save(tmp_path / "f.npy", pixels / 255))

    def test_truth_values(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        flags = np.random.default_rng(3).random((20, 3)) < 0.5
        read = self.psi(certdp, base, "--data", save(tmp_path / "b.npy", flags))
        assert read == self.psi(certdp, base, "--data", save(tmp_path / "f.npy", flags.astype(np.float64)))

    def test_clipping_and_dropping(self, certdp: Run, base: Base, tmp_path: Path) -> None:
        path = save(tmp_path / "d.npy", [[1.0, 1.0], [9.0, 9.0], [4.0, 0.0]])
        clipped, dropped = (self.psi(certdp, base, "--data", path, "--outside", way) for way in ("clip", "drop"))
        assert clipped["n"] == dropped["n"] == 3
        assert clipped["outside_domain"] == dropped["outside_domain"] == 2
        assert clipped["psi_max"] > dropped["psi_max"]
        assert clipped["expected_sample_size"][0] > dropped["expected_sample_size"][1]


class TestProcess:
    @pytest.mark.slow
    def test_a_run_and_a_refusal(self, tmp_path: Path, base: Base) -> None:
        certificate = tmp_path / "c.json"
        ran = subprocess.run(
            [*CERTDP, *base, "--option", "radius=1", "--certificate", str(certificate), "--json"],
            capture_output=True,
            cwd=tmp_path,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert json.loads(ran.stdout)["certificate"] == str(certificate)
        ran = subprocess.run([*CERTDP, *base, "--option", "scale=2"], capture_output=True, cwd=tmp_path, check=False)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert ran.stderr.decode("utf-8").startswith("error: option: got scale=2;")

    @pytest.mark.slow
    @pytest.mark.parametrize("form", [[], ["--json"]])
    def test_a_terminal_that_knows_ascii_alone(self, tmp_path: Path, base: Base, form: list[str]) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        ran = subprocess.run([*CERTDP, *base, *form], capture_output=True, cwd=tmp_path, env=environment, check=False)
        assert (ran.returncode, ran.stderr) == (0, b"")
        if form:
            assert "‖x‖₁" in json.loads(ran.stdout)["guarantee"]["psi"]

    def test_usage_errors_end_with_2(self, certdp: Run) -> None:
        for arguments in (["psi"], ["psi", "--mechanism", "count"], ["nonsense"], ["psi", "--nonsense"]):
            ran = certdp(*arguments)
            assert ran.code == 2
            assert ran.err


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CERTDP_DATA"), reason="CERTDP_DATA is not set: no real data here")
def test_the_covertype_sample(certdp: Run, base: Base, tmp_path: Path) -> None:
    data = Path(os.environ["CERTDP_DATA"]) / "covtype_sample_10000.npz"
    public, owner = tmp_path / "public.json", tmp_path / "owner.json"
    ran = certdp(
        *("psi", "--mechanism", "laplace-sum", "--sampler", "importance", "--data", data, "--json"),
        *("--option", "scale=2", "--option", "rate=0.1", "--option", "norm=2", "--option", "floor=0.001"),
        *("--option", "radius=20", "--certificate", public, "--owner-certificate", owner),
    )
    assert ran.code == 0, ran
    assert ran.json["private"]["n"] == 10000
    assert ran.json["private"]["psi_max"] <= ran.json["epsilon"][1] * (1 + 1e-14)
    checked = certdp("check", public, "--json")
    assert (checked.code, checked.json["verdict"]) == (0, "holds")
    compared = certdp("check", owner, "--data", data, "--json")
    assert (compared.code, compared.json["data_compared"]) == (0, True), compared
    other = certdp("check", owner, "--data", data, "--divide-by", "2", "--json")
    assert (other.code, other.json["verdict"]) == (1, "refused")

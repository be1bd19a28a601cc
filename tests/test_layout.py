"""The top-level folders are certdp's subpackages: on disk, in every list, in memory and in the wheel."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting._kernels import ahead
from certdp.accounting._kernels.compile import Kernel
from tests.support.modules import TORCH, import_all

ROOT = Path(__file__).parents[1]
FACE = ROOT / "src/certdp"
FOLDERS = {"accounting", "mechanisms", "plugins", "samplers", "verification"}
INNER = {  # of the face itself
    *("accountants", "audits", "conversions", "filters", "guarantees", "individual", "notions", "pairs", "sampling"),
    *("parts", "commands", "data", "dpis", "durable", "engines", "experiments", "interoperation", "ledger"),
    "correlated_noise",
    *("plots", "queries", "records", "risks", "runs", "selection", "testing", "weighted_sampling"),
}
KERNELS = "certdp/accounting/_kernels/ahead.zip"  # which `hatch_build.py` adds
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

pytestmark = pytest.mark.xdist_group("layout")  # one worker builds the wheel


def setting(path: str) -> Any:
    value: Any = SETTINGS["tool"]
    for key in path.split("/"):
        value = value[key]
    return value


def package_files() -> set[str]:
    """Files of the import package on disk, as paths inside site-packages."""
    sources = {"": FACE, **{folder: ROOT / folder for folder in FOLDERS}}
    return {
        (Path("certdp") / inside / path.relative_to(folder)).as_posix()
        for inside, folder in sources.items()
        for path in folder.rglob("*")  # does not follow the links under src/certdp
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_links_lead_to_the_folders() -> None:
    links = {path.name: Path(os.readlink(path)) for path in FACE.iterdir() if path.is_symlink()}
    assert links == {folder: Path("../..", folder) for folder in FOLDERS}
    assert {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()} == FOLDERS
    assert not [path for path in FACE.iterdir() if path.is_dir() and path.name not in FOLDERS | INNER | {"__pycache__"}]


def test_lists_agree() -> None:
    hatch = "hatch/build"
    assert set(setting(f"{hatch}/targets/wheel/only-include")) == {"src/certdp", *FOLDERS}
    expected_sources = {"src/certdp": "certdp", **{folder: f"certdp/{folder}" for folder in FOLDERS}}
    assert setting(f"{hatch}/targets/wheel/sources") == expected_sources
    assert set(setting(f"{hatch}/exclude")) == {f"/src/certdp/{folder}" for folder in FOLDERS}
    assert set(setting("coverage/run/source")) == {"src/certdp", *FOLDERS}
    inner = {f"src/certdp/{name}" for name in INNER}
    assert set(setting("pyright/include")) == {"src/certdp/*.py", *inner, *FOLDERS}


def test_no_module_has_two_names() -> None:
    import_all()
    names = defaultdict(set)
    for name, loaded in list(sys.modules.items()):
        if origin := getattr(loaded, "__file__", None):
            names[Path(origin).resolve()].add(name)
    homes = {FACE, *(ROOT / folder for folder in FOLDERS)}
    ours = {path: found for path, found in names.items() if homes & set(path.parents)}
    assert len(ours) > len(FOLDERS)
    assert not {path: found for path, found in ours.items() if len(found) > 1}
    assert all(name.partition(".")[0] == "certdp" for found in ours.values() for name in found)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist built from this checkout."""
    built = tmp_path_factory.mktemp("built")

    def hatchling(target: str, checkout: Path) -> Path:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(built / target)]
        subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE)
        (archive,) = (built / target).iterdir()
        return archive

    with tarfile.open(hatchling("sdist", ROOT)) as sdist:
        sdist.extractall(built / "unpacked", filter="data")
    (unpacked,) = (built / "unpacked").iterdir()
    return hatchling("wheel", unpacked)


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    files = {entry.filename for entry in zipfile.ZipFile(wheel).infolist() if not entry.is_dir()}
    described = {name for name in files if name.split("/")[0].endswith(".dist-info")}
    assert files - described == package_files() | {KERNELS}
    assert "certdp/py.typed" in files
    assert any(name.endswith("/licenses/LICENSE") for name in described)


@pytest.mark.slow
def test_source_archive_holds_sources_alone(wheel: Path) -> None:
    unpacked = wheel.parents[1] / "unpacked"
    assert (unpacked / f"{wheel.name.split('-')[0]}-{wheel.name.split('-')[1]}" / "Makefile").is_file()
    built = {".whl", ".zip", ".gz", ".so", ".pyc"}
    assert not [path for path in unpacked.rglob("*") if path.suffix in built]


@pytest.mark.parametrize("target", ["run", "experiments"])
def test_a_fresh_clone_has_the_folder_of_what_is_made(target: str) -> None:
    """The command refuses to make more than one folder: `make` once stopped there in a fresh clone."""
    printed = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    recipe = printed.replace("\\\n", "").splitlines()
    folder = next(place for place, line in enumerate(recipe) if line.split()[:2] == ["mkdir", "-p"])
    assert folder < min(place for place, line in enumerate(recipe) if "certdp" in line and " run/" in line)


@pytest.mark.slow
def test_wheel_holds_every_kernel_as_its_sources_are(wheel: Path) -> None:
    modules = [f"certdp.accounting._kernels.{file.stem}" for file in (ROOT / "accounting/_kernels").glob("[!_]*.py")]
    loaded = [importlib.import_module(name) for name in [*modules, "certdp.weighted_sampling._kernels"]]
    kernels = {kernel for module in loaded for kernel in vars(module).values() if isinstance(kernel, Kernel)}
    with zipfile.ZipFile(wheel) as files, zipfile.ZipFile(files.open(KERNELS)) as archive:
        assert set(archive.namelist()) == {ahead.entry_name(kernel.declaration) for kernel in kernels}


@pytest.mark.slow
def test_entry_points_lead_into_the_wheel(wheel: Path) -> None:
    project = SETTINGS["project"]
    groups = [project["scripts"], *project["entry-points"].values()]
    modules = {target.partition(":")[0].replace(".", "/") for group in groups for target in group.values()}
    files = set(zipfile.ZipFile(wheel).namelist())
    assert {module for module in modules if not files & {f"{module}.py", f"{module}/__init__.py"}} == set()


@pytest.mark.slow
def test_every_module_imports_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = f"""
import importlib, pathlib, pkgutil, sys
sys.path.insert(0, {str(tmp_path)!r})
import certdp
for module in pkgutil.walk_packages(certdp.__path__, "certdp."):
    if not module.name.endswith("__main__") and not module.name.startswith({TORCH!r}):
        loaded = importlib.import_module(module.name)
        assert pathlib.Path(loaded.__file__).is_relative_to({str(tmp_path)!r}), loaded
        print(module.name)
"""
    run = subprocess.run(
        [sys.executable, "-I", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},  # compiling every kernel anew is not what this is about
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert {f"certdp.{folder}" for folder in FOLDERS} <= set(run.stdout.split())

"""Compiles the kernels for this platform while the wheel is built, so that a first answer does not wait for them.

A wheel holds what they were compiled to beside their sources. On another platform, and in an editable installation,
they are compiled at their first call. Run by hand, with a path, this writes the archive there.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
PLACE = "certdp/accounting/_kernels/ahead.zip"
KERNELS = "certdp.accounting._kernels"


class KernelsAhead(BuildHookInterface[Any]):
    """Adds the archive of compiled kernels to the wheel."""

    folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in a process of its own, which imports the kernels from here."""
        if version == "editable":
            return
        self.folder = Path(tempfile.mkdtemp())
        archive = self.folder / "ahead.zip"
        done = subprocess.run(
            [sys.executable, "-B", __file__, str(archive)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            self.app.display_warning(f"Kernels are left to be compiled at their first calls, because of\n{done.stdout}")
        else:
            build_data["force_include"][str(archive)] = PLACE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        if self.folder is not None:
            shutil.rmtree(self.folder)


def write_archive(path: Path) -> None:
    """Compile all kernels of these sources, whose packages are not installed while they are built."""
    for name, folders in {
        "certdp": ("src/certdp", "."),
        "certdp.weighted_sampling": ("src/certdp/weighted_sampling",),
    }.items():
        package = ModuleType(name)
        package.__path__ = [str(ROOT / folder) for folder in folders]
        sys.modules[name] = package
    names = [f"{KERNELS}.{file.stem}" for file in sorted(ROOT.glob("accounting/_kernels/[!_]*.py"))]
    modules = [importlib.import_module(name) for name in [*names, "certdp.weighted_sampling._kernels"]]
    kernel = sys.modules[f"{KERNELS}.compile"].Kernel
    kernels = {one for module in modules for one in vars(module).values() if type(one) is kernel}
    declared = sorted((one.declaration for one in kernels), key=lambda declaration: declaration.name)
    sys.modules[f"{KERNELS}.machine"].write_archive(path, declared)


if __name__ == "__main__":
    write_archive(Path(sys.argv[1]))

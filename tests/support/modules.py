"""All modules of the package, in this process."""

from __future__ import annotations

import importlib
import pkgutil

import certdp

TORCH = "certdp.dpis.torch"


def import_all() -> None:
    """Import every module but programs and `TORCH`, an extra."""
    for module in pkgutil.walk_packages(certdp.__path__, "certdp."):
        if not module.name.endswith("__main__") and not module.name.startswith(TORCH):
            importlib.import_module(module.name)

"""A new plugin as a package: one formula, its entry point, and tests that call the conformance kit."""

from .names import PluginName
from .package import Scaffold, new_plugin

__all__ = ["PluginName", "Scaffold", "new_plugin"]

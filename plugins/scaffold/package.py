"""The files of a new plugin, from templates; they appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template
from typing import TypeAlias, final

from attrs import frozen

from ...accounting.errors import InvalidValue
from ...durable.files import whole_folder  # pyright: ignore[reportMissingImports]  # it lies in src, beside the links
from ..contract import CONTRACT_VERSION
from ..registry import Registry, Role
from .names import PluginName

Texts: TypeAlias = Mapping[PurePosixPath, str]
"""The text of each file, by its path in the new folder."""

_SUFFIX = ".template"
_PACKAGE = "PACKAGE"
_OBJECTS: Mapping[Role, str] = {
    Role.MECHANISM: "mechanism:{klass}",
    Role.SAMPLER: "sampler:{klass}",
    Role.CLAIMS: "claims:CLAIMS",
}


@final
@frozen
class Scaffold:
    """A package that was written.

    Attributes:
        name: of the plugin.
        role: what it is.
        folder: where it lies.
        paths: its files, relative to the folder.
    """

    name: PluginName
    role: Role
    folder: Path
    paths: tuple[PurePosixPath, ...]


def new_plugin(name: str, role: Role, parent: Path) -> Scaffold:
    """Write the package of a new plugin to a new folder of that name.

    Args:
        name: of the plugin, its distribution and the folder.
        role: what it is.
        parent: where the folder appears; it must exist.

    Guarantees:
        The folder appears with all of its files or not at all, and nothing that exists is changed. The package
        installs; its tests, which call the conformance kit, pass.

    Raises:
        InvalidValue: for a name that is taken or has another form, and a folder that exists or cannot be written.
    """
    checked = PluginName(name)
    for listing in Registry().listings(role):
        if listing.name == name:
            taken = f"{role.word} {name} comes from {listing.distribution} already"
            raise InvalidValue("name", name, f"the name of no installed plugin: {taken}", "Choose another")
    texts = _texts(checked, role)
    folder = parent / name
    _place(texts, folder)
    return Scaffold(checked, role, folder, tuple(texts))


def _texts(name: PluginName, role: Role) -> Texts:
    major, minor, *_ = version("certdp").split(".")
    words = {
        "name": name.name,
        "package": name.package,
        "klass": name.class_name,
        "role": role.word,
        "group": role.value,
        "target": f"{name.package}.{_OBJECTS[role].format(klass=name.class_name)}",
        "certdp": f"{major}.{minor}",
        "contract": str(CONTRACT_VERSION),
    }
    templates = files(__name__.rpartition(".")[0]) / "templates"
    texts = {
        PurePosixPath(str(path).removesuffix(_SUFFIX).replace(_PACKAGE, name.package)): Template(text).substitute(words)
        for part in ("common", role.word)
        for path, text in _leaves(templates / part, PurePosixPath())
    }
    return dict(sorted(texts.items()))


def _leaves(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _leaves(entry, path / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield path / entry.name, entry.read_text("utf-8")


def _place(texts: Texts, folder: Path) -> None:
    """Write all files beside the folder, then let it appear in one step."""
    if not folder.parent.is_dir():
        raise InvalidValue("out", str(folder.parent), "an existing folder", "Create it first")
    if folder.exists() or folder.is_symlink():
        raise InvalidValue("out", str(folder), "a folder that does not exist yet", "Choose another name or folder")
    try:
        with whole_folder(folder) as draft:
            for path, text in texts.items():
                file = draft / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InvalidValue("out", str(folder.parent), "a writable folder", str(error)) from None

"""What commands write: places that can be written, and certificates that the checker accepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..accounting.errors import InvalidValue, blamed_on
from ..durable.files import check_place

if TYPE_CHECKING:
    from ..data.files import Files

_ANY_FILE = ".certdp"  # in a folder


def check_places(data: Files | None, places: Mapping[str, Path | None], *, folders: Collection[str] = ()) -> None:
    """Refuse unwritable places before any work is done.

    Args:
        data: the files that are read, which no place may be, and folders of these, in which none may lie.
        places: where each output goes, by the name of its option.
        folders: the options whose place is a folder, which is there.

    Raises:
        InvalidValue: for a missing or closed folder, something else than a file, two names of one file, and a file in
            a folder that is an output itself, whose files are named as they are written.
    """
    taken: dict[Path, str] = {}
    of_data: list[Path] = []
    if data is not None:
        from ..data.files import files_of, folders_of

        taken, of_data = {file.resolve(): "data" for file in files_of(data)}, folders_of(data)
    for name, path in places.items():
        if path is None:
            continue
        with blamed_on(path=name):
            check_place(path / _ANY_FILE if name in folders else path)
        if any(path.resolve().is_relative_to(folder) for folder in of_data):
            admissible = "a file outside of the folder of --data"
            raise InvalidValue(name, str(path), admissible, "There it would be taken for data: choose another folder")
        for folder in folders:
            whole = places[folder]
            if name != folder and whole is not None and path.resolve().is_relative_to(whole.resolve()):
                admissible = f"a file outside of the folder of --{folder}"
                raise InvalidValue(name, str(path), admissible, "Choose another folder")
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise InvalidValue(name, str(path), f"another file than that of --{other}", "Choose another name")


def check_folder(output: Path) -> None:
    """Refuse a folder of results that could not be made, before any work is done.

    Raises:
        InvalidValue: where the folder that it lies in is missing.
    """
    if not output.absolute().parent.is_dir():
        raise InvalidValue("output", str(output), "a folder, or a new name in an existing one", "Create its parent")


def checked_certificate(name: str, content: bytes) -> bytes:
    """A certificate that the independent checker accepts.

    Raises:
        InvalidValue: for one that it refuses, under the name of its option.
    """
    from ..verification.checker import check

    verdict = check(content)
    if not verdict.accepted:
        raise InvalidValue(
            name,
            "a profile that the checker refuses",
            "one that it proves again",
            f"It says: {verdict.reason}. Choose simpler constants",
        )
    return content

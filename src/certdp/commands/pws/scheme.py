"""The schemes and sanitisers of `certdp pws`, from what was typed: every value is declared public."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...accounting.errors import InvalidValue
from ...accounting.provenance import Declared, Public
from ...plugins.contract import KeySampler, Sanitiser, stated
from ...samplers.every_key import EveryKey
from ...samplers.pps import Pps
from ...samplers.ppswor import Ppswor

_NONE = "none"
_BY_THRESHOLD: Mapping[str, type[Ppswor] | type[Pps]] = {"ppswor": Ppswor, "pps": Pps}
_SAMPLES = (".parquet", ".csv", ".tsv")
_NAMES = ", ".join([*_BY_THRESHOLD, _NONE])


def needs_threshold(scheme: str | None, *sized: object) -> bool:
    """Whether the scheme keeps keys by a threshold.

    Args:
        scheme: its name, or None where none was given.
        sized: what says how large the sample is; None for what was not given.

    Raises:
        InvalidValue: for another name.
    """
    if scheme is None:
        return any(value is not None for value in sized)
    if scheme not in (*_BY_THRESHOLD, _NONE):
        raise InvalidValue("scheme", scheme, f"one of {_NAMES}", "Leave it out for every key, or choose one")
    return scheme != _NONE


def sampler_of(scheme: str | None, threshold: Declared[Any] | None, power: str | None) -> KeySampler:
    """The sampler of keys of that name; ppswor where a threshold comes without a name.

    Raises:
        InvalidValue: for an unknown name, a missing threshold and one that the scheme does not have.
    """
    if not needs_threshold(scheme, threshold, power):
        for name, value in (("threshold", threshold), ("power", power)):
            if value is not None:
                shown = value if isinstance(value, str) else str(value.value)
                raise InvalidValue(name, shown, "nothing, where every key is kept", "Choose --scheme ppswor or pps")
        return EveryKey()
    kind = _BY_THRESHOLD["ppswor" if scheme is None else scheme]
    if threshold is None:
        raise InvalidValue(
            "threshold", "nothing", "τ > 0", "State --threshold T, or --size K with --total S or --total-epsilon E1"
        )
    return kind(threshold=threshold) if power is None else kind(threshold=threshold, power=Public(power))


def plugin_as_json(plugin: KeySampler | Sanitiser) -> dict[str, Any]:
    """Name and parameters of a plugin."""
    return {"name": plugin.about.name, "options": stated(plugin)}


def check_new(name: str, path: Path | None, overwrite: bool) -> None:
    """Refuse to replace a file without being asked to.

    Raises:
        InvalidValue: where the file exists.
    """
    if path is not None and path.exists() and not overwrite:
        raise InvalidValue(name, str(path), "a file that does not exist yet", "Choose another name, or --overwrite")


def check_sample_place(path: Path) -> None:
    """Refuse a name that no sample is written to, before any work is done.

    Raises:
        InvalidValue: for another suffix.
    """
    if path.suffix.lower() not in _SAMPLES:
        raise InvalidValue("output", str(path), f"a file ending in {', '.join(_SAMPLES)}", "Choose one of these")


def sample_places(path: Path) -> Mapping[str, Path]:
    """Return the paths written with a sample, by option; text files have their statement beside."""
    if path.suffix.lower() == _SAMPLES[0]:
        return {"output": path}
    return {"output": path, "statement of the output": path.with_name(f"{path.name}.json")}

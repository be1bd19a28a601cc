"""Files of other tools: read as what they say, with what they leave out as assumptions; or refused."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import CertdpError, InvalidValue
from certdp.accounting.units import Delta
from certdp.interoperation import (
    CertifiedAccountant,
    Composed,
    Gaussian,
    PoissonSampled,
    SelfComposed,
    Source,
    read_event,
    read_peer_file,
)
from tests.support.cases import examples

STEPS = [[1.0, 0.01, 1000], [2.0, 0.02, 10]]
TRAINING = SelfComposed(PoissonSampled(0.5, Gaussian(2)), 3)
NAMED = ["dp_accounting.dp_event", "SelfComposedDpEvent"], ["dp_accounting.dp_event", "PoissonSampledDpEvent"]
NOISE = ["dp_accounting.dp_event", "GaussianDpEvent", 2.0]


def written(folder: Path, content: object) -> Path:
    path = folder / "run.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


FLOWER = {
    "schema_version": 1,
    "backend": "rdp",
    "config": {
        "target_delta": 1e-05,
        "population_size": 100,
        "neighboring_relation": "add-or-remove-one",
        "sampling_method": "poisson",
        "max_epsilon": None,
    },
    "orders": [2.0],
    "compositions": [{"event": {"noise_multiplier": 1.5, "sample_size": 5, "population_size": 100}, "count": 20}],
}
EVENT = {
    "type": "ComposedDpEvent",
    "events": [
        {
            "type": "SelfComposedDpEvent",
            "event": {
                "type": "PoissonSampledDpEvent",
                "sampling_probability": 0.5,
                "event": {"type": "GaussianDpEvent", "noise_multiplier": 2.0},
            },
            "count": 3,
        },
        {"type": "LaplaceDpEvent", "noise_multiplier": 1},
    ],
}


def with_one_key_more(tree: Any) -> Iterator[Any]:
    """The tree with a key that no tool writes, in each of its mappings in turn."""
    if isinstance(tree, dict):
        yield {**tree, "further": 1}
    places = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for place, inner in places:
        for changed in with_one_key_more(inner):
            copy = dict(tree) if isinstance(tree, dict) else list(tree)
            copy[place] = changed
            yield copy


@pytest.mark.parametrize("known", [FLOWER, EVENT, {"history": STEPS, "mechanism": "rdp"}])
def test_no_part_of_a_file_is_passed_over(tmp_path: Path, known: dict[str, Any]) -> None:
    """What a key that is not known says may change what the rest means."""
    read_peer_file(written(tmp_path, known))
    for changed in with_one_key_more(known):
        with pytest.raises(CertdpError):
            read_peer_file(written(tmp_path, changed))


def test_a_file_is_named_by_a_path_or_by_its_text(tmp_path: Path) -> None:
    path = written(tmp_path, EVENT)
    by_path, by_text = read_peer_file(path), read_peer_file(str(path))
    assert (by_text.event, by_text.digest) == (by_path.event, by_path.digest)
    with pytest.raises(InvalidValue, match="a readable file"):
        read_peer_file(str(tmp_path / "none.json"))


@pytest.mark.parametrize("mechanism", ["rdp", "gdp", "prv", "certdp"])
@pytest.mark.parametrize("within", [False, True])
def test_a_state_of_any_accountant_of_opacus(tmp_path: Path, mechanism: str, within: bool) -> None:
    state: dict[str, Any] = {"history": STEPS, "mechanism": mechanism}
    path = written(tmp_path, {"module_state_dict": {}, "privacy_accountant_state_dict": state} if within else state)
    found = read_peer_file(path)
    accountant = CertifiedAccountant()
    accountant.load_state_dict({"history": STEPS, "mechanism": "certdp"})
    assert (found.source, found.event) == (Source.OPACUS, accountant.event)
    assert found.run().epsilon(Delta("1e-5")).epsilon == accountant.get_epsilon_interval(1e-5)
    assert found.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert {one.name for one in found.assumptions} == {"described by a file", "batches", "clipping", "accumulation"}


@pytest.mark.slow
def test_a_history_of_many_different_steps_is_put_together(tmp_path: Path) -> None:
    steps = [[1.0 + n / 1000, 0.01, 1] for n in range(300)]
    found = read_peer_file(written(tmp_path, {"history": steps, "mechanism": "rdp"})).run()
    bounds = found.epsilon(Delta("1e-5")).epsilon
    assert bounds.lower is not None
    assert 0 < bounds.lower <= bounds.upper < 2


@pytest.mark.parametrize(
    "content",
    [
        {"type": "SelfComposedDpEvent", "count": 3, "event": json.loads('{"type": "PoissonSampledDpEvent", '
         '"sampling_probability": 0.5, "event": {"type": "GaussianDpEvent", "noise_multiplier": 2}}')},
        [*NAMED[0], [*NAMED[1], 0.5, NOISE], 3],
        {"module_name": "m", "class_name": "SelfComposedDpEvent", "event": [*NAMED[1], 0.5, NOISE], "count": 3},
    ],
    ids=["types", "named tuples as lists", "named tuples as objects"],
)  # fmt: skip
def test_events_of_dp_accounting(tmp_path: Path, content: object) -> None:
    found = read_peer_file(written(tmp_path, content))
    assert (found.source, found.event) == (Source.DP_ACCOUNTING, TRAINING)
    assert [one.name for one in found.assumptions] == ["described by a file"]


def test_named_tuples_as_they_come() -> None:
    Noise = namedtuple("Noise", "module_name class_name noise_multiplier")
    Several = namedtuple("Several", "module_name class_name events")
    given = Several("dp_accounting.dp_event", "ComposedDpEvent", [Noise("m", "GaussianDpEvent", 2.0)] * 2)
    assert read_event(given) == Composed([Gaussian(2), Gaussian(2)])


def test_named_tuples_of_the_installed_package(dp_accounting: Any, tmp_path: Path) -> None:
    event = dp_accounting.dp_event.GaussianDpEvent(2.0)
    if not hasattr(event, "to_named_tuple"):
        pytest.skip("the stand-in has attributes alone")
    assert read_event(event.to_named_tuple()) == Gaussian(2)
    assert read_peer_file(written(tmp_path, event.to_named_tuple())).event == Gaussian(2)


REFUSED: dict[str, tuple[object, str]] = {
    "no JSON": ("{", "JSON of an event"),
    "a number": (3, "an object with a type"),
    "a key twice": ('{"history": [], "history": [[1, 0.1, 1]], "mechanism": "rdp"}', "each key once"),
    "too few numbers": ({"history": [[1.0, 0.1]], "mechanism": "rdp"}, r"history\[0\]"),
    "a rate above 1": ({"history": [[1.0, 1.5, 1]], "mechanism": "rdp"}, "sampling_probability"),
    "a negative noise": ({"history": [[-1.0, 0.5, 1]], "mechanism": "rdp"}, "noise_multiplier"),
    "noise that is no number": ('{"history": [[NaN, 0.5, 1]], "mechanism": "rdp"}', "finite numbers"),
    "no steps": ({"history": [[1.0, 0.5, 0]], "mechanism": "rdp"}, "steps"),
    "a mechanism without a name": ({"history": [], "mechanism": 3}, "name of a mechanism"),
    "further keys": ({"history": [[5, 0.1, 1]], "mechanism": "rdp", "type": "GaussianDpEvent"}, "1 keys beside"),
    "noise beyond binary64": ({"history": [[10**400, 0.1, 1]], "mechanism": "rdp"}, "a binary64 number"),
    "steps without end": ({"history": [[1, 0.1, 10**4000]], "mechanism": "rdp"}, "a whole number from 1 to"),
    "text for noise": ({"history": [["1", 0.1, 1]], "mechanism": "rdp"}, "a binary64 number"),
    "true for steps": ({"history": [[1.0, 0.1, True]], "mechanism": "rdp"}, "a whole number from 1 to"),
    "no list": ({"history": "1", "mechanism": "rdp"}, "a list of"),
    "a class that is not known": (["m", "SecretDpEvent", 1.0], "SecretDpEvent"),
    "one that is not covered": (
        ["m", "SampledWithReplacementDpEvent", 1, 2],
        "batch drawn with replacement is missing",
    ),
    "too many fields": (["m", "GaussianDpEvent", 1.0, 2.0], "2 fields"),
    "too few fields": (["m", "SelfComposedDpEvent"], "event.event"),
    "a program": ("cos\nsystem\n(S'true'\ntR.", "JSON of an event"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    content, reason = REFUSED[name]
    with pytest.raises(CertdpError, match=reason):
        read_peer_file(written(tmp_path, content))


def test_what_is_read_is_what_the_digest_is_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file that changes between two readings is certified under the digest of another."""
    path, opened = tmp_path / "state.pt", []
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"history": [(2.0, 0.5, 3)], "mechanism": "rdp"}))
    open_file = io.open

    def counted(file: Any, *rest: Any, **named: Any) -> Any:
        opened.extend([file] if str(file) == str(path) else [])
        return open_file(file, *rest, **named)

    monkeypatch.setattr("io.open", counted)
    monkeypatch.setattr("builtins.open", counted)
    assert read_peer_file(path).digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(opened) == 2  # and once by this test


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="readable file"):
        read_peer_file(tmp_path / "absent.json")


# What torch.save writes


class Tensor:
    """Saved as PyTorch saves one: by a call and a reference."""

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, ([("weight", print)],)


class Program:
    """Runs a command when it is unpickled by something that calls what it names."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def saved(path: Path, value: object, name: str = "archive/data.pkl") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, pickle.dumps(value, protocol=2))
    return path


@pytest.mark.parametrize("within", [False, True])
def test_a_saved_state(tmp_path: Path, within: bool) -> None:
    state = OrderedDict(history=[(1.0, 0.01, 1000), (2.0, 0.02, 10)], mechanism="prv")
    checkpoint = {"module_state_dict": {"weight": Tensor()}, "privacy_accountant_state_dict": state, "epoch": 3}
    found = read_peer_file(saved(tmp_path / "state.pt", checkpoint if within else state))
    told = read_peer_file(written(tmp_path, {"history": STEPS, "mechanism": "prv"}))
    assert found.event == told.event


def test_nothing_that_a_saved_file_names_is_called(tmp_path: Path) -> None:
    accountant = {"history": STEPS, "mechanism": "rdp"}
    state = {"privacy_accountant_state_dict": accountant, "more": [Program(f"touch {tmp_path}/called"), Tensor()]}
    assert read_peer_file(saved(tmp_path / "state.pt", state)).event.releases == 1010
    assert not (tmp_path / "called").exists()


def test_a_checkpoint_of_pytorch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    state = {"history": [(1.0, 0.01, 1000), (2.0, 0.02, 10)], "mechanism": "rdp"}
    checkpoint = {"module_state_dict": torch.nn.Linear(3, 2).state_dict(), "privacy_accountant_state_dict": state}
    torch.save(checkpoint, tmp_path / "checkpoint.pt")
    assert read_peer_file(tmp_path / "checkpoint.pt").event.releases == 1010


@pytest.mark.parametrize(
    ("value", "name", "reason"),
    [
        ([1, 2], "archive/data.pkl", "the state of an Opacus accountant"),
        ({"history": Program("true"), "mechanism": "rdp"}, "archive/data.pkl", "history"),
        ({"history": [[Tensor(), 0.1, 1]], "mechanism": "rdp"}, "archive/data.pkl", "noise multiplier"),
        ({}, "archive/other", "file of torch.save"),
    ],
)
def test_other_saved_files_are_refused(tmp_path: Path, value: object, name: str, reason: str) -> None:
    with pytest.raises(CertdpError, match=reason):
        read_peer_file(saved(tmp_path / "state.pt", value, name))


@pytest.mark.parametrize("place", ["history", "entry", "noise", "mechanism", "beside"])
def test_what_is_shared_is_not_written_out(tmp_path: Path, place: str) -> None:
    """Forty levels of pairs are small in a file, and 2^40 values as text."""
    shared: Any = ()
    for _ in range(40):
        shared = (shared, shared)
    states: dict[str, Any] = {
        "history": {"history": shared, "mechanism": "rdp"},
        "entry": {"history": [shared], "mechanism": "rdp"},
        "noise": {"history": [[shared, 0.1, 1]], "mechanism": "rdp"},
        "mechanism": {"history": STEPS, "mechanism": shared},
    }
    with pytest.raises(CertdpError):
        read_peer_file(saved(tmp_path / "state.pt", [shared] if place == "beside" else states[place]))


@pytest.mark.parametrize("content", [b"PK\x03\x04 and more", b"PK\x03\x04"])
def test_broken_saved_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(InvalidValue, match=r"torch\.save"):
        read_peer_file(tmp_path / "state.pt")


@examples(100)
@given(data=st.data())
def test_bytes_that_change_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("saved") / "state.pt"
    state = {"privacy_accountant_state_dict": {"history": STEPS, "mechanism": "rdp"}, "more": Tensor()}
    content = bytearray(pickle.dumps(state, protocol=2))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", bytes(content))
    with contextlib.suppress(CertdpError):
        read_peer_file(path)

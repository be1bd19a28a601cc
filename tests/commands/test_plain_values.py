"""Values that are taken without Typer are those that Typer gives, and whatever it refuses is refused in its words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from certdp.commands.plain_values import PlainCommand

from ..support.cases import examples

WORDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    st.integers(-30, 10**20).map(str),
    st.sampled_from(["", " 7", "07", "1_0", "1e1", "7.0", "٧", "²", ".", "/", "no/such/path", "a//b/./c", "x" * 300]),
)


def _answers(given: list[object]) -> Callable[..., None]:
    def answer(
        argument: Annotated[Path | None, typer.Argument()] = None,
        name: Annotated[str, typer.Option()] = "unnamed",
        names: Annotated[list[str] | None, typer.Option(callback=lambda seen: seen)] = None,
        places: Annotated[list[Path] | None, typer.Option()] = None,
        number: Annotated[int, typer.Option(min=2, max=10**19)] = 5,
        perhaps: Annotated[int | None, typer.Option(min=0)] = None,
        rate: Annotated[float, typer.Option()] = 0.5,
        wanted: Annotated[bool, typer.Option()] = False,
    ) -> None:
        given.append([argument, name, names, places, number, perhaps, rate, wanted])

    return answer


def _ran(words: list[str], **settings: Any) -> tuple[int, str, list[object]]:
    """What a command line gives the command, and what it says."""
    given: list[object] = []
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    one.command(**settings)(_answers(given))
    ran = CliRunner().invoke(one, words)
    return ran.exit_code, ran.output, given


OPTIONS = st.one_of(
    st.sampled_from(["--name", "--names", "--places", "--number", "--perhaps", "--rate"]).flatmap(
        lambda option: WORDS.map(lambda word: [f"{option}={word}"])
    ),
    st.just(["--wanted"]),
    WORDS.map(lambda word: [word]),
)


@given(st.lists(OPTIONS, max_size=5).map(lambda parts: [word for part in parts for word in part]))
@example(["--number=1"])
@example(["--number=10000000000000000001"])
@example(["--perhaps=-1"])
@example(["--rate=many"])
@example(["--names=a", "--names=b", "--places=.", "--wanted", "."])
@examples(60)
def test_a_command_is_given_what_typer_gives(words: list[str]) -> None:
    assert _ran(words, cls=PlainCommand) == _ran(words)


def test_a_file_that_may_not_be_read_is_refused_in_typers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").touch()
    monkeypatch.setattr("os.access", lambda *_: False)
    code, said, given = _ran([str(tmp_path / "locked")], cls=PlainCommand)
    assert (code, given) == (2, [])
    assert "not readable" in said


def test_what_is_required_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @one.command(cls=PlainCommand)
    def answer(name: Annotated[str, typer.Option()], places: Annotated[list[Path], typer.Argument()]) -> None:
        print(name, *places)

    assert "Missing option" in CliRunner().invoke(one, ["a"]).output
    assert "Missing argument" in CliRunner().invoke(one, ["--name=a"]).output
    assert CliRunner().invoke(one, ["--name=a", "b", "c"]).output == "a b c\n"

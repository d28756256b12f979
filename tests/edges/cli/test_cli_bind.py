"""Options that are made from the declaration of an operation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.api.arguments import MemoryFields
from holdfast.api.hub import HubMemory
from holdfast.api.operation import FILES_ARE_LOCAL, PARAMETERS, operations_of, reads, writes
from holdfast.api.people import People
from holdfast.api.wire import arguments_of as resolved_arguments
from holdfast.edges.cli.bind import Flags, arguments_of, flag, joined, kind_of
from holdfast.edges.cli.command import Commands, Parser
from holdfast.errors import InvalidInput

_NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class _Hub:
    """Operations that exist only here."""

    @reads()
    def find(
        self,
        query: str,
        *,
        limit: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        tags: list[str] | None = None,
        names: Any = None,
        meaning: bool = True,
        explain: bool = False,
    ) -> str:
        return query

    @writes(local=FILES_ARE_LOCAL)
    def tidy(self, *, dry_run: bool = False) -> str:
        return "tidy"


_Hub.find.__wrapped__.__annotations__["tags"] = "Iterable[str] | None"  # type: ignore[attr-defined]


def _call() -> Any:
    def when(text: str, *, end: bool = False) -> str:
        return f"{text} {'end' if end else 'start'}"

    return SimpleNamespace(when=when, now=_NOW)


def _values(flags: Flags, *words: str) -> dict[str, Any]:
    parser = Parser("holdfast try")
    flags.add_to(parser)
    return flags.values(_call(), parser.parse(words))


def test_what_is_required_is_a_word_and_the_rest_are_options() -> None:
    assert _values(Flags(_Hub.find), "tea") == {"query": "tea"}


def test_each_kind_of_value_is_read_by_its_type() -> None:
    words = ("tea", "-n", "3", "--tag", "a", "--tag", "b", "--since", "May", "--until", "June")
    assert _values(Flags(_Hub.find), *words, "--explain", "--no-meaning") == {
        "query": "tea",
        "limit": 3,
        "tags": ["a", "b"],
        "since": "May start",
        "until": "June end",
        "explain": True,
        "meaning": False,
    }


def test_zero_is_a_value_that_was_given() -> None:
    assert _values(Flags(_Hub.find), "tea", "--limit", "0")["limit"] == 0


def test_a_number_that_is_none_is_refused_with_the_option() -> None:
    with pytest.raises(InvalidInput, match="--limit: 'x' is not a whole number"):
        _values(Flags(_Hub.find), "tea", "--limit", "x")


def test_a_command_says_what_differs() -> None:
    flags = Flags(
        _Hub.find,
        omit=("tags", "names"),
        query=flag(nargs="+", convert=joined),
        meaning=flag("--words", about="words only"),
    )
    assert _values(flags, "green", "tea", "--words") == {"query": "green tea", "meaning": False}
    with pytest.raises(InvalidInput, match="no option `--tag`"):
        _values(flags, "tea", "--tag", "x")


def test_the_first_moment_says_how_moments_are_written() -> None:
    parser = Parser("holdfast try")
    Flags(_Hub.find).add_to(parser)
    assert "yesterday" in parser.options["--since"].help
    assert "yesterday" not in parser.options["--until"].help


def test_a_command_works_through_a_server_where_its_operation_does() -> None:
    def show(call: Any, args: Any, result: Any) -> None: ...

    commands = Commands()
    commands.shows("find", "", Flags(_Hub.find))(show)
    commands.shows("tidy", "", Flags(_Hub.tidy))(show)
    assert [command.server for command in commands] == ["works", "refused"]


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        ("str | int", "text"),
        ("int | None", "number"),
        ("bool | None", "switch"),
        ("datetime | str | None", "time"),
        ("timedelta | None", "span"),
        ("Iterable[Reference]", "texts"),
        ("Reference | Iterable[Reference]", "texts"),
        # A file of them is named, which the command reads.
        ("Iterable[Any] | str | None", "text"),
        ("Mapping[str, Any] | None", "json"),
        ("Mapping[str, Any] | str | None", "condition"),
        ("Callable[[str], int] | str | None", "text"),
    ],
)
def test_the_kind_of_a_parameter_follows_from_its_annotation(hint: str, kind: str) -> None:
    assert kind_of(hint) == kind


@pytest.mark.parametrize("place", [HubMemory, People])
def test_signatures_are_read_as_the_remote_hub_reads_them(place: type) -> None:
    for name, declared in operations_of(place).items():
        method = getattr(place, name)
        if declared.local or declared.own_request:
            continue
        quick = [(one.name, one.required) for one in arguments_of(method)]
        assert quick == [(one.name, one.required) for one in resolved_arguments(method)], name


def test_every_field_of_a_memory_is_described() -> None:
    missing = [name for name in MemoryFields.__annotations__ if name not in PARAMETERS]
    assert not missing


def test_a_lifetime_becomes_the_moment_when_it_ends() -> None:
    from holdfast.edges.cli.bind import after

    assert after(_call(), "12h") == _NOW + timedelta(hours=12)

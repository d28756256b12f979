"""A table goes in and comes out of a TOML file, and every other character stays."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.edges.clients.jsonc import BOM, Malformed, line_and_column
from holdfast.edges.clients.toml_text import (
    parse,
    render,
    sections,
    with_fields,
    with_value,
    without,
)

PATH = ("mcp_servers", "holdfast")
ENTRY = {"command": "C:\\bin\\holdfast.exe", "args": ["mcp", "--hub", "é"]}
SAYS = {"mcp_servers": {"holdfast": ENTRY}}

_TOP = st.sampled_from(
    ["", "# a note\n", 'model = "o9"\n', "x = 1 # here\n\n", '"quoted key" = [1,\n  2, # two\n]\n']
)
_TABLES = st.lists(
    st.sampled_from(
        [
            "[a]\nk = 1\n",
            "[b]\n# nothing\n\n",
            '[mcp_servers.other]\ncommand = "npx"\nargs = ["-y"]\n',
            "  [mcp_servers.third]  # mine\n  url = 'http://x'\n\n",
            "[mcp_servers.env]\nA = '''\n[mcp_servers.holdfast]\n'''\n",
            '[projects."/home/ann"]\ntrust_level = "trusted"\n',
            "[[rows]]\nn = 1\n[[rows]]\nn = 2\n",
            "# the end of something\n",
        ]
    ),
    unique=True,
    max_size=5,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of a file: some keys, some tables, any line ends, with or without a last one."""
    text = draw(_TOP) + "".join(draw(_TABLES))
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    bom = draw(st.sampled_from(["", "", BOM]))
    return bom + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def plus(text: str, entry: object) -> dict[str, object]:
    value = parse(text)
    value.setdefault("mcp_servers", {})["holdfast"] = entry
    return value


@given(texts())
def test_a_new_entry_stands_behind_everything_else(text: str) -> None:
    new = with_value(text, PATH, ENTRY)
    assert new.startswith(text)
    assert parse(new) == plus(text, ENTRY)
    assert ("\r\n" in new) == ("\r\n" in text)
    assert not ("\r\n" in text and "\n" in new.replace("\r\n", ""))


@given(texts())
def test_what_goes_in_comes_out_again(text: str) -> None:
    back = without(with_value(text, PATH, ENTRY), PATH)
    assert parse(back) == parse(text)
    # The line end that was missing, or an empty line at the end, is all that may differ.
    assert back.rstrip("\r\n") == text.rstrip("\r\n")


@given(texts(), texts())
def test_what_was_written_below_the_entry_stays_when_it_goes(above: str, below: str) -> None:
    below = below.removeprefix(BOM)
    # Keys without a header would be fields of the entry.
    assume(not parse(sections(below)[0].text))
    whole = with_value(above, PATH, ENTRY) + below
    try:
        value = parse(whole)
    except Malformed:
        assume(False)  # The two parts do not go together.
    back = without(whole, PATH)
    assert back.rstrip("\r\n").endswith(below.rstrip("\r\n"))
    assert back.startswith(above.rstrip("\r\n"))
    value["mcp_servers"].pop("holdfast")
    assert parse(back).get("mcp_servers", {}) == value.pop("mcp_servers")
    assert parse(back) | value == parse(back)


@given(texts())
def test_the_sections_of_a_file_are_all_of_it(text: str) -> None:
    parts = sections(text)
    assert "".join(part.text for part in parts) == text.removeprefix(BOM)
    headers = [part.path for part in parts[1:]]
    assert sum(header == ("mcp_servers", "env") for header in headers) <= 1
    assert ("mcp_servers", "holdfast") not in headers


@given(texts())
def test_fields_are_changed_in_their_place(text: str) -> None:
    old = with_value(text, PATH, ENTRY)
    new = with_fields(old, PATH, {"command": ENTRY["command"], "args": ["mcp"]})
    assert new == old.replace('["mcp", "--hub", "é"]', '["mcp"]')
    assert with_fields(new, PATH, {"args": ["mcp"]}) == new


def test_fields_of_a_person_in_the_entry_stay() -> None:
    text = '[mcp_servers.holdfast]\nenabled = false # for now\ncommand = "x"\nargs = []\n'
    new = with_fields(text, PATH, {"command": "y", "args": []})
    assert new == text.replace('"x"', '"y"')


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {other = {command = "x"}}\n',
        '[mcp_servers]\nother = {command = "x"}\n# end\n',
        'mcp_servers.other.command = "x"\n',
        'mcp_servers = {} # none\n[a]\nb = [\n  [1], # "]"\n]\n',
    ],
)
def test_servers_that_are_written_in_other_ways_can_take_one_more(text: str) -> None:
    new = with_value(text, PATH, ENTRY)
    assert parse(new) == plus(text, ENTRY)
    assert parse(without(new, PATH)) == parse(text)


def test_an_entry_on_its_own_is_a_whole_file() -> None:
    assert tomllib.loads(render(PATH, ENTRY)) == SAYS


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = \n", 1), ("a = 1\nb = [1,\n", 2), ("a = 1\n\n[x\n", 3), ("a = 1\na = 2\n", 2)],
)
def test_what_is_wrong_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        parse(text)
    assert abs(line_and_column(text, caught.value.at)[0] - line) <= 1
    assert "line" not in caught.value.reason


def test_a_name_that_is_no_table_is_refused() -> None:
    with pytest.raises(Malformed, match="no table"):
        with_value("mcp_servers = 1\n", PATH, ENTRY)

"""Names of people, organisations and teams: which are the same, and which are refused."""

from __future__ import annotations

import ast
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast import InvalidInput
from holdfast.text.names import hidden_character, parse_person, parse_place, skeleton

ALLOWED = [
    *("alice", "Alice", "O'Neil", "O’Neil", "a@example.org", "DOMAIN\\user", "ci/deploy", "bot-7"),
    *("Zoë", "Nguyễn Văn An", "Müller", "Łukasz", "Çelik", "ʻOkina"),
    *("Анна", "Οδυσσέας", "Արամ", "დავით", "محمد", "משה", "नरेन्द्र", "สำราญ", "ສຳລານ"),
    *(
        "山田太郎",
        "佐々木",
        "サーバー",
        "山田タロウ X",
        "김철수",
        "王小明 Wang",
        "Ali علي",
        "🤖 bot",
    ),
]
REFUSED = {
    "": "empty",
    " \u3000": "empty",
    "a" * 101: "longer",
    "a\0b": "invisible",
    "a\nb": "invisible",
    "\u200balice": "invisible",
    "ali\u200dce": "invisible",
    "\u202eecila": "invisible",
    "alice\u2069": "invisible",
    "alice\ufeff": "invisible",
    "al\u00adice": "invisible",
    "alice\ufe0f": "invisible",
    "alice\U000e0061": "invisible",
    "alice\u3164": "invisible",
    "\u034falice": "invisible",
    "alice\ue000": "invisible",
    "alice\u0378": "invisible",
    "a\u2800b": "invisible",
    "ａｌｉｃｅ": "Write it 'alice'",
    "𝐚lice": "Write it 'alice'",
    "ﬁona": "Write it 'fiona'",
    "a\u00a0b": "Write it 'a b'",
    "аlice": "mixes Cyrillic and Latin",
    "αlice": "mixes Greek and Latin",
    "Анnа": "mixes Cyrillic and Latin",
    "Анναа": "mixes Cyrillic and Greek",
    "\u0301alice": "belongs to no letter",
    "a" + "\u0316" * 5: "belongs to no letter",
}
TWINS = [
    *(("alice", "aIice"), ("alice", "a1ice"), ("BOB", "B0B"), ("mary", "rnary")),
    *(("ape", "аре"), ("OTTO", "ОТТО"), ("Zoë", "Zoe\u0308"), ("O'Neil", "O’Neil")),
]


@pytest.mark.parametrize("name", ALLOWED)
def test_a_name_that_people_have_is_kept_to_the_letter(name: str) -> None:
    assert parse_person(name) == name


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_a_name_that_hides_something_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(InvalidInput, match=REFUSED[name]):
        parse_person(name)


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_names_that_look_alike_share_a_skeleton(one: str, other: str) -> None:
    assert one != other
    assert skeleton(one) == skeleton(other)


def test_names_that_look_different_do_not() -> None:
    assert len({skeleton(name) for name in ("alice", "Alice", "alicia", "Zoe", "Zoë")}) == 5


@given(st.text(max_size=40))
def test_whatever_parses_is_clean_and_parses_to_itself(text: str) -> None:
    try:
        name = parse_person(text)
    except InvalidInput:
        return
    assert parse_person(name) == name
    assert hidden_character(name) is None
    assert name == name.strip()
    assert unicodedata.is_normalized("NFC", name)
    for spelling in (f" {text}\u00a0", unicodedata.normalize("NFD", text)):
        assert parse_person(spelling) == name


@given(st.text(max_size=40))
def test_a_reference_parses_to_what_a_name_does(text: str) -> None:
    try:
        name = parse_person(text)
    except InvalidInput:
        return
    assert parse_place(name) == name


def test_code_about_permissions_takes_no_raw_name() -> None:
    """mypy refuses what is not parsed only where these annotations are."""
    src = Path(holdfast.__file__).parent
    raw = [
        f"{path}: {node.name}"
        for path in (
            *("domain/hub.py", "domain/hub.py", "engine/people/members.py", "engine/core.py"),
            *(
                "engine/people/teams.py",
                "engine/people/members.py",
                "engine/people/keys.py",
                "api/caller.py",
            ),
        )
        for node in ast.walk(ast.parse((src / path).read_text()))
        if isinstance(node, ast.FunctionDef)
        for one in (*node.args.args, *node.args.kwonlyargs)
        if one.arg in ("actor", "seen_by", "owner", "role")
        and one.annotation is not None
        and "str" in ast.unparse(one.annotation)
    ]
    assert not raw


def test_clean_values_are_made_where_they_are_parsed() -> None:
    """A cast elsewhere would be a way around the parser."""
    allowed = {
        "text/names.py": "parses",
        "domain/hub.py": "has the name that is nobody's",
        "engine/people/members.py": "finds members from before names were checked",
        "engine/people/records.py": "reads records back",
        "engine/upkeep/lifecycle.py": "names who acts by itself",
        "engine/transfer/export.py": "reads an export",
        "testing/conformance/base.py": "writes examples",
        "testing/conformance/isolation.py": "writes examples",
    }
    src = Path(holdfast.__file__).parent
    made = {
        path.relative_to(src).as_posix()
        for path in src.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("PersonName", "Label", "PlaceRef", "RecordId")
    }
    assert made == set(allowed)

"""Secrets that a name gives away in structured text: `password = …`, `API_KEY: …`, `--token …`,
cells of tables, columns under a heading.

Sentences ('my wifi password is …') are in sentences.py. What may be a value is decided in
checks.py, as most lines that contain the word `password` contain none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.text.secrets.checks import (
    Strength,
    is_chosen,
    is_coined,
    is_example,
    is_phrase,
    is_state,
    is_token,
    strength,
)
from holdfast.text.secrets.nouns import Place, Span, find_nouns, is_heading
from holdfast.text.secrets.rules import NOUN_CUES
from holdfast.text.secrets.sentences import find_said, phrase_to_line_end
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("secrets/patterns.txt")

_NAME_BEFORE = lazy(r"[\w.-]{0,40}$")
_BARE = lazy(r"[^\s\"'`,;&<>(){}\[\]\\|，。；、」』]{1,400}")
# In a connection string or a key file a value ends with the line or a semicolon only.
_BARE_TO_END = lazy(r"[^\s\"'`;<>]{1,400}")
_ELEMENT = lazy(r"[^<>\n]{1,200}")
_CALL = lazy(r"[A-Za-z_][\w.]*\(")
_ENV_NAME = lazy(r"(?:^|[\s;\"'])(?:export )?[A-Z][A-Z0-9_]*$")
_KEY_LINE = lazy(r"(?:^|[\n{,])[ \t]*(?:[-*+] )?[\"'`*]{0,2}[\w.-]{0,40}$")


def find_named(text: str, low: str, cues: Sequence[str] = NOUN_CUES) -> Iterator[Span]:
    """Kind, start and end of the secrets that names give away; `low` is the text in small letters,
    as long."""
    for place in find_nouns(low, cues):
        found = _assigned(text, place)
        if found is None:
            found = _in_row(text, place)
        if found is not None:
            yield found
        else:
            yield from find_said(text, low, place)


def is_named_secret(name: str, value: str) -> str:
    """The kind of secret of a value according to its name, as in a dictionary; empty if it is
    none."""
    line = f"{name}={value}"
    for kind, start, end in find_named(line, line.lower()):
        if end == len(line) and start <= len(name) + 1:
            return kind
    return ""


def _assigned(text: str, place: Place) -> Span | None:
    noun, at, end = place
    before = _NAME_BEFORE.search(text, max(0, at - 40), at)
    name = before[0] if before is not None else ""
    if name and _PATTERNS["no secret"].search(name):
        return None
    separator = _PATTERNS["separator"].match(text, end)
    if separator is None:
        if name.startswith("-") and (flag := _PATTERNS["flag"].match(text, end)):
            return _checked_flag(text, place, flag)
        return None
    if noun.weak and not _stands_alone(text, at, end):
        return None
    form = separator.lastgroup
    if quoted := _PATTERNS["quoted"].match(text, separator.end()):
        group = "s" if quoted["s"] is not None else "d"
        option = name.startswith("--") and is_chosen(quoted[group])
        # Forms and translations have members of such names too, with ordinary words.
        allowed = _COINED if form == "member" else _WORD_IN_QUOTES
        if not option and not _fits(quoted[group], place, allowed):
            return None
        return noun.kind, quoted.start(group), quoted.end(group)
    if form in ("pair", "attribute", "member"):
        return None
    pattern = {"equals": _BARE_TO_END, "element": _ELEMENT}.get(form or "", _BARE)
    bare = pattern.match(text, separator.end())
    if bare is None:
        return None
    value = bare[0] if form == "element" else _until_ampersand(bare[0]).rstrip(".,:")
    start = bare.start()
    after = text[start + len(value) : start + len(value) + 1]
    # A call or an index: code that reads the value from somewhere.
    if after in ("(", "[", "{") or _CALL.match(value) or value.endswith(("(", ")", "()", "[", "{")):
        return None
    if not _fits(value, place, _allowed_bare(text, place, form or "", start, start + len(value))):
        return phrase_to_line_end(text, start, noun) if form == "equals" else None
    return noun.kind, start, start + len(value)


def _until_ampersand(value: str) -> str:
    """In a query string the next parameter begins with `&name=`."""
    at = value.find("&")
    return value[:at] if at >= 0 and "=" in value[at:] else value


_STRONG = frozenset({Strength.STRONG})
_COINED = frozenset({Strength.STRONG, Strength.COINED, Strength.NUMBER})
_WORD_IN_QUOTES = frozenset(Strength) - {Strength.NONE}


def _allowed_bare(text: str, place: Place, form: str, start: int, end: int) -> frozenset[Strength]:
    """The strengths that count as a secret in a value without quotes, by the form of its line."""
    line_end = text.find("\n", end)
    alone = not text[end : line_end if line_end >= 0 else len(text)].strip(" \t,;.*|")
    close = text[place.end : start]
    if form == "element":
        return _WORD_IN_QUOTES if text.startswith("</", end) else _STRONG
    if form == "listed" or (
        form == "equals" and _ENV_NAME.search(text[max(0, place.at - 60) : place.end])
    ):
        return _WORD_IN_QUOTES if alone or form == "equals" else _STRONG
    if form == "dots" or (form == "equals" and " " not in close):
        return _COINED
    if (
        form in ("colon", "tag")
        and alone
        and _KEY_LINE.search(text, max(0, place.at - 60), place.at)
    ):
        return _WORD_IN_QUOTES if place.noun.text.startswith("pass") else _COINED
    if form == "colon" and not text[place.end : start].isspace():
        return _STRONG | {Strength.NUMBER}
    return _STRONG


def _checked_flag(text: str, place: Place, flag: re.Match[str]) -> Span | None:
    group = "s" if flag["s"] is not None else "q"
    fits = is_chosen(flag[group]) if group == "q" else _fits(flag[group], place, _COINED)
    if not fits:
        return None
    return place.noun.kind, flag.start(group), flag.end(group)


def _fits(value: str, place: Place, allowed: frozenset[Strength]) -> bool:
    noun = place.noun
    if noun.kind == "pin":
        return value.strip("#*").isdigit() and 4 <= len(value) <= 10
    if noun.is_token:
        if is_token(value):
            return True
        # Short ones only where the line leaves no doubt: in quotes, under a name for nothing else.
        short = allowed is _WORD_IN_QUOTES and len(value) >= 8 and noun.text not in _VAGUE
        return short and any(map(str.isdigit, value)) and strength(value) is Strength.STRONG
    if any(map(str.isspace, value)):
        return allowed is _WORD_IN_QUOTES and is_phrase(value)
    if noun.weak and Strength.COINED not in allowed:
        allowed = _STRONG
    found = strength(value)
    if found in (Strength.WORD, Strength.COINED) and is_state(value):
        return False
    return found in allowed


_VAGUE = ("token", "credential", "key")


def _stands_alone(text: str, at: int, end: int) -> bool:
    """A short noun such as `pass` counts as a whole name or as the last part of one."""
    before, after = text[at - 1 : at], text[end : end + 1]
    return not (before.isalnum() and before.islower()) and not after.isalnum()


# Cells


def _in_row(text: str, place: Place) -> Span | None:
    """The cell to the right of a cell that contains only the noun's phrase."""
    cell = _PATTERNS["next cell"].match(text, place.end)
    if cell is None or place.noun.weak:
        return None
    value = cell["s"].rstrip()
    if any(map(str.isspace, value)):
        return None
    if not _fits(value, place, _STRONG) and not (
        place.noun.kind == "password" and is_coined(value)
    ):
        return None
    return place.noun.kind, cell.start("s"), cell.start("s") + len(value)


_DELIMITERS = ("|", "\t", ";", ",")
_RULER = lazy(r"[\s|:+-]+")
_ROWS_MAX = 200


def find_columns(text: str, low: str, cues: Sequence[str] = NOUN_CUES) -> Iterator[Span]:
    """Finds the secrets under a heading such as `password`, in tables of markdown, CSV and tabs."""
    if "\n" not in low or not any(delimiter in low for delimiter in _DELIMITERS):
        return
    # A heading is a line with one of the cues and a delimiter.
    lines = low.splitlines(keepends=True)
    at = 0
    for number, line in enumerate(lines):
        for delimiter in _DELIMITERS:
            if delimiter in line and number + 1 < len(lines) and delimiter in lines[number + 1]:
                columns = [
                    (column, kind)
                    for column, cell in enumerate(_cells(line, delimiter))
                    if (kind := is_heading(cell, cues))
                ]
                if columns:
                    yield from _under_heading(text, lines, number, at, delimiter, columns)
                    break
        at += len(line)


def _cells(line: str, delimiter: str) -> list[str]:
    return line.rstrip("\r\n").split(delimiter)


def _under_heading(
    text: str,
    lines: list[str],
    heading: int,
    at: int,
    delimiter: str,
    columns: list[tuple[int, str]],
) -> Iterator[Span]:
    width = lines[heading].count(delimiter)
    at += len(lines[heading])
    for line in lines[heading + 1 : heading + 1 + _ROWS_MAX]:
        if line.count(delimiter) != width:
            return
        if not _RULER.fullmatch(line):
            cells = _cells(text[at : at + len(line)], delimiter)
            for column, kind in columns:
                value = cells[column].strip(" \t\"'`*")
                start = at + sum(len(one) + 1 for one in cells[:column])
                start += cells[column].find(value)
                if " " not in value and _is_cell(value, kind):
                    yield kind, start, start + len(value)
        at += len(line)


def _is_cell(value: str, kind: str) -> bool:
    if kind == "pin":
        return value.isdigit() and 4 <= len(value) <= 10
    if kind != "password":
        return is_token(value)
    return strength(value) in _COINED or (
        strength(value) is Strength.WORD and value.lower() not in ("text", "varchar")
    )


# A Secret of Kubernetes, and one of its values in a line.
_IS_SECRET = lazy(r"(?m)^[ \t]{0,20}kind:[ \t]*[\"']?Secret\b")
_VALUE = lazy(r"[ \t]+[\w.-]{1,253}:[ \t]+[\"']?(?P<s>[^\s\"'#{|>$][^\s\"']{3,4000})")
_SECTIONS = ("data:", "stringData:")


def find_in_manifests(text: str) -> Iterator[Span]:
    """The values of Secrets of Kubernetes, whatever they are called."""
    at = 0
    for document in text.split("\n---"):
        if _IS_SECRET.search(document):
            for kind, start, end in _in_sections(document):
                yield kind, at + start, at + end
        at += len(document) + len("\n---")


def _in_sections(document: str) -> Iterator[Span]:
    """The values in the lines that are further in than the name of their section."""
    at, section = 0, None
    for line in document.splitlines(keepends=True):
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        if words in _SECTIONS:
            section = depth
        elif words and section is not None and depth <= section:
            section = None
        elif section is not None and (value := _VALUE.match(line)) and not is_example(value["s"]):
            yield "manifest-value", at + value.start("s"), at + value.end("s")
        at += len(line)

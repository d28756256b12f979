"""All sentences are in one place: what templates and views ask for is there, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import holdfast.edges.web
from holdfast.edges.web import rendering
from holdfast.edges.web.rendering import STRINGS, t

FOLDER = Path(holdfast.edges.web.__file__).parent
ASKED = re.compile(r"""\bt\(\s*["']([a-z_.]+)["']\s*(~)?""")
TEMPLATES = sorted(FOLDER.glob("templates/*.html"))


def asked() -> tuple[set[str], set[str]]:
    """Whole names, and the first parts of names whose last part is a value."""
    names, prefixes = set(), set()
    for path in [*TEMPLATES, *FOLDER.glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for name, joined in ASKED.findall(text):
            (prefixes if joined else names).add(name)
        if path.suffix == ".py":
            found = re.findall(r'"([a-z_]+\.[a-z_]+)"', text)
            names.update(name for name in found if name in STRINGS)
    return names, prefixes


def test_every_sentence_that_is_asked_for_is_there() -> None:
    names, prefixes = asked()
    assert names <= set(STRINGS), names - set(STRINGS)
    for prefix in prefixes:
        assert any(name.startswith(prefix) for name in STRINGS), prefix


def test_no_sentence_is_left_over() -> None:
    names, prefixes = asked()
    known = {name for name in STRINGS if name.startswith(tuple(prefixes))}
    assert set(STRINGS) - names - known == set()


def test_every_template_can_be_read() -> None:
    assert len(TEMPLATES) > 8
    for path in TEMPLATES:
        rendering.environment().get_template(path.name)


def test_templates_hold_no_script_and_no_style_of_their_own() -> None:
    """The policy of the page forbids them; a browser would drop them without a word."""
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text), path.name
        assert "|safe" not in text, path.name
        assert not re.search(r"https?://", text), path.name


def test_values_are_put_into_sentences() -> None:
    assert t("memory.heading", number=7) == "Memory #7"

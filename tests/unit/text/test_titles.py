"""Titles and summaries from a text's own words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.memory import CONTENT_TYPES
from holdfast.text.classify import titles
from holdfast.text.classify.titles import heading_of, summary_of, title_of
from holdfast.text.sentences import split_sentences

DATA = Path(__file__).parents[2] / "data"
LONG = (
    "The quick brown fox jumps over the lazy dog while the cat looks on from the warm roof of the"
    " old barn"
)

TITLES = [
    # content, content type, path, title
    ("Prefers tabs over spaces.", "text", None, "Prefers tabs over spaces"),
    ("Is it late? Yes, it is.", "text", None, "Is it late? Yes, it is"),
    ("Is the shop still open on Sunday? I think so.", "text", None,
     "Is the shop still open on Sunday?"),
    ("Yes. The garage code is 4711 now. Ask Ann.", "text", None,
     "Yes. The garage code is 4711 now"),
    ("Dr. Who lives at No. 5 since 2011. Then more.", "text", None,
     "Dr. Who lives at No. 5 since 2011"),
    ("Version 2.3.1 is out. Upgrade.", "text", None, "Version 2.3.1 is out"),
    (LONG, "text", None,
     "The quick brown fox jumps over the lazy dog while the cat looks on from the…"),
    ("first line\nsecond line", "text", None, "first line"),
    ("\n\n---\n\nWords after a rule", "text", None, "Words after a rule"),
    ("- [ ] Call **Ann** about [the lease](https://example.com)", "markdown", None,
     "Call Ann about the lease"),
    ("> *Quoted* words with `code` and snake_case_name", "markdown", None,
     "Quoted words with code and snake_case_name"),
    ("# Deploy *runbook* #\n\nText", "markdown", None, "Deploy runbook"),
    ("Some words\n\n## Later heading", "markdown", None, "Later heading"),
    ("Big title\n=========\n\nText", "markdown", None, "Big title"),
    ("```sh\n# not a heading\n```\n\n# A heading", "markdown", None, "A heading"),
    ("---\ntitle: \"Bread\"\ntags: [a]\n---\n# Other", "markdown", None, "Bread"),
    ("---\ntags: [a]\n---\nOnly words here", "markdown", None, "Only words here"),
    ("<!-- note --><b>Bold</b> start of it", "markdown", None, "Bold start of it"),
    ("#hashtag is not a heading", "text", None, "#hashtag is not a heading"),
    ("import os\n\n\nasync def read_home(x):\n    return x", "code", None, "read_home"),
    ("class Engine:\n    def run(self): ...", "code", None, "Engine"),
    ("export const add = (a, b) => a + b", "code", None, "add"),
    ("func (s *Server) Serve() {\n}", "code", None, "Serve"),
    ("CREATE TABLE IF NOT EXISTS users (id)", "code", None, "users"),
    ("def f(): ...", "code", "src/app/main.py", "main.py"),
    ("x = 1", "code", None, "x = 1"),
    ("all: test", "code", "C:\\work\\Makefile", "Makefile"),
    ('{"name": "api", "port": 80}', "structured", None, "api"),
    ("title: My data\nsize: 3", "structured", None, "My data"),
    ('{"a": 1}', "structured", None, '{"a": 1}'),
    ("a: 1", "structured", "conf/settings.toml", "settings.toml"),
    ("https://www.example.com/docs/start/?x=1#top", "link", None, "example.com/docs/start"),
    ("[The docs](https://example.com/a)", "link", None, "The docs"),
    ("The docs\nhttps://example.com/a", "link", None, "The docs"),
    ("Scan", "file", "scans/lease.pdf", "lease.pdf"),
    ("User: Fix the JWT expiry bug\nAssistant: ok", "chat", None, "Fix the JWT expiry bug"),
    ("[telegram] User: Fix the bug today\nMax: ok", "chat", None, "Fix the bug today"),
    ("[00:01:12] Ann: Welcome to the show.", "transcript", None, "Welcome to the show"),
    ("WEBVTT\n\n1\n00:01.000 --> 00:02.000\nHello and welcome", "transcript", None,
     "Hello and welcome"),
    ("我喜欢喝咖啡。每天早上都喝。下午喝茶。", "text", None, "我喜欢喝咖啡。 每天早上都喝"),
    ("咖" * 100, "text", None, "咖" * 79 + "…"),
    ("مرحبا بالعالم", "text", None, "مرحبا بالعالم"),
    ("🎉", "text", None, "🎉"),
    ("...", "text", None, "..."),
    ("\u200b", "text", None, "Untitled"),
    ("a\tb\x07c\u202ed", "text", None, "a bcd"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "content_type", "path", "title"), TITLES)
def test_a_title_comes_from_the_text(
    content: str, content_type: str, path: str | None, title: str
) -> None:
    assert title_of(content, content_type=content_type, source_path=path) == title


@given(st.text(), st.sampled_from(CONTENT_TYPES), st.sampled_from([None, "a/b.py", "/"]))
def test_a_title_is_one_short_line_and_never_empty(
    content: str, content_type: str, path: str | None
) -> None:
    title = title_of(content, content_type=content_type, source_path=path)
    assert 1 <= len(title) <= 80
    assert title == title.strip()
    assert not any(character in title for character in "\n\r\t\0")


def test_a_cut_never_parts_a_letter_from_its_mark() -> None:
    title = title_of("e" * 78 + "e\u0301" + "x" * 20)
    assert title == "e" * 78 + "…"
    family = "👨\u200d👩\u200d👧"
    assert title_of("x" * 77 + family + "y" * 20) == "x" * 77 + "…"


def test_one_or_two_short_sentences_have_no_summary() -> None:
    assert summary_of("A short note. It needs none.") == ""
    assert summary_of("- A short note\n- It needs none\n") == ""
    assert summary_of("x" * 300) == ""


def test_a_short_text_of_more_sentences_is_summed_up_by_the_first_two() -> None:
    text = "The fence is done. Paint comes on Monday. Ask Ann for the colour. It rains."
    assert summary_of(text) == "The fence is done. Paint comes on Monday."
    listed = "- Buy the blue paint\n- Call Ann about it\n- Mend the old fence\n"
    assert summary_of(listed) == "Buy the blue paint Call Ann about it"


def _chats(name: str) -> list[tuple[str, str]]:
    text = (DATA / name).read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    chats = [part.partition("\n=> ") for part in lines.strip().split("\n\n")]
    return [(chat.strip(), words.strip()) for chat, _, words in chats]


def _says_what_it_is_about(chat: str, words: str) -> bool:
    title = title_of(chat, content_type="chat").casefold()
    return all(word.casefold() in title for word in words.split())


def test_a_conversation_that_begins_with_a_greeting_is_titled_by_what_it_is_about() -> None:
    for chat, words in _chats("chat_titles_dev.txt"):
        assert _says_what_it_is_about(chat, words), title_of(chat, content_type="chat")


def test_the_title_says_what_it_is_about_in_most_chats_set_aside() -> None:
    chats = _chats("chat_titles_held_out.txt")
    right = sum(_says_what_it_is_about(*chat) for chat in chats)
    assert right / len(chats) >= 0.9, f"{right} of {len(chats)}"


def test_messages_in_json_are_a_conversation_too() -> None:
    said = ("hi", "Hello! How can I help?", 'Rename the "orders" table to purchases')
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    title = title_of(json.dumps(messages), content_type="chat")
    assert title == 'Rename the "orders" table to purchases'


@pytest.mark.parametrize(
    ("content", "content_type", "title"),
    [
        ("user: hi\nassistant: hello\nuser: rename the orders table", "structured",
         "Rename the orders table"),
        ("hi\n\nCan you rename the orders table?", "text", "Can you rename the orders table?"),
        ("Hello everyone,\n\nthe fence is painted green now.", "text",
         "The fence is painted green now"),
        ("Thanks!\nYes.", "text", "Thanks!"),
        ("name: hi\nsize: 3", "structured", "hi"),
        ("user: ada\nport: 80", "structured", "user: ada"),
    ],
)  # fmt: skip
def test_a_greeting_is_passed_over_in_other_texts_too(
    content: str, content_type: str, title: str
) -> None:
    assert title_of(content, content_type=content_type) == title


def test_small_talk_alone_is_its_own_title() -> None:
    assert title_of("User: hi\nAssistant: Hello!", content_type="chat") == "hi"


def test_a_summary_is_whole_sentences_of_prose() -> None:
    text = (
        "---\ntitle: T\n---\n# Heading words here now\n\n[![badge](a)](b)\n\n"
        "```\ncode words in here\n```\n\n| a | b | c d e |\n|---|---|---|\n\n"
        "The store keeps **every** change as a revision. Undo brings back any of them.\n\n"
        + "This sentence is rather long and goes on about many things that matter little. "
        * 4
    )
    assert summary_of(text) == (
        "The store keeps every change as a revision. Undo brings back any of them. "
        "This sentence is rather long and goes on about many things that matter little."
    )


def test_a_first_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    summary = summary_of("word " * 100)
    assert summary == "word " * 39 + "word…"


@given(st.text(min_size=301))
def test_a_summary_is_one_line_of_bounded_length(content: str) -> None:
    summary = summary_of(content)
    assert len(summary) <= 200
    assert summary == " ".join(summary.split())


def test_a_heading_inside_code_is_not_the_headline() -> None:
    assert heading_of("~~~\n# no\n~~~\n") == ""
    assert heading_of("plain\nwords") == ""


HOSTILE = (
    "[",
    "[x](",
    "*",
    "**a",
    "_a ",
    "`",
    "<a",
    "<!--",
    "a. ",
    "---\n",
    "```\n",
    "# ",
    "(",
    ">",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_is_titled_in_bounded_time(unit: str) -> None:
    # No clock: a pattern that backtracks without bound would hang the run here.
    text = unit * (50_000 // len(unit))
    for content_type in CONTENT_TYPES:
        title_of(text, content_type=content_type)
    summary_of(text)


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("Run git show <sha> first", "Run git show <sha> first"),
        ("Render <Foo/> and <Bar baz={1}>", "Render <Foo/> and <Bar baz={1}>"),
        ("Use `<b>` for bold", "Use <b> for bold"),
        ("A <b>bold</b> claim<br/>", "A bold claim"),
        ('See <a href="x">this page</a> <!-- draft -->', "See this page"),
    ],
)
def test_only_tags_of_html_are_removed_from_a_title(content: str, title: str) -> None:
    assert title_of(content) == title


# What sentences, lines, abbreviations and marks are made of, put together at random.
_PIECES = st.lists(
    st.sampled_from(
        [
            *"ax.!?… \n。！*_`=<>+#[]-\"')",
            "Dr",
            "etc",
            "No",
            "1. ",
            "**",
            "```",
            "\x85",
            "é",
            "word ",
        ]
    ),
    max_size=24,
).map("".join)


@given(_PIECES)
def test_short_cuts_of_titles_change_nothing(text: str) -> None:
    plain = text
    for _, mark, kept in titles._MARKS:
        plain = re.sub(mark, kept, plain)
    assert titles._plain(text) == plain
    lines = titles._prose_lines(text)
    sentences = [one for line in lines for one in split_sentences(line, titles._SENTENCE_END)]
    assert len(sentences) <= titles._may_be_sentences(text)

"""Questions taken apart: a table per feature, and that no text can do harm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.recall.analyse import CHARS_MAX, TERMS_MAX, Analysis, FieldCondition, Window, analyse

NOW = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)  # a Wednesday


def ask(text: str) -> Analysis:
    return analyse(text, now=NOW)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# ── words and terms ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("boats", ("boat",)),
        ("Where are the boats?", ("boat",)),
        ("the boats and the boat", ("boat",)),
        ("red boats sailing", ("red", "boat", "sail")),
        ("who are you", ("who", "are", "you")),
        ("getUserById", ("getuserbyid",)),
        ("Müller", ("muller",)),
        ("东京", ("东京",)),
        ("?!…", ()),
    ],
)
def test_terms_are_index_terms_without_stop_words(text: str, terms: tuple[str, ...]) -> None:
    assert ask(text).terms == terms


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="Say what to look for"):
        ask(text)


@pytest.mark.parametrize("text", ["?!", "...", "-", "- -", '"', '""', "()", "*", "%_"])
def test_punctuation_alone_has_no_terms_and_stays_as_it_is(text: str) -> None:
    found = ask(text)
    assert (found.terms, found.words) == ((), text)
    assert (found.phrases, found.excluded, found.filters) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "boat NEAR pier", "boat AND pier", "boat OR pier", "boat NOT pier", "(boat pier)",
        "boat* ^pier",
        "boat % pier _", 'boat "pier', 'boat pier"', "boat 'pier", "{boat pier}:", "boat + pier",
        "boat; DROP TABLE pier --", "title : boat pier", "boat\x00pier", "boat\\pier",
    ],
)  # fmt: skip
def test_the_operators_of_a_search_engine_are_plain_text(text: str) -> None:
    found = ask(text)
    assert {"boat", "pier"} <= set(found.terms)
    assert (found.phrases, found.excluded, found.filters) == ((), (), ())
    assert all(term.isalnum() for term in found.terms)


def test_the_original_is_kept_and_the_words_are_what_to_embed() -> None:
    text = '  What did   Ana say about "the red boat" -sail tag:sea  '
    found = ask(text)
    assert found.text == text
    assert found.words == "What did Ana say about the red boat"


# ── phrases and exclusions ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('"red boats"', (("red", "boat"),)),
        ('find "the red boat" now', (("the", "red", "boat"),)),
        ('"red boat" "old pier"', (("red", "boat"), ("old", "pier"))),
        ("“red boat”", (("red", "boat"),)),
        ('("red boat")', (("red", "boat"),)),
        ('"red boat".', (("red", "boat"),)),
        ('"boat"', (("boat",),)),
        ('"red boat" "red boat"', (("red", "boat"),)),
        ('a 5" pipe and a 6" pipe', ()),
        ('say "red boat', ()),
        ('"..." boat', ()),
    ],
)
def test_quoted_phrases(text: str, phrases: tuple[tuple[str, ...], ...]) -> None:
    assert ask(text).phrases == phrases


def test_the_words_of_a_phrase_are_terms_too() -> None:
    assert ask('"the red boat" pier').terms == ("red", "boat", "pier")


@pytest.mark.parametrize(
    ("text", "excluded", "words"),
    [
        ("boat -sailing", (("sail",),), "boat"),
        ("-sail boat", (("sail",),), "boat"),
        ('boat -"red sails"', (("red", "sail"),), "boat"),
        ("boat -red-sail", (("red", "sail"),), "boat"),
        ("boat -sail -sail", (("sail",),), "boat"),
        ("boat -帆", (("帆",),), "boat"),
        ("gpt-4", (), "gpt-4"),
        ("boat -4", (), "boat -4"),
        ("boat - sail", (), "boat - sail"),
        ("boat --sail", (), "boat --sail"),
        ("e-mail about well-known", (), "e-mail about well-known"),
        ("what does rm -r do", (), "what does rm -r do"),
        ("boat (-sail)", (), "boat (-sail)"),
        ("-sail", (), "-sail"),
        ("-red -sail", (), "-red -sail"),
        ('-"red sail"', (), '-"red sail"'),
        ("-sail tag:sea", (("sail",),), ""),
    ],
)
def test_exclusions(text: str, excluded: tuple[tuple[str, ...], ...], words: str) -> None:
    found = ask(text)
    assert (found.excluded, found.words) == (excluded, words)


def test_only_exclusions_are_searched_for_as_plain_words() -> None:
    assert ask("-red -sails").terms == ("red", "sail")


# ── filters ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("boat tag:sea", (FieldCondition("tag", "sea"),)),
        ("tag:sea boat", (FieldCondition("tag", "sea"),)),
        ("boat TAG:Sea", (FieldCondition("tag", "Sea"),)),
        ("boat -tag:sea", (FieldCondition("tag", "sea", True),)),
        ('boat category:"to do"', (FieldCondition("category", "to do"),)),
        ('boat category:"to do"?', (FieldCondition("category", "to do"),)),
        ("boat category:“to do”", (FieldCondition("category", "to do"),)),
        ("is it kind:procedural?", (FieldCondition("kind", "procedural"),)),
        ("boat kind:Episodic", (FieldCondition("kind", "episodic"),)),
        ("boat key:user.name", (FieldCondition("key", "user.name"),)),
        ("boat source:MCP", (FieldCondition("source", "mcp"),)),
        ("boat source:Notes/boats.md", (FieldCondition("source", "Notes/boats.md"),)),
        ("boat tag:a,tag:b", (FieldCondition("tag", "a,tag:b"),)),
        ("boat tag:a tag:b", (FieldCondition("tag", "a"), FieldCondition("tag", "b"))),
        ("boat tag:a tag:a", (FieldCondition("tag", "a"),)),
        ("boat tag:c++", (FieldCondition("tag", "c++"),)),
        ("boat tag:东京", (FieldCondition("tag", "东京"),)),
        ('boat tag:"sea', (FieldCondition("tag", "sea"),)),
        ("boat after:2026-05-01", (FieldCondition("after", day("2026-05-01")),)),
        ("boat before:2026-05", (FieldCondition("before", day("2026-05-01")),)),
        ('boat after:"last week"', (FieldCondition("after", day("2026-05-11")),)),
        ("boat after:yesterday", (FieldCondition("after", day("2026-05-19")),)),
        ("boat -after:2026-05-01", (FieldCondition("before", day("2026-05-01")),)),
        ("boat http://pier", ()),
        ("note: boat", ()),
        ("note:boat", ()),
        ("tag: boat", ()),
        ("kind: it depends on the boat", ()),
        ("boat (tag:sea)", ()),
        ("hashtag:boat", ()),
    ],
)
def test_filters(text: str, filters: tuple[FieldCondition, ...]) -> None:
    assert ask(text).filters == filters


def test_a_filter_is_not_searched_for() -> None:
    found = ask('boat tag:sea category:"to do"')
    assert (found.words, found.terms) == ("boat", ("boat",))


def test_filters_alone_are_a_query_without_words() -> None:
    found = ask("tag:sea")
    assert (found.words, found.terms) == ("", ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("boat kind:proc", "'proc' is not a kind. Did you mean kind:procedural"),
        ("boat kind:epsodic", "kind:episodic"),
        ("boat kind:why", "episodic, semantic, procedural, rationale"),
        ("boat before:2026-02-31", "does not exist: 2026-02 has 28 days"),
        ("boat after:someday", "'someday' is not a date"),
        ("boat after:2026-05-02 before:2026-05-01", "Nothing can be after 2026-05-02"),
        ("boat after:2026-05-01 before:2026-05-01", "Swap the two dates"),
        ("boat after:2020 after:2026-01-01 before:2025-01-01", "Nothing can be after 2026-01-01"),
        ("boat tag:,", "'tag:' has no value"),
        ('boat tag:"', "'tag:' has no value"),
        ('boat tag:" "', "'tag:' has no value"),
        (" ".join(f"tag:{n}" for n in range(20)), "at most 16"),
    ],
)
def test_a_broken_filter_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ask(text)
    assert says in str(refused.value)


def test_dates_of_filters_are_those_of_the_zone() -> None:
    found = analyse("boat after:2026-05-01", now=NOW, zone=timezone(timedelta(hours=2)))
    assert found.filters == (FieldCondition("after", day("2026-04-30T22:00")),)


# ── time, intent, names ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("boats", None),
        ("may I take the boat", None),
        ("boats last Tuesday", Window(day("2026-05-19"), day("2026-05-20"), "last Tuesday")),
        ("What did we do in May?", Window(day("2026-05-01"), day("2026-06-01"), "in May")),
        ("in 2024 or in 2025", Window(day("2024-01-01"), day("2026-01-01"), "in 2024, in 2025")),
        (
            "this year, before April",
            Window(day("2026-01-01"), day("2026-04-01"), "this year, before April"),
        ),
        ("boat -today", None),
        ("boat tag:2024", None),
    ],
)
def test_a_date_in_words_is_a_window(text: str, window: Window | None) -> None:
    assert ask(text).window == window


def test_a_window_does_not_hide_its_words_from_the_search() -> None:
    assert "tuesday" in ask("boats last Tuesday").terms


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("how do I sail", "procedural"),
        ("How to sail?", "procedural"),
        ("steps to leave the pier", "procedural"),
        ("how can we sail", "procedural"),
        ("why do we sail", "rationale"),
        ("the reason for the red sails", "rationale"),
        ("rationale of the pier", "rationale"),
        ("when did we sail", "episodic"),
        ("When is the boat due", "episodic"),
        ("what happened at the pier", "episodic"),
        ("what did Ana say about sails", "episodic"),
        ("why did you tell me how to sail", "rationale"),
        ("how many boats", None),
        ("boats", None),
        ("what to do when it rains", None),
        ("reasonable boats", None),
        ("whyte and whenever", None),
    ],
)
def test_the_kind_a_question_is_after(text: str, kind: str | None) -> None:
    assert ask(text).kind == kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Ana say to Bob?", ("Ana", "Bob")),
        ("what is Ana's boat called", ("Ana",)),
        ("did Jean-Luc and O'Neil sail", ("Jean-Luc", "O'Neil")),
        ("did Zoë sail with Zoë", ("Zoë",)),
        ("Boats of the sea", ()),
        ("I sail. Then I rest", ()),
        ("what does the API do", ()),
        ("does she think I'm late", ()),
        ("Did You see The Boat", ("Boat",)),
        ("boats", ()),
        ("what of tag:Ana and -Bob", ()),
    ],
)
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert ask(text).names == names


# ── bounds ───────────────────────────────────────────────────────────────────────────────────


def test_a_long_query_is_cut_and_says_so() -> None:
    found = ask("boat " * 20_000)
    assert found.cut
    assert len(found.words) <= CHARS_MAX
    assert len(found.text) == 100_000


def test_a_query_of_many_terms_is_cut_and_says_so() -> None:
    found = ask(" ".join(f"w{n}x" for n in range(TERMS_MAX + 1)))
    assert found.cut
    assert len(found.terms) == TERMS_MAX
    assert not ask(" ".join(f"w{n}x" for n in range(TERMS_MAX))).cut


def test_a_filter_is_not_cut_in_half() -> None:
    text = "b" * (CHARS_MAX - 10) + " kind:procedural"
    assert ask(text).filters == ()


def test_one_word_without_an_end_is_cut_too() -> None:
    assert len(ask("x" * 100_000).words) == CHARS_MAX


# ── any text ─────────────────────────────────────────────────────────────────────────────────

PARTS = st.sampled_from(
    """tag: -tag: tag:x kind:x kind:episodic before: after:2024 before:"last week" - -- " “ ” ' -a
    -"b "c d" NEAR( AND * % _ ( ) [ ] { } ^ : :: \\ / http://x \x00 \ud800 漢字 😀 why when 2024
    in May O'Neil Ana 5" é -é -漢 may 0001-01-01 9999-12-31""".split()  # noqa: SIM905
)


@given(
    st.one_of(
        st.text(max_size=300),
        st.lists(st.tuples(PARTS, st.sampled_from(["", " ", "\n"])), max_size=25).map(
            lambda parts: "".join(word + gap for word, gap in parts)
        ),
    )
)
def test_any_text_is_analysed_or_refused_in_a_sentence(text: str) -> None:
    try:
        found = ask(text)
    except InvalidInput as refused:
        assert str(refused).endswith((".", "?", ")"))
        return
    assert found.text == text
    for term in (*found.terms, *(t for p in (*found.phrases, *found.excluded) for t in p)):
        assert term
        assert all(c.isalnum() if c.isascii() else True for c in term)
    assert len(found.terms) == len(set(found.terms))
    assert found == ask(text)


# ── plain text ───────────────────────────────────────────────────────────────────────────────

PLAIN = ['"red boats"', "-red boats", "kind:nonsense", "tag:x before:never", "100%_", "rm -rf", "*"]


@pytest.mark.parametrize("text", PLAIN)
def test_in_a_plain_question_every_sign_is_a_character_like_any_other(text: str) -> None:
    asked = analyse(text, now=NOW, plain=True)
    assert (asked.filters, asked.excluded, asked.phrases) == ((), (), ())
    assert asked.words == text


def test_a_plain_question_has_the_terms_of_all_its_words() -> None:
    assert analyse('-boats tag:"red"', now=NOW, plain=True).terms == ("boat", "tag", "red")


@given(st.text(max_size=80))
def test_no_text_is_an_error_as_a_plain_question(text: str) -> None:
    if text.strip():
        assert analyse(text, now=NOW, plain=True).filters == ()


# ── prose ────────────────────────────────────────────────────────────────────────────────────

PROMPT = (
    'The "worry-free" plan did not work -at all. Please note: tag:ops is what I called it.\n\n'
    "What do we do next for the trip?"
)


def test_in_a_prompt_of_several_sentences_every_sign_is_text() -> None:
    asked = analyse(PROMPT, now=NOW)
    assert (asked.filters, asked.excluded, asked.phrases) == ((), (), ())
    assert asked.is_prompt
    assert {"worri", "free", "tag", "op"} <= set(asked.terms)


def test_in_a_question_in_prose_quotes_and_dashes_are_text_and_filters_are_read() -> None:
    asked = analyse('What did "the crew" say about rm -rf kind:semantic?', now=NOW)
    assert (asked.excluded, asked.phrases) == ((), ())
    assert [one.field for one in asked.filters] == ["kind"]
    assert not asked.is_prompt


@pytest.mark.parametrize("text", ["Yes. No.", "e.g. this one", "boats. Red", 'the "red boat"'])
def test_remarks_and_abbreviations_make_no_prompt(text: str) -> None:
    assert not analyse(text, now=NOW).is_prompt


CODE = """```python
def fetch_all(pool, statement):
    with pool.acquire(timeout=5) as connection:
        return connection.fetch(statement)
```"""


def test_a_prompt_is_asked_without_the_code_that_was_pasted_into_it() -> None:
    asked = "Which pool size did we agree on? I want to raise it for the exports."
    analysis = analyse(f"{CODE}\n\n{asked}", now=NOW)
    assert analysis.words == asked
    assert "fetch" not in analysis.terms


def test_a_question_behind_a_page_of_code_is_read() -> None:
    asked = "Which pool size did we agree on? I want to raise it for the exports."
    page = CODE.replace("```python", "```python" + "\nx = compute(1)" * 600)
    analysis = analyse(f"{page}\n\n{asked}", now=NOW)
    assert analysis.words == asked
    assert not analysis.cut


def test_code_is_asked_about_where_little_else_is_written() -> None:
    analysis = analyse(f"please fix this\n\n{CODE}", now=NOW)
    assert analysis.terms[0] == "fix"
    assert "acquir" in analysis.terms


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Can you recommend a hotel in Lisbon?", True),
        ("What are some good places to eat in Naples for us", True),
        ("Any ideas for my weekend in Graz?", True),
        ("Could you help me plan a route from Paris to Rome?", True),
        ("Which hotel in Lisbon did you recommend?", False),
        ("What advice was I given about Lisbon?", False),
        ("What are some of the hobbies of Priya?", False),
        ("Where do I live?", False),
    ],
)
def test_a_request_for_advice_is_distinguished_from_a_question_about_advice(
    text: str, asks: bool
) -> None:
    assert analyse(text, now=NOW).asks_advice is asks

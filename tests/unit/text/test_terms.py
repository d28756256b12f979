"""What text becomes in the index: by script, by word form, by identifier."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.text.analysis import terms as analysis
from holdfast.text.analysis.terms import (
    STOP_WORDS,
    fold,
    is_stop,
    is_unspaced,
    phrase_terms,
    query_terms,
    symbols,
    terms,
    trigram_text,
)

TEXTS_BY_SCRIPT = [
    ("english", "Prefers tabs over spaces", "prefer tab over space"),
    ("possessive", "the user's keys, the users' keys", "the user key the user key"),
    ("curly possessive", "the user’s keys", "the user key"),
    ("contractions", "I don't think we'll go, she'd said", "i dont think we go she said"),
    ("elision", "l'homme d'accord", "l homm d accord"),
    ("german", "Straße STRASSE Müller", "strass strass muller"),
    ("nordic and polish", "Smørrebrød Łódź Þór", "smorrebrod lodz thor"),
    ("french", "naïve café À LA CARTE", "naiv cafe a la cart"),
    ("turkish", "İstanbul ISTANBUL ıstanbul Iğdır'da", "istanbul istanbul istanbul igdir da"),
    ("vietnamese", "Nguyễn Đức thích cà phê", "nguyen duc thich ca phe"),
    ("greek", "γλώσσες Γλώσσα ΓΛΩΣΣΑ", "γλωσσ γλωσσ γλωσσ"),
    ("russian", "новый новые Новая книги ёлка елка", "нов нов нов книг елк елк"),
    ("arabic with vowels", "كِتَابٌ", "كتاب"),
    ("arabic with article", "الكتاب", "كتاب"),
    ("arabic stretched", "كتـــاب", "كتاب"),
    ("arabic alef", "أحمد احمد إحمد", "احمد احمد احمد"),
    ("arabic digits", "٢٠٢٦ ۲۰۲۶", "2026 2026"),
    ("hebrew points", "שָׁלוֹם שלום", "שלום שלום"),
    ("hebrew acronym", 'צה״ל צה"ל', "צהל צהל"),
    ("hindi", "किताबें किताब", "किताब किताब"),
    ("hindi keeps its vowel signs", "हिंदी", "हिंद"),
    ("chinese", "我喜欢咖啡", "我喜 喜欢 欢咖 咖啡 啡"),
    ("chinese, one character", "茶", "茶"),
    ("chinese punctuation ends a run", "你好，世界。", "你好 好 世界 界"),
    ("japanese", "東京タワー", "東京 京タ タワ ワー ー"),
    ("half-width kana", "ｶﾞ", "ガ"),
    ("thai", "กาแฟ", "กา าแ แฟ ฟ"),
    ("korean", "커피를 좋아해", "커피 피를 를 좋아 아해 해"),
    ("korean, decomposed", unicodedata.normalize("NFD", "커피"), "커피 피"),
    ("khmer", "កាហ្វេ", "កា ាហ ហ្ ្វ វេ េ"),
    ("mixed scripts", "iPhone手机2024年", "iphon 手机 机 2024 年"),
    ("full width", "ＡＢＣ　１２３", "abc 123"),
    ("emoji", "🎉👍🏽 done", "🎉 👍 done"),
    ("emoji family and flag", "👨‍👩‍👧 🇩🇪", "👨 👩 👧 🇩🇪"),
    ("zero width", "pass\u200bword in\u00advisible \u202ertl\u202c", "password invis rtl"),
    ("code", "def getUserById(user_id):", "def getuserbyid user id"),
    ("version", "v2.3.1", "v2 3 1"),
    ("date", "2026-05-27T10:15", "2026 05 27t10 15"),
    ("url", "https://example.com/v2?x=1", "https exampl com v2 x 1"),
    ("path", "~/dev/api/src/auth_test.py", "dev api src auth test py"),
    ("windows path", r"C:\Users\Ann", "c user ann"),
    ("email", "ann.lee@example.com", "ann lee exampl com"),
    ("only punctuation", '?!… -- "\'" %_*', ""),
    ("empty", "", ""),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TEXTS_BY_SCRIPT])
def test_text_of_any_script_becomes_terms(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


SYMBOLS = [
    ("getUserById", "get user by id"),
    ("GetUserById", "get user by id"),
    ("get_user_by_id", "getuserbyid"),
    ("GET_USER", "getus"),  # the stem of getuser, as `terms` gives it for getUser
    ("HTTPServer", "http server"),
    ("parseJSON", "pars json"),
    ("utf8", "utf 8"),
    ("100ms", "100 ms"),
    ("v2.3.1", "2"),
    ("iPhone15", "phone 15 iphon"),
    ("e-mail", "email"),
    ("C++ and C# and F#", "cplusplus csharp fsharp"),
    ("os.path.join", ""),
    ("user.getName()", "get name"),
    ("getUser user", "get"),  # `user` is a term already
    ("APIs", ""),
    ("2026-05-27", ""),
    ("a3f9c2b1d4e5", ""),  # a hash is not a name
    ("x" * 40 + "Y" * 40, ""),
    ("Plain prose with Capitals, and a full stop.", ""),
    ("NASA", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), SYMBOLS)
def test_an_identifier_adds_its_parts(text: str, expected: str) -> None:
    assert symbols(text) == expected.split()


def test_camel_case_and_snake_case_share_all_their_terms() -> None:
    camel, snake = "getUserById", "get_user_by_id"
    assert {*terms(camel), *symbols(camel)} == {*terms(snake), *symbols(snake)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the name of my sister's dog?", "name sister dog"),
        ("tabs or spaces or tabs", "tab space"),
        ("what is it", "what is it"),
        ("who am I?", "who am i"),
        ("don't", "dont"),
        ("the 咖啡馆", "咖啡 啡馆"),
        ("茶", "茶"),
        ("NEAR * - % _", "near"),
        ("...", ""),
    ],
)
def test_a_query_loses_its_stop_words_unless_it_has_nothing_else(query: str, expected: str) -> None:
    assert query_terms(query) == expected.split()


def test_a_phrase_of_an_unspaced_script_lies_inside_the_longer_run() -> None:
    document = terms("我喜欢喝咖啡")
    phrase = phrase_terms("喜欢喝")
    at = document.index(phrase[0])
    assert document[at : at + len(phrase)] == phrase == ["喜欢", "欢喝"]


def test_every_character_of_an_unspaced_run_begins_a_term() -> None:
    run = "我喜欢喝咖啡"
    assert {term[0] for term in terms(run)} == set(run)
    assert all(is_unspaced(term) for term in terms(run))
    assert not is_unspaced("tea")
    assert not is_unspaced("чай")


@pytest.mark.parametrize("word", ["the", "The", "don't", "DON’T", "we'll", "what's", "its"])
def test_stop_words_are_known_as_typed(word: str) -> None:
    assert is_stop(word)


@pytest.mark.parametrize("word", ["well", "never", "first", "dog", "咖啡", "id"])
def test_telling_words_are_not_stop_words(word: str) -> None:
    assert not is_stop(word)


def test_stop_words_stand_in_the_form_the_analysis_gives_them() -> None:
    assert {word for word in STOP_WORDS if analysis._words(word)[0] != [word]} == set()


def test_the_substring_index_gets_folded_text_on_one_line() -> None:
    assert trigram_text("  Über\r\n\tDRÜBEN\u00a0— “x” ") == 'uber druben - "x"'


def test_a_blob_is_cut_and_still_matches_itself() -> None:
    blob = "QUJD" * 5_000
    assert terms(blob) == [blob.lower()[:64]]
    assert symbols(f"see {blob} here") == []


def test_the_cache_of_stems_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_STEMS_MAX", 100)
    for number in range(300):
        terms(f"word{number} {chr(97 + number % 26) * (number % 9 + 2)}")
    assert len(analysis._STEMS) <= 100


@given(st.text())
@example("ǅ ǰ ΐ ŉ ﬃ ẞ ᾳ İ й и\u0301\u0306")
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_every_single_character_folds_to_a_fixed_point() -> None:
    # Each plane that has cased or composed characters; the rest are ideographs and private use.
    moving = [c for c in map(chr, (*range(0x3400), *range(0xA000, 0x20000))) if c != fold(c)]
    assert [c for c in moving if fold(fold(c)) != fold(c)] == []


MIXED = st.text(
    st.one_of(st.characters(), st.sampled_from("aB'é -_.·/0٣字かกั한й\u0301\u200b👍İ\"״"))
)


@given(MIXED)
def test_a_term_never_holds_ascii_punctuation_or_whitespace(text: str) -> None:
    for term in (*terms(text), *phrase_terms(text), *query_terms(text), *symbols(text)):
        assert term
        assert not any(c.isspace() or (c.isascii() and not c.isalnum()) for c in term)


@given(st.lists(st.sampled_from([row[1] for row in TEXTS_BY_SCRIPT]), max_size=4))
def test_a_word_of_a_text_is_found_by_its_own_terms(texts: list[str]) -> None:
    text = " ".join(texts)
    held = set(terms(text))
    for word in text.split():
        assert set(query_terms(word)) <= held | {t for t in query_terms(word) if is_unspaced(t)}
        assert set(terms(word)) <= held


@given(MIXED, MIXED)
def test_texts_joined_by_a_space_have_the_terms_of_both(left: str, right: str) -> None:
    assert terms(f"{left} {right}") == terms(left) + terms(right)


@given(MIXED)
def test_symbols_repeat_nothing(text: str) -> None:
    found = symbols(text)
    assert len(found) == len(set(found))
    assert not set(found) & set(terms(text))

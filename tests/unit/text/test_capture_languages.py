"""What people say about themselves in eight languages beside English: two halves of a set written
before the rows (`tests/data/statements_*.txt`)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.text.capture import capture
from holdfast.text.private import asks_to_forget_last
from holdfast.text.slots.compare import compare

DATA = Path(__file__).parents[2] / "data"
AT = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Line(NamedTuple):
    language: str
    slot: str
    said: str


def lines(half: str) -> list[Line]:
    found, language = [], ""
    for line in (DATA / f"statements_{half}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif " | " in line and not line.startswith("#"):
            slot, said = line.split(" | ", 1)
            found.append(Line(language, slot, said))
    return found


@pytest.mark.parametrize("half", ["dev", "held_out"])
def test_statements_about_oneself_are_kept_and_nothing_else_is(half: str) -> None:
    every = lines(half)
    assert {line.language for line in every} == {"de", "fr", "es", "it", "pt", "nl", "zh", "ja"}
    wanted = [line for line in every if line.slot != "-"]
    kept = [line for line in wanted if capture(line.said, at=AT)]
    wrong = [line for line in every if line.slot == "-" and capture(line.said, at=AT)]
    assert wrong == []
    assert len(kept) >= 0.95 * len(wanted), set(wanted) - set(kept)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Hallo! Ich wohne in Wien, was kann ich hier machen?", ["Ich wohne in Wien"]),
        ("你好!我住在上海。你能帮我吗?", ["我住在上海"]),
        ("私はベジタリアンです。レシピを教えて。", ["私はベジタリアンです"]),
        ("> Ich wohne in Wien", []),
        ("Übersetze: Ich wohne in Wien und arbeite bei Siemens", []),
    ],
)
def test_only_the_statement_of_a_turn_is_kept(said: str, kept: list[str]) -> None:
    assert [fact.text for fact in capture(said, at=AT)] == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Ich heiße Lena, arbeite bei Bosch und habe zwei Kinder.",
            ["Ich heiße Lena", "Ich arbeite bei Bosch", "Ich habe zwei Kinder"],
        ),
        (
            "Je m'appelle Léna, je travaille chez Bosch et j'ai deux enfants.",
            ["Je m'appelle Léna", "Je travaille chez Bosch", "J'ai deux enfants"],
        ),
        (
            "Me llamo Lena, trabajo en Bosch y tengo dos hijos.",
            ["Me llamo Lena", "Trabajo en Bosch", "Tengo dos hijos"],
        ),
        ("Ik heet Lena en woon in Gent.", ["Ik heet Lena", "Ik woon in Gent"]),
        # What is joined is one thing, or no statement by itself.
        ("Ich arbeite bei Müller und Söhne.", ["Ich arbeite bei Müller und Söhne"]),
        ("Vivo en Jerez con mi madre y mi perro.", ["Vivo en Jerez con mi madre y mi perro"]),
    ],
)
def test_several_statements_in_a_sentence_are_facts_of_their_own(
    said: str, kept: list[str]
) -> None:
    facts = capture(said, at=AT)
    assert [fact.text for fact in facts] == kept
    # The words that support each are its own, but for a subject that is said once.
    for fact in facts:
        assert fact.text.split()[-1] in said[fact.start : fact.end]


@pytest.mark.parametrize(
    ("old", "new", "keeps"),
    [
        (
            "Ich wohne in Wien mit meiner Frau Ana",
            "Ich bin nach Graz gezogen",
            "Meine Frau heißt Ana",
        ),
        ("J'habite à Paris avec ma femme Ana", "J'ai déménagé à Lyon", "Ma femme s'appelle Ana"),
        ("Vivo en Madrid con mi mujer Ana", "Me mudé a Valencia", "Mi mujer se llama Ana"),
    ],
)
def test_who_somebody_lived_with_is_kept_when_they_move(old: str, new: str, keeps: str) -> None:
    verdict = compare(new, old)
    assert (verdict.keeps, verdict.both) == (keeps, False)


def test_what_depends_on_when_it_was_said_has_the_date() -> None:
    (fact,) = capture("Ich bin letzten Monat nach Graz gezogen.", at=AT)
    assert fact.text == "Ich bin letzten Monat nach Graz gezogen (said on 16 November 2026)"


UPDATES = [
    ("Ich wohne in Wien", "Ich bin nach Graz gezogen"),
    ("J'habite à Lyon", "Je viens de déménager à Bordeaux"),
    ("Vivo en Sevilla", "Me mudé a Valencia en marzo"),
    ("Abito a Bologna", "Mi sono trasferito a Torino"),
    ("Moro em Lisboa", "Mudei-me para Braga no ano passado"),
    ("Ik woon in Utrecht", "Ik ben vorige maand naar Gent verhuisd"),
    ("我住在上海", "我去年搬到了杭州"),
    ("大阪に住んでいます", "先月、福岡に引っ越しました"),
    ("Lives in Porto", "Ich wohne in Wien"),
    ("Ich heiße Jonas", "Mein Name ist Karl"),
    ("Ich arbeite bei Siemens", "Ich arbeite bei Bosch"),
    ("Ich heiße Karl", "Nenn mich ab jetzt Kay"),
    ("Me llamo Karl", "Llámame Kay a partir de ahora"),
    ("Ik heet Karel", "Noem me vanaf nu Kay"),
    ("Ich lerne seit 6 Monaten Spanisch", "Ich lerne seit 9 Monaten Spanisch"),
    ("J'apprends le piano depuis 6 mois", "J'apprends le piano depuis 9 mois"),
    ("Estudio alemán desde hace 6 meses", "Estudio alemán desde hace un año"),
]
BESIDE = [
    ("Ich mag Tee", "Ich mag Kaffee"),
    ("Ich spreche Deutsch", "Ich spreche Polnisch"),
    ("Mein Sohn heißt Jonas", "Meine Tochter heißt Lena"),
    ("Je suis allergique aux noix", "Je suis allergique au lait"),
    ("Tengo dos hijos", "Tengo un perro"),
    ("我喜欢打羽毛球", "我喜欢爬山"),
    ("Ich wohne in Wien", "Ich arbeite bei Siemens"),
]


@pytest.mark.parametrize(("old", "new"), UPDATES)
def test_a_newer_home_name_or_employer_speaks_against_the_older_one(old: str, new: str) -> None:
    verdict = compare(new, old)
    assert verdict.relation in ("replaces", "contradicts")
    assert not verdict.both


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_may_be_true_beside_the_other_stays(old: str, new: str) -> None:
    assert compare(new, old).relation == "unrelated"


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("Forget that.", True),
        ("no, don't remember that please", True),
        ("Vergiss das bitte!", True),
        ("Oublie ça.", True),
        ("Olvida eso", True),
        ("Dimenticalo.", True),
        ("Esquece isso", True),
        ("Vergeet dat", True),
        ("请忘掉这个", True),
        ("今のは忘れてください", True),
        ("Forget that, use tabs", False),
        ("Vergiss das Brot nicht", False),
        ("Olvida esos archivos", False),
        ("I forgot it", False),
    ],
)
def test_a_wish_to_forget_what_was_said_last_is_known(said: str, asks: bool) -> None:
    assert asks_to_forget_last(said) is asks


@pytest.mark.parametrize(
    "said",
    [
        "Im Code ist ein Fehler in Zeile 3",
        "Dans ce projet il y a un bug",
        "No toques este archivo",
        "In questo progetto c'è un errore",
        "Neste projeto há um erro",
        "In dit project zit een fout",
        "我们选择第二个",
        "夕食はカレーにしました",
    ],
)
def test_what_is_about_the_task_at_hand_is_no_convention_or_decision(said: str) -> None:
    assert capture(said, at=AT) == []


@pytest.mark.parametrize(
    "said",
    [
        "Wir wohnen seit März in einer Altbauwohnung in Plagwitz",
        "Nous habitons à Nantes",
        "We wonen in Utrecht",
    ],
)
def test_where_people_live_together_is_kept_too(said: str) -> None:
    (fact,) = capture(said, at=None)
    assert (fact.text, fact.rule, fact.standing) == (said, "lives", True)

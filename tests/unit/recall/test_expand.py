"""Words people use: a question finds a memory that says the same in other words, by words alone."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

from holdfast.api.hub import HubMemory
from holdfast.testing import open_for_tests
from holdfast.text.analysis.terms import phrase_terms
from holdfast.text.analysis.variants import (
    definitions,
    find_variants,
    number_variants,
    rows,
    spelled_out,
    spellings,
)

Stocked = Callable[..., HubMemory]


@pytest.fixture
def stocked(tmp_path: pathlib.Path) -> Iterator[Stocked]:
    with open_for_tests(tmp_path) as memory:

        def stock(*contents: str) -> HubMemory:
            hub = memory.hub()
            for content in contents:
                hub.remember(content)
            return hub

        yield stock


def _first(hub: HubMemory, question: str) -> str:
    found = hub.recall(question, meaning=False)
    return found[0].memory.content if found else ""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubMemory]:
    """A hub of the memories of all rows."""
    with open_for_tests(tmp_path_factory.mktemp("table")) as memory:
        memory.hub().remember_many([row.memory for row in rows()])
        yield memory.hub()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.variants[0])
def test_each_row_of_the_table_finds_its_example_among_all(table: HubMemory, row) -> None:  # type: ignore[no-untyped-def]
    found = [hit.memory.content for hit in table.recall(row.question, meaning=False, limit=5)]
    assert row.memory in found


def test_the_words_of_the_complaint_that_started_the_table(stocked: Stocked) -> None:
    hub = stocked("Production runs Postgres 15", "Sofia is our designer", "We run every morning")
    hits = hub.recall("What database do we run in prod", meaning=False)
    assert hits[0].memory.content == "Production runs Postgres 15"
    assert "product (for prod)" in hits[0].why[0]


def test_a_word_that_is_there_itself_counts_more_than_what_stands_for_it(stocked: Stocked) -> None:
    hub = stocked("The production line is in Ulm", "The prod line is fast")
    assert _first(hub, "prod line") == "The prod line is fast"


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("We use PostgreSQL (pg) here", (("pg",), ("postgresql",))),
        ("pg (PostgreSQL) is slow", (("pg",), ("postgresql",))),
        ("The Error Budget Policy (EBP) applies", (("ebp",), ("error", "budget", "polici"))),
        ("EBP stands for error budget policy", (("ebp",), ("error", "budget", "polici"))),
    ],
)
def test_definitions_are_read_from_text(text: str, pair: object) -> None:
    assert list(definitions(text)) == [pair]


@pytest.mark.parametrize(
    "text",
    ["I went home (with Tom)", "the meeting (on Monday)", "f(x) is called", "Sofia (designer)"],
)
def test_other_brackets_are_no_definitions(text: str) -> None:
    assert list(definitions(text)) == []


def test_a_short_form_that_the_hub_introduces_is_understood_both_ways(stocked: Stocked) -> None:
    hub = stocked(
        "Our Order Routing Engine (ORE) was rewritten in 2024",
        "ORE deploys on Tuesdays",
        "The order routing engine has nine shards",
        "Lunch is at noon",
    )
    long = {hit.memory.number for hit in hub.recall("order routing engine", meaning=False)}
    short = {hit.memory.number for hit in hub.recall("ORE", meaning=False)}
    assert long >= {1, 2, 3}
    assert short >= {1, 2, 3}


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("postgers upgrade", "Postgres was upgraded"),
        ("kubernets", "Kubernetes runs in Oslo"),
        ("opstgres", "Postgres was upgraded"),
        ("appoinment with Amsel", "The appointment with Amsel is on Friday"),
    ],
)
def test_a_mistyped_word_finds_its_nearest_in_the_hub(
    stocked: Stocked, question: str, memory: str
) -> None:
    hub = stocked("Postgres was upgraded", "Kubernetes runs in Oslo", "Ada likes tea")
    hub.remember("The appointment with Amsel is on Friday")
    assert _first(hub, question) == memory


def test_a_word_that_the_hub_knows_is_not_taken_for_a_mistype(stocked: Stocked) -> None:
    hub = stocked("The market opens at nine", "Marken are stamps")
    assert [hit.memory.number for hit in hub.recall("market", meaning=False)] == [1]


def test_short_words_are_never_taken_for_mistypes(stocked: Stocked) -> None:
    assert not stocked("Tim is tall").recall("Tom", meaning=False)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        # German: inflection, compounds in the hub and in the question.
        ("Wo sind die Rechnungen?", "Die Rechnung liegt im Schrank"),
        ("Wer sind unsere Nachbarn?", "Der Nachbar heißt Yilmaz"),
        ("Was kostet die Heizung?", "Heizungswartung kostet 120 Euro"),
        ("Wann ist die Steuerberatertermin?", "Der Steuerberater kommt am Montag"),
        ("Welche Versicherung habe ich?", "Die Krankenversicherung ist bei der TK"),
        ("Wo sind die Verträge?", "Der Mietvertrag liegt im Ordner"),
        # Its function words are English words too.
        ("Was kostet die Hundesteuer?", "Für den Hund sind 90 Euro Steuer zu zahlen"),
        # Dutch
        ("Waar zijn de sleutels van de fiets?", "De fietssleutel hangt bij de deur"),
        ("Wanneer komen de schilders?", "De schilder komt vrijdag"),
        ("Welke school is het?", "De basisschool begint om negen uur"),
        # French
        ("Où sont rangées les factures ?", "La facture est rangée dans le placard"),
        ("Quels médicaments dois-je prendre ?", "Je prends le médicament le matin"),
        # Spanish
        ("¿Dónde están las llaves?", "La llave está en la cocina"),
        ("¿Cuáles son los nombres de los vecinos?", "El nombre del vecino es Paco"),
        # Italian
        ("Dove sono le chiavi?", "La chiave è in cucina"),
        ("Quali farmaci prende la nonna?", "La nonna prende il farmaco al mattino"),
        # Portuguese
        ("Onde estão as chaves?", "A chave está na cozinha"),
        ("Quais são os remédios da avó?", "A avó toma o remédio de manhã"),
        # Plurals whose singular has another stem in the index.
        ("Quais são as lições?", "A lição de quarta é de piano"),
        ("Onde estão os papéis?", "O papel ficou na gaveta"),
        ("¿Dónde están las luces?", "La luz del árbol se guarda en el altillo"),
        ("Welke huizen zijn dat?", "Het huis aan de gracht is verkocht"),
        ("Quand sont les travaux ?", "Le travail commence lundi"),
        ("Dove sono i laghi?", "Il lago è a nord"),
        # Where the index takes an English ending off the last part of a compound.
        ("Waar is de verzekering van de boot?", "De bootverzekering loopt bij Univé"),
    ],
)
def test_forms_and_compounds_of_other_languages(
    stocked: Stocked, question: str, memory: str
) -> None:
    others = ("Lisbon is sunny", "We deploy on Tuesday", "Ada prefers tabs", "Chi canta?")
    assert _first(stocked(*others, memory), question) == memory


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("10k riders", "It needs 10,000 riders"),
        ("10000 riders", "It needs 10,000 riders"),
        ("10,000 riders", "It needs 10000 riders"),
        ("getUserById", "get_user_by_id is slow"),
        ("get_user_by_id", "Call getUserById first"),
        ("user by id", "Call getUserById first"),
        ("FooBar::baz", "foo_bar.baz is deprecated"),
        ("foo bar baz", "FooBar::baz is deprecated"),
        ("postgres 15", "Runs on postgres15"),
        ("v1.2.3", "Version 1.2.3 is out"),
        ("src/payments", "Anything under ./src/payments/ needs two approvals"),
    ],
)
def test_numbers_and_identifiers_in_all_spellings(
    stocked: Stocked, question: str, memory: str
) -> None:
    others = ("Ada prefers tabs", "The offsite is in Porto", "Bar hours are long")
    assert _first(stocked(*others, memory), question) == memory


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("which timezone", "Our time zone is that of Lisbon"),
        ("which time zone", "The timezone is that of Lisbon"),
        ("how do I set up the printer", "Setup of the printer: press both keys"),
        ("greenhouse", "The green house belongs to Mira"),
        ("life guard", "The lifeguard is called Mo"),
    ],
)
def test_two_words_find_one_and_one_finds_two(stocked: Stocked, question: str, memory: str) -> None:
    others = ("Ada prefers tabs", "The printer is grey", "There is no time to lose")
    assert _first(stocked(*others, memory), question) == memory


@pytest.mark.parametrize(
    ("question", "memory", "others"),
    [
        (
            "Wo liegt der Bootsschlüssel?",
            "Der Schlüssel zum Boot liegt im Regal",
            ("Das Boot liegt am Steg", "Der Schlüssel liegt da"),
        ),
        (
            "Waar ligt de tuinsleutel?",
            "De sleutel van de tuin ligt op de kast",
            ("De tuin ligt aan het water", "De sleutel ligt daar"),
        ),
    ],
)
def test_both_parts_of_a_compound_count_more_than_one(
    stocked: Stocked, question: str, memory: str, others: tuple[str, ...]
) -> None:
    assert _first(stocked(memory, *others), question) == memory


def test_only_words_beside_each_other_stand_for_a_compound(stocked: Stocked) -> None:
    hub = stocked("The car needs a pet seat", "The pet sits in the car")
    assert not hub.recall("carpet", meaning=False)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("organizer", "organiser"),
        ("organization", "organisation"),
        ("analyzed", "analysed"),
        ("color", "colour"),
        ("neighbors", "neighbours"),
        ("theater", "theatre"),
        ("traveling", "travelling"),
        ("catalog", "catalogue"),
        ("defense", "defence"),
    ],
)
def test_both_spellings_are_found_where_the_hub_has_both(
    stocked: Stocked, one: str, two: str
) -> None:
    hub = stocked(f"Mateo knows the {one} here", f"Mira asked about the {two} there", "Ada runs")
    for asked in (one, two):
        assert {hit.memory.number for hit in hub.recall(asked, meaning=False)} == {1, 2}


def test_spellings_are_those_of_british_and_american_english() -> None:
    assert set(spellings("organise")) == {"organize"}
    assert set(spellings("flavored")) == {"flavoured"}
    assert set(spellings("centres")) == {"centers"}
    assert not spellings("rise")
    assert not spellings("hour")
    assert not spellings("doctor")


def test_the_table_knows_runs_of_words() -> None:
    assert find_variants(["pull", "request"])[("pull", "request")][:1] == (("pr",),)
    assert number_variants("in 10k steps") == {("10k",): (("10000",), ("10", "000"))}


def test_abbreviations_that_the_hub_does_not_use_are_spelled_out_for_the_model() -> None:
    instead = {"pr": ("pull", "request"), "prod": ("product",)}
    assert spelled_out("max size of a PR", instead) == "max size of a pull request"
    assert spelled_out("prod, or not", instead) == "production, or not"
    assert spelled_out("approval", instead) == "approval"


def test_each_variant_is_found_by_the_first_letter_of_its_terms() -> None:
    for row in rows():
        for variant in row.variants:
            terms = phrase_terms(variant)
            assert terms[0][0] == variant[0].lower()
            others = {tuple(phrase_terms(one)) for one in row.variants} - {tuple(terms)}
            assert others <= set(find_variants(terms).get(tuple(terms), ()))

"""How memories are filed: a table of examples per rule, and what a caller's own words do."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.memory import CONTENT_TYPES, KINDS, LAYERS, STABILITIES
from holdfast.text.classify import classify, read_hint
from holdfast.text.classify.classifier import content_type_of, language_of
from holdfast.text.classify.classifier import rules as filing_rules
from holdfast.text.clean import clean_category, clean_tags

# text → kind, stability, category, tags
NOTES = """
Prefers tabs over spaces | semantic evolving preference |
Prefers TypeScript over JavaScript | semantic evolving preference | typescript javascript
I like my coffee black | semantic evolving preference |
User really likes dark mode | semantic evolving preference |
I don't like long meetings | semantic evolving preference |
My favourite colour is green | semantic evolving preference |
Favorite editor: Neovim | semantic evolving preference | neovim
She hates being called before ten | semantic evolving preference |
I'd rather take the train than fly | semantic evolving preference |
I can't stand cilantro | semantic evolving preference |
Big fan of mechanical keyboards | semantic evolving preference |
Always use type hints in Python code | semantic evolving preference | python
Never commit directly to main | semantic evolving preference |
Don't add comments that restate the code | semantic evolving preference |
Please answer in German | semantic evolving preference |
Answer in short sentences | semantic evolving preference |
Use pnpm, not npm | semantic evolving preference | pnpm npm
Use four spaces instead of tabs | semantic evolving preference |
Call me Sam | semantic evolving preference |
No emojis in commit messages | semantic evolving preference |
The user wants answers without preamble | semantic evolving preference |
From now on, write tests first | semantic evolving preference |
I use Vim | semantic evolving preference | vim
I mostly use Linux at home | semantic evolving preference | linux
The user is vegetarian | semantic evolving preference |
- Prefers window seats | semantic evolving preference |
Keep answers under five lines | semantic evolving preference |
Avoid meetings on Friday afternoon | semantic evolving preference |
Ich mag keinen Kaffee | semantic evolving preference |
Prefiero el té verde | semantic evolving preference |
Je préfère le thé | semantic evolving preference |
J’aime les chats | semantic evolving preference |
Preferisco il treno | semantic evolving preference |
Kahveyi şekersiz tercih ederim | semantic evolving preference |
我喜欢喝咖啡 | semantic evolving preference |
コーヒーが好きです | semantic evolving preference |
커피를 좋아해요 | semantic evolving preference |
ฉันชอบกาแฟ | semantic evolving preference |
Я предпочитаю чай | semantic evolving preference |
मुझे चाय पसंद है | semantic evolving preference |
My name is Ada Lovelace | semantic stable person |
The user's name is Tom | semantic stable person |
Name: Ann Lee | semantic evolving person |
Her birthday is on 4 July | semantic stable person |
I was born in Lisbon | semantic stable person |
My pronouns are they/them | semantic stable person |
My sister is Clara | semantic stable person |
My sister's dog is called Rex | semantic stable person |
My wife likes tulips | semantic evolving person |
Anna is my manager | semantic evolving person |
My dentist is in Main Street | semantic evolving person |
I have two kids | semantic evolving person |
The user has a daughter named Mia | semantic stable person |
We are married since 2011 | semantic evolving person |
I work at a bakery | semantic evolving person |
Tom works for Acme | semantic evolving person |
I'm a freelance designer | semantic evolving person |
I am a senior software engineer | semantic evolving person |
Ann lives in Berlin | semantic evolving person |
I live in a small village | semantic evolving person |
Maria speaks Portuguese | semantic evolving person |
I am 42 years old | semantic evolving person |
Ich heiße Jürgen | semantic stable person |
Me llamo Lucía | semantic stable person |
Je m'appelle Zoé | semantic stable person |
我叫李明 | semantic stable person |
Меня зовут Иван | semantic stable person |
Daily standup is at 9:30 AM Pacific | semantic evolving routine |
I run five kilometres every morning | semantic evolving routine |
Trash is collected on Thursdays | semantic evolving routine |
Backups run nightly at two | semantic evolving routine |
We deploy every second Tuesday | semantic evolving routine |
Usually starts work at ten | semantic evolving routine |
The certificate renews yearly | semantic evolving routine |
I visit my mother every weekend | semantic evolving routine |
Weekly review with Dana, one hour | semantic evolving routine |
The auth service lives in ~/dev/api/src/auth | semantic evolving project |
Uses pnpm as the package manager | semantic evolving project | pnpm
The repo is a monorepo with three apps | semantic evolving project |
Staging is at port 8443 | semantic evolving project |
The backend is written in Rust | semantic evolving project | rust
Our API uses GraphQL | semantic evolving project | graphql
The build takes twelve minutes | semantic evolving project |
Tests are in tests/unit/test_auth.py | semantic evolving project |
Built with Django and Postgres | semantic evolving project | django postgresql
Currently refactoring the login page | semantic evolving project |
Codename of the new product: Bluebird | semantic evolving project |
CI fails on macOS right now | semantic volatile project | macos
Our website is hosted on Netlify | semantic evolving project | netlify
We decided to use Postgres for everything | rationale stable decision | postgresql
We chose SQLite because it needs no server | rationale stable decision | sqlite
Decision: no meetings on Friday | rationale stable decision |
I have decided to learn Spanish | rationale stable decision |
Agreed to ship the beta in June | rationale stable decision |
We went with Kafka over RabbitMQ | rationale stable decision | kafka rabbitmq
The decision was to drop Windows support | rationale stable decision | windows
My wife and I decided to sell the car | rationale stable decision |
We use UUIDs because they sort by time | rationale stable fact |
The reason for the retry is a flaky upstream | rationale stable fact |
Trade-off: more memory, less disk | rationale stable fact |
How to reset the router: hold the button for ten seconds | procedural evolving fact |
To restart the worker, run make restart | procedural evolving fact |
Run `make test` before pushing | procedural evolving fact |
Before a release, update the version | procedural evolving fact |
If the printer jams, open the back | procedural evolving fact |
First, heat the oven, then mix the flour | procedural evolving fact |
The app can be started with make run | procedural evolving project |
Restart the router when the light is red | procedural evolving fact |
Yesterday we met the new landlord | episodic volatile fact |
I called the bank this morning | episodic volatile fact |
Dentist tomorrow at nine | episodic volatile fact |
We went to Lisbon in spring | episodic volatile fact |
Had lunch with Priya | episodic volatile fact |
2026-05-27 Upgraded the server | episodic volatile fact |
Two weeks ago the heating broke | episodic volatile fact |
We shipped version 2 | episodic volatile fact |
Heute war der Techniker da | episodic volatile fact |
昨天去了医院 | episodic volatile fact |
Сегодня был дождь | episodic volatile fact |
Waiting for the visa | semantic volatile fact |
Tom is on vacation until Monday | semantic volatile fact |
For now the guest room is the office | semantic volatile fact |
TODO: buy stamps | semantic volatile fact |
Planning to learn the cello | semantic evolving fact |
I am allergic to peanuts | semantic stable fact |
His blood type is O negative | semantic stable fact |
RAG stands for retrieval-augmented generation | semantic stable fact |
"Grok" means to understand deeply | semantic stable fact |
The dog is called Rex | semantic stable fact |
Water boils at 100 °C | semantic evolving fact |
The garage code is on the fridge | semantic evolving fact |
Paris is the capital of France | semantic evolving fact |
The post got 40 likes | semantic evolving fact |
It looks like rain | semantic evolving fact |
This works for me | semantic evolving fact |
Never been to Japan | semantic evolving fact |
Open source is a movement | semantic evolving fact |
Run club is fun | semantic evolving fact |
Onboarding is hard | semantic evolving fact |
The May issue is out | semantic evolving fact |
Das Fahrrad steht im Keller | semantic evolving fact |
自転車は地下室にあります | semantic evolving fact |
الدراجة في القبو | semantic evolving fact |
Ok | semantic evolving fact |
. | semantic evolving fact |
🎉 | semantic evolving fact |
42 | semantic evolving fact |
Buy oat milk #shopping #home/kitchen | semantic evolving fact | shopping home/kitchen
Fixed in #12, see issue #345 | semantic evolving fact |
The accent colour is #ff8800 or #abc | semantic evolving fact |
Knows C# and C++ | semantic evolving fact | c# c++
See docs/page#section and `#define` | semantic evolving fact |
He is going to rust in peace | semantic evolving fact |
Reading notes on #Zürich and #日本 | semantic evolving fact | zürich 日本
"""


def rows(table: str) -> list[tuple[str, str, str]]:
    split = (line.rsplit("|", 2) for line in table.strip().splitlines())
    return [(text.strip(), values.strip(), tags.strip()) for text, values, tags in split]


@pytest.mark.parametrize(("text", "values", "tags"), rows(NOTES))
def test_a_note_is_filed_by_its_words(text: str, values: str, tags: str) -> None:
    filed = classify(text)
    assert (f"{filed.kind} {filed.stability} {filed.category}", " ".join(filed.tags)) == (
        values,
        tags,
    )
    assert filed.layer == "long_term"


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len({text for text, _, _ in rows(NOTES)}) >= 150


CHAT = "User: Fix the JWT expiry bug\nAssistant: On it.\nUser: Thanks"
PEOPLE = "Ann: are you coming?\nBob: yes, at six\nAnn: great\nBob: see you"
TRANSCRIPT = "[00:01:12] Ann: Welcome.\n[00:01:20] Bob: Thanks for having me."
RUNBOOK = "# Deploy runbook\n\n1. Run the tests\n2. Push the tag\n3. Check the dashboard\n"
MEETING = "# Meeting notes\n\n- Ann wants a demo\n- We decided to wait\n"
ADR = "# ADR 7: One writer\n\n" + "Many readers and one writer keep the file whole. " * 45
PYTHON = "import os\n\n\ndef home() -> str:\n    return os.environ['HOME']\n"
FENCED = "```js\nconst a = 1\n```"
FRONT = "---\ntitle: Bread\ntags: [Baking, sour dough]\n---\n\nMix flour and water.\n"
YAML = "name: api\nreplicas: 2\nports:\n  - 80\n  - 443\n"
TOML = '[tool]\nname = "x"\nsize = 3\n'

DOCUMENTS = [
    # content, path, type, kind, stability, category, tags, layer
    (CHAT, None, "chat", "episodic", "volatile", "conversation", "", "library"),
    (PEOPLE, None, "chat", "episodic", "volatile", "conversation", "", "library"),
    (TRANSCRIPT, None, "transcript", "episodic", "volatile", "conversation", "", "library"),
    ("Ann (10:15): hi\nBob (10:16): hello", None, "transcript", "episodic", "volatile",
     "conversation", "", "library"),
    ("WEBVTT\n\n00:01.000 --> 00:02.000\nHi", None, "transcript", "episodic", "volatile",
     "conversation", "", "library"),
    (RUNBOOK, None, "markdown", "procedural", "evolving", "project", "", "long_term"),
    (RUNBOOK, "docs/deploy.md", "markdown", "procedural", "evolving", "project", "",
     "library"),
    (MEETING, None, "markdown", "episodic", "volatile", "decision", "", "long_term"),
    (ADR, None, "markdown", "rationale", "stable", "decision", "", "library"),
    ("# Glossary\n\n" + "Hub: a space of memories. " * 50, None, "markdown", "semantic", "stable",
     "fact", "", "long_term"),
    ("x " * 1_500, None, "text", "semantic", "evolving", "fact", "", "library"),
    (PYTHON, None, "code", "semantic", "evolving", "fact", "python", "library"),
    (FENCED, None, "code", "semantic", "evolving", "fact", "javascript", "library"),
    ("#!/bin/sh\nset -e\nmake test\n", None, "code", "procedural", "evolving", "fact", "shell",
     "library"),
    ("echo hi", "bin/go.SH", "code", "procedural", "evolving", "fact", "shell", "library"),
    ("all: test", "/srv/Makefile", "code", "procedural", "evolving", "fact", "make", "library"),
    ("package main\n\nfunc main() {\n}\n", None, "code", "semantic", "evolving", "fact", "go",
     "library"),
    ("SELECT a, b FROM t WHERE a = 1;", None, "code", "semantic", "evolving", "fact", "sql",
     "library"),
    (FRONT, None, "markdown", "semantic", "evolving", "fact", "baking sour-dough", "long_term"),
    ("---\ntags:\n  - one\n  - '#Two'\n---\nText here", None, "markdown", "semantic", "evolving",
     "fact", "one two", "long_term"),
    ('{"a": [1, 2]}', None, "structured", "semantic", "evolving", "fact", "", "library"),
    (YAML, None, "structured", "semantic", "evolving", "fact", "", "library"),
    (TOML, None, "structured", "semantic", "evolving", "fact", "", "library"),
    ("<?xml version='1.0'?><a/>", None, "structured", "semantic", "evolving", "fact", "",
     "library"),
    ("a,b\n1,2", "x/data.csv", "structured", "semantic", "evolving", "fact", "", "library"),
    ("https://example.com/a?b=1", None, "link", "semantic", "evolving", "fact", "", "library"),
    ("[Docs](https://example.com/a)", None, "link", "semantic", "evolving", "fact", "", "library"),
    ("Scan of the lease", "lease.pdf", "file", "semantic", "evolving", "fact", "", "library"),
    ("Plain words", "notes.txt", "text", "semantic", "evolving", "fact", "", "library"),
    ("Plain words", "notes/README", "text", "semantic", "evolving", "fact", "", "library"),
    ("Bring:\n- milk\n- eggs", None, "markdown", "semantic", "evolving", "fact", "", "long_term"),
    ("Albums:\n1. Rome\n2. Go West\n3. Oslo\n4. Run\n5. Bergen", None, "markdown", "semantic",
     "evolving", "fact", "", "long_term"),
    ("Bread:\n1. Mix flour\n2. Bake it\n3. Enjoy", None, "markdown", "procedural", "evolving",
     "fact", "", "long_term"),
    ("Uses **Docker** for local work", None, "markdown", "semantic", "evolving", "project",
     "docker", "long_term"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "path", "content_type", "kind", "stability", "category", "tags", "layer"),
    DOCUMENTS,
)
def test_a_document_is_filed_by_its_shape_and_headline(
    content: str,
    path: str | None,
    content_type: str,
    kind: str,
    stability: str,
    category: str,
    tags: str,
    layer: str,
) -> None:
    filed = classify(content, source_path=path)
    named = " ".join(tag.replace(" ", "-") for tag in filed.tags)
    assert (*filed[:4], named, filed.layer) == (
        content_type, kind, stability, category, tags, layer
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Name: Ann\nRole: chef\nCity: Rome", "text"),  # a note, not YAML
        ("Shopping: milk, eggs\nCar: oil", "text"),
        ("[maybe] call Ann back", "text"),
        ("Note: bring cash\nAlso: an umbrella", "text"),
        ("Q: What is it?\nA: A hub.", "text"),
        ("import the photos from the camera\nand sort them", "text"),
        ("from the station turn left", "text"),
        ("Select the red one from the shelf", "text"),
        ("let me know = ask Ann", "text"),
        ("See https://example.com/a for more", "text"),
        ("class reunion in June", "text"),
        ("type of paint: matt", "text"),
        ("use the back door; the front sticks", "text"),
        ("Some text with * stars * and _ signs _", "text"),
        ("Intro\n=====\n\nWords and [a link](https://example.com)", "markdown"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "markdown"),
        ("Read this:\n\n```sh\nmake\n```\n\nand that.", "markdown"),
        ("[telegram] User: hello\nMax: hi there\n[telegram] User: bye\nMax: bye", "chat"),
        ("**User:** hello\n\n**Assistant:** hi", "chat"),
        ('fn main() {\n    println!("hi");\n}', "code"),
        ("# comment\nfrom a import b\nprint(b)", "code"),
        ("const add = (a, b) => a + b;", "code"),
        ("[" + '{"a": 1},' * 4_000 + '{"a": 2}]', "structured"),
    ],
)
def test_the_shape_of_a_text_is_recognised_without_a_file_name(content: str, expected: str) -> None:
    assert content_type_of(content) == expected


def test_what_the_caller_gives_is_never_overruled() -> None:
    filed = classify("We decided to use Go", category="preference", content_type="transcript")
    assert (filed.category, filed.content_type, filed.kind) == (
        "preference", "transcript", "episodic"
    )  # fmt: skip
    assert classify("Prefers tea", kind="episodic")[1:3] == ("episodic", "volatile")
    assert classify("Prefers tea", category="my label").category == "my label"


@pytest.mark.parametrize(
    ("category", "kind", "stability", "layer"),
    [
        ("core", "semantic", "stable", "long_term"),
        ("daily", "episodic", "volatile", "long_term"),
        ("conversation", "episodic", "volatile", "library"),
    ],
)
def test_a_given_category_shapes_the_rest(
    category: str, kind: str, stability: str, layer: str
) -> None:
    filed = classify("The kettle is on the left shelf", category=category)
    assert (filed.kind, filed.stability, filed.layer) == (kind, stability, layer)


def test_a_title_speaks_for_a_long_text() -> None:
    body = "Many words about nothing much. " * 60
    assert classify(body, title="How to bake bread").kind == "procedural"
    assert classify(body, title="Why we left Oracle").kind == "rationale"
    assert classify(body, title="Standup 3 June").kind == "episodic"
    assert classify(body).kind == "semantic"


def test_a_title_made_from_a_one_line_note_changes_nothing() -> None:
    for text, _, _ in rows(NOTES):
        assert classify(text, title=text) == classify(text)


def test_the_reference_page_names_every_rule_in_order() -> None:
    here = os.path.dirname(__file__)
    page_path = os.path.join(here, "..", "..", "..", "docs", "reference", "classification.md")
    with open(page_path, encoding="utf-8") as page_file:
        page = page_file.read()
    tables = (
        ("## Kind", (*filing_rules()["headline"], *filing_rules()["kind"])),
        ("## Stability", filing_rules()["stability"]),
        ("## Category", filing_rules()["category"]),
    )
    for heading, rules in tables:
        at = page.index(heading)
        for rule in rules:
            at = page.index(f"| {rule.name} | {rule.gives} |", at)


def test_a_language_is_known_by_extension_by_fence_and_by_first_line() -> None:
    assert language_of("x", "a/b.tsx") == "typescript"
    assert language_of("```py\nx = 1\n```") == "python"
    assert language_of("```\ndef f(x):\n    return x\n```") == "python"
    assert language_of("def f(x):\n    return x") == "python"
    assert language_of("def f(x): is a line.\nBut this is prose\nand so is this\nand this") == ""
    assert language_of("Prefers tea") == ""


FIRST_LINES = """
shell: #!/bin/bash | set -eu
python: #!/usr/bin/env python | async def run(): | def run(): | class Tea(Drink):
python: from tea import x | import tea | import tea as t | @cache
go: package tea | func brew(n int) {
rust: pub fn brew() { | fn brew() { | struct Tea; | impl Tea { | mod tea;
rust: let mut tea = 1; | use a::b;
c: #include <tea.h> | #define TEA
java: public class Tea { | private static int brew() { | protected void brew() { | import tea.Pot;
java: package tea.pot;
typescript: export interface Tea { | interface Tea { | type Tea = { | const tea: Tea = {
javascript: export default function brew() { | async function brew() { | function brew() {
javascript: import tea from 'tea' | const tea = {} | let tea = 1; | var tea = 1;
javascript: export class Tea { | class Tea {
sql: SELECT a, b FROM tea; | create table tea ( | Insert into tea (a) | ALTER TABLE tea ADD a int;
sql: update tea set a = 1; | delete from tea; | with a as (
html: <!DOCTYPE html> | <html> | <div class="tea">
css: .tea pot { | body {
docker: FROM python:3.13 AS base
php: <?php
"""


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (language, line.strip())
        for row in FIRST_LINES.strip().splitlines()
        for language, _, lines in [row.partition(": ")]
        for line in lines.split(" | ")
    ],
)
def test_each_language_is_known_by_each_of_its_first_lines(language: str, line: str) -> None:
    assert language_of(f"{line}\n    rest();\n") == language


@pytest.mark.parametrize(
    "text",
    [
        *("How do I brew it", "Step one is the water", "To brew it, just run the pot"),
        *("After lunch, check the pot", "When it is cold, heat it", "Whenever it rains, wait"),
        *("If it is cold, heat it", "Execute `tea`", "Type `tea`", "Use `tea`", "Run the pot"),
        *("Open the pot", "Click on the pot", "Press ctrl and t", "Install the pot"),
        *("Restart your pot", "It is best to first open it and then wait"),
        *("It can be started with tea", "It is run by Ann", "It is built via tea"),
        *("It is deployed with tea", "They are installed by Ann", "It is restarted using tea"),
    ],
)
def test_every_form_of_an_instruction_is_one(text: str) -> None:
    assert classify(text).kind == "procedural"


def test_no_rule_knows_what_a_text_without_words_is_about() -> None:
    found = [rule for table in filing_rules().values() for rule in table]
    assert len(found) >= 30
    assert not [rule.name for rule in found if rule.pattern and re.search(rule.pattern, "")]
    assert not [rule.name for rule in found if rule.opening and re.match(rule.opening, "")]


def test_tags_a_text_names_are_all_kept_and_guesses_only_fill_up() -> None:
    named = " ".join(f"#tag{chr(97 + i)}" for i in range(7))
    assert len(classify(f"{named} about Python").tags) == 7
    guessed = classify("Python, Django, Redis, Docker, Kafka, Nginx and Rust").tags
    assert guessed == ("python", "django", "redis", "docker", "kafka")


@given(st.text(min_size=1), st.sampled_from([None, "a.py", "b.md", "c", "d.json", "e.pdf"]))
def test_any_text_is_filed_with_valid_values(text: str, path: str | None) -> None:
    filed = classify(text, source_path=path)
    assert filed == classify(text, source_path=path)
    assert filed.content_type in CONTENT_TYPES
    assert filed.kind in KINDS
    assert filed.stability in STABILITIES
    assert filed.layer in LAYERS
    assert clean_category(filed.category) == filed.category
    assert clean_tags(filed.tags) == filed.tags


HOSTILE = ("a", "a ", "(", "- a\n", "# ", "```\n", "a: b\n", "`", "1. run\n", "{", "[x](")
HOSTILE += (
    "every ",
    "to a",
    '"',
    "https://a",
    "#a ",
    "we use ",
    "my a ",
    "first, run ",
    "a\n---\n",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_megabyte_is_filed_in_bounded_time(unit: str) -> None:
    # No clock: a pattern that backtracks without bound would hang the run here.
    classify(unit * (1_000_000 // len(unit)))
    classify(unit * (600 // len(unit)))


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("Preference", ("preference", None)),
        ("procedural", (None, "procedural")),
        ("  ", None),
        (None, None),
    ],
)
def test_a_hint_names_a_category_or_a_kind(hint, expected) -> None:
    found = read_hint(hint, "Tabs in every editor")
    if expected is None:
        assert found is None
        return
    plain = classify("Tabs in every editor", title=hint)
    assert found == (expected[0] or plain.category, expected[1] or plain.kind)

"""Memax (seed 002): memories with a fixed shape, filed by themselves, deduplicated, cut into chunks
and moved through states."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, HubMemory, Memory
from holdfast.domain.memory import (
    BOUNDARIES,
    CATEGORIES,
    CONTENT_TYPES,
    KINDS,
    SOURCES,
    STABILITIES,
    STATES,
)
from holdfast.errors import NotFound
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests
from holdfast.text.chunking import chunk
from holdfast.text.classify import classify
from tests.edges.cli.cli_calls import Run
from tests.edges.http.conftest import Asking
from tests.seeds.documented import Seed, documented
from tests.unit.extract.test_ocr import LINES, picture

SEED = Seed(
    "002",
    "Memax",
    "memax",
    78,
    {
        "title": [1, 2],
        "headings and heads of tables": [
            *(4, 7, 8, 27, 29, 30, 38, 39, 40, 41, 46, 47, 54, 55, 58, 64, 66),
        ],
    },
)


def read_by_worker(memory: Holdfast, hub: HubMemory, data: bytes, name: str) -> Memory:
    """A file that was pushed, after a worker has read it."""
    pushed = hub.remember_file(io.BytesIO(data), name=name).memory
    assert pushed.state == "processing"
    work_until_done(memory.core, memory.home)
    return hub.get(pushed.id)


@documented(
    "a memory is one piece of content that is pushed once and retrieved later",
    lines=3,
    call="`memax_push`, `POST /v1/memories`, `holdfast push`; `memax_recall`",
)
def test_what_is_pushed_is_recalled(hub: HubMemory) -> None:
    tools = holdfast.tools("memax", hub)
    pushed = tools.call("memax_push", {"content": "Deploys run on Fridays", "title": "Deploys"})
    assert pushed.text.startswith("Saved: Deploys (id: mem_")
    assert "Deploys run on Fridays" in tools.call("memax_recall", {"query": "deploys"}).text


@documented(
    "the fields of a memory: id, hub_id, owner_id, title, summary, content_type, content_hash, "
    "tags, kind, stability, boundary, state, source, agents, access_count, version, three times",
    lines=(5, 6, *range(9, 27)),
    call="`GET /v1/memories/{id}`, `holdfast show --json`, `holdfast.Memory`",
    differs="`owner` and `owner_id` are the same; there are more fields, among them `number`, "
    "`category`, `trust` and `shown_count`",
)
def test_a_memory_has_the_documented_fields(ask: Asking) -> None:
    told = ask.push(
        "Ada prefers tabs. She said so twice. It is settled.",
        tags=["style"],
        source_agent="cursor",
        assisted_by_agent="claude-code",
        owner_id="olga",
    )
    fields = (
        "id hub_id owner_id title summary content_type content_hash tags kind stability boundary"
        " state source source_agent assisted_by_agent access_count version created_at updated_at"
        " accessed_at"
    )
    assert set(fields.split()) <= set(told)
    assert told["id"].startswith("mem_")
    assert (told["owner_id"], told["owner"]) == ("olga", "olga")
    assert (told["title"], told["summary"]) == (
        "Ada prefers tabs",
        "Ada prefers tabs. She said so twice.",
    )
    assert (told["source"], told["source_agent"]) == ("api", "cursor")
    assert told["tags"] == ["style"]


@documented(
    "owner_id is who pushed it",
    lines=11,
    call="returned beside `owner`; a push or a PATCH may send it back",
    differs="a push in somebody else's name is refused",
)
def test_the_owner_is_who_pushed_it(ask: Asking) -> None:
    refused = ask.post("/v1/memories", {"content": "Mine", "owner_id": "somebody-else"})
    assert refused.status_code == 400
    told = ask.push("Mine")
    path = f"/v1/memories/{told['id']}"
    assert ask("PATCH", path, json={"title": "Ours", "owner_id": "olga"}).status_code == 200
    assert ask("PATCH", path, json={"title": "Ours", "owner_id": "ada"}).status_code == 400


@documented(
    "title and summary are made by the server where they are not given",
    lines=(12, 13),
    call="leave `title` and `summary` out",
    differs="both are taken from the text's own sentences; one or two short sentences need no "
    "summary",
)
def test_a_title_says_what_it_is_about_and_three_sentences_have_a_summary(hub: HubMemory) -> None:
    chat = (
        "User: hi\nAssistant: Hello! How can I help you?\n"
        "User: My JWT tokens expire after five minutes.\nAssistant: Check the clock."
    )
    memory = hub.remember(chat, content_type="chat").memory
    assert memory.title == "My JWT tokens expire after five minutes"
    assert hub.remember("The fence is done. Paint it. Ask Ann.").memory.summary
    assert hub.remember("The gate is green.").memory.summary == ""


@documented(
    "content types, kinds, stabilities, boundaries, states and sources are these lists",
    lines=(14, 17, 18, 19, 20, 21),
    call="`content_type`, `kind`, `stability`, `boundary`, `state`, `source`",
    differs="the boundary is enforced on every read",
)
def test_the_lists_are_those_of_the_document() -> None:
    types = "text markdown code chat transcript file structured link"
    assert set(CONTENT_TYPES) == set(types.split())
    assert set(KINDS) == {"episodic", "semantic", "procedural", "rationale"}
    assert set(STABILITIES) == {"volatile", "evolving", "stable"}
    assert set(BOUNDARIES) == {"private", "hub", "team", "org"}
    assert set(STATES) == {"processing", "active", "cooling", "archived"}
    sources = "cli import hook web api sdk mcp extraction"
    assert set(SOURCES) == set(sources.split())


@documented(
    "access_count counts how often a memory was retrieved",
    lines=24,
    call="`shown_count` counts returns by recall; `access_count` counts uses: `memax_get`, "
    "`POST /v1/memories/{id}/access`",
    differs="two counts: being returned by recall must not raise a memory's own rank",
)
def test_retrievals_and_uses_are_counted_apart(memory: Holdfast, hub: HubMemory) -> None:
    memory_id = hub.remember("The staging server is called heron").memory.id
    hub.recall("staging server")
    hub.recall("heron")
    memory.core.write_counters()
    assert (hub.get(memory_id).shown_count, hub.get(memory_id).access_count) == (2, 0)
    holdfast.tools("memax", hub).call("memax_get", {"id": memory_id})
    assert (hub.get(memory_id).shown_count, hub.get(memory_id).access_count) == (2, 1)


@documented(
    "version grows with edits; created_at, updated_at and accessed_at are times",
    lines=(25, 26),
    call="`PATCH /v1/memories/{id}`, `hub.update`",
    differs="every version can be read and brought back",
)
def test_an_edit_makes_a_version(hub: HubMemory, clock: FixedClock) -> None:
    first = hub.remember("The gate is green").memory
    clock.tick(hours=1)
    second = hub.update(first.id, content="The gate is blue")
    assert (first.version, second.version) == (1, 2)
    assert second.created_at == first.created_at < second.updated_at
    assert second.accessed_at is None
    assert hub.access(first.id).accessed_at == clock.now()


@documented(
    "the kind is what the content is for: facts, events, instructions, reasons",
    lines=(28, 31, 32, 33, 34),
    call="picked by rules; `kind` on push sets it",
)
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("The API listens on port 8080 and answers in JSON.", "semantic"),
        ("Standup: Ben is done with the login page, Ann is on the search.", "episodic"),
        ("Met Sara about the rent on Tuesday.", "episodic"),
        ("# Deploy runbook\n\n1. Pull\n2. Build\n3. Restart the service", "procedural"),
        ("We chose SQLite over PostgreSQL because one machine is enough.", "rationale"),
    ],
)
def test_the_kind_is_picked(content: str, kind: str) -> None:
    assert classify(content).kind == kind


@documented(
    "there are no categories such as core, decisions or daily; kind can be set on push",
    lines=(35, 36, 37),
    call="`kind` in the body of a push, or of `memax_push`",
    differs="a memory has a category too, for the other dialects; `core` and `daily` are Pynchy's",
)
def test_the_kind_can_be_set(ask: Asking) -> None:
    told = ask.push("The gate is green", kind="rationale")
    assert told["kind"] == "rationale"
    assert told["category"] in CATEGORIES


@documented(
    "stable, evolving and volatile say how fast a memory goes stale",
    lines=(42, 43, 44),
    call="picked by rules; `stability` on push sets it",
)
@pytest.mark.parametrize(
    ("content", "stability"),
    [
        ("# Glossary\n\n- Hub: a place for memories\n- Turn: one message", "stable"),
        ("# Deploy runbook\n\n1. Pull\n2. Build\n3. Restart the service", "evolving"),
        ("Standup: Ben is done with the login page, Ann is on the search.", "volatile"),
    ],
)
def test_the_stability_is_picked(content: str, stability: str) -> None:
    assert classify(content).stability == stability


@documented(
    "stable memories rank higher, volatile ones need to be more relevant",
    lines=45,
    call="nothing to call ([how recall ranks](../explanation/how-recall-ranks.md))",
)
def test_of_equal_matches_the_stable_one_comes_first(tmp_path: Path, clock: FixedClock) -> None:
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.hub()
        hub.remember("The harbour light is red", stability="volatile")
        hub.remember("The harbour light is green", stability="stable")
        clock.tick(days=90)
        found = [hit.memory.stability for hit in hub.recall("harbour light")]
    assert found[0] == "stable"


@documented(
    "markdown, code, plain text and structured data are told apart",
    lines=(48, 49, 50, 52),
    call="`holdfast push FILE`, or a push with a `source_path`",
)
@pytest.mark.parametrize(
    ("path", "content", "content_type"),
    [
        ("notes.md", "# Notes\n\nSome words", "markdown"),
        ("page.mdx", "# Page\n\nSome words", "markdown"),
        ("main.py", "def main():\n    return 1\n", "code"),
        ("note.txt", "Some words", "text"),
        ("data.json", '{"a": 1}', "structured"),
        ("data.yaml", "a: 1\nb: 2\n", "structured"),
        ("data.toml", "a = 1\n", "structured"),
    ],
)
def test_content_types_are_told_apart(path: str, content: str, content_type: str) -> None:
    assert classify(content, source_path=path).content_type == content_type


@documented(
    "code files are those of an allowlist, and import asks before more than ten files",
    lines=(49, 50),
    call="`holdfast import DIR`, `holdfast push DIR`; `--yes` answers",
    differs=".gitignore is honoured, and secrets are caught",
)
def test_import_takes_the_allowlist_and_asks_before_more_than_ten(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number}.md").write_text(f"Note {number}")
    for name in ("main.go", "query.graphql", "api.proto", "app.tsx", "movie.mkv"):
        (folder / name).write_text(f"some text of {name}\n")
    asked = run("import", str(folder))
    assert asked.code == 2
    assert "Store 15 files of" in asked.err
    assert run("list").out == ""
    rows = run("import", str(folder), "--yes").rows
    added = {row[1] for row in rows if row[0] == "added"}
    assert {"main.go", "query.graphql", "api.proto", "app.tsx"} <= added
    assert "movie.mkv" not in added
    (folder / "0.md").write_text("Note 0, changed")
    assert run("import", str(folder)).code == 0


@documented(
    "a URL is stored as a link: the URL itself, not a snapshot of the page",
    lines=(51, 52),
    call="`holdfast push https://…`, `memax_push`",
)
def test_a_url_is_a_link(hub: HubMemory) -> None:
    memory = hub.remember("https://example.org/heron").memory
    assert (memory.content_type, memory.content) == ("link", "https://example.org/heron")


@documented(
    "PDFs and images are attachments whose text is extracted for search",
    lines=53,
    call="`holdfast push scan.png`, `hub.remember_file`",
    differs="text of images needs the program tesseract; without it the memory says so",
)
def test_the_text_of_an_image_is_extracted(memory: Holdfast, hub: HubMemory) -> None:
    if shutil.which("tesseract") is None:
        pytest.skip("the program tesseract is not installed (package tesseract-ocr)")
    found = read_by_worker(memory, hub, picture("PNG", *LINES), "scan.png")
    assert "heron" in found.content
    assert hub.recall("heron harbour")[0].memory.id == found.id


@documented(
    "where the program that reads images is missing, a memory says so and is found by its name",
    lines=53,
    call="`extract.tesseract` names the program",
)
def test_an_image_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    settings = {"extract.tesseract": "no-such-program"}
    with open_for_tests(tmp_path, settings=settings) as memory:
        hub = memory.hub()
        found = read_by_worker(memory, hub, picture("PNG", *LINES), "harbour scan.png")
        assert found.state == "active"
        assert "the program `no-such-program` is not installed" in found.summary
        assert hub.recall("harbour scan")[0].memory.id == found.id


@documented(
    "a push with a known source_path updates its row: unchanged is skipped, changed is a version",
    lines=(56, 57),
    call="`source_path` on push",
)
def test_a_source_path_is_one_row(ask: Asking) -> None:
    first = ask.push("Version one", source_path="docs/plan.md")
    again = ask.post("/v1/memories", {"content": "Version one", "source_path": "docs/plan.md"})
    assert (again.status_code, again.json()["data"]["version"]) == (200, 1)
    second = ask.push("Version two", source_path="docs/plan.md")
    assert (second["id"], second["version"]) == (first["id"], 2)


@documented(
    "identical content in a hub makes no second row",
    lines=57,
    call="nothing to call; the answer is 200 with the row that is there",
)
def test_the_same_content_is_one_row(ask: Asking) -> None:
    first = ask.push("The gate is green")
    again = ask.post("/v1/memories", {"content": "The gate is green"})
    assert again.status_code == 200
    assert again.json()["data"]["id"] == first["id"]


@documented(
    "long memories are cut at headings, code blocks stay whole, paragraphs stay together",
    lines=(59, 60, 61, 62),
    call="nothing to call; `recall` returns passages",
)
def test_chunks_follow_headings_and_keep_code_whole() -> None:
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(40)) + "\n```"
    prose = "The harbour is old and its lights are red and green. " * 30
    text = f"# One\n\n{prose}\n\n## Two\n\n{code}\n\n# Three\n\n{prose}"
    chunks = chunk(text, content_type="markdown")
    assert len(chunks) > 2
    assert [one for one in chunks if code in text[one.start : one.end]]
    for one in chunks:
        inside = text[one.start : one.end]
        assert inside.count("# Three") == 0 or inside.startswith("# Three")


@documented(
    "transcripts are cut by turn",
    lines=(50, 59),
    call="nothing to call; a chat or transcript is recognised, or `content_type` names it",
)
def test_a_transcript_is_cut_by_turn() -> None:
    turns = [f"{who}: " + f"{topic} is what we talk about now. " * 12 for who, topic in TALK]
    text = "\n".join(turns)
    chunks = chunk(text, content_type="transcript")
    assert len(chunks) == len(TALK)
    assert [one.speaker for one in chunks] == [who for who, _ in TALK]


TALK = (("Ann", "Rent"), ("Ben", "Paint"), ("Ann", "Music"), ("Ben", "Food"))


@documented(
    "recall returns the most relevant section of a large document; chunking needs no management",
    lines=63,
    call="`memax_recall`, `POST /v1/recall`: `passage` of a hit",
    differs="one vector for each window of a few sentences, not for each chunk",
)
def test_recall_returns_the_section_that_matches(hub: HubMemory) -> None:
    filler = "Nothing of note is written here at all. " * 60
    hub.remember(f"# Guide\n\n{filler}\n\n## Rollback\n\nRun make undo.\n\n## Rest\n\n{filler}")
    passage = hub.recall("how to do a rollback")[0].passage
    assert "make undo" in passage.text
    assert len(passage.text) < 1_000


@documented(
    "pushed files and fetched links are processing, then active; texts are active at once",
    lines=(65, 67, 68),
    call="`fetch` on a push, or `fetch.links` for every link",
    differs="a link is fetched only where that is asked for; else it is active at once",
)
def test_a_link_is_processing_where_fetching_is_on(tmp_path: Path) -> None:
    with open_for_tests(tmp_path / "off") as memory:
        assert memory.hub().remember("https://example.org/a").memory.state == "active"
        assert memory.hub().remember("https://example.org/b", fetch=True).memory.state == (
            "processing"
        )
        assert memory.hub().remember("Plain words").memory.state == "active"
        assert memory.hub().remember("# Markdown\n\nwords").memory.state == "active"
        assert memory.hub().remember_file(io.BytesIO(b"x"), name="a.txt").memory.state == (
            "processing"
        )
    with open_for_tests(tmp_path / "on", settings={"fetch.links": True}) as memory:
        assert memory.hub().remember("https://example.org/a").memory.state == "processing"
        assert memory.hub().remember("See https://example.org/a").memory.state == "active"


@documented(
    "an aged memory with little use cools, ranks lower, and is archived, hidden from recall",
    lines=(65, 69, 70),
    call="by itself once a day, or `holdfast lifecycle`; `holdfast archive` by hand",
)
def test_what_is_old_and_unused_cools_and_is_archived(hub: HubMemory, clock: FixedClock) -> None:
    memory_id = hub.remember("Is in Berlin this week", stability="volatile").memory.id
    clock.tick(days=30)
    hub.lifecycle()
    assert hub.get(memory_id).state == "cooling"
    assert hub.recall("Berlin")
    clock.tick(days=90)
    hub.lifecycle()
    assert hub.get(memory_id).state == "archived"
    assert not hub.recall("Berlin")


@documented(
    "DELETE removes the row and its chunks for good, and leaves no archived row",
    lines=(71, 72, 73, 74),
    call="`DELETE /v1/memories/{id}`, `holdfast purge`",
    differs="a receipt without content stays; `POST …/forget` is the way that can be undone",
)
def test_delete_is_for_good(ask: Asking) -> None:
    told = ask.push("The gate is green")
    assert ask("DELETE", f"/v1/memories/{told['id']}").status_code == 200
    assert ask.get(f"/v1/memories/{told['id']}").status_code == 404
    listed = ask.get("/v1/memories", params={"state": "archived"})
    assert listed.json()["data"] == []
    assert "green" not in json.dumps(ask.post("/v1/recall", {"query": "gate"}).json())


@documented(
    "the types of the SDK are the portable subset; expect link on URL memories",
    lines=(75, 76, 77, 78),
    call="the OpenAPI document at `/v1/openapi.json`",
    differs="`link` is in the list of content types",
)
def test_link_is_a_content_type(ask: Asking) -> None:
    told: dict[str, Any] = ask.push("https://example.org/heron")
    assert told["content_type"] == "link"


@documented(
    "archived and deleted memories are told apart",
    lines=(70, 73),
    call="`holdfast archive`, then `holdfast restore`",
)
def test_an_archived_memory_can_be_read_and_a_purged_one_not(hub: HubMemory) -> None:
    kept, gone = (hub.remember(text).memory.id for text in ("The gate is green", "The sea is wide"))
    hub.archive(kept)
    hub.purge(gone)
    assert hub.get(kept).state == "archived"
    with pytest.raises(NotFound):
        hub.get(gone)

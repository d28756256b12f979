"""scan, and what is said when a secret was replaced, as a shell sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from tests.edges.cli.cli_calls import Run
from tests.unit.text.secret_corpus import Draw

TOKEN = "ghp_" + Draw(31).alnum(36)


@pytest.fixture
def old(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A home from the time before secrets were looked for."""
    monkeypatch.setenv("HOLDFAST_SECRETS_ENABLED", "false")
    assert run("remember", f"The deploy key is {TOKEN}").code == 0
    assert run("update", "1", f"Rotated: {TOKEN}", "--reason", f"was {TOKEN}").code == 0
    monkeypatch.delenv("HOLDFAST_SECRETS_ENABLED")
    return run


def test_a_command_says_that_a_secret_was_replaced_and_not_what(run: Run) -> None:
    done = run("remember", f"The deploy key is {TOKEN}")
    assert done.code == 0
    assert "1 secret was replaced (github-token) by placeholders" in done.err
    assert TOKEN not in done.out + done.err
    assert "[secret:github-token:" in run("get", "1").out


def test_a_memory_without_secrets_is_found_to_have_none(stocked: Run) -> None:
    done = stocked("scan")
    assert (done.code, done.out) == (0, "")
    assert done.err.strip() == "No secrets were found."


def test_a_scan_lists_places_and_ends_with_one(old: Run) -> None:
    done = old("scan")
    assert done.code == 1
    # In content and title; in their old and new versions; and in the reason.
    assert [row[1:] for row in done.rows[:2]] == [
        ["#1", "github-token", "2"],
        ["history of #1", "github-token", "4"],
    ]
    assert done.rows[2][1].startswith("reason of chg_")
    assert TOKEN not in done.out + done.err
    assert "`holdfast scan --fix`" in done.err


def test_a_fix_asks_first(old: Run) -> None:
    done = old("scan", "--fix")
    assert done.code == 2
    assert "Replace" in done.err
    assert TOKEN in old("get", "1").out


def test_a_fix_leaves_nothing(old: Run, home: Path) -> None:
    done = old("scan", "--fix", "--yes", "--json")
    assert done.code == 0
    assert done.data["replaced"] > 3
    assert done.data["left"] == []
    assert old("scan").code == 0
    for path in home.rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes(), path


def test_other_hubs_are_looked_at_on_request(old: Run) -> None:
    old("hub", "create", "tea")
    assert old("scan", "--hub", "tea").code == 0
    assert {row[0] for row in old("scan", "--hub", "tea", "--all").rows} == {"default"}


@pytest.fixture
def paper(run: Run, tmp_path: Path) -> Run:
    """A home with a document that holds a secret."""
    from docx import Document

    document = Document()
    words = document.add_paragraph("The key is ")
    words.add_run(TOKEN[:9]).bold = True
    words.add_run(TOKEN[9:])
    document.save(str(tmp_path / "keys.docx"))
    assert run("push", str(tmp_path / "keys.docx")).code == 0
    return run


def test_a_document_that_holds_a_secret_is_not_clean(paper: Run) -> None:
    done = paper("scan")
    assert done.code == 1
    assert [row[1:] for row in done.rows] == [["file of #1 (keys.docx)", "github-token", "1"]]
    assert "`holdfast scan --fix --attachments`" in done.err
    assert "own" not in done.err
    assert paper("scan", "--fix", "--yes").code == 1


def test_attached_files_are_removed_only_where_that_is_asked_for_and_confirmed(
    paper: Run, home: Path
) -> None:
    assert "needs --fix" in paper("scan", "--attachments").err
    done = paper("scan", "--fix", "--attachments")
    assert done.code == 2
    assert "Remove 1 attached file for good? No undo" in done.err
    assert len(list(home.glob("hubs/*/attachments/??/*"))) == 1
    done = paper("scan", "--fix", "--attachments", "--yes")
    assert done.code == 0
    assert "#1 stays, and keys.docx is removed for good" in done.err
    assert "1 attached file removed, which cannot be undone" in done.err
    assert list(home.glob("hubs/*/attachments/??/*")) == []
    assert paper("scan").code == 0
    assert paper("get", "1").code == 0


def test_what_could_not_be_looked_into_is_not_called_clean(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    run("push", str(tmp_path / "a.png"))
    done = run("scan")
    assert done.code == 0
    assert "(a.png): it was not looked into: it is of the type image/png" in done.err
    assert "No secrets were found in what was looked at." in done.err


def test_a_tool_says_that_a_secret_was_replaced(run: Run, home: Path) -> None:
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        tools = holdfast.tools("holdfast", memory.hub())
        reply = tools.call("remember", {"content": f"The deploy key is {TOKEN}"})
        assert not reply.failed
        assert TOKEN not in reply.text
        said = reply.data["redacted"] if reply.data else reply.text
        assert "github-token" in str(said)
        assert "replaced" not in tools.call("recall", {"query": "deploy"}).text

"""The command line against a server: the same commands, the same output; what needs the machine
that has the memory says so; keys come from the environment or a file, and never from an option."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run
from tests.edges.client.servers import Served, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "served") as running:
        yield running


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "guarded", key_needed=True) as running:
        running.memory.create_hub("work").remember("The boat is called Heron")
        yield running


# What the same commands print, here and through a server.
WALK = (
    ("remember", "Prefers tabs over spaces", "--key", "indent", "--tag", "editor"),
    ("remember", "Prefers spaces", "--key", "indent"),
    ("remember", "Release 1.0 went out", "--occurred-at", "2024-05-03", "--json"),
    ("remember", "The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("forget", "3"),
    ("recall", "spaces", "--explain"),
    ("recall", "went", "out", "--json"),
    ("get", "indent"),
    ("get", "2", "--json"),
    ("list",),
    ("list", "--json", "--limit", "1"),
    ("related", "1"),
    ("timeline", "--since", "2024-05-01", "--until", "2024-06-01"),
    ("update", "2", "--title", "The release", "--expect-version", "1"),
    ("update", "2", "--title", "The release", "--expect-version", "1"),
    ("update", "2", "--title", "The release"),
    ("pin", "2"),
    ("pin", "2"),
    ("context", "--query", "release"),
    ("forget", "2", "--reason", "wrong"),
    ("get", "2"),
    ("restore", "2"),
    ("archive", "2"),
    ("undo",),
    ("history", "1"),
    ("history",),
    ("diff", "1"),
    ("journal", "add", "Planted beans", "--at", "2024-05-03"),
    ("journal", "2024-05-03"),
    ("log", "add", "user", "Hello", "there", "--at", "2024-05-03"),
    ("log",),
    ("stats",),
    ("usage",),
    ("purge", "2", "--yes"),
    ("get", "99"),
    ("list", "--order", "sideways"),
    ("hub", "create", "work"),
    ("hub", "create", "work"),
    ("hub", "list"),
    ("hub", "rename", "work", "job"),
    ("list", "--hub", "jop"),
    ("hub", "delete", "job", "--yes"),
    ("member", "set", "bob", "--role", "viewer"),
    ("member", "list"),
    ("member", "remove", "bob"),
)
_CHANGING = (
    (re.compile(r"\b(mem|chg|hub|trn|key)_[0-9a-z]{20}\b"), r"\1_ID"),
    (re.compile(r"2026-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "NOW"),
    # The same secret has another hash in another store.
    (re.compile(r"\[secret:([a-z0-9-]+):[0-9a-f]{8}\]"), r"[secret:\1]"),
    # A cursor is good for one hub, and names it.
    (re.compile(r'"next_cursor": "[^"]+"'), '"next_cursor": "CURSOR"'),
    # How long it is kept is the server's business.
    (re.compile(r" It is kept for 30 days at least\."), ""),
)


def _stable(text: str) -> str:
    for found, said in _CHANGING:
        text = found.sub(said, text)
    return text


def test_the_same_commands_print_the_same_through_a_server(run: Run, server: Served) -> None:
    server.memory.hub()
    for words in WALK:
        here = run(*words)
        there = run(*words, "--server", server.url)
        # A server writes what it counted now and then; a command when it ends.
        server.memory.core.write_counters()
        assert there.code == here.code, (words, there.err)
        assert _stable(there.out) == _stable(here.out), words
        assert _stable(there.err) == _stable(here.err), words


def test_the_environment_names_a_server_and_an_empty_option_none(
    run: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", server.url)
    assert run("remember", "Over there").code == 0
    assert [one.content for one in server.memory.hub().list()] == ["Over there"]
    assert run("list", "--server", "").out == ""
    assert "Over there" in run("list").out


@pytest.mark.parametrize("words", [("doctor",), ("sync",), ("backup", "x.db"), ("tools",),
                                   ("work",), ("scan",)])  # fmt: skip
def test_a_command_that_needs_the_machine_says_so_in_a_sentence(
    words: tuple[str, ...], run: Run
) -> None:
    ran = run(*words, "--server", "http://127.0.0.1:9")
    assert ran.code == 2
    assert "works on the machine that has the memory, not through http://127.0.0.1:9." in ran.err


def test_the_lifecycle_runs_on_the_server(run: Run, server: Served) -> None:
    hub = server.memory.hub()
    hub.remember("Fetch the parcel", category="daily", occurred_at="2024-05-03T00:00:00Z")
    there = ("--server", server.url)
    assert run("lifecycle", "--dry-run", *there).rows[0][:2] == ["#1", "archived"]
    assert hub.get(1).state == "active"
    assert dict(run("stats", *there).rows)["last lifecycle run"] == ""
    assert run("lifecycle", "--json", *there).data["change"] == hub.changes()[0].id
    assert hub.get(1).state == "archived"
    assert dict(run("stats", *there).rows)["last lifecycle run"]


def test_settings_and_help_have_nothing_to_do_with_a_server(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", "http://127.0.0.1:9")
    assert run("config", "get", "hub").out == "default\n"
    assert run("list", "--help").code == 0


def test_a_server_that_is_not_there_is_a_sentence_and_an_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.client.connection.TRIES", 1)
    ran = run("list", "--server", "http://127.0.0.1:9")
    assert ran.code == 6
    assert ran.err.startswith("holdfast: The server at http://127.0.0.1:9 cannot be reached")
    assert len(ran.err.splitlines()) == 2


def test_a_key_comes_from_the_environment(
    run: Run, guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("recall", "boat", "called", "--hub", "work", "--server", guarded.url)
    assert run(*asked).code == 9
    monkeypatch.setenv("HOLDFAST_KEY", guarded.key())
    assert "Heron" in run(*asked).out


def test_an_address_that_is_none_is_refused_before_a_key_is_asked_for(run: Run) -> None:
    ran = run("login", "my-server")
    assert ran.code == 2
    assert "is not the address of a server" in ran.err


def test_login_keeps_a_key_that_only_its_owner_can_read(
    run: Run, guarded: Served, home: Path
) -> None:
    asked = ("recall", "boat", "called", "--hub", "work", "--server", guarded.url)
    secret = guarded.key()
    ran = run("login", guarded.url, stdin=f"{secret}\n")
    assert ran.code == 0
    assert secret not in ran.out + ran.err
    kept = home / "server-keys"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "Heron" in run(*asked).out
    kept.chmod(0o644)
    ran = run(*asked)
    assert ran.code == 2
    assert "Others can read" in ran.err and "chmod 600" in ran.err
    kept.chmod(0o600)
    assert run("logout", guarded.url).code == 0
    assert run(*asked).code == 9
    assert run("logout", guarded.url).code == 3


def test_a_key_that_opens_nothing_is_not_kept(run: Run, guarded: Served, home: Path) -> None:
    ran = run("login", guarded.url, stdin="hf_wrong\n")
    assert ran.code == 9
    assert "Check that all of it was copied" in ran.err and "holdfast login" not in ran.err
    assert not (home / "server-keys").exists()


def test_a_kept_key_goes_to_no_other_server(
    run: Run, guarded: Served, server: Served, home: Path
) -> None:
    from holdfast.edges.cli import remote

    run("login", guarded.url, stdin=guarded.key())
    assert remote.key_for(guarded.url, str(home)) is not None
    assert remote.key_for(guarded.url + "/", str(home)) is not None
    assert remote.key_for(server.url, str(home)) is None


def test_no_option_takes_a_key(run: Run) -> None:
    ran = run("list", "--key", "hf_secret", "--server", "http://127.0.0.1:9")
    assert ran.code == 2
    assert "has no option `--key`" in ran.err


def test_keys_and_invitations_are_made_through_a_server(
    run: Run, guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", guarded.url)
    monkeypatch.setenv("HOLDFAST_KEY", guarded.key(actor="ada"))
    monkeypatch.setenv("HOLDFAST_HUB", "work")
    secret = run("key", "create", "laptop", "--read-only", "--only", "work").out.strip()
    assert secret.startswith("hf_")
    listed = run("key", "list", "--json").data
    assert [(key["name"], key["hubs"]) for key in listed] == [("test", []), ("laptop", ["work"])]
    token = run("invite", "create", "--role", "viewer").out.strip()
    assert run("member", "list", "--team", "Tools").code == 3
    assert run("key", "create", "x", "--actor", "eve").code == 2
    with monkeypatch.context() as other:
        other.setenv("HOLDFAST_KEY", guarded.key(actor="bob"))
        assert run("recall", "boat").code == 3
        assert run("invite", "accept", token).rows == [["joined", "bob", "viewer"]]
        assert "Heron" in run("recall", "boat").out
        assert run("remember", "No").code == 9
    assert run("key", "revoke", listed[1]["id"]).rows[0][0] == "revoked"
    monkeypatch.setenv("HOLDFAST_KEY", secret)
    assert run("recall", "boat").code == 9


def test_an_export_through_a_server_can_be_imported_here(
    run: Run, server: Served, tmp_path: Path
) -> None:
    server.memory.hub().remember("Travels well")
    file = tmp_path / "hub.jsonl"
    assert run("export", str(file), "--server", server.url).code == 0
    assert run("import", str(file), "--as", "copy").code == 0
    assert "Travels well" in run("list", "--hub", "copy").out
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_teams_are_made_and_removed_through_a_server(
    run: Run, guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", guarded.url)
    monkeypatch.setenv("HOLDFAST_KEY", guarded.key())
    for words in (
        ("org", "create", "Acme"),
        ("team", "create", "Tools", "--org", "Acme"),
        ("member", "set", "bob", "--team", "Tools", "--role", "viewer"),
        ("share", "--team", "Tools"),
        ("team", "rename", "Tools", "Makers"),
    ):
        assert run(*words).code == 0, words
    assert [row[:2] for row in run("team", "list").rows] == [["Makers", "Acme"]]
    assert [row[0] for row in run("member", "list", "--team", "Makers").rows] == ["ada", "bob"]
    assert run("team", "remove", "Makers", "--yes").code == 0
    assert run("org", "remove", "Acme", "--yes").code == 0
    assert guarded.memory.teams() == []

"""setup and teardown as a person calls them, on every system."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.edges.cli.call import Call
from holdfast.edges.cli.command import parser_of
from holdfast.edges.cli.setup import set_up_at, tear_down_at
from holdfast.edges.cli.setup_output import connected
from holdfast.edges.cli.table import find as find_command
from holdfast.edges.clients import CLIENTS, NAMES, find
from holdfast.edges.clients.json_text import parse
from holdfast.edges.clients.program import Platform
from holdfast.errors import HoldfastError
from holdfast.system.atomic_file import locked
from tests.edges.cli.cli_calls import Ran, Run

PLATFORMS = ("linux", "darwin", "win32")
Machine = Callable[..., Ran]


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The home of a person who has no client yet."""
    folder = tmp_path / "ann"
    folder.mkdir()
    return folder


@pytest.fixture
def machine(home: Path, person: Path, capsys: pytest.CaptureFixture[str]) -> Machine:
    """Calls the command on a machine of some system, with the person's home and environment."""

    def call(
        *words: str, platform: str = "linux", folder: Path | None = None, **environ: str
    ) -> Ran:
        project = person / "project"
        (project / ".git").mkdir(parents=True, exist_ok=True)
        place = Platform(platform, environ, str(person), str(folder or project))
        command, count = find_command(list(words))
        args = parser_of(command).parse(words[count:])
        work = {"setup": set_up_at, "teardown": tear_down_at}[command.name]
        capsys.readouterr()
        try:
            with Call(args) as one:
                code = work(one, args, place)
        except HoldfastError as error:
            code = error.exit_code
            printed = capsys.readouterr()
            return Ran(code, printed.out, printed.err + str(error))
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return call


def entry_in(name: str, path: str, called: str = "holdfast") -> Any:
    client = find(name)
    text = Path(path).read_text()
    value: Any = tomllib.loads(text) if client.language == "toml" else parse(text)
    for key in (*client.holder, called):
        value = value[key]
    return value


def line_of(entry: Any) -> list[str]:
    if isinstance(entry["command"], list):
        return list(entry["command"])
    return [entry["command"], *entry["args"]]


# On every system


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_client_is_set_up_and_torn_down_on_every_system(
    machine: Machine, person: Path, name: str, platform: str
) -> None:
    before = sorted(person.rglob("*"))
    made = machine("setup", name, "--json", platform=platform).data
    assert (made["client"], made["result"], made["backup"]) == (name, "added", None)
    assert Path(made["file"]).is_relative_to(person)
    line = line_of(entry_in(name, made["file"]))
    assert os.path.isabs(line[0])
    assert line[-1] == "mcp" or line[-2:] == ["mcp", "--hooks"]
    assert made["undo"] == f"holdfast teardown {name}"
    assert made["restart"]
    again = machine("setup", name, platform=platform)
    assert again.rows == [["unchanged", name, made["file"], ""]]
    gone = machine("teardown", name, platform=platform)
    assert gone.rows == [["removed", name, made["file"], ""]]
    assert not Path(made["file"]).exists()
    left = {path for path in person.rglob("*") if path.is_file()} - set(before)
    assert not left
    assert machine("teardown", name, platform=platform).rows[0][0] == "absent"


@pytest.mark.parametrize("name", [one.name for one in CLIENTS if "project" in one.scopes])
def test_a_project_has_a_file_of_its_own(machine: Machine, person: Path, name: str) -> None:
    made = machine("setup", name, "--scope", "project", "--json").data
    assert Path(made["file"]).is_relative_to(person / "project")
    assert made["undo"] == f"holdfast teardown {name} --scope project"
    assert machine("setup", name).rows[0][0] == "added"
    assert machine("teardown", name, "--scope", "project").rows[0][0] == "removed"
    assert machine("setup", name).rows[0][0] == "unchanged"


@pytest.mark.parametrize("name", [one.name for one in CLIENTS if "project" in one.scopes])
def test_the_file_of_a_project_names_no_place_on_this_machine(
    machine: Machine, person: Path, name: str
) -> None:
    ran = machine("setup", name, "--scope", "project")
    assert "it is not on yours" in ran.err
    assert line_of(entry_in(name, ran.rows[0][2]))[:2] == ["holdfast", "mcp"]
    assert str(person) not in Path(ran.rows[0][2]).read_text()
    assert machine("setup", name, "--scope", "project").rows[0][0] == "unchanged"


def test_a_client_without_files_of_projects_says_so(machine: Machine) -> None:
    ran = machine("setup", "claude-desktop", "--scope", "project")
    assert (ran.code, ran.out) == (2, "")
    assert "no settings of a project" in ran.err


def test_a_link_in_a_project_does_not_lead_to_other_files(machine: Machine, person: Path) -> None:
    outside = person / "outside.json"
    outside.write_text("{}")
    machine("setup", "cursor", "--print")
    path = person / "project" / ".mcp.json"
    path.symlink_to(outside)
    for command in ("setup", "teardown"):
        ran = machine(command, "claude-code", "--scope", "project")
        assert ran.code == 2
        assert "leads out" in ran.err
    assert outside.read_text() == "{}"


# What goes into the entry


def test_options_go_into_the_entry_when_they_are_given(machine: Machine, tmp_path: Path) -> None:
    words = ("--hub", "work", "--home", str(tmp_path / "m"), "--read-only", "--all-tools")
    made = machine("setup", "gemini", "--dialect", "holdfast", *words, "--json").data
    assert made["entry"]["args"][made["entry"]["args"].index("mcp") :] == [
        *(
            "mcp",
            "--hooks",
            "--home",
            str(tmp_path / "m"),
            "--hub",
            "work",
            "--dialect",
            "holdfast",
        ),
        *("--read-only", "--all-tools"),
    ]


def test_other_options_update_the_entry_and_say_so(machine: Machine) -> None:
    machine("setup", "gemini", "--hub", "work")
    ran = machine("setup", "gemini", "--hub", "play", "--json").data
    assert ran["result"] == "updated"
    assert ran["entry"]["args"][-1] == "play"
    assert Path(ran["backup"]).exists()


def test_a_dialect_that_is_none_is_refused(machine: Machine, person: Path) -> None:
    ran = machine("setup", "cursor", "--dialect", "klingon")
    assert ran.code == 2
    assert "no dialect 'klingon'" in ran.err
    assert not (person / ".cursor").exists()


@pytest.mark.parametrize("hub", ["../other", "a b", "--http", ""])
def test_a_hub_that_cannot_be_is_refused(machine: Machine, person: Path, hub: str) -> None:
    given = (f"--hub={hub}",) if hub.startswith("-") else ("--hub", hub)
    ran = machine("setup", "cursor", *given)
    assert ran.code == 2
    assert not (person / ".cursor").exists()


@pytest.mark.parametrize("name", ["", "a b", "é", 'x"]', "a.b", "x" * 65, "-"])
def test_a_name_that_a_client_would_not_take_is_refused(machine: Machine, name: str) -> None:
    ran = machine("setup", "codex", "--name", name)
    assert ran.code == 2
    assert "cannot be the name of an entry" in ran.err


def test_two_entries_can_stand_side_by_side(machine: Machine) -> None:
    machine("setup", "codex", "--name", "work", "--hub", "work")
    path = machine("setup", "codex", "--name", "play", "--hub", "play", "--json").data["file"]
    assert entry_in("codex", path, "work")["args"][-1] == "work"
    assert machine("teardown", "codex", "--name", "work").rows[0][0] == "removed"
    assert entry_in("codex", path, "play")["args"][-1] == "play"


def test_an_entry_of_the_same_name_is_not_overwritten(machine: Machine, person: Path) -> None:
    path = person / ".cursor" / "mcp.json"
    path.parent.mkdir()
    theirs = '{"mcpServers": {"holdfast": {"url": "https://example.org"}}}'
    path.write_text(theirs)
    ran = machine("setup", "cursor")
    assert ran.code == 4
    assert "--name" in ran.err and "--force" in ran.err
    assert machine("teardown", "cursor").code == 5
    assert path.read_text() == theirs
    assert machine("setup", "cursor", "--force").rows[0][0] == "replaced"


# Looking before writing


def test_printing_writes_nothing(machine: Machine, person: Path) -> None:
    before = sorted(person.rglob("*"))
    ran = machine("setup", "zed", "--print", "--hub", "work")
    assert list(json.loads(ran.out)["context_servers"]) == ["holdfast"]
    assert str(person / ".config" / "zed" / "settings.json") in ran.err
    ran = machine("setup", "codex", "--print")
    assert tomllib.loads(ran.out)["mcp_servers"]["holdfast"]["args"][-1] == "mcp"
    told = machine("setup", "opencode", "--print", "--json").data
    assert json.loads(told["text"])["mcp"]["holdfast"] == told["entry"]
    assert sorted(path for path in person.rglob("*") if path.is_file()) == before


def test_a_dry_run_shows_the_lines_that_change_and_no_others(
    machine: Machine, person: Path
) -> None:
    path = person / ".gemini" / "settings.json"
    path.parent.mkdir()
    text = '{\n  "key": "sk-secret",\n  "mcpServers": {\n    "a": {}\n  }\n}\n'
    path.write_text(text)
    ran = machine("setup", "gemini", "--dry-run")
    assert ran.rows[0][:3] == ["would add", "gemini", str(path)]
    assert '-    "a": {}' in ran.out and '+    "a": {},' in ran.out
    assert '+    "holdfast": {' in ran.out
    assert "sk-secret" not in ran.out
    assert (path.read_text(), list(path.parent.iterdir())) == (text, [path])
    machine("setup", "gemini")
    ran = machine("teardown", "gemini", "--dry-run", "--json").data
    assert ran["result"] == "would remove"
    assert '-    "holdfast": {' in ran["diff"]
    assert entry_in("gemini", str(path))


def test_a_dry_run_of_a_file_on_one_line_does_not_show_all_of_it(
    machine: Machine, person: Path
) -> None:
    path = person / ".claude.json"
    path.write_text(json.dumps({"token": "sk-secret", "history": ["x" * 50] * 50}))
    ran = machine("setup", "claude-code", "--dry-run")
    assert "sk-secret" not in ran.out
    assert '+      "type": "stdio"' in ran.out
    assert "inside a line of" in ran.out
    machine("setup", "claude-code")
    out = machine("teardown", "claude-code", "--dry-run").out
    assert "sk-secret" not in out
    assert '-      "type": "stdio"' in out


def test_a_dry_run_shows_every_line_of_a_new_file_as_added(machine: Machine) -> None:
    lines = machine("setup", "claude-code", "--dry-run").out.splitlines()
    assert any(line.startswith("+") and '"SessionStart"' in line for line in lines)
    assert any(line.startswith("+") and "mcp__holdfast__recall" in line for line in lines)
    assert any(line.startswith("+") and "description:" in line for line in lines)
    assert not [line for line in lines if line.startswith("-") and not line.startswith("--- ")]
    machine("setup", "claude-code")
    lines = machine("teardown", "claude-code", "--dry-run").out.splitlines()
    assert any(line.startswith("-") and "mcp__holdfast__recall" in line for line in lines)
    assert not [line for line in lines if line.startswith("+") and not line.startswith("+++ ")]


@pytest.mark.parametrize(
    "text", ['{"token": "sk-secret", "permissions": {"allow": ["Read"]}}', '{\n  "model": "x"\n}\n']
)
def test_a_dry_run_shows_hooks_and_permissions_that_a_settings_file_gets(
    machine: Machine, person: Path, text: str
) -> None:
    path = person / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    out = machine("setup", "claude-code", "--dry-run").out
    lines = [line for line in out.splitlines() if line.startswith("+")]
    assert any('"SessionStart"' in line for line in lines)
    assert any("mcp__holdfast__recall" in line for line in lines)
    assert "sk-secret" not in out and "-the entry" not in out
    hooks = machine("setup", "claude-code", "--dry-run", "--json").data["hooks"]
    diffs = "\n".join(hook["diff"] for hook in hooks)
    assert '"SessionStart"' in diffs and "mcp__holdfast__recall" in diffs
    assert path.read_text() == text


def test_a_dry_run_says_that_nothing_is_written(
    machine: Machine, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Dry run: nothing is written."
    assert said in machine("setup", "cursor", "--dry-run").err
    assert said not in machine("setup", "cursor").err
    assert said in machine("teardown", "cursor", "--dry-run").err
    asked: list[str] = []
    monkeypatch.setattr(Call, "offers", lambda _, question: asked.append(question))
    assert said in machine("setup", "--dry-run").err
    # It changes nothing, so there is nothing to ask.
    assert asked == []


def test_another_file_can_be_named(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "some where" / "team.json"
    made = machine("setup", "vscode", "--file", str(path), "--json").data
    assert made["file"] == str(path)
    assert entry_in("vscode", str(path))
    words = made["undo"].split(" ", 2)[2]
    assert words == f"vscode --file '{path}'"
    assert machine("teardown", "vscode", "--file", str(path)).rows[0][0] == "removed"


# All of them


def test_without_a_client_all_are_listed_with_their_state(machine: Machine, person: Path) -> None:
    (person / ".cursor").mkdir()
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text("{ oops")
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_text("[mcp_servers.holdfast]\nurl = 'x'\n")
    machine("setup", "zed")
    machine("setup", "vscode", "--scope", "project")
    ran = machine("setup")
    rows = {(row[0], row[3]): row[1:3] for row in ran.rows}
    assert [key[0] for key in rows if key[1] == "user"] == list(NAMES)
    assert rows["cursor", "user"] == ["yes", "no"]
    assert rows["gemini", "user"] == ["yes", "cannot be read"]
    assert rows["codex", "user"] == ["yes", "not ours"]
    # Its folder is there because the setup has made it.
    assert rows["zed", "user"] == ["no", "yes"]
    assert rows["windsurf", "user"] == ["no", "no"]
    assert rows["vscode", "project"] == ["no", "yes"]
    assert ("cursor", "project") not in rows
    assert "line 1, column 3" in ran.err
    told = {(one["client"], one["scope"]): one for one in machine("setup", "--json").data}
    assert told["zed", "user"]["state"] == "ours"
    assert "line 1, column 3" in told["gemini", "user"]["reason"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "cursor", "gemini", "opencode"])
def test_what_a_setup_has_made_does_not_make_a_client_installed(
    machine: Machine, person: Path, name: str
) -> None:
    def state() -> list[str]:
        return next(row[1:3] for row in machine("setup").rows if row[0] == name)

    machine("setup", name)
    assert state() == ["no", "yes"]
    folder = Path(next(row[4] for row in machine("setup").rows if row[0] == name)).parent
    if name == "claude-code":
        folder = person / ".claude"
    (folder / "history.jsonl").write_text("{}\n")
    assert state() == ["yes", "yes"]


def test_what_is_set_up_is_not_offered_again(
    machine: Machine, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Call, "offers", lambda self, question: asked.append(question))
    (person / ".codex").mkdir()
    (person / ".cursor").mkdir()
    machine("setup", "codex")
    machine("setup")
    assert asked == ["Set up Cursor?"]


def test_taking_all_out_names_the_entries_of_the_project(machine: Machine) -> None:
    machine("setup", "cursor", "--scope", "project")
    assert "`holdfast teardown cursor --scope project`" in machine("teardown", "--all").err


def test_in_the_home_folder_there_is_no_project_to_take_entries_out_of(
    machine: Machine, person: Path
) -> None:
    machine("setup", "cursor", folder=person)
    said = machine("teardown", "--all", folder=person)
    assert "removed" in said.out and "This project has" not in said.err


def test_hooks_and_a_server_in_one_file_leave_no_backup(machine: Machine, person: Path) -> None:
    path = person / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "theme": "x"\n}\n')
    before = path.read_bytes()
    machine("setup", "gemini")
    machine("teardown", "gemini")
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]
    assert path.read_bytes() == before


def test_a_client_whose_hooks_cannot_be_put_in_gets_no_entry(
    machine: Machine, person: Path
) -> None:
    settings = person / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": [}')
    ran = machine("setup", "claude-code")
    assert (ran.code, f"{settings} cannot be used as it is" in ran.err) == (2, True)
    assert not (person / ".claude.json").exists()
    assert settings.read_text() == '{"hooks": [}'
    assert machine("setup", "claude-code", "--no-hooks").code == 0


def test_hooks_in_a_file_of_two_clients_stay_until_both_are_taken_out(
    machine: Machine, person: Path
) -> None:
    path = person / ".copilot" / "hooks" / "holdfast.json"
    machine("setup", "vscode")
    machine("setup", "copilot-cli")
    machine("teardown", "vscode")
    assert path.exists()
    machine("teardown", "copilot-cli")
    assert not path.exists()
    machine("setup", "vscode")
    machine("setup", "copilot-cli")
    machine("teardown", "--all")
    assert not path.exists()


def test_hooks_of_an_earlier_installation_do_not_come_back_from_a_backup(
    machine: Machine, person: Path
) -> None:
    path = person / ".codex" / "hooks.json"
    machine("setup", "codex")
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    machine("setup", "codex")
    machine("teardown", "codex")
    assert not path.exists()


def test_a_command_of_the_person_is_neither_replaced_nor_removed(
    machine: Machine, person: Path
) -> None:
    path = person / ".claude" / "commands" / "memory.md"
    path.parent.mkdir(parents=True)
    path.write_text("Show what I noted.\n")
    assert f"{path} is a file of your own" in machine("setup", "claude-code").err
    assert f"{path} is a file of your own" in machine("setup", "claude-code", "--dry-run").err
    assert machine("teardown", "claude-code").code == 0
    assert [one.name for one in path.parent.iterdir()] == ["memory.md"]
    assert path.read_text() == "Show what I noted.\n"


def test_what_a_person_wrote_into_our_command_stays_in_a_backup(
    machine: Machine, person: Path
) -> None:
    path = person / ".claude" / "commands" / "memory.md"
    machine("setup", "claude-code")
    text = path.read_text() + "Show what I noted, too.\n"
    path.write_text(text)
    out = machine("teardown", "claude-code")
    (kept,) = path.parent.iterdir()
    assert kept.name.endswith(".bak") and str(kept) in out.err
    assert kept.read_text() == text


def test_all_that_are_here_are_set_up_and_one_that_fails_stops_no_other(
    machine: Machine, person: Path
) -> None:
    for name in (".cursor", ".gemini", ".codex"):
        (person / name).mkdir()
    broken = person / ".gemini" / "settings.json"
    broken.write_text("{")
    ran = machine("setup", "--all")
    assert [row[:2] for row in ran.rows] == [
        ["added", "cursor"],
        ["added", "codex"],
        ["failed", "gemini"],
    ]
    assert (ran.code, broken.read_text()) == (2, "{")
    assert "line 1, column 2" in ran.err
    results = {one["client"]: one["result"] for one in machine("setup", "--all", "--json").data}
    assert results == {"cursor": "unchanged", "codex": "unchanged", "gemini": "failed"}
    gone = machine("teardown", "--all")
    assert (gone.code, [row[:2] for row in gone.rows]) == (
        0,
        [["removed", "cursor"], ["removed", "codex"]],
    )
    assert "No client is set up" in machine("teardown", "--all").err
    assert machine("teardown", "--all", "--json").data == []


def test_a_machine_without_clients_has_none_to_set_up(machine: Machine) -> None:
    ran = machine("setup", "--all")
    assert (ran.code, ran.out) == (0, "")
    assert "No client was found" in ran.err


def test_a_client_that_is_not_here_is_set_up_with_a_warning(machine: Machine) -> None:
    ran = machine("setup", "cursor")
    assert ran.rows[0][0] == "added"
    assert "Cursor does not seem to be installed" in ran.err
    assert "installed" not in machine("setup", "cursor").err
    machine("teardown", "cursor")
    assert "Cursor does not seem to be installed" in machine("setup", "cursor").err


def test_an_entry_in_an_older_place_of_the_client_goes_too(machine: Machine, person: Path) -> None:
    old = machine("setup", "windsurf", "--json").data["file"]
    (person / ".config" / "devin").mkdir(parents=True)
    new = machine("setup", "windsurf", "--json").data["file"]
    assert old != new
    told = machine("teardown", "windsurf", "--json").data
    assert [one["file"] for one in told] == [new, old]
    assert not Path(old).exists() and not Path(new).exists()


def test_a_broken_file_in_an_older_place_does_not_stop_a_teardown(
    machine: Machine, person: Path
) -> None:
    (person / ".config" / "devin").mkdir(parents=True)
    new = machine("setup", "windsurf", "--json").data["file"]
    old = person / ".codeium" / "windsurf" / "mcp_config.json"
    old.parent.mkdir(parents=True)
    old.write_text("{ oops")
    assert machine("teardown", "windsurf").rows == [["removed", "windsurf", new, ""]]
    assert old.read_text() == "{ oops"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("setup", "curser"), "Did you mean `cursor`?"),
        (("setup", "clod"), "Did you mean `claude-code`?"),
        (("setup", "claude"), "Did you mean `claude-code`?"),
        (("setup", "desktop"), "Did you mean `claude-desktop`?"),
        (("setup", "code"), "Did you mean `codex`?"),
        (("setup", "gemni"), "Did you mean `gemini`?"),
        (("setup", "cursor", "--scope", "team"), "no scope 'team'"),
        (("setup", "--all", "--scope", "team"), "no scope 'team'"),
        (("setup", "--all", "cursor"), "do not go together"),
        (("setup", "--all", "--file", "x"), "do not go together"),
        (("setup", "--all", "--print"), "for one client"),
        (("setup", "--file", "x"), "needs a client"),
        (("teardown",), "Say which client"),
        (("uninstall",), "`holdfast teardown claude-code`"),
        (("uninstall",), "`holdfast teardown --all`"),
    ],
)
def test_what_makes_no_sense_is_a_clear_error(
    machine: Machine, person: Path, words: tuple[str, ...], message: str
) -> None:
    ran = machine(*words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_setup_waits_for_another_one(
    machine: Machine, home: Path, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.edges.cli.setup.locked", partial(locked, wait_s=0))
    with locked(str(home / "clients")):
        ran = machine("setup", "cursor")
        assert ran.code == 6
        assert "Another process" in ran.err
        assert not (person / ".cursor").exists()
        assert machine("setup", "cursor", "--dry-run").code == 0
    assert machine("setup", "cursor").code == 0


def test_a_home_that_the_client_may_not_see_is_told_of(machine: Machine) -> None:
    assert "--home puts it in the entry" in machine("setup", "zed", HOLDFAST_HOME="/m").err
    assert "--home" not in machine("setup", "zed", "--home", "/m", HOLDFAST_HOME="/m").err


# What a teardown leaves


@pytest.mark.parametrize(
    ("name", "folder"), [("claude-code", ".claude"), ("cursor", ".cursor"), ("zed", ".config/zed")]
)
def test_a_teardown_leaves_a_folder_that_was_there_before_the_setup(
    machine: Machine, person: Path, name: str, folder: str
) -> None:
    (person / folder).mkdir(parents=True)
    for _ in range(2):
        machine("setup", name)
        assert machine("teardown", name).rows[0][0] == "removed"
        assert list((person / folder).iterdir()) == []


def test_a_folder_is_gone_when_the_last_entry_in_it_is(machine: Machine, person: Path) -> None:
    machine("setup", "cursor", "--name", "work")
    machine("setup", "cursor", "--name", "play")
    machine("teardown", "cursor", "--name", "work")
    for backup in (person / ".cursor").glob("*.bak"):
        backup.unlink()
    machine("teardown", "cursor", "--name", "play")
    assert not (person / ".cursor").exists()


def test_folders_that_a_setup_made_are_gone_after_a_teardown(
    machine: Machine, person: Path, home: Path
) -> None:
    machine("setup", "cursor")
    machine("setup", "claude-code")
    machine("teardown", "cursor")
    assert not (person / ".cursor").exists()
    assert (person / ".claude" / "commands").is_dir()
    machine("teardown", "claude-code")
    assert not (person / ".claude").exists()
    assert not list(home.glob("clients*"))


def test_without_a_record_a_teardown_leaves_folders_alone(
    machine: Machine, person: Path, home: Path
) -> None:
    machine("setup", "cursor")
    (home / "clients.json").write_text("{ oops")
    machine("teardown", "cursor")
    assert list((person / ".cursor").iterdir()) == []


def test_a_teardown_removes_a_backup_that_says_what_the_file_says_and_names_the_others(
    machine: Machine, person: Path
) -> None:
    path = person / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"a": {}}}')
    machine("setup", "cursor")
    (first,) = path.parent.glob("mcp.json.*.bak")
    path.write_text(path.read_text().replace('"a": {}', '"b": {}'))
    ran = machine("teardown", "cursor")
    assert path.read_text() == '{"mcpServers": {"b": {}}}'
    assert list(path.parent.glob("*.bak")) == [first]
    assert str(first) in ran.err


def test_a_teardown_leaves_no_file_that_holds_our_entry(machine: Machine, person: Path) -> None:
    for name in (".claude.json", ".claude/settings.json"):
        path = person / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"theme": "dark"}')
    machine("setup", "claude-code")
    machine("teardown", "claude-code")
    left = [path for path in person.rglob("*") if path.is_file() and "holdfast" in path.read_text()]
    assert left == []
    assert not list(person.rglob("*.bak"))


def test_what_was_taken_out_by_force_is_kept_in_a_backup(machine: Machine, person: Path) -> None:
    path = person / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"holdfast": {"command": "other"}}}')
    machine("teardown", "cursor", "--force")
    (kept,) = path.parent.glob("*.bak")
    assert '"other"' in kept.read_text()


# The real program


@pytest.fixture
def shell(person: Path, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts the program in the person's home, with nothing of this machine's environment."""

    def start(*words: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            cwd=cwd or person,
            env={"HOME": str(person), "PATH": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_what_the_entry_says_starts_this_holdfast_from_any_folder(
    shell: Callable[..., subprocess.Popen[str]], person: Path, tmp_path: Path
) -> None:
    out, _ = shell("setup", "claude-code", "--json").communicate()
    made = json.loads(out)["data"]
    line = line_of(made["entry"])
    hostile = tmp_path / "project"
    hostile.mkdir()
    for name in ("holdfast", "json", "typing"):
        (hostile / f"{name}.py").write_text("raise SystemExit('the folder was looked into')")
    assert line[-1] == "mcp" or line[-2:] == ["mcp", "--hooks"]
    ran = subprocess.run(
        [*line[:-1], "--version"], cwd=hostile, env={"PATH": ""}, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "holdfast"), ran.stderr


@pytest.mark.sqlite_too("a client starts the server with nothing but what its entry says")
@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode"])
def test_what_the_entry_says_is_a_server_that_a_client_can_talk_to(
    shell: Callable[..., subprocess.Popen[str]], person: Path, name: str
) -> None:
    pytest.importorskip("mcp", reason="the MCP server is an extra")
    from mcp import Client, StdioServerParameters

    from tests.edges.mcp.sessions import talk

    home = ("--home", str(person / "mem"))
    for words in (
        ("hub", "create", "work", *home),
        ("config", "set", "embed.model", "none", *home),
    ):
        assert _ended(shell(*words)) == 0
    out, _ = shell("setup", name, *home, "--hub", "work", "--read-only", "--json").communicate()
    made = json.loads(out)["data"]
    line = line_of(entry_in(name, made["file"]))

    async def tools(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    server = StdioServerParameters(command=line[0], args=line[1:], cwd=person, env={"PATH": ""})
    found = talk(server, "auto", tools)
    assert "recall" in found
    assert "remember" not in found


@pytest.mark.sqlite_too("the processes have an environment of their own")
def test_processes_at_the_same_time_all_get_their_entry_in(
    shell: Callable[..., subprocess.Popen[str]], person: Path
) -> None:
    path = person / ".claude.json"
    path.write_text('{"projects": {}, "n": 1}\n')
    names = [f"hub-{number}" for number in range(4)]
    started = [shell("setup", "claude-code", "--name", name, "--hub", name) for name in names]
    assert [_ended(process) for process in started] == [0] * len(names)
    servers = json.loads(path.read_text())["mcpServers"]
    assert sorted(servers) == names
    assert [servers[name]["args"][-1] for name in names] == names
    assert not [one for one in os.listdir(person) if ".partial-" in one or one.endswith(".lock")]
    started = [shell("teardown", "claude-code", "--name", name) for name in names]
    assert [_ended(process) for process in started] == [0] * len(names)
    assert json.loads(path.read_text()) == {"projects": {}, "n": 1}


def _ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_a_person_is_told_what_was_written_and_how_to_undo_it(
    screen: Run, person: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    said = screen("setup", "cursor", "--file", str(path)).out.splitlines()
    backup = next(tmp_path.glob("*.bak"))
    assert said == [
        "Cursor is set up: the entry `holdfast` is new.",
        f"  file    {path}",
        f"  backup  {backup}",
        f"  undo    holdfast teardown cursor --file {path}",
        "  Restart Cursor; its settings list it under MCP.",
    ]
    said = screen("setup", "cursor", "--file", str(path)).out.splitlines()
    assert said == ["Cursor is already set up; nothing was changed.", f"  file    {path}"]
    said = screen("setup", "cursor", "--file", str(path), "--read-only").out
    assert "was there and is updated" in said
    said = screen("teardown", "cursor", "--file", str(path)).out
    assert "The entry `holdfast` is out of the settings of Cursor." in said
    assert "until it is restarted" in said
    assert path.read_text() == "{}"


@pytest.mark.skipif(os.name == "nt", reason="a program is a script here")
@pytest.mark.parametrize(
    "said, shown",
    [
        ("holdfast: Connected", "connected, "),
        ("holdfast - Disabled", "it connects to the server in folders that you trust; "),
        ("holdfast - Failed", "its program lists the server, not connected (`gemini mcp list`"),
    ],
)
def test_the_round_trip_says_what_is_missing(tmp_path: Path, said: str, shown: str) -> None:
    program = tmp_path / "gemini"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    place = Platform("linux", {"PATH": str(tmp_path)}, str(tmp_path), str(tmp_path))
    assert connected(find("gemini"), place, "holdfast").startswith(shown)


@pytest.mark.skipif(os.name == "nt", reason="a program is a script here")
def test_setup_says_that_it_asks_the_programs(machine: Machine, tmp_path: Path) -> None:
    assert "Testing it with" not in machine("setup", "gemini", PATH="").err
    program = tmp_path / "gemini"
    program.write_text("#!/bin/sh\necho 'holdfast: Connected'\n")
    program.chmod(0o755)
    said = machine("setup", "gemini", PATH=str(tmp_path)).err
    wait = said.index("Testing it with Gemini CLI; that takes some seconds.")
    assert wait < said.index("Gemini CLI: connected")

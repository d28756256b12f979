"""config and completion, as a shell sees them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.settings import SETTINGS
from tests.edges.cli.cli_calls import Run


def test_a_setting_is_set_read_and_taken_out_again(run: Run, home: Path) -> None:
    assert run("config", "get", "recall.limit").out == "5\n"
    assert run("config", "set", "recall.limit", "7").rows == [
        ["recall.limit", "7", str(home / "holdfast.toml")]
    ]
    assert run("config", "get", "recall.limit", "--json").data["value"] == 7
    assert run("config", "unset", "recall.limit").rows[0][1:] == ["5", "default"]


def test_comments_in_the_file_are_kept(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "holdfast.toml").write_text("# mine\n[recall]\nlimit = 3 # few\n")
    run("config", "set", "recall.deadline_s", "2")
    text = (home / "holdfast.toml").read_text()
    assert "# mine" in text
    assert "# few" in text


def test_the_list_says_where_each_value_came_from(run: Run, home: Path, monkeypatch) -> None:
    run("config", "set", "recall.limit", "7")
    monkeypatch.setenv("HOLDFAST_RECALL_DEADLINE_S", "2.5")
    rows = {row[0]: row[1:3] for row in run("config", "list", "--hub", "work").rows}
    assert list(rows) == [setting.name for setting in SETTINGS]
    assert rows["recall.limit"] == ["7", str(home / "holdfast.toml")]
    assert rows["recall.deadline_s"] == ["2.5", "HOLDFAST_RECALL_DEADLINE_S"]
    assert rows["hub"] == ["work", "flag"]
    assert rows["context.chars_max"] == ["12288", "default"]
    plain = {row["name"]: row for row in run("config", "list", "--json").data}
    assert plain["recall.limit"]["default"] == 5
    assert plain["recall.limit"]["variable"] == "HOLDFAST_RECALL_LIMIT"


def test_the_environment_wins_over_the_file_and_that_is_said(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("HOLDFAST_RECALL_LIMIT", "9")
    assert "HOLDFAST_RECALL_LIMIT is set" in run("config", "set", "recall.limit", "7").err
    assert run("config", "get", "recall.limit").out == "9\n"


def test_the_path_of_the_file_is_printed(run: Run, home: Path) -> None:
    assert run("config", "path").out == f"{home / 'holdfast.toml'}\n"
    assert run("config", "path", "--json").data["exists"] is False
    assert not home.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("get", "recall.limt"), "Did you mean `recall.limit`"),
        (("set", "recall.limit", "many"), "whole number"),
        (("set", "recall.limit", "0"), "at least 1"),
        (("set", "recall.count_shown", "maybe"), "true or false"),
        (("set", "time_zone", "Mars/Base"), "Europe/Berlin"),
        (("set", "llm.model", "gpt-4"), "openai:MODEL@URL"),
        (("set", "memConsolidate.model", "openai:"), "openai:MODEL@URL"),
        (("unset", "colour"), "no setting"),
        (("set", "recall.limit"), "needs VALUE"),
    ],
)
def test_a_bad_name_or_value_is_a_clear_error(run: Run, home: Path, words, message) -> None:
    ran = run("config", *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (home / "holdfast.toml").exists()


def test_a_broken_file_is_named_and_left_alone(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "holdfast.toml").write_text("recall = [")
    for words in (("list",), ("config", "list"), ("config", "set", "recall.limit", "3")):
        ran = run(*words)
        assert ran.code == 2
        assert "holdfast.toml" in ran.err
    assert (home / "holdfast.toml").read_text() == "recall = ["


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completions_know_the_commands(run: Run, shell: str) -> None:
    script = run("completion", shell).out
    for word in ("remember", "restore-backup", "rename"):
        assert word in script
    assert run("completion", shell, "--json").data["shell"] == shell


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_the_completion_for_bash_is_valid_and_completes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "complete.bash"
    file.write_text(run("completion", "bash").out)
    subprocess.run(["bash", "-n", str(file)], check=True)
    ask = (
        f"source {file}; COMP_WORDS=(holdfast rec); COMP_CWORD=1;"
        ' $(complete -p holdfast | sed "s/.*-F \\([^ ]*\\).*/\\1/"); echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["recall"]


def test_other_shells_are_refused(run: Run) -> None:
    ran = run("completion", "cobol")
    assert ran.code == 2
    assert "bash, zsh, fish, tcsh" in ran.err


def test_a_shell_that_an_old_shtab_does_not_know_is_a_sentence(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("shtab.SUPPORTED_SHELLS", ["bash"])
    ran = run("completion", "fish")
    assert ran.code == 2
    assert "pip install --upgrade shtab" in ran.err


def test_json_errors_of_settings_have_their_code(run: Run) -> None:
    ran = run("config", "get", "nothing", "--json")
    assert json.loads(ran.err)["error"]["code"] == "invalid_setting"


@pytest.mark.parametrize(
    ("value", "name", "must"),
    [
        ("ten", "recall.limit", "a whole number"),
        ("0", "recall.limit", "at least 1"),
        ("maybe", "embed.background", "true or false"),
    ],
)
def test_a_bad_value_is_told_with_the_words_of_the_person(
    run: Run, value: str, name: str, must: str
) -> None:
    ran = run("config", "set", name, value)
    assert ran.code == 2
    given = value if value == "0" else repr(value)
    assert f"You gave {given} for `{name}`; it must be {must}." in ran.err
    assert f"holdfast config set {name}" in ran.err


def test_a_bad_variable_is_mended_where_it_stands(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("HOLDFAST_RECALL_LIMIT", "ten")
    ran = run("recall", "x")
    assert ran.code == 2
    assert "`recall.limit` is 'ten' in HOLDFAST_RECALL_LIMIT" in ran.err
    assert "HOLDFAST_RECALL_LIMIT=5" in ran.err
    assert "config set" not in ran.err


def test_a_name_that_is_no_setting_can_be_taken_out_of_the_file(
    run: Run, screen: Run, home: Path
) -> None:
    home.mkdir()
    (home / "holdfast.toml").write_text("colour = 'red'\nhub = 'work'\n[recall]\nlimt = 7\n")
    assert run("recall", "x").code == 2
    assert run("config", "unset", "recall.limt").rows == [["recall.limt", "", ""]]
    assert screen("config", "unset", "colour").out == "colour is out of the file.\n"
    assert run("config", "get", "hub").out == "work\n"
    ran = run("config", "unset", "colour")
    assert (ran.code, "no setting `colour`" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("store.url", "nonsense", "`nonsense` is not the URL of a store."),
        ("store.url", "mysql://host/x", "No store is installed for `mysql:`."),
        ("sources.read", "hub:default", "is not written as NAME=WHERE"),
        ("sources.read", "old=nothing:here", "There is no kind of source `nothing`"),
    ],
)
def test_a_value_that_could_not_be_used_is_refused(
    run: Run, setting: str, value: str, said: str
) -> None:
    # Homes on PostgreSQL name their database in store.url.
    before = run("config", "get", setting).out
    ran = run("config", "set", setting, value)
    assert ran.code == 2
    assert said in ran.err
    assert run("config", "get", setting).out == before


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("postgresql://127.0.0.1:1/none", "cannot be reached"),
        ("sqlite:/no/such/folder/memory.db", "There is no folder /no/such/folder."),
    ],
)
def test_a_store_that_does_not_answer_is_set_only_with_force(
    run: Run, value: str, said: str
) -> None:
    before = run("config", "get", "store.url").out
    ran = run("config", "set", "store.url", value)
    assert ran.code != 0
    assert said in ran.err and "`--force` sets it all the same." in ran.err
    assert run("config", "get", "store.url").out == before
    assert run("config", "set", "store.url", value, "--force").code == 0
    assert run("config", "get", "store.url").out == f"{value}\n"


def test_a_hub_that_does_not_exist_may_be_set_and_is_mentioned(run: Run) -> None:
    ran = run("config", "set", "hub", "later")
    assert ran.code == 0
    assert "holdfast hub create later" in ran.err


@pytest.mark.parametrize(
    "value", ["nonsense", "openai:text-embedding-3-small", "path:nowhere", "/nowhere"]
)
def test_an_embedder_that_is_none_is_refused_when_it_is_set(
    run: Run, home: Path, value: str
) -> None:
    ran = run("config", "set", "embed.model", value)
    assert ran.code != 0
    assert not (home / "holdfast.toml").exists()


def test_a_name_that_is_like_no_setting_brings_no_guess(run: Run) -> None:
    assert "Did you mean" not in run("config", "set", "nonsense", "1").err
    assert "Did you mean `recall.limit`?" in run("config", "set", "recal.limit", "1").err


def test_settings_of_somebody_else_are_named_with_what_to_do(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(file: object, *args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    monkeypatch.setattr("holdfast.settings.open", refused, raising=False)
    ran = run("list")
    assert ran.code == 2
    assert f"{home}/holdfast.toml cannot be read: Permission denied." in ran.err
    assert "who owns it" in ran.err and "Errno" not in ran.err

"""Members, invitations, teams and keys through the command line."""

from __future__ import annotations

import re

import pytest

from holdfast.errors import InvalidInput
from holdfast.text.clean import one_of
from tests.edges.cli.cli_calls import Run


def test_a_role_that_is_only_a_little_alike_is_not_suggested() -> None:
    """`owner` may do everything: it is no guess for `writer`."""
    with pytest.raises(InvalidInput) as refused:
        one_of("writer", ("viewer", "contributor", "admin", "owner"), "role")
    assert refused.value.hint == "Valid are: viewer, contributor, admin, owner."


def test_a_key_is_shown_once_and_listed_without_its_secret(run: Run) -> None:
    made = run("key", "create", "laptop", "--no-delete", "--expires", "30d")
    secret = made.out.strip()
    assert secret.startswith("hf_")
    assert "shown once" in made.err
    listed = run("key", "list")
    assert secret not in listed.out
    (row,) = listed.rows
    assert row[1:] == ["laptop", "ada", "all hubs; no delete", "never", "good"]
    assert run("key", "revoke", row[0]).code == 0
    assert run("key", "list").rows[0][5] == "it was revoked"


def test_a_key_may_be_for_one_hub_and_another_person(run: Run) -> None:
    run("hub", "create", "work")
    told = run(
        "key", "create", "ci", "--only", "work", "--actor", "bot", "--read-only", "--json"
    ).data
    assert (told["hubs"], told["actor"]) == (["work"], "bot")
    assert run("key", "create", "ci", "--only", "wrk").code == 3
    assert run("key", "create", "ci", "--expires", "soon").code == 2


@pytest.mark.parametrize("option", ["--actor", "--hub", "--only", "--expires"])
def test_an_empty_option_makes_no_key(run: Run, option: str) -> None:
    """Such as `--actor "$WHO"` without the variable: the key would be the operator's own, for all
    hubs."""
    run("hub", "create", "work")
    refused = run("key", "create", "ci", option, "")
    assert (refused.code, refused.out) == (2, "")
    assert run("key", "list").rows == []


def test_members_are_set_listed_and_removed(run: Run) -> None:
    run("hub", "create", "work", "--use")
    assert run("member", "set", "bob", "--role", "viewer").rows == [["set", "bob", "viewer"]]
    assert [row[:2] for row in run("member", "list").rows] == [["ada", "owner"], ["bob", "viewer"]]
    assert run("member", "set", "bob", "--role", "king").code == 2
    assert run("member", "remove", "ada").code == 5
    assert run("member", "remove", "bob").code == 0
    assert run("member", "remove", "bob").code == 3


def test_a_name_is_the_same_in_every_spelling(run: Run) -> None:
    run("hub", "create", "work", "--use")
    assert run("member", "set", " bob ", "--role", "viewer").rows == [["set", "bob", "viewer"]]
    assert run("member", "remove", " ada").code == run("member", "remove", "ada").code == 5
    for hidden in ("\u200bbob", "bоb"):
        refused = run("member", "set", hidden, "--role", "viewer")
        assert refused.code == 2
        assert "name of a person" in refused.err
        assert run("key", "create", "ci", "--actor", hidden).code == 2
    assert run("member", "set", "boЬ").code == 2
    assert run("hub", "create", "wоrk").code == 2
    made = run("--json", "key", "create", "ci", "--actor", " bob").data
    assert made["actor"] == "bob"
    assert run("member", "remove", "bob\u00a0").code == 0


def test_an_invitation_is_good_once(run: Run) -> None:
    token = run("invite", "create", "--role", "viewer").out.strip()
    assert run("invite", "accept", token, "--actor", "bob").rows == [["joined", "bob", "viewer"]]
    again = run("invite", "accept", token, "--actor", "eve")
    assert again.code == 3
    assert "not valid" in again.err


def test_no_invitation_reads_like_an_option(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_urlsafe", lambda count: "-" + "x" * count)
    token = run("invite", "create", "--role", "viewer").out.strip()
    assert run("invite", "accept", token, "--actor", "bob").rows == [["joined", "bob", "viewer"]]


def test_a_hub_is_shared_with_a_team(run: Run) -> None:
    run("org", "create", "Acme")
    assert run("team", "create", "Tools", "--org", "Acme").code == 0
    assert run("team", "create", "Tools").code == 2
    told = run("share", "--team", "Tools", "--delete", "any", "--json").data
    assert told["team"].startswith("team_")
    assert told["delete"] == "any"
    assert run("share", "--team", "none", "--json").data["team"] is None
    assert run("member", "list", "--team", "Tools").rows[0][:2] == ["ada", "owner"]
    assert run("member", "list", "--org", "Acme").rows[0][:2] == ["ada", "owner"]
    assert run("team", "list").rows[0][:2] == ["Tools", "Acme"]
    assert run("org", "list").rows[0][0] == "Acme"


def test_a_screen_is_told_when_a_key_ends(run: Run, screen: Run) -> None:
    ends = screen("key", "create", "ci", "--expires", "30d").err
    assert re.search(r"For ada: all hubs, until \d{4}-\d\d-\d\d", ends)
    screen("key", "create", "laptop")
    shown = screen("key", "list").out
    assert len(re.findall(r"good until \d{4}-\d\d-\d\d", shown)) == 1


def test_a_screen_is_told_whose_key_was_revoked(run: Run, screen: Run) -> None:
    run("key", "create", "laptop", "--actor", "bob")
    said = screen("key", "revoke", "laptop").out
    assert re.search(r"The key laptop of bob \(key_\w+\) opens nothing from now on\.", said)


def test_a_screen_is_told_in_sentences_with_names(run: Run, screen: Run) -> None:
    assert screen("org", "create", "Acme").out == "Organisation Acme created.\n"
    assert screen("team", "create", "Tools", "--org", "Acme").out == "Team Tools created.\n"
    assert "no team and no organisation" in screen("share").out
    assert screen("share", "--team", "Tools").out == (
        "Hub default belongs to the team Tools.\nContributors may delete what is their own.\n"
    )
    run("share", "--team", "none")
    assert "with the organisation Acme." in screen("share", "--org", "Acme").out


def test_teams_and_organisations_are_renamed_and_removed(run: Run) -> None:
    run("org", "create", "Acme")
    run("team", "create", "Tools", "--org", "Acme")
    run("share", "--team", "Tools")
    assert run("team", "rename", "Tools", "Makers").rows[0][:2] == ["renamed", "Makers"]
    assert run("org", "rename", "Acme", "Ajax").rows[0][:2] == ["renamed", "Ajax"]
    assert run("org", "remove", "Ajax", "--yes").code == 5
    assert run("team", "remove", "Makers").code == 2
    assert run("team", "remove", "Makers", "--yes").rows[0][:2] == ["removed", "Makers"]
    told = run("share", "--org", "Ajax", "--json").data
    assert (told["team"], told["org"][:4]) == (None, "org_")
    assert run("org", "remove", "Ajax", "--yes").code == 0
    assert (run("team", "list").rows, run("org", "list").rows) == ([], [])


@pytest.mark.parametrize(
    "words",
    [("share", "--team", "Nobody"), ("member", "list", "--org", "Nobody"), ("key", "revoke", "k")],
)
def test_what_is_not_there_is_said(run: Run, words: tuple[str, ...]) -> None:
    answer = run(*words)
    assert answer.code == 3
    assert "There is no" in answer.err

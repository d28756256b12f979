"""Who may do what after a backup is brought back: access that ended after the backup stays ended,
or is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.transfer.copy import _Mover
from holdfast.store.sqlite import SqliteStore
from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, database

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")


@pytest.fixture
def on_server(stocked: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The commands, for memories in a database."""
    with database(ROLE) as url:
        monkeypatch.setenv("HOLDFAST_STORE_URL", url)
        stocked("remember", "The office is in Bonn")
        yield stocked


def _end_access_after_a_backup(run: Run, backup: Path) -> str:
    """Makes a backup, and ends a key, roles and a shared hub afterwards; returns the token of an
    invitation that was used afterwards."""
    run("hub", "create", "work")
    run("org", "create", "Acme")
    run("team", "create", "Tools", "--org", "Acme")
    run("share", "--team", "Tools", "--hub", "work")
    run("key", "create", "leaked", "--actor", "eve")
    run("key", "create", "laptop", "--actor", "bob")
    run("member", "set", "eve", "--role", "admin", "--hub", "work")
    run("member", "set", "bob", "--role", "admin", "--hub", "work")
    used = run("invite", "create", "--role", "viewer", "--hub", "work").out.strip()
    run("backup", str(backup))
    run("key", "revoke", "leaked")
    run("member", "remove", "eve", "--hub", "work")
    run("member", "set", "bob", "--role", "viewer", "--hub", "work")
    run("share", "--team", "", "--hub", "work")
    run("invite", "accept", used)
    return used


@pytest.mark.parametrize("place", ["stocked", "on_server"])
def test_a_restore_does_not_bring_back_access_that_has_ended(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    backup = tmp_path / "monday.db"
    run = request.getfixturevalue(place)
    used = _end_access_after_a_backup(run, backup)
    ran = run("restore-backup", str(backup), "--yes", "--json")
    assert ran.code == 0, ran.err
    good = {row[1]: row[5] for row in run("key", "list").rows}
    assert good == {"leaked": "it was revoked", "laptop": "good"}
    assert ran.data["access"] == [
        "The key leaked of eve was revoked after the backup and stays so.",
        "bob is admin of hub work again, as in the backup.",
        "eve is admin of hub work again, as in the backup.",
        "The hub work is shared with team Tools again.",
    ]
    for sentence in ran.data["access"]:
        assert sentence in ran.err
    assert run("invite", "accept", used).code == 3
    # The roles are what the backup held: they may be why it was brought back.
    assert [row[:2] for row in run("member", "list", "--hub", "work").rows][1:] == [
        ["bob", "admin"],
        ["eve", "admin"],
    ]


def test_an_invitation_that_was_withdrawn_does_not_come_back(stocked: Run, tmp_path: Path) -> None:
    token = stocked("invite", "create", "--role", "admin").out.strip()
    stocked("backup", str(tmp_path / "monday.db"))
    with holdfast.open(settings={"embed.model": "none"}) as memory:
        (open_one,) = memory.invites("default")
        memory.withdraw_invite(open_one.id, hub="default")
    ran = stocked("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert "Invitations that were not there before the restore do not come back: 1." in ran.err
    assert stocked("invite", "accept", token).code == 3


def test_a_restore_that_was_killed_leaves_a_revoked_key_revoked(
    on_server: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_server("key", "create", "leaked", "--actor", "eve")
    on_server("backup", str(tmp_path / "monday.db"))
    on_server("key", "revoke", "leaked")
    copy = _Mover._copy

    def killed(mover: _Mover) -> None:
        if not isinstance(mover.target, SqliteStore):
            raise _Killed
        copy(mover)

    with monkeypatch.context() as broken, pytest.raises(_Killed):
        broken.setattr(_Mover, "_copy", killed)
        # A process that is killed removes nothing.
        broken.setattr("holdfast.store.sqlite.files.remove", lambda _: None)
        broken.setattr("holdfast.engine.transfer.copy._release", lambda *_: None)
        on_server("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert on_server("restore-backup", str(tmp_path / "monday.db"), "--yes").code == 0
    assert [row[5] for row in on_server("key", "list").rows] == ["it was revoked"]


def test_a_backup_on_a_new_machine_comes_back_with_its_keys_and_invitations(
    stocked: Run, tmp_path: Path
) -> None:
    stocked("key", "create", "laptop", "--actor", "bob")
    token = stocked("invite", "create", "--role", "viewer").out.strip()
    stocked("backup", str(tmp_path / "monday.db"))
    fresh = ("--home", str(tmp_path / "fresh"))
    assert stocked("restore-backup", str(tmp_path / "monday.db"), "--yes", *fresh).code == 0
    assert [row[5] for row in stocked("key", "list", *fresh).rows] == ["good"]
    assert stocked("invite", "accept", token, *fresh).code == 0


class _Killed(BaseException):
    """What a signal would do, as far as a test can."""


def test_a_store_that_cannot_be_read_names_the_keys_that_are_good_again(
    stocked: Run, home: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "monday.db"
    stocked("key", "create", "laptop")
    stocked("backup", str(backup))
    stocked("key", "revoke", "laptop")
    for suffix in ("-wal", "-shm"):
        (home / f"memory.db{suffix}").unlink(missing_ok=True)
    with (home / "memory.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 8_092)
    ran = stocked("restore-backup", str(backup), "--yes")
    assert ran.code == 0, ran.err
    assert "these keys are good as in the backup: laptop" in ran.out + ran.err

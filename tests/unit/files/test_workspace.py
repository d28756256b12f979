"""A hub's files in a folder of the user's choice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.errors import Conflict, InvalidInput


@pytest.fixture
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace") / "memory"


def test_what_a_hub_has_in_files_moves_there(
    memory: Holdfast, hub: HubMemory, workspace: Path
) -> None:
    hub.journal_add("Uses pnpm")
    hub.remember("Prefers tabs", category="preference")
    hub.sync()
    assert memory.set_hub_folder("work", workspace) == str(workspace)
    assert "Uses pnpm" in (workspace / "2026-01-14.md").read_text()
    assert "Prefers tabs" in (workspace / "MEMORY.md").read_text()
    hub.remember("Prefers vim", category="preference")
    assert "Prefers vim" in (workspace / "MEMORY.md").read_text()
    assert memory.set_hub_folder("work", workspace) == str(workspace)
    assert len(hub.list()) == 3


def test_where_both_have_files_nothing_is_moved(
    memory: Holdfast, hub: HubMemory, workspace: Path
) -> None:
    hub.journal_add("Uses pnpm")
    workspace.mkdir()
    (workspace / "2026-01-14.md").write_text("- mine\n")
    with pytest.raises(Conflict, match="nothing was moved"):
        memory.set_hub_folder("work", workspace)
    assert (workspace / "2026-01-14.md").read_text() == "- mine\n"
    assert "Uses pnpm" in (Path(hub.folder) / "2026-01-14.md").read_text()


def test_a_move_that_was_cut_off_is_finished_by_the_next_call(
    memory: Holdfast, hub: HubMemory, workspace: Path
) -> None:
    hub.journal_add("Uses pnpm")
    # As after a crash between the move and the link.
    os.rename(hub.folder, workspace)
    memory.set_hub_folder("work", workspace)
    assert [day.date.isoformat() for day in hub.journal("today")] == ["2026-01-14"]
    assert len(hub.list(layer="journal")) == 1


def test_another_folder_may_be_chosen_later_and_everything_moves(
    memory: Holdfast, hub: HubMemory, workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory.set_hub_folder("work", workspace)
    hub.journal_add("Uses pnpm")
    other = tmp_path_factory.mktemp("other")
    memory.set_hub_folder("work", other)
    assert "Uses pnpm" in (other / "2026-01-14.md").read_text()
    assert not workspace.exists()
    hub.journal_add("Uses vim")
    assert "Uses vim" in (other / "2026-01-14.md").read_text()


def test_a_renamed_hub_keeps_its_folder_and_a_deleted_one_leaves_it(
    memory: Holdfast, hub: HubMemory, workspace: Path
) -> None:
    memory.set_hub_folder("work", workspace)
    (workspace / "mine.txt").write_text("mine")
    memory.rename_hub("work", "job")
    memory.hub("job").journal_add("Uses pnpm")
    assert "Uses pnpm" in (workspace / "2026-01-14.md").read_text()
    link = Path(memory.hub("job").folder)
    memory.delete_hub("job")
    assert not os.path.lexists(link)
    assert (workspace / "mine.txt").read_text() == "mine"
    assert not (workspace / "2026-01-14.md").exists()


def test_a_place_inside_the_home_and_a_file_are_refused(
    memory: Holdfast, hub: HubMemory, workspace: Path
) -> None:
    with pytest.raises(InvalidInput, match="own folder"):
        memory.set_hub_folder("work", Path(memory.home) / "hubs" / "other")
    workspace.write_text("a file")
    with pytest.raises(InvalidInput, match="is a file"):
        memory.set_hub_folder("work", workspace)

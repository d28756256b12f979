"""Which hub a working folder belongs to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import holdfast
from holdfast.api.project import FILE_NAME, hub_here, project_of
from holdfast.errors import StoreDamaged
from holdfast.testing import open_for_tests

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[holdfast.Holdfast]:
    # Tests may run below the home folder of whoever runs them, where no repository counts.
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.delenv("HOLDFAST_PROJECTS_HUBS")
    with holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as opened:
        yield opened


def git(folder: Path, *words: str) -> None:
    env = {
        **os.environ,
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    subprocess.run(["git", *words], cwd=folder, env=env, check=True, capture_output=True)


def committed(folder: Path) -> Path:
    """A repository with a first commit."""
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    return folder


def repository(folder: Path, remote: str = "") -> Path:
    """What git keeps of a repository, as far as it counts here."""
    data = folder / ".git"
    data.mkdir(parents=True)
    (data / "description").write_text("Unnamed repository\n")
    config = "[core]\n\tbare = false\n"
    if remote:
        config += f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*\n'
    (data / "config").write_text(config)
    return folder


def name_for(memory: holdfast.Holdfast, folder: Path) -> str:
    return hub_here(memory, folder=str(folder))[0].name


# What wins


def test_a_name_wins_over_everything(
    memory: holdfast.Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = repository(tmp_path / "web")
    hub, why = hub_here(memory, named="mine", folder=str(web))
    assert (hub.name, why) == ("mine", "as named")


def test_the_environment_wins_over_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HUB", "mine")
    with holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as memory:
        hub, why = hub_here(memory, folder=str(repository(tmp_path / "web")))
    assert (hub.name, why) == ("mine", "from HOLDFAST_HUB")


def test_a_repository_has_a_hub_of_its_name_from_any_folder_in_it(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    (web / "src" / "deep").mkdir(parents=True)
    assert name_for(memory, web) == "web"
    assert name_for(memory, web / "src" / "deep") == "web"
    assert [hub.name for hub in memory.hubs()] == ["default", "web"]


def test_outside_of_any_repository_it_is_the_hub_in_use(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    assert name_for(memory, tmp_path / "plain") == "default"


def test_a_repository_of_the_home_folder_is_no_project(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    person = repository(tmp_path / "person")
    (person / "notes").mkdir()
    assert name_for(memory, person / "notes") == "default"
    assert name_for(memory, repository(person / "web")) == "web"


# Names


def test_two_repositories_of_one_name_have_two_hubs(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    one = repository(tmp_path / "a" / "web")
    two = repository(tmp_path / "b" / "web")
    assert name_for(memory, one) == "web"
    second = name_for(memory, two)
    assert second.startswith("web-") and len(second) == len("web-") + 6
    # And each time the same ones.
    assert (name_for(memory, two), name_for(memory, one)) == (second, "web")


def test_a_hub_that_somebody_filled_is_not_taken_by_its_name(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    memory.hub("work", create=True).remember("My doctor is Dr Heron")
    hub, _ = hub_here(memory, folder=str(repository(tmp_path / "work")))
    assert hub.name != "work"
    assert not hub.recall("doctor", meaning=False)
    assert name_for(memory, repository(tmp_path / "default")) != "default"


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.hub("work").log_turn("user", "My doctor is Dr Heron"),
        lambda memory: memory.hub("work").pause_log(),
        lambda memory: memory.set_member("bob", "viewer", hub="work"),
    ],
)
def test_a_hub_without_memories_that_somebody_uses_is_not_taken(
    memory: holdfast.Holdfast, tmp_path: Path, use: Callable[[holdfast.Holdfast], object]
) -> None:
    memory.create_hub("work")
    use(memory)
    assert name_for(memory, repository(tmp_path / "work")) != "work"


def test_a_hub_left_by_a_start_that_was_cut_off_is_taken(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    memory.create_hub("web")
    assert name_for(memory, repository(tmp_path / "web")) == "web"


def test_names_that_differ_only_in_case_are_told_apart(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    assert name_for(memory, repository(tmp_path / "a" / "web")) == "web"
    assert name_for(memory, repository(tmp_path / "b" / "Web")).startswith("Web-")


@pytest.mark.parametrize(
    ("folder", "hub"),
    [
        ("my app", "my-app"),
        ("проект", "проект"),
        (".dotfiles", "dotfiles"),
        ("a..b", "a-b"),
        ("-x-", "x"),
        ("...", "project"),
        ("NUL", "project-NUL"),
        ("x" * 200, "x" * 52),
        ("a'; DROP TABLE hubs", "a-DROP-TABLE-hubs"),
    ],
)
def test_any_folder_name_makes_a_hub_name(
    memory: holdfast.Holdfast, tmp_path: Path, folder: str, hub: str
) -> None:
    assert name_for(memory, repository(tmp_path / "in" / folder)) == hub


# Moving and renaming


def test_a_renamed_hub_is_still_the_repositorys(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    memory.rename_hub("web", "site")
    assert name_for(memory, web) == "site"


def test_a_deleted_hub_is_made_anew(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    memory.delete_hub("web")
    hub, _ = hub_here(memory, folder=str(web))
    assert hub.name == "web" and hub.statistics().memories == 0


def test_a_renamed_repository_keeps_its_hub(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    web.rename(tmp_path / "site")
    assert name_for(memory, tmp_path / "site") == "web"


def test_a_repository_that_was_cloned_anew_elsewhere_keeps_its_hub(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    url = "https://example.org/ada/web.git"
    web = repository(tmp_path / "web", url)
    hub_here(memory, folder=str(web))
    shutil.rmtree(web)
    again = repository(tmp_path / "again", "https://ada:secret@example.org/ada/web")
    assert name_for(memory, again) == "web"
    assert "secret" not in (tmp_path / "home" / FILE_NAME).read_text()
    assert "example.org" not in (tmp_path / "home" / FILE_NAME).read_text()


def test_another_repository_where_one_was_is_known_by_its_place(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    shutil.rmtree(web)
    assert name_for(memory, repository(tmp_path / "web")) == "web"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/ada/web",
        "git@example.org:ada/web.git",
        "ssh://git@example.org/ada/web/",
    ],
)
def test_clones_of_one_repository_share_its_hub(
    memory: holdfast.Holdfast, tmp_path: Path, url: str
) -> None:
    web = repository(tmp_path / "web", "https://example.org/ada/web.git")
    assert name_for(memory, web) == "web"
    assert name_for(memory, repository(tmp_path / "copy", url)) == "web"
    other = repository(tmp_path / "other", "https://example.org/eve/web.git")
    assert name_for(memory, other) == "other"


@needs_git
def test_a_clone_of_a_repository_on_this_machine_shares_its_hub(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = committed(tmp_path / "web")
    git(tmp_path, "clone", "-q", str(web), "copy")
    assert name_for(memory, web) == "web"
    assert name_for(memory, tmp_path / "copy") == "web"


# What a folder cannot claim


def test_with_the_setting_off_a_remote_gives_no_hub_of_a_repository_that_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_PROJECTS_HUBS", "true")
    url = "https://example.org/ada/web.git"
    with open_for_tests(tmp_path / "home", settings={"projects.by_remote": False}) as memory:
        hub_here(memory, folder=str(repository(tmp_path / "web", url)))
        assert name_for(memory, repository(tmp_path / "copy", url)) == "copy"


def test_a_git_file_does_not_make_a_folder_a_worktree_of_another_repository(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    own = web / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tmp_path}/side/.git\n")
    for number, pointer in enumerate((own, web / ".git", "../web/.git", "\0", "", "x" * 50_000)):
        folder = tmp_path / f"hostile-{number}"
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {pointer}\n")
        assert name_for(memory, folder) == f"hostile-{number}"


def test_a_commondir_inside_a_repository_is_not_followed(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    hostile = repository(tmp_path / "hostile")
    (hostile / ".git" / "commondir").write_text(f"{web}/.git\n")
    assert name_for(memory, hostile) == "hostile"


# With git itself


@needs_git
def test_all_worktrees_of_a_repository_have_one_hub(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = committed(tmp_path / "web")
    git(web, "worktree", "add", "-q", "../feature")
    git(web, "worktree", "add", "-q", "../fix")
    assert name_for(memory, tmp_path / "feature") == "web"
    assert name_for(memory, web) == "web"
    git(web, "worktree", "move", "../fix", "../moved")
    assert name_for(memory, tmp_path / "moved") == "web"
    assert [hub.name for hub in memory.hubs()] == ["default", "web"]


@needs_git
def test_worktrees_of_a_bare_repository_have_one_hub(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    for seed, place in (("first", "shop.git"), ("second", "other/.bare")):
        (tmp_path / seed).mkdir()
        git(tmp_path / seed, "init", "-q", "-b", "main")
        git(tmp_path / seed, "commit", "-q", "--allow-empty", "-m", "Begin")
        git(tmp_path, "clone", "-q", "--bare", str(tmp_path / seed), place)
    git(tmp_path / "shop.git", "worktree", "add", "-q", "../one", "-b", "one")
    git(tmp_path / "shop.git", "worktree", "add", "-q", "../two", "-b", "two")
    git(tmp_path / "other" / ".bare", "worktree", "add", "-q", "../three", "-b", "three")
    assert name_for(memory, tmp_path / "one") == "shop"
    assert name_for(memory, tmp_path / "two") == "shop"
    assert name_for(memory, tmp_path / "other" / "three") == "other"


@needs_git
def test_a_submodule_is_a_project_of_its_own(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    library, web = tmp_path / "library", tmp_path / "web"
    for folder in (library, web):
        folder.mkdir()
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    allow = ("-c", "protocol.file.allow=always")
    git(web, *allow, "submodule", "add", "-q", str(library), "vendored")
    assert name_for(memory, web) == "web"
    assert name_for(memory, web / "vendored") == "vendored"


@needs_git
def test_a_repository_that_git_made_is_known_after_it_was_moved(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = tmp_path / "web"
    web.mkdir()
    git(web, "init", "-q")
    found = project_of(str(web))
    assert found is not None and found.birth
    assert name_for(memory, web) == "web"
    web.rename(tmp_path / "elsewhere")
    assert name_for(memory, tmp_path / "elsewhere") == "web"


# The file


def test_a_damaged_file_is_an_error_and_no_new_beginning(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    hub_here(memory, folder=str(web))
    file = tmp_path / "home" / FILE_NAME
    for text in ("{", "[]", '{"projects": [{}]}', '{"projects": 5}', '{"version": 1}', "null"):
        file.write_text(text)
        with pytest.raises(StoreDamaged, match=r"projects\.json"):
            hub_here(memory, folder=str(web))
        assert file.read_text() == text
    assert hub_here(memory, named="web", folder=str(web))[0].name == "web"


def test_the_file_is_for_its_owner_and_drops_hubs_that_are_gone(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    hub_here(memory, folder=str(repository(tmp_path / "web")))
    memory.delete_hub("web")
    hub_here(memory, folder=str(repository(tmp_path / "shop")))
    file = tmp_path / "home" / FILE_NAME
    assert file.stat().st_mode & 0o777 == 0o600
    places = [row["place"] for row in json.loads(file.read_text())["projects"]]
    assert places == [str(tmp_path / "shop" / ".git")]


def test_starts_at_once_get_one_hub_for_each_repository(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    webs = [repository(tmp_path / str(number) / "web") for number in range(4)]
    together = threading.Barrier(12)

    def start(folder: Path) -> tuple[Path, str]:
        together.wait(20)
        return folder, hub_here(memory, folder=str(folder))[0].id

    with ThreadPoolExecutor(12) as threads:
        found = set(threads.map(start, webs * 3))
    assert len(found) == 4
    assert len({hub for _, hub in found}) == 4
    rows = json.loads((tmp_path / "home" / FILE_NAME).read_text())["projects"]
    assert {row["hub"] for row in rows} == {hub for _, hub in found}

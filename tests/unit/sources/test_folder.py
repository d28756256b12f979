"""A folder of notes as a source: found by words, read again when it changes, never left."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import NotFound
from holdfast.sources import builtin
from holdfast.sources.builtin import FolderSource


def write(root: Path, files: dict[str, str]) -> FolderSource:
    for path, text in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
    return FolderSource("notes", str(root))


def places(source: FolderSource, query: str, limit: int = 5) -> list[str]:
    return [excerpt.where for excerpt in source.search(query, limit)]


FILES = {
    "user.md": "# About the user\n\nPrefers tabs over spaces.\n",
    "deploy.md": "# Deploying\n\nThe deployment runs on Hetzner, not on AWS.\n",
    "deep/er/feedback.md": "Never mock the database.\n",
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tabs", ["user.md, line 1"]),
        ("Where do we deploy?", ["deploy.md, line 1"]),
        ("mocking of databases", ["deep/er/feedback.md, line 1"]),
        ("feedback", ["deep/er/feedback.md, line 1"]),  # by the file's name
        ("etzne", ["deploy.md, line 1"]),  # as it stands
        ("kubernetes", []),
        ("-tabs", ["user.md, line 1"]),
        ('"', []),
        ("*", []),
    ],
)
def test_notes_are_found_by_their_words(tmp_path: Path, query: str, found: list[str]) -> None:
    assert places(write(tmp_path, FILES), query) == found


def test_the_better_passage_comes_first(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {
            "a.md": "Postgres is a database.",
            "b.md": "Postgres runs on Hetzner. The Hetzner account is Ada's.",
            "c.md": "Redis runs on Hetzner.",
        },
    )
    assert places(source, "postgres hetzner") == [f"{name}.md, line 1" for name in "bac"]
    assert places(source, "postgres hetzner", limit=1) == ["b.md, line 1"]


def test_a_passage_says_where_it_stands_and_of_when_it_is(tmp_path: Path) -> None:
    filler = "".join(f"## Part {n}\n\n{'Some other words here. ' * 40}\n\n" for n in range(5))
    source = write(tmp_path, {"long.md": filler + "## Keys\n\nThe needle is here.\n"})
    os.utime(tmp_path / "long.md", (0, 1_700_000_000))
    (excerpt,) = source.search("needle", 5)
    assert excerpt.text.endswith("The needle is here.")
    assert excerpt.where == "long.md, line 21"
    assert excerpt.at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_a_journal_is_of_its_day(tmp_path: Path) -> None:
    source = write(tmp_path, {"memory/2026-05-27.md": "needle", "2026-02-31.md": "needle too"})
    dated = {e.where: e.at for e in source.search("needle", 5)}
    assert dated["memory/2026-05-27.md, line 1"] == datetime(2026, 5, 27, tzinfo=UTC)
    assert dated["2026-02-31.md, line 1"] is not None


@pytest.mark.parametrize("text", ["先週、京都に行った", "Вчера был в Киеве", "ميناء طنجة"])
def test_every_script_is_found(tmp_path: Path, text: str) -> None:
    source = write(tmp_path, {"a.md": text, "b.md": "nothing of the kind"})
    for query in (text, text[3:6], text.split("、")[-1].split(" ")[-1]):
        assert places(source, query) == ["a.md, line 1"], query


def test_a_single_character_of_a_script_without_spaces_is_found(tmp_path: Path) -> None:
    assert places(write(tmp_path, {"a.md": "先週、京都に行った"}), "京") == ["a.md, line 1"]


def test_one_common_word_of_a_long_question_is_no_answer(tmp_path: Path) -> None:
    source = write(tmp_path, {f"{n}.md": f"The server number {n} is up." for n in range(30)})
    assert places(source, "which server?")
    assert places(source, "which gardener planted magnolias behind the greenhouse server?") == []


# Changes


def test_what_changes_is_read_again(tmp_path: Path) -> None:
    source = write(tmp_path, FILES)
    assert places(source, "spaces") == ["user.md, line 1"]
    write(tmp_path, {"user.md": "Prefers two blanks.", "new.md": "Brand new."})
    (tmp_path / "deploy.md").unlink()
    assert places(source, "spaces") == []
    assert places(source, "blanks") == ["user.md, line 1"]
    assert places(source, "brand") == ["new.md, line 1"]
    assert places(source, "hetzner") == []


def test_what_does_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path, FILES)
    source.search("tabs", 5)
    read: list[str] = []
    real = builtin.read_text

    def noted(root: str, path: str, bytes_max: int) -> tuple[tuple[int, int, int], str]:
        read.append(path)
        return real(root, path, bytes_max)

    monkeypatch.setattr(builtin, "read_text", noted)
    source.search("tabs", 5)
    assert read == []
    write(tmp_path, {"user.md": "Prefers blanks, of course."})
    source.search("tabs", 5)
    assert read == ["user.md"]


def test_reading_leaves_no_trace(tmp_path: Path) -> None:
    source = write(tmp_path, FILES)
    before = sorted((str(p), p.stat().st_mtime_ns) for p in tmp_path.rglob("*"))
    source.search("tabs", 5)
    assert sorted((str(p), p.stat().st_mtime_ns) for p in tmp_path.rglob("*")) == before


# What is not read


def test_no_way_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("the secret needle")
    source = write(tmp_path / "inside", {"a.md": "a needle"})
    (tmp_path / "inside" / "link.md").symlink_to(outside / "secret.md")
    (tmp_path / "inside" / "folder").symlink_to(outside)
    (tmp_path / "inside" / "loop").symlink_to(tmp_path / "inside")
    found = source.search("needle", 5)
    assert [excerpt.where for excerpt in found] == ["a.md, line 1"]
    assert found.notes == []


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    source = FolderSource("notes", str(tmp_path / "link"))
    assert places(source, "tabs") == ["user.md, line 1"]


def test_only_notes_are_read(tmp_path: Path) -> None:
    names = [
        "a.md",
        "b.txt",
        "c.mdx",
        "d.py",
        "e.json",
        ".env",
        ".hidden/f.md",
        "node_modules/g.md",
    ]
    source = write(tmp_path, dict.fromkeys(names, "a needle"))
    assert sorted(places(source, "needle", 9)) == [
        f"{n}, line 1" for n in ("a.md", "b.txt", "c.mdx")
    ]


def test_what_cannot_be_read_is_said_and_the_rest_is_found(tmp_path: Path) -> None:
    source = write(tmp_path, {"a.md": "a needle", "b.md": "x"})
    (tmp_path / "b.md").write_bytes(b"a needle \xff\xfe")
    found = source.search("needle", 5)
    assert [excerpt.where for excerpt in found] == ["a.md, line 1"]
    assert found.notes == ["b.md: It is not UTF-8 text: byte 9 cannot be read."]
    assert "1 file, 1 passage." in source.state()


def test_there_are_bounds_and_they_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin, "FILES_MAX", 2)
    monkeypatch.setattr(builtin, "FILE_BYTES_MAX", 100)
    source = write(tmp_path, {f"{name}.md": "a needle" for name in "abcd"} | {"e.md": "x" * 101})
    found = source.search("needle", 9)
    assert [excerpt.where for excerpt in found] == ["a.md, line 1", "b.md, line 1"]
    assert found.notes == ["e.md has more than 100 bytes; it is not read. (1 of 2 problems)"]
    assert "2 more files are beyond what is read of a folder." in source.state()
    monkeypatch.setattr(builtin, "BYTES_MAX", 10)
    assert places(source, "needle", 9) == ["a.md, line 1"]


def test_a_folder_that_is_a_whole_disk_is_not_walked_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin, "ENTRIES_MAX", 3)
    source = write(tmp_path, {f"{name}/a.md": "a needle" for name in "abcdefgh"})
    found = source.search("needle", 9)
    assert 0 < len(found) < 8
    assert found.notes == [".: there are more than 3 entries, so the rest is not read."]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no folder"):
        FolderSource("notes", str(tmp_path / "none")).search("x", 5)


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    assert places(FolderSource("notes", str(tmp_path)), "needle") == []

"""Stores that come as plugins: the example keeps every promise and is found by its entry point."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from holdfast.engine.writing.redacting_store import unguarded
from holdfast.errors import InvalidSetting, StoreDamaged, StoreError, StoreTooNew
from holdfast.store.base import Store
from holdfast.store.values import Capability
from holdfast.testing import StoreConformance, open_for_tests
from holdfast.wiring import open_store

EXAMPLE = Path(__file__).parents[2] / "examples" / "json_store"
sys.path.insert(0, str(EXAMPLE / "src"))

from holdfast_json_store import JsonStore  # noqa: E402 - it is not installed, only found there


class TestJsonStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return JsonStore(str(tmp_path / "memory.json"))


def _install(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    def entry_points(*, group: str) -> EntryPoints:
        return EntryPoints(points).select(group=group)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


def _example() -> EntryPoint:
    """The entry point as the example's own project file declares it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"]["holdfast.stores"].items()
    return EntryPoint(name, value, "holdfast.stores")


def test_a_plugin_is_found_by_its_entry_point_and_used_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(monkeypatch, _example())
    url = f"json:{tmp_path}/memory.json"
    with open_for_tests(tmp_path, settings={"store.url": url}) as memory:
        assert type(unguarded(memory.core.store)) is JsonStore
        memory.hub().remember("Prefers tabs over spaces")
        hits = memory.hub().recall("tabs")
        assert [hit.memory.content for hit in hits] == ["Prefers tabs over spaces"]
    assert not (tmp_path / "memory.db").exists()
    with open_for_tests(tmp_path, settings={"store.url": url}) as memory:
        assert len(memory.hub().list()) == 1


def test_a_store_that_is_not_installed_is_an_error_at_construction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(monkeypatch, _example())
    with pytest.raises(InvalidSetting, match="No store is installed for `redis:`") as caught:
        open_store("redis:somewhere")
    assert "json" in caught.value.hint
    with pytest.raises(InvalidSetting), open_for_tests(tmp_path, settings={"store.url": "redis:x"}):
        pass


def test_two_plugins_of_one_name_are_an_error_at_construction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _install(monkeypatch, _example(), EntryPoint("json", "other:open_store", "holdfast.stores"))
    with pytest.raises(InvalidSetting, match="exactly one can be primary") as caught:
        open_store("json:somewhere")
    assert "other:open_store" in str(caught.value)
    assert "Uninstall" in caught.value.hint


def test_a_plugin_of_another_group_is_not_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, EntryPoint("json", "holdfast_json_store:open_store", "other.group"))
    with pytest.raises(InvalidSetting, match="No store is installed"):
        open_store("json:somewhere")


@pytest.mark.parametrize("url", ["", ":", "no store", "/a/path", "3:x"])
def test_what_is_no_url_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, _example())
    with pytest.raises(InvalidSetting):
        open_store(url)


# The example's own promises


def test_a_write_that_cannot_be_saved_leaves_file_and_memory_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JsonStore(str(tmp_path / "memory.json"))
    with open_for_tests(tmp_path, store=store) as memory:
        memory.hub().remember("First.")
        before = (tmp_path / "memory.json").read_bytes()

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            memory.hub().remember("Second.")
        assert len(memory.hub().list()) == 1
        assert (tmp_path / "memory.json").read_bytes() == before
        monkeypatch.undo()
        memory.hub().remember("Third.")
    assert len(open_for_tests(tmp_path, store=JsonStore(store.path)).hub().list()) == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"type": "other"}', '{"type": "holdfast-json-store"}']
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "memory.json"
    path.write_text(text)
    with pytest.raises(StoreDamaged):
        JsonStore(str(path))
    assert path.read_text() == text


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(json.dumps({"type": "holdfast-json-store", "version": 2, "state": {}}))
    with pytest.raises(StoreTooNew):
        JsonStore(str(path))


def test_the_file_is_for_its_owners_eyes(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path / "memory.json"))
    with store.write():
        pass
    assert (tmp_path / "memory.json").stat().st_mode & 0o777 == 0o600
    assert Capability.MULTI_PROCESS not in store.capabilities

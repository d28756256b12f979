"""A hub's name is taken once on a machine. Whoever comes by a key does not learn of names that are
taken by hubs they do not see: they get the name, and the hub goes by another on the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast import AlreadyExists, Holdfast, HubMemory, InvalidInput, NotFound
from holdfast.text.clean import HUB_NAME_CHARS_MAX, clean_hub_name
from tests.unit.engine.test_teams import caller


def test_a_name_of_a_hub_that_is_not_seen_is_free(memory: Holdfast, hub: HubMemory) -> None:
    hub.remember("Ours")
    bob = caller(memory, "bob")
    made = bob.create_hub("work")
    assert (made.name, made.info.owner) == ("work", "bob")
    assert made.id != hub.id
    made.remember("His")
    assert [one.content for one in bob.hub("work").list()] == ["His"]
    assert [one.content for one in hub.list()] == ["Ours"]
    assert [found.called for found, _ in bob.hubs()] == ["work"]
    # On the machine it has a name of its own, and a folder.
    (other,) = (one.name for one in memory.hubs() if one.name != "work")
    assert clean_hub_name(other) == other
    assert made.folder == os.path.join(memory.home, "hubs", other)
    assert [one.content for one in memory.hub(other).list()] == ["His"]


def test_a_name_that_is_seen_is_refused(memory: Holdfast, hub: HubMemory) -> None:
    bob = caller(memory, "bob")
    bob.create_hub("work")
    with pytest.raises(AlreadyExists):
        bob.create_hub("work")
    bob.create_hub("garden")
    with pytest.raises(AlreadyExists):
        bob.rename_hub(bob.hub_standing("garden")[0], "work")


def test_a_rename_takes_any_name_that_is_not_seen(memory: Holdfast, hub: HubMemory) -> None:
    bob = caller(memory, "bob")
    made = bob.create_hub("garden")
    made.sync()
    bob.rename_hub(bob.hub_standing("garden")[0], "work")
    here = bob.hub("work")
    assert (here.id, here.name) == (made.id, "work")
    assert os.path.isfile(here.memory_md)
    bob.rename_hub(bob.hub_standing("work")[0], "field")
    assert memory.hub("field").id == made.id
    with pytest.raises(NotFound):
        bob.hub("work")


def test_of_two_hubs_of_one_name_ones_own_is_meant(memory: Holdfast, hub: HubMemory) -> None:
    bob = caller(memory, "bob")
    mine = bob.create_hub("work")
    memory.set_member("bob", "viewer", hub="work")
    assert bob.hub("work").id == mine.id
    assert bob.hub(hub.id).id == hub.id
    assert [found.id for found, _ in bob.hubs()] == sorted([hub.id, mine.id])
    eve = caller(memory, "eve")
    memory.set_member("eve", "viewer", hub="work")
    memory.set_member("eve", "viewer", hub=mine.info.name)
    with pytest.raises(InvalidInput, match="Several hubs are called `work`"):
        eve.hub("work")
    only = caller(memory, "eve", hubs=[mine.id])
    assert only.hub("work").id == mine.id


def test_the_name_on_the_machine_tells_a_caller_nothing(memory: Holdfast, hub: HubMemory) -> None:
    bob = caller(memory, "bob")
    made = bob.create_hub("work")
    with pytest.raises(NotFound):
        bob.hub(made.info.name)
    assert made.info.name not in "".join(made.export())
    held = bob.hub("work")
    memory.rename_hub(made.info.name, "known")
    assert bob.hub("known").name == "known"
    # One that was opened before learns of it with its files.
    held.sync()
    assert (held.name, held.folder) == ("known", memory.hub("known").folder)


def test_files_are_the_same_whoever_writes_them(memory: Holdfast, hub: HubMemory) -> None:
    made = caller(memory, "bob").create_hub("work")
    made.remember("Prefers tabs", category="preference")
    made.sync()
    before = Path(made.memory_md).read_text()
    here = memory.hub(made.info.name)
    here.sync()
    assert Path(here.memory_md).read_text() == before
    assert made.info.name not in before


def test_the_longest_name_stays_one(memory: Holdfast) -> None:
    long = "n" * HUB_NAME_CHARS_MAX
    memory.create_hub(long)
    made = caller(memory, "bob").create_hub(long)
    assert made.name == long
    assert clean_hub_name(made.info.name) == made.info.name != long

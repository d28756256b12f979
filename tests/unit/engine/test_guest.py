"""Who comes in by a key reaches what they may reach, and learns of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Forbidden, Holdfast, HubMemory, NotFound
from holdfast.domain.access import ACTS, ROLES, Act
from holdfast.engine import access, keys
from holdfast.guest import Guest


def guest(memory: Holdfast, actor: str, **scope: Any) -> Guest:
    handed = keys.create_key(memory.core, "laptop", actor=actor, **scope)
    key = keys.find_key(memory.core, handed.secret)
    assert key is not None
    return Guest(memory, key)


def test_who_has_the_machine_has_everything(memory: Holdfast, hub: HubMemory) -> None:
    me = Guest(memory)
    assert [found.name for found, _ in me.hubs()] == ["work"]
    for act in ACTS:
        assert me.hub("work", act).name == "work"
    assert me.hub().name == "default"


@pytest.mark.parametrize("role", ROLES)
def test_a_key_does_what_its_actors_role_allows(
    memory: Holdfast, hub: HubMemory, role: Any
) -> None:
    access.set_member(memory.core, "hub", hub.id, "bob", role)
    bob = guest(memory, "bob")
    _, standing = bob.stands("work")
    for act in ACTS:
        if standing.allows(act):
            assert bob.hub(hub.id, act).core.actor == "bob"
        else:
            with pytest.raises(Forbidden, match="You may not"):
                bob.hub("work", act)


def test_a_hub_out_of_reach_reads_like_none(memory: Holdfast, hub: HubMemory) -> None:
    memory.create_hub("other")
    eve = guest(memory, "eve")
    bob = guest(memory, "bob", hubs=[hub.id])
    access.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    access.set_member(memory.core, "hub", memory.hub("other").id, "bob", "owner")
    for who, name in ((eve, "work"), (eve, hub.id), (bob, "other")):
        with pytest.raises(NotFound) as there:
            who.stands(name)
        with pytest.raises(NotFound) as nowhere:
            who.stands("nowhere")
        assert str(there.value).replace(name, "X") == str(nowhere.value).replace("nowhere", "X")
    assert eve.hubs() == []
    assert [found.name for found, _ in bob.hubs()] == ["work"]


@pytest.mark.parametrize("act", ["write", "delete_own", "manage"])
def test_a_key_that_only_reads_says_that_it_is_the_key(
    memory: Holdfast, hub: HubMemory, act: Act
) -> None:
    access.set_member(memory.core, "hub", hub.id, "bob", "owner")
    with pytest.raises(Forbidden, match="This key does not allow it"):
        guest(memory, "bob", read_only=True).hub("work", act)


def test_what_they_write_is_theirs_and_private_stays_so(memory: Holdfast, hub: HubMemory) -> None:
    access.set_member(memory.core, "hub", hub.id, "bob", "contributor")
    theirs = guest(memory, "bob").hub("work", "write")
    made = theirs.remember("Bob's own", boundary="private").memory
    assert made.owner == "bob"
    assert hub.list() == []
    assert [one.content for one in theirs.list()] == ["Bob's own"]


def test_own_and_others_are_deleted_by_policy(memory: Holdfast, hub: HubMemory) -> None:
    access.set_member(memory.core, "hub", hub.id, "bob", "contributor")
    mine = hub.remember("Mine").memory
    bob = guest(memory, "bob")
    theirs = bob.hub("work", "write").remember("Bob's").memory
    for policy, own, other in (("none", 0, 0), ("own", 1, 0), ("any", 1, 1)):
        access.set_card(memory.core, hub.id, delete_policy=policy)
        _, standing = bob.stands("work")
        for memory_, allowed in ((theirs, own), (mine, other)):
            if allowed:
                bob.require_delete(standing, memory_, "work")
            else:
                with pytest.raises(Forbidden):
                    bob.require_delete(standing, memory_, "work")


def test_a_guest_makes_hubs_of_their_own(memory: Holdfast, hub: HubMemory) -> None:
    made = guest(memory, "bob").create_hub("bobs")
    assert made.info.owner == "bob"
    for scope in ({"read_only": True}, {"hubs": [hub.id]}):
        with pytest.raises(Forbidden):
            guest(memory, "bob", **scope).create_hub("another")

"""Who comes in by a key reaches what they may reach, and learns of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Forbidden, Holdfast, HubMemory, NotFound
from holdfast.api.caller import Caller
from holdfast.domain.hub import ACTS, ROLES, Act
from holdfast.engine.people import keys, members


def caller(memory: Holdfast, actor: str, **scope: Any) -> Caller:
    handed = keys.create_key(memory.core, "laptop", actor=actor, **scope)
    key = keys.find_key(memory.core, handed.secret)
    assert key is not None
    return Caller(memory, key)


def test_who_has_the_machine_has_everything(memory: Holdfast, hub: HubMemory) -> None:
    me = Caller(memory)
    assert [found.name for found, _ in me.hubs()] == ["work"]
    for act in ACTS:
        assert me.hub("work", act).name == "work"
    assert me.hub().name == "default"


@pytest.mark.parametrize("role", ROLES)
def test_a_key_does_what_its_actors_role_allows(
    memory: Holdfast, hub: HubMemory, role: Any
) -> None:
    members.set_member(memory.core, "hub", hub.id, "bob", role)
    bob = caller(memory, "bob")
    _, standing = bob.hub_standing("work")
    for act in ACTS:
        if standing.allows(act):
            assert bob.hub(hub.id, act).core.actor == "bob"
        else:
            with pytest.raises(Forbidden, match="You may not"):
                bob.hub("work", act)


def test_a_hub_out_of_reach_reads_like_none(memory: Holdfast, hub: HubMemory) -> None:
    memory.create_hub("other")
    eve = caller(memory, "eve")
    bob = caller(memory, "bob", hubs=[hub.id])
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    members.set_member(memory.core, "hub", memory.hub("other").id, "bob", "owner")
    for who, name in ((eve, "work"), (eve, hub.id), (bob, "other")):
        with pytest.raises(NotFound) as there:
            who.hub_standing(name)
        with pytest.raises(NotFound) as nowhere:
            who.hub_standing("nowhere")
        assert str(there.value).replace(name, "X") == str(nowhere.value).replace("nowhere", "X")
    assert eve.hubs() == []
    assert [found.name for found, _ in bob.hubs()] == ["work"]


@pytest.mark.parametrize("act", ["write", "delete_own", "manage"])
def test_a_key_that_only_reads_says_that_it_is_the_key(
    memory: Holdfast, hub: HubMemory, act: Act
) -> None:
    members.set_member(memory.core, "hub", hub.id, "bob", "owner")
    with pytest.raises(Forbidden, match="This key does not allow it"):
        caller(memory, "bob", read_only=True).hub("work", act)


def test_what_they_write_is_theirs_and_private_stays_so(memory: Holdfast, hub: HubMemory) -> None:
    members.set_member(memory.core, "hub", hub.id, "bob", "contributor")
    theirs = caller(memory, "bob").hub("work", "write")
    made = theirs.remember("Bob's own", boundary="private").memory
    assert made.owner == "bob"
    assert hub.list() == []
    assert [one.content for one in theirs.list()] == ["Bob's own"]


def test_own_and_others_are_deleted_by_policy(memory: Holdfast, hub: HubMemory) -> None:
    members.set_member(memory.core, "hub", hub.id, "bob", "contributor")
    bob = caller(memory, "bob")
    for policy, own, other in (("none", 0, 0), ("own", 1, 0), ("any", 1, 1)):
        members.set_card(memory.core, hub.id, delete_policy=policy)
        here = bob.hub("work")
        mine = hub.remember(f"Mine under {policy}").memory
        theirs = here.remember(f"Bob's under {policy}").memory
        for one, allowed in ((theirs, own), (mine, other)):
            if allowed:
                here.forget(one.id)
                here.purge(one.id)
                continue
            for act in (here.forget, here.purge):
                with pytest.raises(Forbidden):
                    act(one.id)
            assert hub.get(one.id).content == one.content


def test_no_way_of_writing_is_open_to_who_may_only_read(memory: Holdfast, hub: HubMemory) -> None:
    mine = hub.remember("Prefers tabs", key="tabs").memory
    hub.journal_add("Ran ten miles")
    hub.sync()
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    before = list(hub.export())
    for here in (
        caller(memory, "bob").hub("work"),
        caller(memory, memory.core.actor, read_only=True).hub("work"),
    ):
        acts: list[Any] = [
            lambda here: here.remember("New"),
            lambda here: here.remember_many(["New", "Newer"]),
            lambda here: list(here.remember_stream(["New"])),
            lambda here: here.remember("New", key="tabs"),
            lambda here: here.remember("New", supersedes=mine.id),
            lambda here: here.update(mine.id, content="New"),
            lambda here: here.pin(mine.id),
            lambda here: here.archive(mine.id),
            lambda here: here.forget(mine.id),
            lambda here: here.purge(mine.id),
            lambda here: here.undo(hub.changes()[0].id),
            lambda here: here.journal_add("New"),
            lambda here: here.log_turn("user", "New"),
        ]
        for number, act in enumerate(acts):
            with pytest.raises(Forbidden):
                act(here)
            assert list(hub.export()) == before, number


def test_a_caller_who_reads_takes_in_what_was_edited_in_the_owners_name(
    memory: Holdfast, hub: HubMemory
) -> None:
    from pathlib import Path

    hub.remember("Prefers tabs", category="preference")
    hub.remember("Only mine", boundary="private")
    hub.sync()
    path = Path(hub.memory_md)
    path.write_text(path.read_text().replace("Prefers tabs", "Prefers spaces"))
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    bob = caller(memory, "bob").hub("work")
    assert [one.content for one in bob.list()] == ["Prefers spaces"]
    assert hub.changes()[0].actor == memory.core.actor
    for style in ("plain", "xml", "max", "maven", "minion"):
        assert "Only mine" not in bob.context(style=style)


def test_a_caller_makes_hubs_of_their_own(memory: Holdfast, hub: HubMemory) -> None:
    made = caller(memory, "bob").create_hub("bobs")
    assert made.info.owner == "bob"
    for scope in ({"read_only": True}, {"hubs": [hub.id]}):
        with pytest.raises(Forbidden):
            caller(memory, "bob", **scope).create_hub("another")


def test_an_export_tells_a_caller_no_number_that_they_do_not_see(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.remember("Shared")
    hub.remember("Mine", boundary="private")
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    lines = list(caller(memory, "bob").hub("work").export())
    assert '"numbers":1' in lines[0].replace(" ", "")
    assert "Mine" not in "".join(lines)


def test_who_sees_anothers_memory_is_for_who_manages_the_hub(
    memory: Holdfast, hub: HubMemory
) -> None:
    mine = hub.remember("Mine").memory
    members.set_member(memory.core, "hub", hub.id, "bob", "contributor")
    with pytest.raises(Forbidden):
        caller(memory, "bob").hub("work").update(mine.id, boundary="org")
    assert hub.get(mine.id).boundary == "hub"
    members.set_member(memory.core, "hub", hub.id, "bob", "admin")
    assert caller(memory, "bob").hub("work").update(mine.id, boundary="org").boundary == "org"


def test_without_a_name_it_is_the_only_hub_in_reach(memory: Holdfast, hub: HubMemory) -> None:
    bob = caller(memory, "bob")
    with pytest.raises(NotFound, match="no hub that you can reach"):
        bob.hub_standing()
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    assert bob.hub_standing()[0].name == "work"
    other = memory.create_hub("other")
    members.set_member(memory.core, "hub", other.id, "bob", "viewer")
    with pytest.raises(NotFound, match=r"Say which hub you mean\. Yours are other, work\."):
        bob.hub_standing()
    default = memory.hub()
    members.set_member(memory.core, "hub", default.id, "bob", "viewer")
    assert bob.hub_standing()[0].name == "default"


def test_a_key_is_revoked_by_its_name_where_one_valid_key_has_it(memory: Holdfast) -> None:
    bob = caller(memory, "bob").people()
    first = keys.create_key(memory.core, "ci", actor="bob").what
    assert bob.revoke_key("ci").id == first.id
    again = keys.create_key(memory.core, "ci", actor="bob").what
    assert bob.revoke_key("ci").id == again.id
    for _ in range(2):
        keys.create_key(memory.core, "ci", actor="bob")
    with pytest.raises(NotFound):
        bob.revoke_key("ci")
    keys.create_key(memory.core, "theirs", actor="eve")
    with pytest.raises(NotFound):
        bob.revoke_key("theirs")


def test_a_limited_key_learns_nothing_about_the_names_of_other_keys(memory: Holdfast) -> None:
    keys.create_key(memory.core, "ci", actor="bob")
    limited = caller(memory, "bob", read_only=True).people()
    with pytest.raises(NotFound):
        limited.revoke_key("ci")
    assert limited.revoke_key("laptop").revoked_at is not None

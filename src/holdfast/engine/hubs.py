"""Hubs: create, find, list, rename, delete. Every operation looks up its hub, so functions other
than `find_hub` import their dependencies themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.hub import Hub
from holdfast.engine.core import Core, require_hub
from holdfast.errors import AlreadyExists, NotFound
from holdfast.text.clean import HUB_NAME_CHARS_MAX, clean_hub_name
from holdfast.text.names import refuse_confusable

if TYPE_CHECKING:
    from holdfast.domain.hub import PersonName
    from holdfast.store.base import Reader, Writer

# Enough to distinguish hubs with the same label. Shown only on the machine itself.
_MARK_CHARS = 6


def create_hub(core: Core, name: str, *, seen_by: PersonName | None = None) -> Hub:
    """Creates a hub, owned by the actor. `seen_by` is a caller with a key, who sees only some hubs;
    they may use a name that is taken by a hub they cannot see."""
    from holdfast.engine.people import records

    name = _new_name(core, name)
    with core.store.write() as writer:
        own = _free_name(core, writer, name, seen_by)
        if own is None:
            raise AlreadyExists(
                f"There is a hub `{name}` already.", hint=f'Use it with memory.hub("{name}").'
            )
        hub = Hub(core.ids.next("hub"), own, core.actor, core.now())
        writer.add_hub(hub)
        records.note(writer, hub.owner, "hub", hub.id, hub.created_at)
        return _labelled(core, writer, hub, name)


def _new_name(core: Core, name: str) -> str:
    name = clean_hub_name(name)
    refuse_confusable(name, "the hub")
    core.redactor.refuse_in_name(name, "name of the hub")
    return name


def _free_name(core: Core, writer: Writer, name: str, seen_by: PersonName | None) -> str | None:
    """The name itself; a similar one if a hub that `seen_by` cannot see has it; None if it is
    taken."""
    from holdfast.engine.people.members import seen_as

    if seen_by is not None and seen_as(writer, name, seen_by):
        return None
    if writer.hub(name) is None:
        return name
    if seen_by is None:
        return None
    while True:
        mark = core.ids.next("hub").lower()[-_MARK_CHARS:]
        like = f"{name[: HUB_NAME_CHARS_MAX - _MARK_CHARS - 1]}-{mark}"
        if writer.hub(like) is None:
            return like


def _labelled(core: Core, writer: Writer, hub: Hub, name: str) -> Hub:
    """The hub with the name that callers with a key use as its label. A label is stored only where
    it differs from the name."""
    from holdfast.engine.people.records import card_of, put_card

    label = "" if hub.name == name else name
    card = card_of(writer, hub.id)
    if card.label != label:
        put_card(writer, card._replace(label=label), core.now())
    return hub._replace(label=label)


def find_hub(core: Core, name: str, *, create: bool = False) -> Hub:
    """Finds the hub of that name; `create` creates it if it is missing."""
    name = clean_hub_name(name)
    with core.store.read() as reader:
        hub = reader.hub(name)
        moving = hub is not None and hub.state != "active" and is_being_moved(reader, hub)
    if hub is not None and hub.state == "active":
        return hub
    if moving:
        raise NotFound(
            f"The hub `{name}` is still being moved or restored, or that was broken off.",
            hint="Wait for it, or run the same `holdfast restore-backup` or `holdfast move` again.",
        )
    if hub is not None:
        raise NotFound(
            f"The hub `{name}` is still being imported, or an import was broken off.",
            hint="Wait for it, or remove what it left with `holdfast doctor --fix`.",
        )
    if create:
        try:
            return create_hub(core, name)
        except AlreadyExists:
            # Another process created it first.
            return find_hub(core, name)
    raise NotFound(
        f"There is no hub `{name}`.",
        hint="Create it first.",
        command=f"Make it: `holdfast hub create {name}`.",
    )


def is_being_moved(reader: Reader, hub: Hub) -> bool:
    """Whether an incomplete hub comes from another store, and not from an export."""
    from holdfast.domain.records import NO_HUB
    from holdfast.engine.transfer.export_format import MOVE

    return reader.record(NO_HUB, MOVE, hub.id) is not None


def is_unused(reader: Reader, hub: Hub) -> bool:
    """Whether a hub has no memories, history, files or other members."""
    from holdfast.engine.people.records import members_of

    return not (
        hub.numbers
        or reader.changes(hub.id, limit=1)
        or reader.turns(hub.id, limit=1)
        or any(True for _ in reader.scan_agreed(hub.id))
        or any(True for _ in reader.scan_records(hub.id))
        or any(members_of(reader, "hub", hub.id))
    )


def list_hubs(core: Core) -> list[Hub]:
    with core.store.read() as reader:
        return [hub for hub in reader.hubs() if hub.state == "active"]


def rename_hub(core: Core, name: str, new: str, *, seen_by: PersonName | None = None) -> Hub:
    """Renames a hub; `seen_by` as in `create_hub`."""
    new = _new_name(core, new)
    hub = find_hub(core, name)
    with core.store.write() as writer:
        require_hub(writer, hub.id, name)
        own = _free_name(core, writer, new, seen_by)
        if own is None:
            raise AlreadyExists(f"There is a hub `{new}` already.", hint="Choose another name.")
        writer.rename_hub(hub.id, own)
        return _labelled(core, writer, hub._replace(name=own), new)


def delete_hub(core: Core, name: str) -> Hub:
    """Deletes the hub and everything in it permanently. `clear_purged` then clears the freed pages
    of the store's file."""
    hub = find_hub(core, name)
    with core.store.write() as writer:
        require_hub(writer, hub.id, name)
        drop_hub(writer, hub)
    return hub


def drop_hub(writer: Writer, hub: Hub) -> None:
    """Removes a hub, its members and the stored answers to requests about it."""
    from holdfast.engine import idempotency

    _forget_belongings(writer, hub)
    writer.drop_hub(hub.id)
    idempotency.blank_hub(writer, hub.id)


def _forget_belongings(writer: Writer, hub: Hub) -> None:
    from holdfast.domain.hub import HubCard
    from holdfast.engine.people import records
    from holdfast.engine.people.records import members_of, put_card

    put_card(writer, HubCard(hub.id), hub.created_at)
    records.drop(writer, hub.owner, "hub", hub.id)
    for member in list(members_of(writer, "hub", hub.id)):
        records.drop(writer, member.actor, "hub", hub.id)
        look = records.look_of(hub.id, member.actor)
        records.drop(writer, look, "look", member.actor)

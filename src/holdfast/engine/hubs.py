"""Hubs: make, find, list, rename, delete."""

from __future__ import annotations

from holdfast.domain.hub import Hub
from holdfast.engine.core import Core, require_hub
from holdfast.errors import AlreadyExists, NotFound
from holdfast.text.normalise import clean_hub_name


def create_hub(core: Core, name: str) -> Hub:
    name = clean_hub_name(name)
    with core.store.write() as writer:
        if writer.hub(name) is not None:
            raise AlreadyExists(
                f"There is a hub `{name}` already.", hint=f'Use it with memory.hub("{name}").'
            )
        hub = Hub(core.ids.next("hub"), name, core.actor, core.now())
        writer.add_hub(hub)
        return hub


def find_hub(core: Core, name: str, *, create: bool = False) -> Hub:
    """The hub of that name; `create` makes it where it is missing."""
    name = clean_hub_name(name)
    with core.store.read() as reader:
        hub = reader.hub(name)
    if hub is not None and hub.state == "active":
        return hub
    if hub is not None:
        raise NotFound(
            f"The hub `{name}` is still being imported, or an import was broken off.",
            hint="Wait for it, or remove what it left with `holdfast doctor --fix`.",
        )
    if create:
        try:
            return create_hub(core, name)
        except AlreadyExists:
            # Another process was faster.
            return find_hub(core, name)
    raise NotFound(f"There is no hub `{name}`.", hint=f"Make it: `holdfast hub create {name}`.")


def list_hubs(core: Core) -> list[Hub]:
    with core.store.read() as reader:
        return [hub for hub in reader.hubs() if hub.state == "active"]


def rename_hub(core: Core, name: str, new: str) -> Hub:
    new = clean_hub_name(new)
    hub = find_hub(core, name)
    with core.store.write() as writer:
        require_hub(writer, hub.id, name)
        if writer.hub(new) is not None:
            raise AlreadyExists(f"There is a hub `{new}` already.", hint="Choose another name.")
        writer.rename_hub(hub.id, new)
        return hub._replace(name=new)


def delete_hub(core: Core, name: str) -> Hub:
    """Removes the hub and everything in it, for good."""
    from holdfast.engine import kept_answers

    hub = find_hub(core, name)
    with core.store.write() as writer:
        require_hub(writer, hub.id, name)
        writer.drop_hub(hub.id)
        kept_answers.blank(writer, [hub.id])
    core.store.settle()
    return hub

"""What a hub does by itself, as methods: the part of HubMemory that passes and the review inbox
are. Thin, like the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core


class HubPasses:
    """The methods of a hub that are about automatic memory."""

    core: Core
    info: Hub
    home: str

"""What a hub does by itself, as methods: the part of HubMemory that passes and the review inbox
are. Thin, like the rest of it."""

from __future__ import annotations

from holdfast.hub_base import HubBase


class HubPasses(HubBase):
    """The methods of a hub that are about automatic memory."""

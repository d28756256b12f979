"""What the bodies of all requests have in common: a field that is not known is an error and not
ignored, and a value has the type that is written down, not one that could be made into it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """A body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)

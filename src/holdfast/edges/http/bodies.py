"""What the bodies of all requests have in common: a field that is not known is an error and not
ignored, and a value has the type that is written down, not one that could be made into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Body(BaseModel):
    """A body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_half_characters(cls, given: Any) -> Any:
        """JSON can spell half a character, which no store and no answer can hold."""
        waiting = [given]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Mapping):
                waiting += [*one, *one.values()]
            elif isinstance(one, list):
                waiting += one
            elif isinstance(one, str):
                try:
                    one.encode()
                except UnicodeEncodeError:
                    raise ValueError("a text holds half a character (a lone surrogate)") from None
        return given

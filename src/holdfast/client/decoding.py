"""Reads the answers of a server as values of the library, and says in a sentence what cannot be
read or sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar

from holdfast.api import wire
from holdfast.errors import HoldfastError, InvalidInput

_Kind = TypeVar("_Kind", bound=type)
_Value = TypeVar("_Value")


def decoded(url: str, kind: Callable[..., _Value], data: Mapping[str, Any], **more: Any) -> _Value:
    """A value of that type from the answer of a server, and from what is known besides."""
    try:
        value: _Value = wire.coder(kind).decode({**data, **more})
    except wire.WireError as error:
        raise other_version(url, str(error)) from error
    return value


def understanding(kind: _Kind) -> _Kind:
    """Lets the public methods of a class say in a sentence that something cannot be sent, or that a
    server's answer lacks something."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and isfunction(method):
            setattr(kind, name, _in_a_sentence(method))
    return kind


def _in_a_sentence(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def asked(self: Any, *args: Any, **given: Any) -> Any:
        try:
            return method(self, *args, **given)
        except UnicodeEncodeError:
            raise not_text() from None
        except KeyError as error:
            raise other_version(self.server.url, f"without {error}") from error

    return asked


def other_version(url: str, what: str) -> HoldfastError:
    """An answer that cannot be read; `what` completes "the server answers …"."""
    return HoldfastError(
        f"{url} answers {what}, which this version cannot read.",
        hint="Use the same version of Holdfast here and there.",
    )


def not_text() -> InvalidInput:
    return InvalidInput(
        "What was given holds characters that are no text, such as half of a pair.",
        hint="Leave them out.",
    )

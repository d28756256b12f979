"""Encodes the arguments and the result of an operation for a client and a server.

Both sides read the type hints of the methods of `HubMemory` and `People`; an operation has no other
description. `api/codec.py` converts the values.
"""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, Unpack, get_args, get_origin, is_typeddict

from holdfast.api.codec import Coder, WireError, class_hints, coder, type_hints
from holdfast.errors import InvalidInput


class Coders(NamedTuple):
    """Encodes and decodes the arguments and the result of one operation."""

    arguments: dict[str, Coder]
    required: tuple[str, ...]
    # For a stream, the coder of each item.
    result: Coder


def bind(
    method: Callable[..., Any], args: tuple[Any, ...], values: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of an operation's call by name, without `self`. Raises TypeError if they do not
    fit."""
    signature = _signature(method)
    bound = signature.bind(None, *args, **values).arguments
    del bound["self"]
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            bound.update(bound.pop(name, {}))
    return bound


@cache
def _signature(method: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(method)


@cache
def coders_of(method: Callable[..., Any]) -> Coders:
    """The coders of an operation, made from the type hints of its method."""
    returned = returned_by(method)
    if get_origin(returned) is collections.abc.Iterator:
        (returned,) = get_args(returned)
    found = arguments_of(method)
    arguments = {one.name: coder(one.hint, strict=True) for one in found}
    return Coders(arguments, tuple(one.name for one in found if one.required), coder(returned))


def returned_by(method: Callable[..., Any]) -> Any:
    """The type that an operation returns."""
    method = inspect.unwrap(method)
    return type_hints(method, method.__globals__)["return"]


class Argument(NamedTuple):
    """One argument of an operation. `default` is REQUIRED if it must be given, and OMITTED if it
    may be left out and has no default value."""

    name: str
    hint: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


REQUIRED, OMITTED = object(), object()


def arguments_of(method: Callable[..., Any]) -> list[Argument]:
    """The arguments of an operation; keyword arguments from a TypedDict come last."""
    method = inspect.unwrap(method)
    hints = type_hints(method, method.__globals__)
    out: list[Argument] = []
    for name, parameter in _signature(method).parameters.items():
        if name == "self":
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            out += [Argument(*field, OMITTED) for field in _keyword_hints(hints[name]).items()]
            continue
        given = parameter.default is not parameter.empty
        out.append(Argument(name, hints[name], parameter.default if given else REQUIRED))
    return out


def _keyword_hints(hint: Any) -> dict[str, Any]:
    fields = get_args(hint)[0] if get_origin(hint) is Unpack else None
    if fields is None or not is_typeddict(fields):
        raise TypeError(f"{hint} does not name its keyword arguments")
    return class_hints(fields)


def encode_arguments(coders: Coders, values: Mapping[str, Any]) -> dict[str, Any]:
    """Encodes arguments as JSON. Raises InvalidInput for one that has no JSON form."""
    out = {}
    for name, value in values.items():
        if name not in coders.arguments:
            from holdfast.text.clean import one_of

            one_of(name, tuple(coders.arguments), "field")
        try:
            out[name] = coders.arguments[name].encode(value)
        except WireError as error:
            raise InvalidInput(f"`{name}` cannot be sent to a server: it came {error}.") from None
    return out


def decode_arguments(coders: Coders, data: Mapping[str, Any]) -> dict[str, Any]:
    """Decodes arguments from JSON. Raises InvalidInput for an unknown or missing one, or a wrong
    type."""
    for name in data:
        if name not in coders.arguments:
            raise InvalidInput(
                f"There is no argument {name[:100]!r} in this operation.",
                hint="Use the same version of Holdfast here and there.",
            )
    for name in coders.required:
        if name not in data:
            raise InvalidInput(f"The argument `{name}` is missing.")
    out = {}
    for name, value in data.items():
        try:
            out[name] = coders.arguments[name].decode(value)
        except WireError as error:
            raise InvalidInput(f"The argument `{name}` came {error}.") from None
    return out

"""Bodies of requests: the rules that all of them follow, and bodies that are made from the
declaration of an operation. An unknown field is an error, and a value must have the type that is
documented, not one that could be converted to it."""

from __future__ import annotations

import collections.abc
import types
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from holdfast.api.operation import PARAMETERS, operation_of
from holdfast.api.wire import OMITTED, REQUIRED, arguments_of
from holdfast.domain.memory import Origin


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


class OriginIn(Body):
    """Where in a conversation it was taken from."""

    turn: str
    start: int
    end: int
    hash: str


class Parameters(BaseModel):
    """The parameters of an address. Unknown ones are ignored, and a text is read as the type."""


def body_of(
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> Any:
    """A body with the arguments of an operation but those in `without`, each described and limited
    as it is declared. `fields` gives the type and the default of fields that differ from their
    argument, and of more fields.

    To be subclassed, so that it has a name and a docstring of its own."""
    return _model(Body, operation, without, dict(fields or {}))


def named_body(
    name: str,
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> type[BaseModel]:
    """The same with that name, described as the operation is."""
    made: type[BaseModel] = _model(Body, operation, without, dict(fields or {}), name)
    made.__doc__ = operation.__doc__
    return made


def query_of(
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> Any:
    """The same for the parameters of an address."""
    return _model(Parameters, operation, without, dict(fields or {}))


def _model(
    base: type[BaseModel],
    operation: Callable[..., Any],
    without: tuple[str, ...],
    own: dict[str, tuple[Any, Any]],
    called: str = "Fields",
) -> Any:
    declared = operation_of(operation)
    limits = {} if declared is None else declared.limits
    found: dict[str, tuple[Any, Any]] = {}
    for name, hint, default in arguments_of(operation):
        if name in own:
            found[name] = own.pop(name)
        elif name not in without:
            hint = _in_json(hint)
            given = ... if default is REQUIRED else None if default is OMITTED else default
            found[name] = (hint, _field(name, hint, given, limits.get(name)))
    made: Any = create_model
    return made(called, __base__=base, **found, **own)


def _field(name: str, hint: Any, default: Any, most: int | None) -> Any:
    """One field. A limit is the largest number, or the most items, that a server takes."""
    settings: dict[str, Any] = {}
    if most is not None:
        takes_numbers = hint is int or int in get_args(hint)
        settings = {"ge": 1, "le": most} if takes_numbers else {"max_length": most}
    if name in PARAMETERS:
        settings["description"] = PARAMETERS[name].described
    if default == ():
        return Field(default_factory=list, **settings)
    return Field(default=default, **settings)


def _in_json(hint: Any) -> Any:
    """The type of an argument as a body has it: times, zones and references are texts."""
    if hint in (datetime, tzinfo):
        return str
    if hint is Origin:
        return OriginIn
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        # A reference may be a number for the library; a body has it as text.
        kinds = [one for one in args if not (one is int and str in args)]
        return Union[tuple(dict.fromkeys(_in_json(one) for one in kinds))]  # noqa: UP007
    if origin is collections.abc.Iterable:
        return list[_in_json(args[0])]  # type: ignore[misc]
    if origin is collections.abc.Mapping:
        return dict[str, Any]
    return hint

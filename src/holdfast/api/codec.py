"""Converts values to JSON and back, guided by their type hints.

A named tuple becomes an object of its fields. There is no list of types: they are found by
following the hints of the operations. In a union, values that JSON cannot tell apart are tagged
with the name of their type: `{"kind": "Stored", "value": {…}}`. The values of a `Literal` are
checked by the operation, as for a local caller.
"""

from __future__ import annotations

import ast
import base64
import collections.abc
import inspect
import math
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta, tzinfo
from functools import cache
from importlib import import_module
from typing import (
    Any,
    Literal,
    NamedTuple,
    NewType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from holdfast.domain.change import Revision
from holdfast.domain.clock import zone_name, zone_named
from holdfast.domain.memory import Attachment, Memory
from holdfast.domain.records import (
    field_from_plain,
    field_to_plain,
    fields_from_plain,
    fields_to_plain,
    memory_from_plain,
    memory_to_plain,
)
from holdfast.engine.history import FieldDiff
from holdfast.errors import InvalidInput
from holdfast.text.clean import clean_time

# The largest integer that every store can hold.
_INT_MAX = 2**62
_KIND, _VALUE = "kind", "value"
_OBJECT = "object"


class WireError(ValueError):
    """Data sent between client and server does not fit its type. The message completes "the answer
    came …"."""

    # Whether the message already names the field.
    placed = False


class Coder(NamedTuple):
    """Encodes and decodes the values of one type. `accepts` says whether a value belongs to it."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    accepts: Callable[[Any], bool]
    # The name of the type, used as its tag in a union.
    name: str
    # The JSON types by which a union recognises it without a tag.
    plain: tuple[type, ...] = ()


@cache
def coder(hint: Any, *, strict: bool = False) -> Coder:
    """The coder for a type. Raises TypeError for a type that cannot be sent. If `strict`, unknown
    fields of a named tuple are refused; otherwise they are ignored."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if hint in _OWN:
        return _OWN[hint]
    if isinstance(hint, NewType):
        return coder(hint.__supertype__, strict=strict)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        return _union(args, strict)
    if origin is collections.abc.Callable:
        return _CALLABLE
    if origin is tuple and not (len(args) == 2 and args[1] is ...):
        return _fixed([coder(one, strict=strict) for one in args])
    if origin in _ARRAYS:
        return _array(coder(args[0], strict=strict), tuple if origin is tuple else list)
    if origin in (dict, collections.abc.Mapping):
        return _mapping(coder(args[1], strict=strict))
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return _named_tuple(hint, strict)
    if isinstance(hint, type) and issubclass(hint, list):
        return _annotated_list(hint, strict)
    raise TypeError(f"{hint} has no form in JSON")


_ARRAYS = (
    list,
    tuple,
    collections.abc.Iterable,
    collections.abc.Iterator,
    collections.abc.Sequence,
)


def type_hints(of: Any, scope: Mapping[str, Any]) -> dict[str, Any]:
    """The type hints of a function or class, evaluated with the names in `scope`. Names that the
    module imports only for type checkers are imported now."""
    imports = _type_checking_imports(scope["__name__"])
    words = set(re.findall(r"\w+", " ".join(map(str, of.__annotations__.values()))))
    named = {
        name: getattr(import_module(module), what)
        for name, (module, what) in imports.items()
        if name in words
    }
    return get_type_hints(of, dict(scope), named)


def class_hints(kind: type) -> dict[str, Any]:
    return type_hints(kind, vars(sys.modules[kind.__module__]))


@cache
def _type_checking_imports(module: str) -> dict[str, tuple[str, str]]:
    """The imports below `if TYPE_CHECKING:` of a module: name there → (module, name in that
    module)."""
    return {
        one.asname or one.name: (node.module or "", one.name)
        for found in _TYPE_CHECKING.finditer(inspect.getsource(sys.modules[module]))
        for node in ast.parse(textwrap.dedent(found[1])).body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }


_TYPE_CHECKING = re.compile(r"^if TYPE_CHECKING:\n((?:[ ][^\n]*\n|\n)+)", re.MULTILINE)


# Types with a single JSON value


def _wrong(expected: str, value: Any) -> WireError:
    return WireError(f"as {type(value).__name__} where {expected} belongs")


def _checked(kind: type, expected: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not _has_type(kind)(value):
            raise _wrong(expected, value)
        return value

    return check


def _has_type(kind: type) -> Callable[[Any], bool]:
    # In Python, a bool is also an int; in JSON it is not.
    if kind is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, kind)


def _value(kind: type, expected: str) -> Coder:
    check = _checked(kind, expected)
    return Coder(check, check, _has_type(kind), kind.__name__, (kind,))


def _int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("a whole number", value)
    if not -_INT_MAX < value < _INT_MAX:
        raise WireError("as a number that is too large")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: Any) -> float:
    if not _is_number(value) or not math.isfinite(value):
        raise _wrong("a number", value)
    return float(value)


def _unchanged(value: Any) -> Any:
    return value


def _encode_time(value: Any) -> str:
    checked = clean_time(_checked(datetime, "a time")(value))
    assert checked is not None
    return checked.isoformat()


def _decode_time(value: Any) -> datetime:
    try:
        checked = clean_time(_checked(str, "a time")(value))
    except InvalidInput as error:
        raise WireError(f"with a time that cannot be read ({error.message})") from None
    assert checked is not None
    return checked


def _encode_date(value: Any) -> str:
    if isinstance(value, datetime):
        value = clean_time(value)
        return str(value.date().isoformat())
    return str(_checked(date, "a date")(value).isoformat())


def _decode_date(value: Any) -> date:
    try:
        return date.fromisoformat(_checked(str, "a date")(value))
    except ValueError:
        raise WireError("with a date that cannot be read") from None


def _encode_span(value: Any) -> int:
    _checked(timedelta, "a timedelta")(value)
    return int(value // timedelta(microseconds=1))


def _decode_span(value: Any) -> timedelta:
    try:
        return timedelta(microseconds=_checked(int, "a number of microseconds")(value))
    except OverflowError:
        raise WireError("with a span of time that is too long") from None


def _encode_bytes(value: Any) -> str:
    return base64.b64encode(_checked(bytes, "bytes")(value)).decode("ascii")


def _decode_bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_checked(str, "bytes in base64")(value), validate=True)
    except ValueError:
        raise WireError("with bytes that are not base64") from None


def _refuse_function(value: Any) -> Any:
    raise WireError("as a function, which stays on its own machine")


_NONE = Coder(
    _checked(type(None), "null"), _checked(type(None), "null"), _has_type(type(None)), "None"
)
_CALLABLE = Coder(_refuse_function, _refuse_function, callable, "function")
_SIMPLE: dict[Any, Coder] = {
    Any: Coder(_unchanged, _unchanged, lambda value: True, "any"),
    None: _NONE,
    type(None): _NONE,
    bool: _value(bool, "true or false"),
    int: Coder(_int, _int, _has_type(int), "int", (int,)),
    float: Coder(_float, _float, _is_number, "float", (float, int)),
    str: _value(str, "text"),
    bytes: Coder(_encode_bytes, _decode_bytes, _has_type(bytes), "bytes"),
    datetime: Coder(_encode_time, _decode_time, _has_type(datetime), "datetime"),
    date: Coder(_encode_date, _decode_date, _has_type(date), "date"),
    timedelta: Coder(_encode_span, _decode_span, _has_type(timedelta), "timedelta"),
    tzinfo: Coder(
        lambda zone: zone_name(_checked(tzinfo, "a time zone")(zone)),
        lambda text: zone_named(_checked(str, "a time zone")(text)),
        _has_type(tzinfo),
        "tzinfo",
    ),
}


def _literal(values: tuple[Any, ...]) -> Coder:
    (kind,) = {type(value) for value in values}
    return _SIMPLE[kind]


# Types that contain others


def _items(value: Any) -> Iterable[Any]:
    if not _is_array(value):
        raise _wrong("a list", value)
    return value  # type: ignore[no-any-return]


def _is_array(value: Any) -> bool:
    return isinstance(value, collections.abc.Iterable) and not isinstance(
        value, str | bytes | bytearray | collections.abc.Mapping
    )


def _array(item: Coder, kind: type) -> Coder:
    return Coder(
        lambda value: [item.encode(one) for one in _items(value)],
        lambda data: kind(item.decode(one) for one in _checked(list, "a list")(data)),
        _is_array,
        "list",
        (list,),
    )


def _fixed(items: list[Coder]) -> Coder:
    def each(value: list[Any], act: str) -> list[Any]:
        if len(value) != len(items):
            raise WireError(f"with {len(value)} items where {len(items)} belong")
        return [getattr(one, act)(part) for one, part in zip(items, value, strict=True)]

    return Coder(
        lambda value: each([*_items(value)], "encode"),
        lambda data: tuple(each(_checked(list, "a list")(data), "decode")),
        _is_array,
        "list",
        (list,),
    )


def _mapping(item: Coder) -> Coder:
    def each(value: Any, act: Callable[[Any], Any]) -> dict[str, Any]:
        if not isinstance(value, collections.abc.Mapping):
            raise _wrong("an object", value)
        return {_SIMPLE[str].encode(name): act(one) for name, one in value.items()}

    return Coder(
        lambda value: each(value, item.encode),
        lambda data: each(data, item.decode),
        _has_type(collections.abc.Mapping),
        _OBJECT,
    )


def _named_tuple(kind: Any, strict: bool) -> Coder:
    fields = {
        name: _OWN_FIELDS.get((kind, name)) or coder(hint, strict=strict)
        for name, hint in class_hints(kind).items()
        if name in kind._fields
    }
    required = [name for name in kind._fields if name not in kind._field_defaults]

    def encode(value: Any) -> dict[str, Any]:
        _checked(kind, f"a {kind.__name__}")(value)
        return {
            name: _within(name, one.encode, getattr(value, name)) for name, one in fields.items()
        }

    def decode(data: Any) -> Any:
        _checked(dict, "an object")(data)
        for name in required:
            if name not in data:
                raise WireError(f"without {name!r}")
        for name in data if strict else ():
            if name not in fields:
                raise WireError(f"with {name[:100]!r}, which a {kind.__name__} does not have")
        return kind(
            **{
                name: _within(name, one.decode, data[name])
                for name, one in fields.items()
                if name in data
            }
        )

    return Coder(encode, decode, _has_type(kind), kind.__name__)


def _within(name: str, act: Callable[[Any], Any], value: Any) -> Any:
    try:
        return act(value)
    except WireError as error:
        if not error.placed:
            error = WireError(f"{error} in {name!r}")
            error.placed = True
        raise error from None


def _annotated_list(kind: Any, strict: bool) -> Coder:
    """A list with attributes, which its constructor takes after the items."""
    hints = type_hints(kind.__init__, vars(sys.modules[kind.__module__]))
    hints.pop("return", None)
    (_, hint), *rest = hints.items()
    listed = coder(hint, strict=strict)
    notes = {name: coder(one, strict=strict) for name, one in rest}

    def encode(value: Any) -> dict[str, Any]:
        _checked(kind, f"a {kind.__name__}")(value)
        extra = {name: one.encode(getattr(value, name)) for name, one in notes.items()}
        return {"items": listed.encode(value), **extra}

    def decode(data: Any) -> Any:
        # Checked because the server may be of another version.
        if not isinstance(data, dict) or "items" not in data:
            raise WireError("without 'items'")
        extra = {name: one.decode(data[name]) for name, one in notes.items() if name in data}
        return kind(listed.decode(data["items"]), **extra)

    return Coder(encode, decode, _has_type(kind), kind.__name__)


def _union(members: tuple[Any, ...], strict: bool) -> Coder:
    coders = [coder(one, strict=strict) for one in members]
    others = [one for one in coders if one is not _NONE]
    optional = len(others) < len(coders)
    if len(others) == 1:
        return _optional(others[0])
    tagged = {one.name: one for one in others if not one.plain}
    if strict and len(tagged) > 1:
        # A free-form object beside a named tuple would accept the same data without checking
        # fields.
        tagged.pop(_OBJECT, None)
    by_type: dict[type, Coder] = {}
    for one in others:
        for kind in one.plain:
            by_type.setdefault(kind, one)

    def encode(value: Any) -> Any:
        if value is None and optional:
            return None
        for name, one in tagged.items():
            if one.accepts(value):
                return {_KIND: name, _VALUE: one.encode(value)}
        for one in by_type.values():
            if one.accepts(value):
                return one.encode(value)
        raise _wrong(f"one of {', '.join(one.name for one in others)}", value)

    def decode(data: Any) -> Any:
        if data is None and optional:
            return None
        if isinstance(data, dict):
            named = tagged.get(str(data.get(_KIND)))
            if named is None or set(data) != {_KIND, _VALUE}:
                raise WireError(f"without one of {', '.join(tagged) or 'its types'}")
            return named.decode(data[_VALUE])
        for kind, one in by_type.items():
            if type(data) is kind:
                return one.decode(data)
        raise _wrong(f"one of {', '.join(one.name for one in others)}", data)

    def accepts(value: Any) -> bool:
        return any(one.accepts(value) for one in coders)

    return Coder(encode, decode, accepts, "union")


def _optional(of: Coder) -> Coder:
    return Coder(
        lambda value: None if value is None else of.encode(value),
        lambda data: None if data is None else of.decode(data),
        lambda value: value is None or of.accepts(value),
        of.name,
        of.plain,
    )


# Types with a JSON form of their own


def _decode_memory(data: Any) -> Memory:
    """A memory in the form that every route sends. Fields added by a newer server are ignored."""
    known = {name: data[name] for name in Memory._fields if name in data}
    return memory_from_plain(known)


def _decode_difference(data: Any) -> FieldDiff:
    name = data["field"]
    old, new = (field_from_plain(name, data[one]) for one in ("old", "new"))
    return FieldDiff(name, old, new, tuple(data["lines"]))


def _encode_difference(diff: FieldDiff) -> dict[str, Any]:
    old, new = (field_to_plain(diff.field, one) for one in (diff.old, diff.new))
    return {"field": diff.field, "old": old, "new": new, "lines": list(diff.lines)}


def _guarded(decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def guarded(data: Any) -> Any:
        _checked(dict, "an object")(data)
        try:
            return decode(data)
        except KeyError as error:
            raise WireError(f"without {error}") from None
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            missing = [one for one in Memory._fields if f"'{one}'" in str(error)]
            raise WireError(f"without {missing[0]!r}" if missing else f"wrong ({error})") from None

    return guarded


def _refuse_attachment(value: Any) -> Any:
    raise WireError("with a file, which is sent by itself (use remember_file)")


_OWN: dict[Any, Coder] = {
    Memory: Coder(memory_to_plain, _guarded(_decode_memory), _has_type(Memory), "Memory"),
    FieldDiff: Coder(
        _encode_difference, _guarded(_decode_difference), _has_type(FieldDiff), "FieldDiff"
    ),
    # Only an upload may attach a file to a memory.
    Attachment: Coder(_refuse_attachment, _refuse_attachment, _has_type(Attachment), "Attachment"),
}
_OWN_FIELDS: dict[tuple[Any, str], Coder] = {
    (Revision, "fields"): Coder(
        fields_to_plain,
        _guarded(fields_from_plain),
        _has_type(collections.abc.Mapping),
        _OBJECT,
    ),
}

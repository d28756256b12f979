"""Whatever an operation takes or returns comes out of JSON as it went in, by the type hints of its
method."""

from __future__ import annotations

import collections.abc
import inspect
import json
import types
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NewType, Union, Unpack, get_args, get_origin

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.api import codec, wire
from holdfast.api.hub import HubMemory
from holdfast.api.operation import remote_operations_of
from holdfast.domain.change import Revision
from holdfast.domain.memory import Attachment, Memory
from holdfast.engine.history import FieldDiff

OPERATIONS = sorted(remote_operations_of(HubMemory))

_TIMES = st.datetimes(timezones=st.just(UTC))
_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=3,
)
_OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    Any: _JSON,
    type(None): st.none(),
    bool: st.booleans(),
    int: st.integers(-(2**61), 2**61),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: _TEXTS,
    bytes: st.binary(max_size=5),
    datetime: _TIMES,
    date: st.dates(),
    timedelta: st.timedeltas(),
    tzinfo: _OFFSETS,
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as the codec is meant to know it."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if isinstance(hint, NewType):
        return values_of(hint.__supertype__)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        # Functions are refused, free objects are made into drafts before they are sent.
        sent = [one for one in args if _is_sent(one)]
        return st.one_of([values_of(one) for one in sent])
    if origin is tuple and args[-1:] != (...,):
        return st.tuples(*(values_of(one) for one in args))
    if origin is tuple:
        return st.lists(values_of(args[0]), max_size=2).map(tuple)
    if origin in (dict, collections.abc.Mapping):
        return st.dictionaries(_TEXTS, values_of(args[1]), max_size=2)
    if origin is not None:
        return st.lists(values_of(args[0]), max_size=2)
    if hint is FieldDiff:
        return st.builds(FieldDiff, st.just("title"), _TEXTS, _TEXTS, st.just(("a", "b")))
    if hint is Revision:
        changed = st.fixed_dictionaries({"expires_at": st.tuples(st.none(), _TIMES)})
        number, text = st.integers(0, 9), _TEXTS
        return st.builds(Revision, number, text, text, number, _TIMES, changed)
    if hasattr(hint, "_fields"):
        return _named_tuples(hint)
    return _annotated_lists(hint)


def _is_sent(hint: Any) -> bool:
    return get_origin(hint) not in (collections.abc.Callable, collections.abc.Mapping)


def _named_tuples(kind: Any) -> st.SearchStrategy[Any]:
    hints = codec.class_hints(kind)
    # A memory has many fields of few types: one of each is enough, and much quicker.
    names = _OF_A_MEMORY if kind is Memory else kind._fields
    fields = {name: values_of(hints[name]) for name in names if name != "attachment"}
    return st.fixed_dictionaries(fields).map(lambda given: kind(**given))


_OF_A_MEMORY = (
    *("id", "hub_id", "number", "content", "content_hash", "title", "owner", "created_at"),
    *("updated_at", "key", "tags", "kind", "pinned", "expires_at", "origin", "metadata"),
)


def _annotated_lists(kind: Any) -> st.SearchStrategy[Any]:
    hints = codec.type_hints(kind.__init__, vars(inspect.getmodule(kind)))
    hints.pop("return", None)
    (_, items), *rest = hints.items()
    notes = {name: values_of(hint).filter(lambda one: one is not None) for name, hint in rest}
    return st.builds(kind, values_of(items), **notes)


def _round_trip(coder: codec.Coder, value: Any) -> Any:
    return coder.decode(json.loads(json.dumps(coder.encode(value), allow_nan=False)))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other and vars_of(one) == vars_of(other)


def vars_of(value: Any) -> Any:
    """The notes of an annotated list, whichever kind of sequence they are."""
    notes = getattr(value, "__dict__", {}).items()
    return {name: [*one] if isinstance(one, list | tuple) else one for name, one in notes}


_QUICK = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@pytest.mark.parametrize("name", OPERATIONS)
@_QUICK
@given(data=st.data())
def test_what_an_operation_returns_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    method = inspect.unwrap(getattr(HubMemory, name))
    returned = codec.type_hints(method, method.__globals__)["return"]
    if get_origin(returned) is collections.abc.Iterator:
        (returned,) = get_args(returned)
    value = data.draw(values_of(returned))
    assert _same(_round_trip(wire.coders_of(method).result, value), value)


@pytest.mark.parametrize("name", OPERATIONS)
@_QUICK
@given(data=st.data())
def test_what_an_operation_takes_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    method = inspect.unwrap(getattr(HubMemory, name))
    hints = codec.type_hints(method, method.__globals__)
    hints.pop("return")
    for argument, hint in [*hints.items()]:
        if get_origin(hint) is Unpack:
            hints.pop(argument)
            hints |= codec.class_hints(get_args(hint)[0])
    coders = wire.coders_of(method)
    given_ = {one: data.draw(values_of(hint)) for one, hint in hints.items()}
    sent = json.loads(json.dumps(wire.encode_arguments(coders, given_), allow_nan=False))
    assert wire.decode_arguments(coders, sent) == given_


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_arguments_that_do_not_fit_are_refused_and_nothing_else_happens(
    name: str, data: st.DataObject
) -> None:
    from holdfast.errors import InvalidInput

    coders = wire.coders_of(inspect.unwrap(getattr(HubMemory, name)))
    names = st.sampled_from([*coders.arguments, "other"])
    sent = data.draw(st.dictionaries(names, _JSON, max_size=4))
    try:
        wire.decode_arguments(coders, sent)
    except InvalidInput as error:
        assert error.message.endswith(".")


def test_a_result_that_only_the_hints_name_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trial_engine.py").write_text(
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING, NamedTuple\n\n"
        "if TYPE_CHECKING:\n"
        "    from datetime import datetime as moment\n\n"
        "class Voice(NamedTuple):\n"
        "    name: str\n"
        "    last: moment | None = None\n"
    )
    (tmp_path / "trial_hub.py").write_text(
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n"
        "    from trial_engine import (\n"
        "        Voice,\n"
        "    )\n\n"
        "def voices(self) -> list[Voice]: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    voices = import_module("trial_hub").voices
    kind = import_module("trial_engine").Voice
    said = [kind("Ada", datetime(2026, 5, 27, 8, tzinfo=UTC)), kind("Ben")]
    assert _same(_round_trip(wire.coders_of(voices).result, said), said)


def test_a_file_is_never_named_by_a_caller() -> None:
    from holdfast.domain.memory import Draft
    from holdfast.errors import InvalidInput

    coders = wire.coders_of(inspect.unwrap(HubMemory.remember_draft))
    named = Attachment("ab", "a.txt", 1, "text/plain")
    with pytest.raises(InvalidInput, match="remember_file"):
        wire.encode_arguments(coders, {"draft": Draft("x", attachment=named)})
    sent = {"draft": {"content": "x", "attachment": named._asdict()}}
    with pytest.raises(InvalidInput, match="remember_file"):
        wire.decode_arguments(coders, sent)
    many = wire.coders_of(inspect.unwrap(HubMemory.remember_many))
    free = {"kind": "object", "value": {"content": "x", "attachment": named._asdict()}}
    with pytest.raises(InvalidInput, match="items"):
        wire.decode_arguments(many, {"items": [free]})

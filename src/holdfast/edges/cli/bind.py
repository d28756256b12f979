"""Makes the options of a command from the declaration of the operation that it runs.

The signature gives the options and their types, `PARAMETERS` in `api/operation.py` their
descriptions. A command only states differences: other names, positional words instead of options,
and parameters to leave out. An option that is not given is not passed on, so that the operation's
own default applies.

Annotations are read as text. Resolving them would import every type that they name, which would
delay agents with hooks that run `holdfast recall`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from holdfast.api.operation import PARAMETERS, Operation, Parameter, operation_of
from holdfast.edges.cli.command import WHEN, Namespace, Parser, span, whole
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

Kind = Literal["text", "number", "switch", "time", "span", "texts", "json", "condition"]
# Converts typed text to the value of a parameter.
Convert = Callable[["Call", Any], Any]


class Flag(NamedTuple):
    """The differences of an option from its parameter. Empty fields are taken from the
    parameter."""

    names: tuple[str, ...] = ()
    about: str = ""
    metavar: str = ""
    offers: tuple[str, ...] = ()
    nargs: str | None = None
    convert: Convert | None = None


def flag(
    *names: str,
    about: str = "",
    metavar: str = "",
    offers: Sequence[str] = (),
    nargs: str | None = None,
    convert: Convert | None = None,
) -> Flag:
    """States what is different about an option. A name without a dash makes it a positional
    word."""
    return Flag(names, about, metavar, tuple(offers), nargs, convert)


class Argument(NamedTuple):
    """A parameter of an operation, read from its signature."""

    name: str
    kind: Kind
    required: bool
    default: Any


class Flags:
    """The options of a command, made from the signature of its operation.

    `omit` names parameters without an option, for example because the command sets them; with
    `only`, all others are omitted. `given` computes values that are not typed. Keyword arguments
    say how an option differs from its parameter."""

    def __init__(
        self,
        operation: Callable[..., Any],
        *,
        omit: Sequence[str] = (),
        only: Sequence[str] = (),
        given: Callable[[Call, Namespace], Mapping[str, Any]] | None = None,
        **changed: Flag,
    ) -> None:
        self._method = operation
        self._given = given
        self._omit = omit
        self._only = only
        self._changed = changed

    @property
    def operation(self) -> Operation:
        declared = operation_of(self._method)
        assert declared is not None, f"{self._method.__qualname__} is not an operation"
        return declared

    @property
    def about(self) -> str:
        """The description of the operation: its docstring."""
        return self._method.__doc__ or ""

    def add_to(self, parser: Parser) -> None:
        """Adds the options to a parser."""
        explained = False
        for argument in self._arguments():
            settings = self._settings(argument)
            if settings.get("metavar") == "WHEN" and not explained:
                # The help of the first time option also explains the formats of times.
                settings["help"] += f": {WHEN}"
                explained = True
            names = self._names(argument)
            if names[0].startswith("-"):
                parser.add_argument(*names, dest=argument.name, **settings)
            else:
                parser.add_argument(argument.name, **settings)

    def values(self, call: Call, args: Namespace) -> dict[str, Any]:
        """The arguments that were given, by parameter name."""
        found = {}
        for argument in self._arguments():
            given = getattr(args, argument.name)
            if given is None or given is False or given == []:
                continue
            if argument.kind == "switch":
                found[argument.name] = argument.default is not True
            else:
                convert = self._flag(argument).convert or _converter(argument)
                found[argument.name] = convert(call, given)
        return found

    def run(self, call: Call, args: Namespace, **more: Any) -> Any:
        """Runs the operation: one of a hub on the hub in use, one on people on the memory. Values
        that the command sets (`more`) override those that were typed."""
        name = self.operation.name
        place = call.hub if self._method.__qualname__.startswith("HubMemory.") else call.memory
        given = {} if self._given is None else self._given(call, args)
        return getattr(place, name)(**{**self.values(call, args), **given, **more})

    def _arguments(self) -> Iterator[Argument]:
        for argument in arguments_of(self._method):
            if argument.name in self._only or not (self._only or argument.name in self._omit):
                yield argument

    def _flag(self, argument: Argument) -> Flag:
        return self._changed.get(argument.name, _AS_DECLARED)

    def _names(self, argument: Argument) -> tuple[str, ...]:
        if names := self._flag(argument).names:
            return names
        if argument.required:
            return (argument.name,)
        if argument.name == "limit":
            return ("-n", "--limit")
        word = argument.name.replace("_", "-")
        if argument.kind == "texts":
            word = word.removesuffix("s")
        return (f"--no-{word}" if argument.default is True else f"--{word}",)

    def _settings(self, argument: Argument) -> dict[str, Any]:
        """The settings of an option, as `add_argument` takes them."""
        own, meaning = self._flag(argument), PARAMETERS.get(argument.name, _UNKNOWN)
        help_ = own.about or meaning.described
        names = self._names(argument)
        if argument.kind == "switch":
            return {"action": "store_true", "help": help_}
        settings: dict[str, Any] = {"metavar": own.metavar or _metavar(argument)}
        if offers := own.offers or meaning.values:
            settings["offers"] = offers
        if argument.kind == "number":
            settings["type"] = whole
        if not names[0].startswith("-"):
            many = argument.kind == "texts"
            settings["nargs"] = own.nargs or ("+" if many else None if argument.required else "?")
        elif own.nargs:
            settings["nargs"] = own.nargs
        elif argument.kind in ("texts", "condition"):
            settings["action"] = "append"
            help_ = f"{help_}; repeatable"
        return {**settings, "help": help_}


_AS_DECLARED = Flag()
_UNKNOWN = Parameter()


# From a signature to options


def arguments_of(method: Callable[..., Any]) -> Iterator[Argument]:
    """The parameters of an operation in order; those of a TypedDict come last."""
    method = getattr(method, "__wrapped__", method)
    code = method.__code__
    count = code.co_argcount
    names = code.co_varnames[1 : count + code.co_kwonlyargcount]
    defaults: dict[str, Any] = dict(method.__kwdefaults__ or {})
    if positional := method.__defaults__:
        last = code.co_varnames[count - len(positional) : count]
        defaults.update(zip(last, positional, strict=True))
    hints: Mapping[str, str] = method.__annotations__
    for name in names:
        yield Argument(name, kind_of(hints[name]), name not in defaults, defaults.get(name))
    for hint in hints.values():
        if hint.startswith("Unpack["):
            for name, text in _fields_of(hint[len("Unpack[") : -1]):
                yield Argument(name, kind_of(text), False, None)


def _fields_of(name: str) -> Iterator[tuple[str, str]]:
    from holdfast.api import arguments

    for field, hint in getattr(arguments, name).__annotations__.items():
        yield field, getattr(hint, "__forward_arg__", hint)


def kind_of(hint: str) -> Kind:
    """The kind of a parameter, derived from its annotation."""
    kinds = hint.split(" | ")
    if any(one.endswith(("[str]", "[Reference]")) for one in kinds):
        return "texts"
    if "Mapping[str, Any]" in kinds:
        return "condition" if "str" in kinds else "json"
    for name, kind in _KIND_OF_TYPE.items():
        if name in kinds:
            return kind
    return "text"


_KIND_OF_TYPE: dict[str, Kind] = {
    "bool": "switch",
    "datetime": "time",
    "timedelta": "span",
    "str": "text",
    "int": "number",
}


# The placeholder of a value in help, if it is not the parameter's name.
_METAVARS = {
    **dict.fromkeys(("category", "session", "speaker", "actor"), "NAME"),
    **dict.fromkeys(("boundary", "trust"), "WHO"),
    **dict.fromkeys(("reference", "references", "supersedes"), "REF"),
    **dict.fromkeys(("title", "summary", "reason", "note", "cursor", "text"), "TEXT"),
    "content_type": "TYPE",
    "stability": "HOW",
    "source_path": "PATH",
    "where": "CONDITION",
}
_METAVARS_OF_KINDS: dict[Kind, str] = {
    "number": "N",
    "time": "WHEN",
    "span": "SPAN",
    "json": "JSON",
}


def _metavar(argument: Argument) -> str:
    named = _METAVARS.get(argument.name) or _METAVARS_OF_KINDS.get(argument.kind)
    if named is not None:
        return named
    name = argument.name.removesuffix("s") if argument.kind == "texts" else argument.name
    return name.upper().replace("_", "-")


# From typed words to values


def joined(call: Call, words: Sequence[str]) -> str:
    """Joins positional words of a command to one text."""
    return " ".join(words)


def text_of(call: Call, words: Sequence[str]) -> str:
    """Joins positional words to one text; `-` alone reads standard input."""
    return call.read("-", "text") if list(words) == ["-"] else " ".join(words)


def number(call: Call, text: str) -> float:
    """A number with a fraction."""
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"“{text}” is not a number.", hint="For example: 0.5") from None


def after(call: Call, text: str) -> Any:
    """The time that is this long from now: `12h`, `7d`."""
    return call.now + span(text)


def all_of(call: Call, conditions: Sequence[str]) -> dict[str, Any] | str:
    """A single condition unchanged; several are combined with `and`."""
    if len(conditions) == 1:
        return conditions[0]
    from holdfast.text.where import from_text

    return {"AND": [from_text(one) for one in conditions]}


def json_object(call: Call, text: str) -> Any:
    """Parses a JSON object, for metadata."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(
            "The metadata is not a JSON object.", hint="For example: --metadata '{\"ticket\": 12}'"
        )
    return value


def _unchanged(call: Call, given: Any) -> Any:
    return given


def moment(call: Call, text: str) -> Any:
    """Parses a time; a day means its beginning."""
    return call.when(text)


def end(call: Call, text: str) -> Any:
    """Parses a time; a day means its end."""
    return call.when(text, end=True)


def past(call: Call, text: str) -> Any:
    """Parses a time in the past; never after now."""
    return call.past(text)


def _converter(argument: Argument) -> Convert:
    """Returns the converter for an option, by the kind and name of its parameter."""
    if argument.name == "as_of":
        return past
    if argument.kind == "time" and argument.name.endswith("until"):
        return end
    return _CONVERT[argument.kind]


def _length(call: Call, text: str) -> Any:
    return span(text)


_CONVERT: dict[Kind, Convert] = {
    "text": _unchanged,
    "number": _unchanged,
    "switch": _unchanged,
    "texts": _unchanged,
    "time": moment,
    "span": _length,
    "json": json_object,
    "condition": all_of,
}

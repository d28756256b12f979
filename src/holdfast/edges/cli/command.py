"""The definition of a command: its name, example, options, function and help. Also the parser,
options that several commands share, durations as people type them (30m, 12h, 7d, 1w2d), and
optional dependencies.

Options and positional words may come in any order, and an unknown name is an InvalidInput that
suggests the nearest one. argparse is only used for help and completions (see `help.py`): it would
take a fifth of the time in which a hook has to answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from holdfast.errors import InvalidInput, install_hint
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.edges.cli.call import Call

    class Adds(Protocol):
        """Adds options to a parser: a single option, or those of an operation (`bind.Flags`)."""

        def add_to(self, parser: Parser) -> None: ...

    class Runs(Adds, Protocol):
        """The options of an operation, which can also run it."""

        @property
        def about(self) -> str: ...

        def run(self, call: Call, args: Namespace) -> Any: ...


Namespace = SimpleNamespace


Server = Literal["works", "refused", "ignored"]


class Command(NamedTuple):
    """A command of the command line. `name` may have two words, as in `hub create`."""

    name: str
    example: str
    options: tuple[Adds, ...]
    run: Callable[[Call, Namespace], int | None]
    # A sentence of help and, after an empty line, details.
    text: str
    # With --server: works there, is refused, or does not use the store.
    server: Server = "refused"
    # Whether to create the hub of the repository that it is called in, if it is missing.
    makes_hub: bool = False

    @property
    def help(self) -> str:
        return " ".join(self.text.partition("\n\n")[0].split())

    @property
    def more(self) -> str:
        lines = self.text.partition("\n\n")[2].strip().split("\n")
        return "\n".join(line.strip() for line in lines)


class Commands(list[Command]):
    """The commands of a module, in order. The docstring of a function is its help."""

    def add(
        self,
        name: str,
        example: str,
        *options: Adds,
        server: Server | None = None,
        makes_hub: bool = False,
        text: str = "",
    ) -> Callable[[Run], Run]:
        """Decorator that makes a function a command. If it has options of an operation, that
        operation's declaration says whether it works through a server. `text` is the help if
        several commands share a function."""

        def add(run: Run) -> Run:
            said = text or run.__doc__ or ""
            found = server or next(filter(None, map(_server_of, options)), None)
            row = Command(name, example, options, run, said, found or "refused", makes_hub)
            self.append(row)
            return run

        return add

    def shows(
        self,
        name: str,
        example: str,
        flags: Runs,
        *,
        asks: str = "",
        makes_hub: bool = False,
        text: str = "",
    ) -> Callable[[Show], Show]:
        """Decorator that makes a function a command. The command runs the operation, after a
        confirmation if `asks` has a question, and passes its result to the function."""

        def add(show: Show) -> Show:
            def run(call: Call, args: Namespace) -> int | None:
                if asks:
                    call.confirm(asks.format(**vars(args)))
                return show(call, args, flags.run(call, args))

            said = text or show.__doc__ or ""
            options: list[Adds] = [flags, YES] if asks else [flags]
            self.add(name, example, *options, makes_hub=makes_hub, text=said)(run)
            return show

        return add

    def prints(self, name: str, example: str, flags: Runs, *, text: str = "", **shown: str) -> None:
        """Adds a command that runs an operation and prints the records that it returns, with
        `shown` as the headings for `Out.records`. Without `text`, the operation's docstring is the
        help."""

        @self.shows(name, example, flags, text=text or flags.about)
        def show(call: Call, args: Namespace, found: Any) -> None:
            call.out.records(found, **shown)


Run = TypeVar("Run", bound="Callable[[Call, Namespace], int | None]")
Show = TypeVar("Show", bound="Callable[[Call, Namespace, Any], int | None]")


def _server_of(options: Adds) -> Server | None:
    operation = getattr(options, "operation", None)
    return None if operation is None else "refused" if operation.local else "works"


class Option:
    """An option or positional word, with the settings that argparse knows."""

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.names = names
        self.help: str = settings.pop("help", "")
        self.metavar: str | None = settings.pop("metavar", None)
        self.dest: str = settings.pop("dest", names[-1].lstrip("-").replace("-", "_"))
        self.action: str = settings.pop("action", "store")
        self.nargs: str | None = settings.pop("nargs", None)
        self.type: Callable[[str], Any] | None = settings.pop("type", None)
        self.default: Any = settings.pop("default", False if self.action == "store_true" else None)
        self.offers: tuple[str, ...] = tuple(settings.pop("offers", ()))
        self.everywhere: bool = settings.pop("everywhere", False)
        assert not settings, f"unknown: {settings}"

    def add_to(self, parser: Parser) -> None:
        parser.add(self)

    @property
    def positional(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def shown(self) -> str:
        return self.names[-1] if not self.positional else self.metavar or self.dest

    def convert(self, text: str) -> Any:
        """Converts one word to a value."""
        if self.type is None:
            return text
        try:
            return self.type(text)
        except InvalidInput as error:
            raise InvalidInput(
                f"{self.shown}: {error.message}", hint=error.hint, command=error.command
            ) from None


class Parser:
    """The parser for the options of one command."""

    def __init__(self, prog: str) -> None:
        self.prog = prog
        self.options: dict[str, Option] = {}
        self.words: list[Option] = []

    def add_argument(self, *names: str, **settings: Any) -> None:
        self.add(Option(names, settings))

    def add(self, option: Option) -> None:
        if option.positional:
            self.words.append(option)
        else:
            self.options.update(dict.fromkeys(option.names, option))

    def parse(self, words: Sequence[str]) -> Namespace:
        """Parses words into values. Raises InvalidInput if they do not fit."""
        known = [*self.words, *self.options.values()]
        values: dict[str, Any] = {option.dest: option.default for option in known}
        plain: list[str] = []
        left = list(words)
        while left:
            word = left.pop(0)
            if word == "--":
                plain += left
                break
            if is_option(word):
                self._take(word, left, values)
            else:
                plain.append(word)
        self._place(plain, values)
        return Namespace(**values)

    def _take(self, word: str, left: list[str], values: dict[str, Any]) -> None:
        name, equals, given = word.partition("=")
        option = self.options.get(name)
        if option is None:
            raise self._unknown(name)
        if option.action == "store_true":
            if equals:
                raise InvalidInput(f"`{name}` takes no value.", hint=self._how)
            values[option.dest] = True
            return
        texts = [given] if equals else []
        many = option.nargs == "+"
        # A value may begin with a dash, unless it is an option of this command.
        while left and (many or not texts) and not self._begins_option(left[0]):
            texts.append(left.pop(0))
        if not texts:
            raise InvalidInput(f"`{name}` needs a value.", hint=self._how)
        converted = [option.convert(text) for text in texts]
        if many or option.action == "append":
            values[option.dest] = [*(values[option.dest] or ()), *converted]
        else:
            values[option.dest] = converted[0]

    def _begins_option(self, word: str) -> bool:
        return word == "--" or word.partition("=")[0] in self.options

    def _place(self, plain: list[str], values: dict[str, Any]) -> None:
        """Assigns the words to the positions. Only the last position takes more than one word."""
        for option in self.words:
            if option.nargs in ("*", "+"):
                values[option.dest] = [option.convert(word) for word in plain]
                if option.nargs == "+" and not plain:
                    raise self._missing(option)
                return
            if plain:
                values[option.dest] = option.convert(plain.pop(0))
            elif option.nargs != "?":
                raise self._missing(option)
        if plain:
            raise InvalidInput(f"`{self.prog}` does not take `{plain[0]}`.", hint=self._how)

    @property
    def _how(self) -> str:
        return f"`{self.prog} --help` shows how."

    def _missing(self, option: Option) -> InvalidInput:
        return InvalidInput(f"`{self.prog}` needs {option.shown}: {option.help}.", hint=self._how)

    def _unknown(self, name: str) -> InvalidInput:
        near = self._by_meaning(name) or nearest(name, list(self.options))
        guess = f"Did you mean `{near}`? " if near else ""
        return InvalidInput(
            f"`{self.prog}` has no option `{name}`.",
            hint=f"{guess}Words that begin with a dash go into quotes with others, or after `--`.",
        )

    def _by_meaning(self, name: str) -> str:
        """The option that sets the value of this name: `--as` for `--name`."""
        meant = name.removeprefix("--").replace("-", "_")
        return next((o.names[-1] for o in self.options.values() if o.dest == meant), "")


def is_option(word: str) -> bool:
    """Whether a word is an option: "-" is standard input, "- milk" and "-5" are text."""
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1].isdigit()


# The least similarity of a typing error: `lsit` and `list` have 0.75, `rember` and `remember` 0.86;
# `search` and `archive`, which are different words, 0.62.
_ALIKE = 0.65


def nearest(word: str, known: Sequence[str]) -> str:
    """The known command or option that was probably meant, or ''."""
    import difflib

    # A word of two letters resembles too many others.
    longer = [name for name in known if len(name) > 2]
    found = difflib.get_close_matches(word, longer, n=1, cutoff=_ALIKE)
    return found[0] if found else ""


def add_globals(parser: Parser) -> None:
    """Adds the options that every command takes, before or after its name."""
    flag: dict[str, Any] = {"action": "store_true", "everywhere": True}
    value: dict[str, Any] = {"everywhere": True}
    parser.add_argument("--home", metavar="FOLDER", help="where all is kept (~/.holdfast)", **value)
    parser.add_argument("--hub", metavar="NAME", help="the hub to use", **value)
    parser.add_argument("--server", metavar="URL", help="a server's memory, not this one", **value)
    parser.add_argument("--json", help="answer with one JSON value", **flag)
    parser.add_argument("--no-color", help="no colours (as NO_COLOR does)", **flag)
    parser.add_argument("-q", "--quiet", help="no notes and no progress", **flag)
    parser.add_argument("--version", help="print the version, the model and the store", **flag)
    parser.add_argument("-h", "--help", help="print this help", **flag)


# Global options that take a value, so that the value is not taken for the command's name.
VALUED = ("--home", "--hub", "--server")


def parser_of(command: Command) -> Parser:
    """Makes the parser of one command."""
    parser = Parser(f"holdfast {command.name}")
    for options in command.options:
        options.add_to(parser)
    add_globals(parser)
    return parser


def whole(text: str) -> int:
    """Parses a whole number given to a command."""
    try:
        return int(text.strip().removeprefix("#"))
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not a whole number.", hint="Write it in digits, for example 5."
        ) from None


_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = lazy(r"(\d{1,9})([smhdw])")
# Days and longer are windows in the user's time zone, which text/dates parses.
_AGO = lazy(r"(\d{1,9}|an?)\s+(second|minute|hour)s?\s+ago")


def span(text: str) -> timedelta:
    """Parses a length of time given to a command, such as `7d`. Raises InvalidInput if it is not
    one."""
    plain = text.strip().lower()
    parts = _PART.findall(plain)
    if not parts or _PART.sub("", plain):
        raise InvalidInput(
            f"{text!r} is not a length of time.", hint="Write it like 30m, 12h, 7d or 2w."
        )
    seconds = sum(int(count) * _SECONDS[unit] for count, unit in parts)
    if not 0 < seconds < 100 * 366 * 86_400:
        raise InvalidInput(
            f"{text!r} is not a length of time between a second and a hundred years.",
            hint="Write it like 30m, 12h, 7d or 2w.",
        )
    return timedelta(seconds=seconds)


def ago(text: str) -> timedelta | None:
    """The duration in `7d` or `10 minutes ago`; None if the text is something else."""
    plain = text.strip().lower()
    if found := _AGO.fullmatch(plain):
        count = 1 if found[1].startswith("a") else int(found[1])
        return timedelta(seconds=count * _SECONDS[found[2][0]])
    if plain and not _PART.sub("", plain):
        return span(plain)
    return None


@contextmanager
def imports_of(what: str) -> Iterator[None]:
    """Wraps imports of optional packages. If one is missing, InvalidInput says how to install
    it."""
    try:
        yield
    except ModuleNotFoundError as error:
        # A missing module of Holdfast itself is a bug, which installing would not fix.
        if (error.name or "").partition(".")[0] == "holdfast":
            raise
        raise InvalidInput(
            f"{what} needs the Python package {error.name}, which is not installed.",
            hint=install_hint(),
        ) from None


WHEN = "a date, a time, `7d` for that long ago, or words such as `yesterday`"


def option(name: str, metavar: str, about: str, **settings: Any) -> Option:
    """An option with a value; without a dash, a positional word. `offers` are values for completion
    and help. They are not checked here: the engine checks, so that every edge gives the same error.
    """
    return Option((name,), {"metavar": metavar, "help": about, **settings})


def switch(name: str, about: str) -> Option:
    """An option without a value."""
    return Option((name,), {"action": "store_true", "help": about})


class Late(NamedTuple):
    """Options with values that are imported only when the parser is made."""

    make: Callable[[], Sequence[Option]]

    def add_to(self, parser: Parser) -> None:
        for one in self.make():
            parser.add(one)


YES = Option(("-y", "--yes"), {"action": "store_true", "help": "do not ask"})

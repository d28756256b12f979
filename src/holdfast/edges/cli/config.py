"""Settings and the shell: config get, set, unset, list, path; completion."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _no_options(parser: Parser) -> None:
    """None of its own."""


def _setting_option(parser: Parser) -> None:
    from holdfast.settings import SETTINGS

    names = [setting.name for setting in SETTINGS]
    parser.offer("name", names, metavar="NAME", help="for example recall.limit")


def _set_options(parser: Parser) -> None:
    _setting_option(parser)
    parser.add_argument("value", metavar="VALUE", help="its new value")


def _safe(value: Any) -> Any:
    """A value without the password that may be in it."""
    if isinstance(value, str):
        from holdfast.wiring import without_password

        return without_password(value)
    return value


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(_safe(value))


def _get(call: Call, args: Namespace) -> None:
    from holdfast.settings import find

    setting = find(args.name)
    settings = call.settings
    value = settings[setting.name]
    if call.out.json:
        origin = settings.origin(setting.name)
        call.out.value({"name": setting.name, "value": _safe(value), "origin": origin})
    else:
        call.out.line(_shown(value))


def _set(call: Call, args: Namespace) -> None:
    from holdfast.settings import find, save
    from holdfast.wiring import check_store_url, from_anywhere, make_home, refuse_password

    setting = find(args.name)
    if setting.name in ("store.url", "store.read_url"):
        refuse_password(args.value)
    if setting.name == "time_zone":
        from holdfast.edges.zone import zone_of

        zone_of(args.value)
    if setting.name.endswith(".model") and setting.name != "embed.model":
        from holdfast.llm.base import parse

        # A pass may name a model of the service that `llm.model` names.
        service = "" if setting.name == "llm.model" else call.settings["llm.model"]
        parse(args.value, inherit=service)
    if setting.name == "embed.model":
        from holdfast.embed.providers import find_embedder

        find_embedder(args.value)
    if setting.name == "sources.read":
        from holdfast.sources.configured import check_entries

        check_entries(args.value)
    # A path counts from where it was typed, not from where each program is started later.
    value = args.value
    if setting.name == "store.url":
        value = from_anywhere(args.value)
        check_store_url(value)
    if setting.name == "embed.model" and value.startswith("path:"):
        value = f"path:{os.path.abspath(os.path.expanduser(value[5:]))}"
    make_home(call.home)
    save(call.home, setting.name, value)
    _saved(call, setting.name)
    if setting.name == "hub" and value not in _hub_names(call):
        call.out.note(f"There is no hub `{value}` yet: `holdfast hub create {value}` makes it.")


def _hub_names(call: Call) -> set[str]:
    return {hub.name for hub in call.memory.hubs()}


def _unset(call: Call, args: Namespace) -> None:
    from holdfast.settings import SETTINGS, save
    from holdfast.wiring import make_home

    make_home(call.home)
    # A name that is no setting can be removed from the file too.
    save(call.home, args.name, None)
    if any(setting.name == args.name for setting in SETTINGS):
        _saved(call, args.name)
    elif call.out.json:
        call.out.value({"name": args.name, "value": None, "origin": ""})
    elif call.out.terminal:
        call.out.line(f"{args.name} is out of the file.", "green")
    else:
        call.out.row(args.name, "", "")


def _saved(call: Call, name: str) -> None:
    settings = call.settings
    value, origin = settings[name], settings.origin(name)
    call.out.done(
        {"name": name, "value": _safe(value), "origin": origin},
        f"{name} is {_shown(value)!r} ({origin}).",
        name,
        _shown(value),
        origin,
    )
    if origin.startswith("HOLDFAST_"):
        call.out.note(f"{origin} is set and wins over the file in this shell.")


def _list(call: Call, args: Namespace) -> None:
    from holdfast.settings import SETTINGS

    settings = call.settings
    found = [(one, settings[one.name], settings.origin(one.name)) for one in SETTINGS]
    if call.out.json:
        call.out.value(
            [
                {"name": one.name, "value": _safe(value), "origin": origin}
                | {"default": one.default, "variable": one.variable, "help": one.help}
                for one, value, origin in found
            ]
        )
        return
    rows = [
        (one.name, _shown(value), _origin(call, origin), one.help) for one, value, origin in found
    ]
    call.out.table(("setting", "value", "from", "what it does"), rows)


def _origin(call: Call, origin: str) -> str:
    """Where a value came from; on a screen the file's name is enough, `config path` has more."""
    return os.path.basename(origin) if call.out.terminal else origin


def _path(call: Call, args: Namespace) -> None:
    path = call.settings.path
    if call.out.json:
        call.out.value({"path": path, "exists": os.path.exists(path)})
    else:
        call.out.line(path)


def _completion_options(parser: Parser) -> None:
    parser.offer("shell", SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def _completion(call: Call, args: Namespace) -> None:
    if args.shell not in SHELLS:
        raise InvalidInput(
            f"There is no completion for {args.shell!r}.", hint=f"There is for {', '.join(SHELLS)}."
        )
    import shtab

    from holdfast.edges.cli.help import tree

    if args.shell not in shtab.SUPPORTED_SHELLS:
        raise InvalidInput(
            f"The installed shtab {shtab.__version__} does not know {args.shell}.",
            hint="Install a newer one: `pip install --upgrade shtab`.",
        )

    text = shtab.complete(tree(), args.shell)
    if call.out.json:
        call.out.value({"shell": args.shell, "script": text})
    else:
        call.out.stdout.write(text.rstrip("\n") + "\n")


COMMANDS = (
    Command(
        "config get",
        "Print a setting's value.",
        "holdfast config get recall.limit",
        _setting_option,
        _get,
        server="ignored",
    ),
    Command(
        "config set",
        "Set a setting in the file; comments in it are kept.",
        "holdfast config set recall.limit 10",
        _set_options,
        _set,
        server="ignored",
    ),
    Command(
        "config unset",
        "Take a setting out of the file.",
        "holdfast config unset recall.limit",
        _setting_option,
        _unset,
        server="ignored",
    ),
    Command(
        "config list",
        "List every setting, its value and where it came from.",
        "holdfast config list",
        _no_options,
        _list,
        "The file counts first, then the environment (HOLDFAST_RECALL_LIMIT), then flags.\n"
        "In a pipe, a line per setting: name, value, origin, help.",
        server="ignored",
    ),
    Command(
        "config path",
        "Print where the settings file is.",
        "holdfast config path",
        _no_options,
        _path,
        server="ignored",
    ),
    Command(
        "completion",
        "Print a completion script for your shell.",
        'eval "$(holdfast completion bash)"',
        _completion_options,
        _completion,
        server="ignored",
    ),
)

"""Commands for settings and the shell: config get, set, unset, list, path; completion."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Commands, Late, Namespace, Option, option, switch
from holdfast.errors import InvalidInput, NotFound, ServerUnreachable, StoreError

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _setting_options() -> tuple[Option, ...]:
    from holdfast.settings import SETTINGS

    names = [setting.name for setting in SETTINGS]
    return (option("name", "NAME", "for example recall.limit", offers=names),)


_SETTING = Late(_setting_options)


def _safe(value: Any) -> Any:
    """A setting's value without a password that it may contain."""
    if isinstance(value, str):
        from holdfast.wiring import without_password

        return without_password(value)
    return value


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(_safe(value))


@COMMANDS.add("config get", "holdfast config get recall.limit", _SETTING, server="ignored")
def _get(call: Call, args: Namespace) -> None:
    """Print a setting's value."""
    from holdfast.settings import find

    setting = find(args.name)
    settings = call.settings
    value = settings[setting.name]
    origin = settings.origin(setting.name)
    data = {"name": setting.name, "value": _safe(value), "origin": origin}
    call.out.text(data, _shown(value))


@COMMANDS.add(
    "config set",
    "holdfast config set recall.limit 10",
    _SETTING,
    option("value", "VALUE", "its new value"),
    switch("--force", "store.url: also where no store answers there yet"),
    server="ignored",
)
def _set(call: Call, args: Namespace) -> None:
    """Set a setting in the file; comments in it are kept."""
    from holdfast.settings import find, save
    from holdfast.wiring import check_store_url, from_anywhere, make_home, refuse_password

    setting = find(args.name)
    if setting.name in ("store.url", "store.read_url"):
        refuse_password(args.value)
    if setting.name == "time_zone":
        from holdfast.wiring.zone import zone_of

        zone_of(args.value)
    if setting.name.endswith(".model") and setting.name != "embed.model":
        from holdfast.llm import parse

        # A pass may name a model of the provider that `llm.model` names.
        service = "" if setting.name == "llm.model" else call.settings["llm.model"]
        parse(args.value, inherit=service)
    if setting.name == "embed.model":
        from holdfast.embed.providers import find_embedder

        find_embedder(args.value)
    if setting.name == "sources.read":
        from holdfast.sources.configured import check_entries

        check_entries(args.value)
    # A relative path is relative to this folder, not to where each program is started later.
    value = args.value
    if setting.name == "store.url":
        value = from_anywhere(args.value)
        check_store_url(value)
        if not args.force:
            _check_reachable(call, value)
    if setting.name == "embed.model" and value.startswith("path:"):
        value = f"path:{os.path.abspath(os.path.expanduser(value[5:]))}"
    make_home(call.home)
    save(call.home, setting.name, value)
    _saved(call, setting.name)
    if setting.name == "hub" and all(value != one.name for one in call.memory.hubs()):
        call.out.note(f"There is no hub `{value}` yet: `holdfast hub create {value}` makes it.")


def _check_reachable(call: Call, url: str) -> None:
    """Refuses the URL of a store that cannot be reached, because every later command would fail.
    Other problems are only notes, as they can be fixed afterwards."""
    from holdfast.wiring import check_store

    anyway = "`--force` sets it all the same."
    if url.startswith(("postgresql:", "postgres:")):
        try:
            check_store(url, role="")
        except ServerUnreachable as error:
            error.hint = f"Check that the server runs and that the address is right. {anyway}"
            raise
        except StoreError as error:
            call.out.note(f"{error.message} {error.hint}")
    elif url.startswith("sqlite:"):
        folder = os.path.dirname(url.removeprefix("sqlite:"))
        if not os.path.isdir(folder):
            raise NotFound(f"There is no folder {folder}.", hint=f"Make it. {anyway}")


@COMMANDS.add("config unset", "holdfast config unset recall.limit", _SETTING, server="ignored")
def _unset(call: Call, args: Namespace) -> None:
    """Remove a setting from the file."""
    from holdfast.settings import SETTINGS, save
    from holdfast.wiring import make_home

    make_home(call.home)
    # A name that is not a setting can be removed from the file too.
    save(call.home, args.name, None)
    if any(setting.name == args.name for setting in SETTINGS):
        _saved(call, args.name)
    else:
        data = {"name": args.name, "value": None, "origin": ""}
        call.out.answer(data, f"{args.name} is out of the file.", args.name, "", "")


def _saved(call: Call, name: str) -> None:
    settings = call.settings
    value, origin = settings[name], settings.origin(name)
    call.out.answer(
        {"name": name, "value": _safe(value), "origin": origin},
        f"{name} is {_shown(value)!r} ({origin}).",
        name,
        _shown(value),
        origin,
    )
    if origin.startswith("HOLDFAST_"):
        call.out.note(f"{origin} is set and wins over the file in this shell.")


@COMMANDS.add("config list", "holdfast config list", server="ignored")
def _list(call: Call, args: Namespace) -> None:
    """List every setting, its value and where it came from.

    The file counts first, then the environment (HOLDFAST_RECALL_LIMIT), then flags.
    In a pipe, a line per setting: name, value, origin, help."""
    from holdfast.settings import SETTINGS

    settings = call.settings
    found = [(one, settings[one.name], settings.origin(one.name)) for one in SETTINGS]
    data = [
        {"name": one.name, "value": _safe(value), "origin": origin}
        | {"default": one.default, "variable": one.variable, "help": one.help}
        for one, value, origin in found
    ]
    rows = [
        (one.name, _shown(value), _origin(call, origin), one.help) for one, value, origin in found
    ]
    call.out.rows(("setting", "value", "from", "what it does"), rows, data=data)


def _origin(call: Call, origin: str) -> str:
    """The origin of a value; on a terminal only the file's name, as `config path` prints the
    path."""
    return os.path.basename(origin) if call.out.terminal else origin


@COMMANDS.add("config path", "holdfast config path", server="ignored")
def _path(call: Call, args: Namespace) -> None:
    """Print where the settings file is."""
    path = call.settings.path
    call.out.text({"path": path, "exists": os.path.exists(path)}, path)


@COMMANDS.add(
    "completion",
    'eval "$(holdfast completion bash)"',
    option("shell", "SHELL", ", ".join(SHELLS), offers=SHELLS),
    server="ignored",
)
def _completion(call: Call, args: Namespace) -> None:
    """Print a completion script for your shell."""
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

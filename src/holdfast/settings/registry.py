"""Every setting as a row: name, default, help, bounds. Parses and checks their values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.errors import InvalidSetting
from holdfast.system.named_tuple import NamedTuple


class Setting(NamedTuple):
    """One setting; the type of its default is the type of its values."""

    name: str
    default: str | int | float | bool
    help: str
    least: float | None = None
    most: float | None = None

    @property
    def variable(self) -> str:
        return "HOLDFAST_" + self.name.replace(".", "_").upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("hub", "default", "The hub that is used when none is named."),
    Setting(
        "projects.hubs",
        True,
        "Whether each git repository has a hub of its own, with yours beside it.",
    ),
    Setting(
        "projects.by_remote",
        True,
        "Whether clones of one repository share a hub, by the address of their remote.",
    ),
    Setting("actor", "", "Who acts; empty means the name you are logged in with."),
    Setting("store.url", "", "Where memories are kept; empty means memory.db in the home folder."),
    Setting("store.read_url", "", "A standby of that database which reads may go to."),
    # Long: the rows of a large hub are removed by one statement.
    Setting(
        "store.answer_s",
        600.0,
        "Seconds that one answer to a write may take (PostgreSQL).",
        least=1,
    ),
    # More hits than this are a list, which has cursors for it.
    Setting("recall.limit", 5, "How many hits recall returns.", least=1, most=1_000),
    Setting("recall.deadline_s", 5.0, "Seconds after which a recall is stopped.", least=0.01),
    Setting("recall.count_shown", True, "Whether recall counts what it has shown."),
    Setting(
        "recall.caution",
        1.0,
        "What the confidence that recall needs to find anything is multiplied by: with 0.5 it finds"
        " more, also for questions that the hub cannot answer; with 0 always the closest.",
        least=0,
        most=5,
    ),
    Setting(
        "embed.model",
        "auto",
        "The embedding model: auto, none, openai:MODEL@URL, fastembed:NAME,"
        " sentence-transformers:NAME or path:FOLDER.",
    ),
    Setting("embed.key_variable", "OPENAI_API_KEY", "The environment variable that holds its key."),
    Setting("embed.timeout_s", 10.0, "Seconds to wait for an embedding endpoint.", least=0.01),
    Setting("embed.threads", 2, "Processor threads the bundled model may use.", least=1),
    Setting("embed.background", True, "Whether missing vectors are made in the background."),
    Setting(
        "llm.model",
        "",
        "The language model of passes: openai:MODEL@URL, openai:MODEL, anthropic:MODEL; empty for"
        " none.",
    ),
    Setting(
        "llm.key_variable",
        "",
        "The environment variable that holds its key; empty means OPENAI_API_KEY or"
        " ANTHROPIC_API_KEY.",
    ),
    # Enough for the two rounds of a pass, each made again twice after a fault.
    Setting("llm.requests_max", 6, "Requests that one run of a pass may make.", least=1),
    # Room for a long turn, what is found to it, and the prompts; ten pages of answer.
    Setting("llm.tokens_in_max", 32_000, "Tokens that one run of a pass may send.", least=1),
    Setting("llm.tokens_out_max", 4_000, "Tokens that it may have answered.", least=1),
    # Under the five minutes of a job's lease, also on a slow machine's own model.
    Setting("llm.seconds_max", 60.0, "Seconds that it may take.", least=0.1, most=240),
    Setting(
        "llm.tokens_per_day",
        0,
        "Tokens of language models a day (UTC), in and out, of all hubs; 0 means no limit.",
        least=0,
    ),
    Setting("content.bytes_max", 3_000_000, "The largest content of one memory.", least=1),
    # A book of scanned pages has less; more is a film or an archive, of which no text comes.
    Setting("attachments.bytes_max", 50_000_000, "The largest file that is kept.", least=1),
    Setting(
        "attachments.hub_bytes_max",
        5_000_000_000,
        "How many bytes of files a hub keeps.",
        least=1,
    ),
    # A long PDF takes seconds; what takes a minute is broken, or made to take it.
    Setting("extract.cpu_s", 60, "Processor seconds that reading one file may take.", least=1),
    # Half of it is enough for every honest file that was tried.
    Setting("extract.memory_mb", 1_024, "Megabytes that reading one file may take.", least=128),
    # One that hangs should not keep the others waiting.
    Setting("extract.workers", 2, "How many files a server reads at a time.", least=1, most=64),
    Setting("extract.facts", True, "Whether facts are taken from chats and transcripts."),
    Setting("extract.tesseract", "tesseract", "The program that reads text in images."),
    Setting("extract.languages", "", "Languages of text in images, such as eng+deu."),
    Setting("fetch.links", False, "Whether the page behind every link that is pushed is fetched."),
    Setting("fetch.bytes_max", 5_000_000, "The largest page that is fetched for a link.", least=1),
    Setting("fetch.timeout_s", 20.0, "Seconds to wait for the page of a link.", least=0.1),
    Setting("secrets.enabled", True, "Whether secrets are replaced before anything is written."),
    Setting(
        "secrets.allow",
        "",
        "Secrets that may be kept: kinds, hashes as placeholders show them, patterns with *.",
    ),
    Setting(
        "secrets.payment_numbers",
        False,
        "Whether numbers of payment cards and IBANs are replaced as well.",
    ),
    Setting(
        "supersede.enabled",
        True,
        "Whether a new value takes the place of an old one by itself, such as a new address.",
    ),
    Setting("forget.keep_days", 30, "Days that a forgotten memory can be brought back.", least=0),
    # A month, as for what was forgotten: long enough for a holiday.
    Setting("review.keep_days", 30, "Days that an item waits in the review inbox.", least=1),
    Setting("review.by_agents", False, "Whether agents may see and decide what waits for review."),
    Setting(
        "lifecycle.automatic",
        True,
        "Whether the lifecycle runs by itself, at most once a day in each hub.",
    ),
    Setting("lifecycle.volatile_days", 14, "Days until an unused volatile memory cools.", least=1),
    Setting("lifecycle.evolving_days", 180, "Days until an unused evolving memory cools.", least=1),
    Setting("lifecycle.archive_days", 60, "Days of cooling until it is archived.", least=1),
    Setting("lifecycle.daily_days", 2, "Days until a memory of category daily cools.", least=1),
    Setting(
        "lifecycle.daily_archive_days", 7, "Days until a memory of category daily is archived.", 1
    ),
    # As in the system that this rule comes from.
    Setting(
        "lifecycle.auto_days",
        90,
        "Days until what an agent noticed and nobody used is archived.",
        least=1,
    ),
    Setting(
        "lifecycle.auto_max", 500, "How many memories that agents noticed a hub shows.", least=0
    ),
    Setting(
        "log.keep", 0, "How many turns the conversation log keeps in a hub; 0 keeps all.", least=0
    ),
    Setting("log.days", 0, "How many days a turn stays in the log; 0 keeps it for good.", least=0),
    Setting(
        "log.megabytes",
        0,
        "How many megabytes of text the log of a hub keeps; 0 bounds it not at all.",
        least=0,
    ),
    Setting("log.prune_every", 50, "Turns after which the log is cut to that many.", least=1),
    Setting(
        "shadowJournal.enabled",
        False,
        "Whether what is said in a conversation is noted in the journal by itself.",
    ),
    Setting(
        "shadowJournal.files",
        True,
        "Whether a hub whose turns are noted so keeps its journals and MEMORY.md as files.",
    ),
    Setting(
        "shadowJournal.model",
        "",
        "The model that notes it, as in llm.model; empty means that one, without any the rules.",
    ),
    # A day of a busy conversation; more waits only where nobody works, or a model is down.
    Setting(
        "shadowJournal.queueMax",
        100,
        "How many turns of a hub may wait to be noted; beyond that the oldest are left out.",
        least=1,
        most=10_000,
    ),
    Setting(
        "memConsolidate.enabled",
        False,
        "Whether what lasts is moved from the journals to long-term memory by itself.",
    ),
    Setting(
        "memConsolidate.intervalHours",
        24,
        "Hours from one consolidation to the next.",
        least=1,
        most=8_760,
    ),
    Setting(
        "memConsolidate.model",
        "",
        "The model that proposes it, as in llm.model; empty means that one, without any the rules.",
    ),
    Setting(
        "context.turns", True, "Whether the context block quotes turns of the conversation log."
    ),
    Setting("context.chars_max", 12_288, "The largest context block, in characters.", least=200),
    Setting("hooks.server", True, "Whether hooks keep a process that answers them faster."),
    # A pause over coffee; longer, and the memory it takes is of more use to others.
    Setting("hooks.idle_s", 900.0, "Seconds without a hook after which it ends.", least=1),
    Setting(
        "commands.server",
        True,
        "Whether reading commands keep a process that answers them faster.",
    ),
    Setting("commands.idle_s", 900.0, "Seconds without a command after which it ends.", least=1),
    # Claude Code drops the output of a hook above 10,000 characters.
    Setting(
        "hooks.start_chars",
        6_000,
        "Characters that a hook may put into a new session.",
        least=400,
        most=8_000,
    ),
    Setting(
        "hooks.prompt_chars",
        2_000,
        "Characters that a hook may add to a prompt.",
        least=400,
        most=8_000,
    ),
    Setting(
        "files.per_category",
        False,
        "Whether each category has a file of its own beside MEMORY.md, such as preferences.md.",
    ),
    # What fits on two pages, and costs a prompt about a thousand tokens a call.
    Setting(
        "minion.chars_max",
        4_096,
        "How long MEMORY.md may become through the tools of minion, in characters.",
        least=200,
    ),
    Setting(
        "sources.read",
        "",
        "Read-only memories to ask as well, for example notes=~/notes, old=holdfast:~/old#work.",
    ),
    # As long as nobody notices the wait.
    Setting("sources.budget_ms", 500, "Milliseconds that sources have to answer.", least=1),
    # As much as one content may have, and what surrounds it.
    Setting("server.body_bytes_max", 3_200_000, "The largest body of a request.", least=1_000),
    Setting("server.body_seconds", 30.0, "Seconds in which a body must arrive.", least=0.1),
    # Longer than any answer should take; who waited for it has given up by then.
    Setting("server.request_seconds", 30.0, "Seconds after which a request ends.", least=0.01),
    Setting("server.requests_max", 256, "Requests that are answered at once.", least=1),
    Setting("server.requests_per_key", 64, "Requests at once of one key.", least=1),
    Setting("server.streams_per_key", 100, "Streams of agents at once of one key.", least=1),
    Setting("server.sessions_per_key", 100, "Sessions of agents at once of one key.", least=1),
    # A client starts another session when its own has expired.
    Setting(
        "server.session_seconds", 300.0, "Seconds that a session without requests lives.", least=1
    ),
    Setting(
        "server.session_starts_per_minute",
        120,
        "Sessions of agents that one key may start in a minute, after 100 at once.",
        least=1,
    ),
    Setting("server.per_minute", 6_000, "Requests a minute for each key.", least=1),
    # Behind a proxy all connections have the proxy's address: raise the second with the first.
    Setting("server.connections_max", 1_000, "Connections that are open at once.", least=1),
    Setting(
        "server.connections_per_address", 500, "Connections that one address may have.", least=1
    ),
    Setting("server.header_seconds", 10.0, "Seconds in which a head must arrive.", least=0.1),
    Setting("proxy.upstream", "", "The endpoint behind `holdfast proxy`, where none is named."),
    # As much as Anthropic's API takes. A body is in memory up to four times while it is read.
    Setting(
        "proxy.body_bytes_max",
        32_000_000,
        "The largest request that the proxy reads; a larger one is sent on without memory.",
        least=1_000,
    ),
    # A person notices more; recall takes a tenth of it.
    Setting(
        "proxy.memory_seconds",
        2.0,
        "Seconds after which a request is sent on without memory.",
        least=0.01,
    ),
    # As long as the clients of both APIs wait by themselves.
    Setting(
        "proxy.answer_seconds",
        600.0,
        "Seconds that the endpoint behind the proxy may be silent.",
        least=0.1,
    ),
    Setting(
        "time_zone",
        "",
        "The zone times are shown in and days in words are meant in; empty means this machine's.",
    ),
)

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def find(name: str, where: str = "") -> Setting:
    """The setting of that name, or an error with the nearest one."""
    setting = _BY_NAME.get(name)
    if setting is None:
        raise InvalidSetting(
            f"There is no setting `{name}`{where}.",
            hint=nearest(name, _BY_NAME),
            command=nearest(name, _BY_NAME) or "`holdfast config list` shows them all.",
        )
    return setting


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint with the known setting that is most like this one, or ''."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"Did you mean `{near[0]}`?" if near else ""


def parsed(setting: Setting, text: str, where: str) -> Any:
    """The value of a setting that a text means; `where` names its place in an error."""
    wanted = type(setting.default)
    if wanted is str:
        return checked(setting, text, where)
    word = text.strip()
    try:
        value = _TRUTHS[word.lower()] if wanted is bool else wanted(word)
    except (KeyError, ValueError):
        raise _wrong(setting, text, where) from None
    return checked(setting, value, where)


def checked(setting: Setting, value: Any, where: str) -> Any:
    """The value of a setting, where it is of the right kind and within bounds."""
    wanted = type(setting.default)
    if wanted is float and type(value) is int:
        value = float(value)
    if type(value) is not wanted:
        raise _wrong(setting, value, where)
    # `not >=` rather than `<`, so that nan is refused too.
    if setting.least is not None and not float(value) >= setting.least:
        raise _refused(setting, value, where, f"at least {setting.least:g}")
    if setting.most is not None and not float(value) <= setting.most:
        raise _refused(setting, value, where, f"at most {setting.most:g}")
    return value


def _wrong(setting: Setting, value: Any, where: str) -> InvalidSetting:
    kinds = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return _refused(setting, value, where, kinds[type(setting.default)])


def _refused(setting: Setting, value: Any, where: str, wanted: str) -> InvalidSetting:
    """The error for a wrong value, with what to write instead."""
    import json

    example = json.dumps(setting.default, ensure_ascii=False)
    if where in (setting.name, "flag"):
        said = f"You gave {value!r} for `{setting.name}`"
    else:
        said = f"`{setting.name}` is {value!r} in {where}"
    if where == setting.variable:
        hint = command = f"Set that variable anew, for example {where}={example}, or unset it."
    else:
        hint = f"For example: {example}"
        command = f"For example: holdfast config set {setting.name} {example}"
    return InvalidSetting(f"{said}; it must be {wanted}.", hint=hint, command=command)

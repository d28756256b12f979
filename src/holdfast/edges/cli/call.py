"""The context of one command: its options, its output, and the memory, opened when first used."""

from __future__ import annotations

import os
import sys
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace
from holdfast.edges.cli.output import Out
from holdfast.errors import HoldfastError, InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.api.people import OpenMemory
    from holdfast.api.project_hub import ProjectHub
    from holdfast.client import Client
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.settings import Settings


class Cancelled(HoldfastError):
    """The user of a command was asked to confirm and did not."""

    code = "cancelled"


class Interrupted(HoldfastError):
    """The user of a command pressed Ctrl-C after the requested work was done."""

    code = "interrupted"
    exit_code = 130  # What a shell reports for a program that SIGINT ended.


# Above this many passages (minutes of work), missing vectors are a backlog, for example after a
# change of the model, and not something that `remember` should wait for.
_BACKLOG = 10_000
# Items counted for a note; above this it says `Over 1,000`.
_WAITING_MAX = 1_000


class Call:
    """The context of a command. A memory passed in by the caller stays open afterwards."""

    def __init__(self, args: Namespace, memory: Holdfast | None = None) -> None:
        self.args = args
        self.out = Out(json=args.json, color=not args.no_color, quiet=args.quiet)
        self.out.hub_of = self.hub_name_of
        self._memory = memory
        self._lent = memory is not None
        self.server = "" if self._lent else _server(args)
        # Whether to note after the result how many items wait for review.
        self.notes_waiting = True
        # Whether to create the hub of a repository if it is missing.
        self.makes_hub = False
        # Whether the automatic lifecycle may run afterwards.
        self.upkeep = True
        # A background thread would not get far before the command ends, and closing would wait for
        # it.
        self._flags: dict[str, Any] = {"embed.background": False}
        if memory is not None:
            self.out.zone = self._zone(memory.core.settings)

    def __enter__(self) -> Call:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HoldfastError):
            error.message = self.out.localised(error.message)
        if replaced := self._replaced():
            from holdfast.engine.writing.redact import redaction_note

            self.out.note(
                f"{redaction_note(replaced)} by placeholders before anything was written."
            )
        if (hub := self.__dict__.get("hub")) is not None:
            for note in hub.notes:
                self.out.note(note)
        if kind is None:
            self._note_waiting()
        if self._memory is not None and not self._lent:
            if kind is None:
                # Print the result first: closing writes counters.
                self.out.stdout.flush()
            due = self._claim_upkeep(succeeded=kind is None)
            self._memory.close()
            if due:
                from holdfast.edges.cli import upkeep

                upkeep.start(self.args.home, due)
        if (client := self.__dict__.get("client")) is not None:
            client.close()

    def _claim_upkeep(self, *, succeeded: bool) -> list[str]:
        """Claims the automatic lifecycle of the hub that was used, if it is due. Returns the ids of
        the hubs for which to start it in a separate process."""
        if self.server or self._memory is None:
            return []
        from holdfast.engine.upkeep.automatic import note_use, upkeep_of

        hub = self.__dict__.get("hub")
        if hub is not None and hub.core.runs_upkeep:
            note_use(hub)
        upkeep = upkeep_of(self._memory.core)
        if succeeded and self.upkeep:
            return upkeep.claim_due()
        upkeep.forget()
        return []

    def _note_waiting(self) -> None:
        """Notes how many items wait for review if a person reads the terminal. Not with a server:
        that would be one more request for every command."""
        hub: HubMemory | None = self.__dict__.get("hub")
        if hub is None or self.server or not (self.notes_waiting and self.out.person_reads_errors):
            return
        from contextlib import suppress

        from holdfast.edges.cli.output import counted
        from holdfast.engine.review import inbox

        # The command may have deleted the hub.
        with suppress(HoldfastError):
            count = inbox.count(hub.scope, most=_WAITING_MAX)
            some = "Over " if count == _WAITING_MAX else ""
            wait = "waits" if count == 1 else "wait"
            if count:
                waiting = f"{some}{counted(count, 'item')} {wait} for review"
                self.out.note(
                    f"{waiting}: `holdfast review` shows {'it' if count == 1 else 'them'}."
                )

    def check_server(self, command: Command) -> None:
        """Refuses a command that does not work through the server in use."""
        self.makes_hub = command.makes_hub
        if self.server:
            from holdfast.edges.cli import remote

            if command.server != "ignored":
                remote.require(command, self.server)
            elif self.args.server:
                # The environment variable applies to all commands, so this one ignores it; the
                # option does not.
                raise InvalidInput(
                    f"`holdfast {command.name}` has nothing to do with a server.",
                    hint="Leave --server out. A client that speaks HTTP takes the address of"
                    " `holdfast serve` itself: its /mcp.",
                )
            else:
                self.server = ""

    def _replaced(self) -> dict[str, int]:
        """The number of secrets of each kind that were replaced by placeholders in writes."""
        if self.server:
            hub: HubMemory | None = self.__dict__.get("hub")
            return {} if hub is None else hub.take_redacted()
        return {} if self._memory is None else self._memory.core.redactor.take()

    # The memory and the hub

    @property
    def memory(self) -> OpenMemory:
        """The memory of this machine, or the remote memory if a server is in use. Both have the
        same interface."""
        if self.client is None:
            return self.local
        self.out.zone = self._zone(self.settings)
        return self.client

    @property
    def local(self) -> Holdfast:
        """The memory of this machine, for commands that do not work through a server."""
        if self._memory is None:
            from holdfast.api import memory as library

            # A single command gains nothing from the threads of numpy's linear algebra, which take
            # 50 ms of CPU time to start. The variable is read when numpy is first imported.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            self._memory = library.open(self.args.home, settings=self._flags)
            self.out.zone = self._zone(self._memory.core.settings)
        return self._memory

    @cached_property
    def client(self) -> Client | None:
        """The client of the server, if one is in use."""
        if not self.server:
            return None
        from holdfast.edges.cli import remote

        # Without an explicit setting, the server chooses the hub.
        settings = self.settings
        chosen = settings["hub"] if settings.origin("hub") != "default" else None
        return remote.connect(self.server, self.home, chosen)

    def do_without_model(self) -> None:
        """Reopens the memory without an embedding model, because the configured one does not work
        and the command does not need it."""
        if self._memory is not None:
            self._memory.close()
        self._memory = None
        self._flags["embed.model"] = "none"

    @cached_property
    def hub(self) -> HubMemory:
        """The hub named by --hub; without it, the hub of the repository of the working folder (with
        the personal hub beside it), or else the personal hub."""
        if self.server or self._lent or self.args.hub:
            return self.hub_named(self.args.hub)
        from holdfast.api.project import choose

        chosen = choose(self.local, create=self.makes_hub)
        return self.hub_named(None) if chosen.hub is None else chosen.hub

    def _project_hub(self) -> ProjectHub | None:
        """The hub as a `ProjectHub`, if it is one."""
        hub = self.hub
        # Not imported only for this check, which takes 1 ms: if not yet imported, there is none.
        if "holdfast.api.project_hub" not in sys.modules:
            return None
        from holdfast.api.project_hub import ProjectHub

        return hub if isinstance(hub, ProjectHub) else None

    def hub_name_of(self, memory: Memory | Turn) -> str:
        """The name of the hub that a memory or a turn is in."""
        project = self._project_hub()
        return self.hub.name if project is None else project.hub_of(memory).name

    def note_own_hub(self) -> None:
        """After a list of a project's hub: says that memories about the person are in their own
        hub."""
        project = self._project_hub()
        own = None if project is None else project.own
        if own is not None:
            self.out.note(f"What is about you is in your own hub: add `--hub {own.name}`.")

    def named(self, memory: Memory) -> str:
        """The name of a memory for the user: `#12`, or `default#12` in the personal hub. Turns have
        no number."""
        if not memory.number:
            return "said"
        project = self._project_hub()
        return f"#{memory.number}" if project is None else project.named(memory)

    def hub_named(self, name: str | None, *, must_exist: bool = False) -> HubMemory:
        """The hub of that name, or NotFound that suggests the nearest name. With `must_exist`, it
        does not suggest to make one: there is nothing in it to rename or to delete."""
        try:
            return self.memory.hub(name)
        except NotFound as error:
            from holdfast.edges.cli.command import nearest

            near = nearest(name or "", [hub.name for hub in self.memory.hubs()])
            is_meant = near and near != name
            if not is_meant and not must_exist:
                raise
            guess = f"Did you mean `{near}`? " if is_meant else ""
            hint = f"{guess}`holdfast hub list` shows them all."
            raise NotFound(error.message, hint=hint) from None

    @property
    def home(self) -> str:
        from holdfast.wiring import home_folder

        return home_folder(self.args.home)

    @property
    def settings(self) -> Settings:
        """The settings, without opening the store."""
        from holdfast.settings import load

        return load(self.home, flags={"hub": self.args.hub})

    def embed_left(self, *, backlog: bool = False) -> None:
        """Makes the vectors that `remember` has left out, after the result was printed. A long text
        is stored at once and can be found by its words until then. `backlog` lifts the limit."""
        from holdfast.errors import EmbedderError, InvalidSetting

        if self.server:
            return  # A server does that by itself.
        self.out.stdout.flush()
        later = "everything is stored, and `holdfast embed` makes the vectors that are missing."
        try:
            missing = self.local.unembedded()
            if missing > _BACKLOG and not backlog:
                self.out.note(f"{missing:,} passages have no vectors; {later}")
                self._note_indexes()
            elif missing:
                with self.out.progress("embed") as step:
                    self.local.embed_missing(step)
        except (EmbedderError, InvalidSetting) as error:
            self.out.note(f"{error} {later.capitalize()}")
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted; {later}") from None

    def _note_indexes(self) -> None:
        from holdfast.engine.writing.indexing import slowed_by_index

        for name in slowed_by_index(self.local.core, _BACKLOG):
            self.out.note(
                f"The server keeps an index of the vectors of {name}, and adding so many to it"
                f" takes longer than building it: `holdfast store index {name} --drop` before,"
                " and `holdfast store index` after that."
            )

    # Times

    def _zone(self, settings: Settings) -> tzinfo:
        from holdfast.wiring.zone import zone_of

        return zone_of(settings["time_zone"])

    @cached_property
    def now(self) -> datetime:
        """The time of this call, so that `7d` means the same in all its options. With a server it
        is the server's time, which its answers are compared with."""
        if not self.server:
            return self.local.core.now()
        from holdfast.client import RemoteHub
        from holdfast.domain.clock import SystemClock

        try:
            hub = self.hub
        except NotFound:
            return SystemClock().now()  # No hub is in reach, so there is nothing to compare.
        assert isinstance(hub, RemoteHub)
        return hub.opened_at

    def when(self, text: str | None, *, end: bool = False) -> datetime | None:
        """Parses a time: words such as `yesterday`, a date, or `7d` for that long ago."""
        if text is None:
            return None
        from holdfast.edges.cli.command import ago
        from holdfast.text.dates import parse_when

        if (back := ago(text)) is not None:
            return self.now - back

        return parse_when(text, now=self.now, zone=self.out.zone, end=end)

    def past(self, text: str | None) -> datetime | None:
        """Parses a time to look back to: `yesterday` means the state at the end of that day."""
        at = self.when(text, end=True)
        return at if at is None else min(at, self.now)

    # Asking the user

    def offers(self, question: str) -> bool:
        """Whether the user agrees, when asked or with --yes. Without a terminal the answer is
        no."""
        if getattr(self.args, "yes", False):
            return True
        if sys.stdin is None or not sys.stdin.isatty():
            return False
        return self._asked(question)

    def confirm(self, question: str) -> None:
        """Raises Cancelled unless the user agrees, when asked or with --yes."""
        if self.args.yes:
            return
        if not sys.stdin.isatty():
            raise InvalidInput(
                f"Nothing was done: there is no terminal to answer this on. {question}",
                hint="Add --yes to answer yes beforehand.",
            )
        if not self._asked(question):
            raise Cancelled("Nothing was changed.")

    def _asked(self, question: str) -> bool:
        self.out.stderr.write(f"{question} [y/N] ")
        self.out.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def edited(self, text: str, *, instead: str) -> str | None:
        """Opens the text in the user's editor (VISUAL, EDITOR or vi) and returns the result; None
        if nothing is left of it. `instead` is the command that needs no editor, for an error's
        hint."""
        import shlex
        import subprocess
        import tempfile

        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        # Readable for this user only, and deleted afterwards.
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "item.txt")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            try:
                ended = subprocess.run([*shlex.split(editor), path], check=False)
            except (OSError, ValueError) as error:
                # ValueError: an unclosed quotation mark.
                reason = error.strerror if isinstance(error, OSError) else error
                raise InvalidInput(
                    f"The editor {editor!r} cannot be started: {reason}.",
                    hint=f"Set EDITOR, or give the text: {instead}.",
                ) from None
            if ended.returncode:
                raise InvalidInput(f"The editor {editor!r} failed, so nothing was changed.")
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                after = file.read()
        # Editors add a newline to the last line.
        after = after if text.endswith("\n") else after.removesuffix("\n")
        return after if after.strip() else None

    def read(self, path: str, what: str) -> str:
        """Reads a file, or standard input for `-`."""
        settings = self.settings if self.server else self.local.core.settings
        bytes_max: int = settings["content.bytes_max"]
        if path == "-":
            text = _decoded(_read_stdin(bytes_max), "Standard input", bytes_max)
            # `echo x |` adds a newline.
            return text.removesuffix("\n").removesuffix("\r")
        if os.path.isdir(path):
            raise InvalidInput(f"{path} is a folder, not {what}.", hint="Name the files in it.")
        from holdfast.files.safe_read import open_regular

        try:
            with open_regular(path) as file:
                # Reading one byte more than allowed is enough to detect that it is too long.
                return _decoded(file.read(bytes_max + 1), path, bytes_max)
        except FileNotFoundError:
            raise NotFound(f"There is no file {path}.", hint="Check the name.") from None


def _server(args: Namespace) -> str:
    """The URL of the server; an empty one means none, whatever the environment says."""
    given: str | None = getattr(args, "server", None)
    return (os.environ.get("HOLDFAST_SERVER", "") if given is None else given).strip()


def _read_stdin(bytes_max: int) -> bytes:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read().encode("utf-8", "surrogatepass")
    data: bytes = stream.read(bytes_max + 1)
    return data


def _decoded(data: bytes, where: str, bytes_max: int) -> str:
    if len(data) > bytes_max:
        raise InvalidInput(
            f"{where} has more than {bytes_max:,} bytes, the most that one memory may have.",
            hint="Split it into several memories, or keep a summary and the path to the file.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{where} is not UTF-8 text: byte {error.start} cannot be read.",
            hint="Convert it to UTF-8 first; of a binary file, remember its text or its path.",
        ) from None

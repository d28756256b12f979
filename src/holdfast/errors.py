"""Every error Holdfast raises, as one tree; each message says what is wrong and what to do next.

HoldfastError
├── InvalidInput            the caller's words are off: content, names, dates, filters, settings
│   ├── InvalidSetting      a setting's name or value
│   └── TooLarge            a file with more bytes than are allowed
├── NotFound                no such hub, memory, change set or file
├── Forbidden               the role or the key does not allow it
├── AlreadyExists           a hub, key or file of that name is there
├── Conflict                the state has moved on: a version precondition, an undo that would
│                           overwrite a later change
├── StoreError              the store could not do it
│   ├── StoreBusy           other processes kept writing for the whole wait
│   ├── StoreFull           the disk, or the store's own bound, is full
│   │   └── HubFull         a hub has no room left for files
│   ├── StoreReadOnly       the folder or file cannot be written
│   ├── StoreDamaged        the file is corrupted, or not a Holdfast store
│   ├── StoreTooNew         written by a newer version of Holdfast
│   ├── StoreClosed         used after close
│   ├── ServerUnreachable   no answer from a server
│   └── DeadlineExceeded    a read took longer than it was allowed
├── EmbedderError           an embedding model is missing, unreachable or misbehaves
├── ModelError              a language model is missing, unreachable, over its cap or misbehaves
└── CallCancelled           the caller of long work has given up

Each class has its code, which REST and `--json` answer with, and the exit code that the command
line ends with.
"""

from __future__ import annotations


def install_hint(extra: str = "") -> str:
    """The command that installs a missing package: of an extra, or of Holdfast itself."""
    return f"Install it: `pip install {extra_requirement(extra)}`."


def extra_requirement(extra: str = "") -> str:
    """The distribution to install, quoted for a shell where it names an extra."""
    return f'"holdfast-memory[{extra}]"' if extra else "holdfast-memory"


class HoldfastError(Exception):
    """The root of the tree: what went wrong, and in `hint` what to do next. `command` says the
    same to a person at the command line, where a command does it; the library does not show it."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", command: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.command = command

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


def code_of(error: HoldfastError) -> str:
    """The code of an error for a program: that of its class, or of a case that a program treats in
    another way."""
    if isinstance(error, StoreError) and error.in_doubt:
        return "in_doubt"
    if isinstance(error, Forbidden) and error.act == "write":
        return "no_write_access"
    return error.code


def with_command(error: Exception) -> str:
    """The text of an error for a person at the command line, and for notes that only they read."""
    if not isinstance(error, HoldfastError):
        return str(error)
    return f"{error.message} {error.command or error.hint}".rstrip()


class InvalidInput(HoldfastError, ValueError):
    """An argument cannot be used."""

    code = "invalid_input"
    exit_code = 2


class InvalidSetting(InvalidInput):
    """A setting's name or value is not one Holdfast knows."""

    code = "invalid_setting"


class TooLarge(InvalidInput):
    """A file has more bytes than are allowed."""

    code = "body_too_large"


class NotFound(HoldfastError, LookupError):
    """The requested object does not exist."""

    code = "not_found"
    exit_code = 3


class Forbidden(HoldfastError):
    """The caller may see it but may not do this with it; `act` says what, where it is known."""

    code = "forbidden"
    exit_code = 9

    def __init__(self, message: str, *, hint: str = "", command: str = "", act: str = "") -> None:
        super().__init__(message, hint=hint, command=command)
        self.act = act


class AlreadyExists(HoldfastError):
    """A thing of that name is there already."""

    code = "already_exists"
    exit_code = 4


class Conflict(HoldfastError):
    """The state moved on since the caller looked."""

    code = "conflict"
    exit_code = 5


class StoreError(HoldfastError):
    """The store could not do what was asked; nothing was half written. `again` says that nothing
    was written at all and the same may succeed now; `late`, that it was waited for as long as the
    caller can wait; `in_doubt`, that it is not known whether it was written."""

    code = "store_error"
    exit_code = 6

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        command: str = "",
        again: bool = False,
        in_doubt: bool = False,
    ) -> None:
        super().__init__(message, hint=hint, command=command)
        self.again = again
        self.late = False
        self.in_doubt = in_doubt


class StoreBusy(StoreError):
    """Other processes kept writing for as long as we were willing to wait."""

    code = "busy"


class StoreFull(StoreError):
    """There is no room left for the write."""

    code = "store_full"


class HubFull(StoreFull):
    """A hub has as many bytes of files as it may have."""

    code = "hub_full"


class StoreReadOnly(StoreError):
    """The store's folder or file cannot be written."""

    code = "read_only"


class StoreDamaged(StoreError):
    """The file is corrupted, or is not a Holdfast store."""

    code = "store_damaged"


class StoreTooNew(StoreError):
    """A newer version of Holdfast wrote this store."""

    code = "store_too_new"


class StoreClosed(StoreError):
    """The store was used after it was closed."""

    code = "stopping"


class ServerUnreachable(StoreError):
    """A server cannot be reached, or did not answer in time."""

    code = "store_unreachable"


class DeadlineExceeded(StoreError):
    """A read took longer than it was allowed; this is not an empty answer."""

    code = "deadline_exceeded"
    exit_code = 7


class EmbedderError(HoldfastError):
    """An embedding model is missing, cannot be reached, or returned something unusable."""

    code = "model_unavailable"
    exit_code = 8


class ModelError(HoldfastError):
    """A language model is missing, cannot be reached, answered nothing usable, or its cap is
    reached; `again` says whether another attempt may help, `requests` how many were made."""

    code = "language_model_unavailable"
    exit_code = 10

    def __init__(
        self, message: str, *, hint: str = "", again: bool = False, requests: int = 1
    ) -> None:
        super().__init__(message, hint=hint)
        self.again = again
        self.requests = requests


class CallCancelled(HoldfastError):
    """The caller has given up; the work stopped between two steps."""

    code = "cancelled"
    exit_code = 130  # What a shell reports for a program that was interrupted.

"""The operations on people, sent to a server: what each takes and returns is read from its
declaration in `api.people`, and the caller's role and key decide there what they may do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.api import codec, wire
from holdfast.api.operation import Operation, check_limits
from holdfast.api.people import OpenMemory
from holdfast.client.faults import not_text, other_version

if TYPE_CHECKING:
    from holdfast.client.connection import Connection


class RemotePeople(OpenMemory):
    """A memory whose operations on people run on a server."""

    server: Connection

    @property
    @abstractmethod
    def _hub_header(self) -> str | None:
        """The hub in use, as a header names it."""

    def _perform(
        self,
        operation: Operation,
        method: Callable[..., Any],
        args: tuple[Any, ...],
        values: dict[str, Any],
    ) -> Any:
        coders = wire.coders_of(method)
        given = wire.encode_arguments(coders, wire.bind(method, args, values))
        check_limits(operation, given)
        path, body = f"/operations/people/{operation.name}", {"arguments": given}
        try:
            if operation.writes and not operation.replay:
                answer = self.server.send("POST", path, body, hub=self._hub_header, once=False)
            else:
                answer = self.server.ask(path, body, hub=self._hub_header)
            return coders.result.decode(answer["data"])
        except UnicodeEncodeError:
            raise not_text() from None
        except KeyError as error:
            raise other_version(self.server.url, f"without {error}") from error
        except codec.WireError as error:
            raise other_version(self.server.url, str(error)) from error

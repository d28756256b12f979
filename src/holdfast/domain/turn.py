"""One line of the conversation log: who said what, where and when."""

from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias, get_args

Role: TypeAlias = Literal["user", "assistant", "system"]
ROLES: tuple[Role, ...] = get_args(Role)


class Turn(NamedTuple):
    """One turn. The source is where it was said: telegram, tui, unknown, or any other label."""

    id: str
    hub_id: str
    role: Role
    content: str
    at: datetime
    source: str = "unknown"
    session: str | None = None

"""What can be done with memories: each file one part of it, plain functions over a Core.

`engine.edit` and the others are imported when they are first used, so that a recall does not pay
for the parts that write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.engine import access as access
    from holdfast.engine import captured as captured
    from holdfast.engine import compact as compact
    from holdfast.engine import context as context
    from holdfast.engine import decisions as decisions
    from holdfast.engine import echo as echo
    from holdfast.engine import edit as edit
    from holdfast.engine import embedding as embedding
    from holdfast.engine import find as find
    from holdfast.engine import history as history
    from holdfast.engine import hubs as hubs
    from holdfast.engine import inbox as inbox
    from holdfast.engine import invites as invites
    from holdfast.engine import jobs as jobs
    from holdfast.engine import lifecycle as lifecycle
    from holdfast.engine import lifecycle_due as lifecycle_due
    from holdfast.engine import listing as listing
    from holdfast.engine import observe as observe
    from holdfast.engine import recall as recall
    from holdfast.engine import remember as remember
    from holdfast.engine import scan as scan
    from holdfast.engine import search_text as search_text
    from holdfast.engine import teams as teams
    from holdfast.engine import transfer as transfer
    from holdfast.engine import turns as turns
    from holdfast.engine import usage as usage
    from holdfast.engine import verdicts as verdicts


def __getattr__(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"holdfast.engine.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'holdfast.engine' has no attribute {name!r}") from None

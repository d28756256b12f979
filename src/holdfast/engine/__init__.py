"""The operations on memories, as plain functions of a Core or Scope, grouped by purpose.

`engine.edit` and the other names below are imported when they are first used, so that a recall does
not pay for the modules that write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.engine import history as history
    from holdfast.engine import hubs as hubs
    from holdfast.engine import jobs as jobs
    from holdfast.engine import late_words as late_words
    from holdfast.engine import traces as traces
    from holdfast.engine.echo import detect as detect
    from holdfast.engine.log import forget_turns as forget_turns
    from holdfast.engine.log import log_rules as log_rules
    from holdfast.engine.log import observe as observe
    from holdfast.engine.log import turns as turns
    from holdfast.engine.people import members as members
    from holdfast.engine.people import teams as teams
    from holdfast.engine.reading import listing as listing
    from holdfast.engine.reading import lookup as lookup
    from holdfast.engine.reading import recall as recall
    from holdfast.engine.review import decisions as decisions
    from holdfast.engine.review import inbox as inbox
    from holdfast.engine.transfer import export as export
    from holdfast.engine.upkeep import automatic as automatic
    from holdfast.engine.upkeep import capture_stats as capture_stats
    from holdfast.engine.upkeep import lifecycle as lifecycle
    from holdfast.engine.upkeep import model_usage as model_usage
    from holdfast.engine.upkeep import secret_scan as secret_scan
    from holdfast.engine.writing import drafts as drafts
    from holdfast.engine.writing import edit as edit
    from holdfast.engine.writing import indexing as indexing
    from holdfast.engine.writing import remember as remember

# The folder of each module that is reached as `engine.NAME`; those not listed are here.
_FOLDERS = {
    "echo": "detect",
    "log": "forget_turns log_rules observe turns",
    "people": "members teams",
    "reading": "listing lookup recall",
    "review": "decisions inbox",
    "transfer": "export",
    "upkeep": "automatic capture_stats lifecycle model_usage secret_scan",
    "writing": "drafts edit indexing remember",
}
_PLACES = {name: folder for folder, names in _FOLDERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    folder = _PLACES.get(name)
    path = f"holdfast.engine.{folder}.{name}" if folder else f"holdfast.engine.{name}"
    try:
        module = import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        raise AttributeError(f"module 'holdfast.engine' has no attribute {name!r}") from None
    globals()[name] = module
    return module

"""Describes what the API's description lacks: fields of answers, parameters of addresses and
headers, and an example of each body.

Fields that are arguments of an operation are described where that is declared
(`PARAMETERS` in `api/operation.py`). A field of the same name means the same everywhere; the few
that do not are listed with the schema that they are in. A test compares the tables with the
description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from holdfast.api.operation import PARAMETERS


def describe(app: FastAPI) -> None:
    """Completes the description of an app when it is first asked for."""
    make = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            complete(make())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def complete(made: dict[str, Any]) -> None:
    """Adds descriptions and examples where there are none."""
    for name, schema in made["components"]["schemas"].items():
        short = name.rpartition("__")[2]
        for field, about in schema.get("properties", {}).items():
            if "description" not in about and (text := described_as(field, short)):
                about["description"] = text
        example = EXAMPLES.get(name, EXAMPLES.get(short))
        if example is not None:
            schema["examples"] = [example]
    for methods in made["paths"].values():
        for route in methods.values():
            for parameter in route.get("parameters", ()):
                if "description" not in parameter:
                    name = parameter["name"]
                    parameter["description"] = _OF_ADDRESSES.get(name) or described_as(name)


def described_as(field: str, schema: str = "") -> str:
    """The description of a field; empty if there is none."""
    own = _OWN.get(f"{schema}.{field}") or _FIELDS.get(field)
    declared = PARAMETERS.get(field)
    return own or (declared.described if declared is not None else "")


# By name, in every schema.
_FIELDS: Mapping[str, str] = {
    # A memory
    "access_count": "how often it was used, as noted by `access`",
    "boundary": "who may see it: private, hub, team or org",
    "category": "its category, for example preference or fact",
    "content": "the text",
    "content_hash": "a hash of the text",
    "content_type": "text, markdown, code, chat, transcript, file, structured or link",
    "created_at": "when it was made",
    "hub_id": "the hub that it is in",
    "id": "its id, which never changes",
    "kind": "episodic, semantic, procedural or rationale",
    "layer": "long_term, journal or library; turn for a turn of the conversation log",
    "number": "its number in the hub; 0 for a turn of the conversation log",
    "owner": "the name of its owner",
    "owner_id": "the id of its owner",
    "pinned": "whether it never ages",
    "shown_count": "how often recall returned it",
    "source": "where it came in: cli, import, hook, web, api, sdk, mcp or extraction",
    "stability": "how it ages: volatile, evolving or stable",
    "state": "processing, active, cooling or archived",
    "summary": "a shorter form of a long text",
    "tags": "its labels",
    "title": "one line for lists",
    "updated_at": "when it was changed last",
    "version": "its version; every change makes a new one",
    # Results
    "change": "the id of the change set, which `POST /v1/undo` takes back",
    "close_to": "an older memory that the new one may replace",
    "data": "the answer",
    "deleted": "the ids of what was removed permanently",
    "dry_run": "whether it only reports what it would change",
    "next_cursor": "fetches the next page; null on the last one",
    "note": "a sentence on what was left out, or why",
    "notes": "sentences on what was left out or went wrong",
    "previous": "the memory that was replaced, as it was",
    "reason": "why",
    "receipts": "the receipt of each purged memory",
    "removed": "what was removed",
    "result": "stored, updated, duplicate, superseded or quarantined",
    "revisions": "how many versions it had",
    "withdrawn": "the id of what was withdrawn",
    # Errors
    "code": "what went wrong, for programs",
    "command": "the next step at the command line",
    "details": "the positions of the errors in the request",
    "error": "what went wrong",
    "hint": "what to do next",
    "message": "what went wrong and what to do, for people",
    # Recall
    "around": "the turns before and after it, if requested",
    "confidence": "how likely it is that the hub holds an answer, from 0 to 1",
    "degraded": "why the answer may be weaker than usual; empty where it is not",
    "end": "the position after the last character",
    "filtered": "how many were found and not shown, by reason",
    "headings": "the headings that the passage is under",
    "hits": "what was found, with scores and reasons",
    "left_out": "what matched and was not shown, and why",
    "memory": "the memory",
    "parts": "the parts of the score by name",
    "passage": "the part of the text that matched",
    "probability": "how likely it is that this answers the question, from 0 to 1",
    "score": "orders the hits of one answer; scores of two questions cannot be compared",
    "start": "the position of the first character",
    "turn": "the turn of the conversation log",
    "why": "the reasons in words",
    # History
    "action": "what was done: remember, update, forget, undo and so on",
    "actor": "who did it",
    "at": "when",
    "changed": "the old and the new value of each field",
    "changes": "ids of change sets",
    "field": "the name of the field",
    "fields": "the names of the fields that changed",
    "lines": "the differences as lines of a unified diff",
    "memories": "the memories",
    "missing": "how many turns of an import cannot be brought back",
    "new": "the new value",
    "old": "the old value",
    "undoes": "the change set that this one took back",
    "undone": "the change set that was taken back",
    "undone_by": "the change set that took this one back",
    # The conversation log and what is captured
    "about": "the words to look for",
    "assistant": "what the assistant answered",
    "dropped": "how many older turns left a full queue",
    "fetch": "whether a worker fetches the page behind a link",
    "folder": "the folder that the agent works in",
    "folders": "folders that are not logged, with everything below them",
    "last": "the newest ones",
    "messages": "the conversation: objects with `role` and `content`",
    "mode": "current, cron, heartbeat or consolidation; facts are captured only from the first",
    "newest": "when the newest was made",
    "noted": "what was captured by rules",
    "oldest": "when the oldest was made",
    "outcome": "what happened to it",
    "outcomes": "how many had each outcome",
    "paused": "whether nothing is logged",
    "prompt": "a prompt for the agent before its context is compacted",
    "queued": "whether facts will be taken from it",
    "reasons": "how many were left out for each reason",
    "role": "user, assistant or system",
    "session": "the conversation it is from",
    "sessions": "sessions that are not logged, by name or with `*`",
    "speaker": "who said it",
    "store_bytes": "about how many bytes it takes in the store",
    "text": "the text",
    "text_bytes": "the bytes of the texts",
    "turns": "the turns",
    "user": "what the user said",
    "year_bytes": "about how many bytes a year at the present rate takes",
    # Journals
    "date": "the day, in UTC",
    "day": "the day, in UTC",
    "entries": "its entries",
    "once": "adds nothing if the day contains it already",
    "time": "the time of the day",
    # Decisions and review
    "answer": "the id of the memory that says what was decided",
    "context": "what the person needs to know to decide",
    "keep_both": "approves without replacing anything",
    "option": "one of the options, by its words or its number",
    "options": "2 to 4 answers to choose from",
    "question": "the question for a person",
    "reference": "the question: its number, its id or its key",
    "status": "open, decided or withdrawn",
    # Consolidation and the lifecycle
    "by": "the model that proposed it, or `rules`",
    "diff": "how MEMORY.md changes",
    "done": "what was done",
    "made_at": "when it was made",
    "moves": "the memories that cool down or are archived",
    "plan": "the plan, as returned by `POST /v1/consolidation/plan`; without it, a new one is made",
    "refused": "what was not done, and why",
    "replaced_by": "the number of the memory that replaces it",
    "replaces": "the number of the memory that it replaces",
    "skipped": "why nothing was done",
    "sources": "the memories that it is made from",
    "step": "one step of the plan",
    "steps": "the steps of the plan",
    "to": "its new state",
    # Jobs
    "attempts": "how often it was tried",
    "ended_at": "when it ended",
    "total": "how many there are in all",
    "work": "what kind of work it is",
    # Counts
    "by_category": "how many memories in each category",
    "by_state": "how many memories in each state",
    "content_bytes": "the bytes of the texts",
    "count": "how many",
    "failed": "how many requests failed",
    "forgotten": "how many are forgotten and can be brought back",
    "lifecycle_at": "when the lifecycle ran last",
    "model": "the language model",
    "requests": "how many requests were made",
    "tokens_in": "tokens that were sent",
    "tokens_out": "tokens that were received",
    "visible": "how many are shown",
    # Hubs, people and keys
    "added_by": "who gave them the role",
    "delete_policy": "what contributors may delete: any, own or none",
    "expires_at": "when it ends; null for never",
    "hub": "the hub, by name or id",
    "hubs": "the hubs that the key reaches, by name or id; all of its owner's where it is empty",
    "invited_by": "who made the invitation",
    "name": "its name",
    "no_delete": "whether the key may not delete",
    "now": "the time of the server",
    "org": "the organisation, by name or id",
    "org_id": "the organisation",
    "read_only": "whether the key may only read",
    "revoked_at": "when it was revoked",
    "secret": "the key itself, which is shown once",
    "since": "since when",
    "team": "the team, by name or id",
    "token": "what the invited person sends to `POST /v1/invites/accept`",
    "used_at": "when it was used last",
    "used_by": "who accepted it",
    # Several at once
    "everywhere": "also removes other copies of the same words",
    "first_is_parent": "the others point to the first as their `parent`",
    "ids": "the memories, by id, number or key",
    "items": "the memories to store, all or none",
    "purge": "removes the memories permanently, instead of in a change set that can be undone",
    "remove": "removes these from the list",
    "hash": "the hash of the turn's text",
}

# Fields that mean something else than in other schemas.
_OWN: Mapping[str, str] = {
    "ChangeOut.actor": "who made the change",
    "Conversation.name": "the name of the conversation, used for its file and memory",
    "EntryOut.change": "the change set that it is a part of",
    "FlushedOut.left_out": "how many older turns exceeded the limit and were not read",
    "FlushedOut.turns": "how many turns were read",
    "ForgottenOut.total": "how many turns match",
    "HeardOut.memories": "the memories that came back in the text",
    "HeardOut.text": "the text without them",
    "HubOut.role": "the caller's role: viewer, contributor, admin or owner",
    "ItemOut.about": "the memory that approving it would replace",
    "ItemOut.kind": "quarantined, conflict or low_trust",
    "ItemOut.why": "why it waits",
    "JobOut.done": "how much of it is done",
    "JobOut.state": "waiting, running, done or failed",
    "KeyHanded.actor": "the owner of the key",
    "KeyOut.actor": "the owner of the key",
    "LifecycleOut.change": "the change set; null where nothing was due",
    "MemberOut.actor": "the person",
    "NewInvite.days": "for how many days it is valid",
    "NewInvite.role": "viewer, contributor, admin or owner",
    "InviteHanded.role": "viewer, contributor, admin or owner",
    "InviteOut.role": "viewer, contributor, admin or owner",
    "MemberOut.role": "viewer, contributor, admin or owner",
    "NewRole.role": "viewer, contributor, admin or owner",
    "OrgOut.role": "viewer, contributor, admin or owner",
    "TeamOut.role": "viewer, contributor, admin or owner",
    "NewTurn.source": "where it was said, for example telegram",
    "NewObservation.source": "where it was said, for example telegram",
    "TurnOut.source": "where it was said, for example telegram",
    "ObservedOut.turns": "the turns that were logged",
    "OriginIn.turn": "the id of the turn",
    "ReceiptOut.actor": "who purged it",
    "ReceiptOut.memory_id": "the memory that was purged",
    "RulesOut.until": "when the pause ends",
    "SizeOut.turns": "how many turns there are",
    "SpeakerOut.last": "when they said something last",
    "SpeakerOut.turns": "how many turns they said",
    "StepOut.kind": "promote, merge or retire",
    "UsageOut.hub": "the hub's name",
    "UsageOut.memories": "how many memories there are",
    "UndoneOut.turns": "how many turns of an import it removed from the log",
    "Approval.text": "a new text for the approved item",
    "HubChanges.team": "the team that the hub is given to; empty text takes it back",
    "HubChanges.org": "the organisation that the hub is shared with; empty text takes it back",
    "Question.around": "how many turns to return before and after a turn that is a hit",
    "Undo.change": "the change set; without it, the last one",
}

# Parameters of paths, queries and headers.
_OF_ADDRESSES: Mapping[str, str] = {
    "Idempotency-Key": "the same request with the same key runs once within a day",
    "Last-Event-ID": "the last event you received; later ones are sent first",
    "actor": "the person",
    "after": "the number of the last memory of the previous page",
    "as_of": "the state at this past time",
    "before": "the id of the last one of the previous page",
    "budget": "the most characters or tokens",
    "chars": "the most characters of each turn",
    "count_tokens": "how tokens are counted, for example tiktoken:o200k_base",
    "explain": "says what is in the block and what was left out",
    "hub_id": "the hub, by id or name",
    "if-match": "the ETag of the version you read; 412 if there is a newer one",
    "invite_id": "the id of the invitation",
    "key_id": "the id of the key",
    "memory_id": "the memory: its id, its number or its key",
    "name": "the name of the assistant",
    "new": "the newer version; without it, the last",
    "old": "the older version; without it, the one before",
    "org_id": "the organisation, by id or name",
    "q": "the words to look for",
    "query": "a question: the block then also has what is relevant to it",
    "style": "plain, xml, max, maven or minion",
    "tag": "has this tag; repeat it to require several",
    "team_id": "the team, by id or name",
    "turns": "how many turns",
    "unit": "what the budget counts: chars or tokens",
    "when": "today, yesterday, a date, or two of them: 2026-05-01..2026-05-27",
    "where": "a condition on metadata and fields, as a line of text or as JSON",
    "words": "also finds texts that contain all the words in any form",
}

# A body that can be sent unchanged, by the name of its schema.
EXAMPLES: Mapping[str, Any] = {
    "Answer": {"reference": "12", "option": "Friday"},
    "Approval": {"references": ["12"]},
    "Aside": {"sessions": ["private-*"]},
    "Batch": {"ids": ["12", "13"], "reason": "out of date"},
    "holdfast__edges__http__changes__Changes": {"changes": ["chg_1k0m69b7w35amrwe6qda"]},
    "holdfast__edges__http__memories__Changes": {
        "content": "Production runs Postgres 17",
        "metadata": {"team": "core"},
    },
    "Chosen": {"references": ["12"]},
    "Conversation": {
        "session": "monday",
        "messages": [
            {"role": "user", "content": "When is the demo?"},
            {"role": "assistant", "content": "On Friday at ten."},
        ],
    },
    "FlushedConversation": {"messages": [{"role": "user", "content": "I live in Porto."}]},
    "Forget": {"about": "the salary", "dry_run": True},
    "HubChanges": {"name": "plans"},
    "LifecycleRequest": {"dry_run": True},
    "Move": {"ids": ["12"], "hub": "plans"},
    "NewEntry": {"text": "Shipped version 2 of the importer"},
    "NewHub": {"name": "plans"},
    "NewInvite": {"role": "contributor", "days": 7},
    "NewKey": {"name": "laptop", "hubs": ["plans"], "read_only": True},
    "NewMemory": {
        "content": "Production runs Postgres 16",
        "key": "database",
        "tags": ["infrastructure"],
        "metadata": {"team": "core", "priority": 3},
    },
    "NewName": {"name": "Acme"},
    "NewObservation": {
        "user": "We deploy on Thursdays now.",
        "assistant": "Noted.",
        "session": "monday",
    },
    "NewOrg": {"name": "Acme"},
    "NewRole": {"role": "viewer"},
    "NewTeam": {"name": "Tools", "org": "Acme"},
    "NewTurn": {"role": "user", "content": "When is the demo?", "session": "monday"},
    "Pause": {"until": "2026-05-27T18:00:00Z"},
    "Purge": {"ids": ["12"], "everywhere": True},
    "Pushes": {"items": [{"content": "Ada prefers tabs"}, {"content": "Ben prefers spaces"}]},
    "holdfast__edges__http__recall__Question": {
        "query": "which database runs in production?",
        "limit": 5,
        "where": {"priority": {"gte": 2}},
    },
    "holdfast__edges__http__review__Question": {
        "question": "On which day do we deploy?",
        "options": ["Tuesday", "Thursday"],
    },
    "Said": {"text": "As you told me, Ada lives in Lisbon. She also plays chess."},
    "Token": {"token": "the token of the invitation"},
    "Undo": {},
    "Wanted": {"dry_run": True},
    "Withdrawal": {"reference": "12", "note": "settled elsewhere"},
}

"""The shadow journaler: after a turn, in the background, it writes facts that later conversations
will need to the day's journal.

It processes each turn by itself. A model may search existing memories and propose facts; without
one, rules read the user's words. A proposal must be supported by the turn, and goes through
`engine.writing.proposals`, which compares it with existing memories. Statements that only the
assistant made are marked, and never promoted automatically. A model that fails is retried; in the
end the rules do the work. Failures are only logged. This module does not know which worker runs its
jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.domain.memory import EXPLICIT, Origin
from holdfast.domain.results import Noted, reason_without_words
from holdfast.engine import jobs
from holdfast.engine.core import Scope
from holdfast.engine.jobs import Runner, Stopped
from holdfast.engine.upkeep import capture_stats
from holdfast.engine.writing.edit import forget
from holdfast.engine.writing.proposals import ASSISTANT, SAID_BY, Proposal, Taken, take_proposals
from holdfast.errors import EmbedderError, InvalidSetting, ModelError, NotFound
from holdfast.passes import logger
from holdfast.passes.corrections import by_corrections
from holdfast.passes.work import makes_journals, synced_files
from holdfast.text.clean import content_hash
from holdfast.text.facts.statements import without_note
from holdfast.text.guard import instruction_shaped
from holdfast.text.secrets import PLACEHOLDER
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Trust
    from holdfast.engine.core import Core
    from holdfast.engine.jobs import Job
    from holdfast.llm import Model
    from holdfast.store.base import Writer
    from holdfast.text.capture import Captured, VectorOf
    from holdfast.text.grounding import Span

WORK = jobs.JOURNAL
# A turn has a few facts; a model that finds more invents them.
PROPOSALS_MAX = 10
# Each proposal is compared with the whole turn, which takes time if that is long.
_TRIED_MAX = 20


class Heard(NamedTuple):
    """A turn as the journaler processes it: the words of both sides as logged, and the time."""

    user: str
    assistant: str
    at: datetime
    session: str | None = None
    turns: Mapping[str, str] = {}
    # The name of the user, if there are several.
    speaker: str = ""
    # The assistant's previous message, which a short turn may answer.
    question: str = ""
    # What both said around it in the same session, as far as it was said: the role and the words.
    around: Sequence[tuple[str, str]] = ()
    # The time that the user's clock showed, from which days in words are counted.
    clock: datetime | None = None

    @property
    def read_at(self) -> datetime:
        """The time from which days in words are counted."""
        return self.clock or self.at

    @property
    def is_between_people(self) -> bool:
        """Whether who is called the assistant speaks as a person does."""
        from holdfast.text.capture.between_people import is_between_people

        said = (*self.around, ("user", self.user), ("assistant", self.assistant))
        return is_between_people(
            [text for role, text in said if role == "user"],
            [text for role, text in said if role == ASSISTANT],
        )


def runner(home: str, *, stop: Callable[[], bool] = lambda: False) -> Runner:
    """The runner of journaler jobs."""

    def run(core: Core, job: Job) -> None:
        _work_on(core, home, job, stop)

    return Runner(WORK, run, _lost, _failed, in_order=WORK in jobs.IN_ORDER)


def _lost(core: Core, writer: Writer, job: Job, reason: str) -> None:
    said = job.about.get(jobs.SAID, {}).get("user", "")
    capture_stats.note(core, writer, job.hub_id, [Noted("failed", reason, said)])


def _failed(core: Core, job: Job, reason: str) -> None:
    """An error other than a model's: a full store, or a bug."""
    if job.attempts < jobs.ATTEMPTS_MAX:
        jobs.fail(core, job, reason)
        return
    with core.store.write(hub=job.hub_id) as writer:
        jobs.give_up(core, writer, job, reason)
        _lost(core, writer, job, reason)


def _heard(core: Core, job: Job) -> Heard:
    """The turn that a job is about."""
    about = job.about
    said = about[jobs.SAID]
    return Heard(
        said.get("user", ""),
        said.get("assistant", ""),
        at := from_text(about["at"]),
        about["session"],
        about["turns"],
        question=about.get(jobs.QUESTION, ""),
        around=_around(core, job),
        clock=core.local_clock(at),
    )


def _propose(theirs: Core, hub: Hub, heard: Heard, *, replaces: bool) -> Proposed:
    """What a turn proposes: by a model if there is one, and by rules."""
    proposed, scope = Proposed(heard), Scope(theirs, hub.id, hub.name)
    model = _model(theirs, hub)
    if model is None:
        by_rules(proposed, vector_of=vectors(theirs))
    else:
        from holdfast.passes.journaler_model import by_model

        by_model(theirs, hub, model, proposed)
        # If the model invented all its proposals, the results of the rules are better than nothing.
        # An explicit request to remember something never depends on a model.
        by_rules(proposed, explicit_only=not proposed.is_all_made_up)
    by_changes(scope, proposed)
    if replaces:
        proposed.taken_back = by_corrections(scope, proposed)
    return proposed


def _work_on(core: Core, home: str, job: Job, stop: Callable[[], bool]) -> None:
    """Does the work of one job: proposes memories of its turn, and stores them."""
    with core.store.read() as reader:
        hub = reader.hub_by_id(job.hub_id)
    if hub is None:
        raise NotFound(f"The hub {job.hub_id} is gone.")
    heard = _heard(core, job)
    # The memories belong to the person who spoke, and are compared with what they see.
    theirs = core.acting(job.about["actor"])
    failed = ""
    try:
        # Jobs without the field come from keys that were allowed to.
        proposed = _propose(theirs, hub, heard, replaces=job.about.get("replaces", True))
    except (ModelError, InvalidSetting) as error:
        if stop():
            raise Stopped from None
        failed = str(error)
        again = isinstance(error, ModelError) and error.again
        _log_failure(hub.name, job, failed)
        if again and job.attempts < jobs.ATTEMPTS_MAX:
            jobs.fail(core, job, failed)
            return
        # The model does not answer; the results of the rules are better than nothing.
        proposed = Proposed(heard)
        by_rules(proposed, vector_of=vectors(theirs))
    if stop():
        raise Stopped
    _take(theirs, home, hub, job, proposed, failed)


def _around(core: Core, job: Job) -> list[tuple[str, str]]:
    """What was said before the turn of a job in its session, and behind it if the job is late."""
    from holdfast.text.capture.between_people import TURNS_LOOKED_AT as MOST

    ids = list(job.about["turns"].values())
    if not ids:
        return []
    with core.store.read() as reader:
        around = reader.turns_around(job.hub_id, ids[0], before=MOST, after=MOST)
    return [(turn.role, turn.content) for turn in around if turn.id not in ids]


def _model(core: Core, hub: Hub) -> Model | None:
    from holdfast.engine.upkeep.model_usage import metered_model

    core.settings.refresh()
    return metered_model(core, hub.id, WORK, core.settings["shadowJournal.model"])


def _log_failure(hub: str, job: Job, reason: str) -> None:
    log = logger("holdfast.journaler")
    log.warning("%s: attempt %d at a turn failed: %s", hub, job.attempts, reason)


def _take(core: Core, home: str, hub: Hub, job: Job, proposed: Proposed, failed: str) -> None:
    """Writes the new facts, ends the job and updates the statistics, in one transaction."""

    def finish(writer: Writer, taken: list[Noted]) -> None:
        if failed:
            jobs.give_up(core, writer, job, failed)
        else:
            jobs.finish(core, writer, job, keep=False)
        noted = [*proposed.dropped, *taken]
        if failed:
            noted.append(Noted("failed", "the model", proposed.heard.user))
        capture_stats.note(core, writer, hub.id, noted or [Noted("nothing", "", "")])

    make = makes_journals(core) and bool(proposed.proposals)
    with synced_files(core, home, hub, [proposed.heard.at.date()], make=make):
        if proposed.taken_back:
            # First: if this is cut off, the job runs again, and these are no longer found.
            forget(
                Scope(core, hub.id, hub.name),
                proposed.taken_back,
                "the person took it back",
                import_run=job.about.get(jobs.IMPORT_RUN),
            )
        # Jobs without the field come from keys that were allowed to.
        take(
            core,
            hub,
            [proposed],
            finish,
            replaces=job.about.get("replaces", True),
            change=job.about.get(jobs.IMPORT_RUN),
        )


def take(
    core: Core,
    hub: Hub,
    turns: Sequence[Proposed],
    finish: Callable[[Writer, list[Noted]], None],
    *,
    reason: str = "noticed in a conversation",
    replaces: bool = True,
    change: str | None = None,
) -> list[Noted]:
    """Writes the journaler's proposals of some turns as one change set, and calls `finish` with the
    outcomes inside the transaction. Returns the outcomes with their texts."""
    noted: list[Noted] = []
    placed = _with_paths(core, hub, turns)

    def end(writer: Writer, taken: list[Taken]) -> None:
        noted[:] = [
            Noted(result.outcome, result.reason, one.text)
            for one, result in zip(placed, taken, strict=True)
        ]
        finish(writer, [_by_number(*one) for one in zip(noted, taken, strict=True)])

    take_proposals(
        Scope(core, hub.id, hub.name),
        placed,
        reason=reason,
        finish=end,
        replaces=replaces,
        change=change,
    )
    return noted


def _by_number(noted: Noted, result: Taken) -> Noted:
    """The outcome as it is stored in statistics: a memory only by its number, because its words
    must be removable by a purge. The same applies to memories that it replaces or contradicts; the
    history and the inbox have those."""
    if result.memory is None:
        return noted
    reason = noted.reason
    if noted.outcome == "superseded":
        reason = "what was there no longer holds"
    elif noted.outcome == "held":
        reason = reason_without_words(result.memory)
    return noted._replace(text=f"#{result.memory.number}", reason=reason)


def _with_paths(core: Core, hub: Hub, turns: Sequence[Proposed]) -> list[Proposal]:
    """The proposals, each with the path of its journal line: set at once, it needs no second change
    set when the line is written, and one undo reverts everything."""
    from holdfast.files.journal import entries
    from holdfast.files.journal.entries import source_path

    out: dict[str, Proposal] = {}
    with core.store.read() as reader:
        for at, one in ((turn.heard.at, one) for turn in turns for one in turn.proposals):
            line = entries.render(one.text, f"{at:%H:%M}")
            (key,) = entries.keys_of(entries.parse(line + "\n")[:1])
            path = source_path(at.date(), key)
            # The same words in the same minute are the same thing.
            if path not in out:
                free = reader.memory_by_path(hub.id, path) is None
                out[path] = one._replace(source_path=path if free else None)
    return list(out.values())


# Proposals


class _Support(NamedTuple):
    """A supported proposal: its text, the side that said it, and the position in the turn."""

    text: str
    role: str
    span: Span


class Proposed:
    """The proposals of the journaler for one turn that the turn supports; the others are dropped,
    with the reason."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self.proposals: list[Proposal] = []
        self.dropped: list[Noted] = []
        # The ids of memories that the person takes back.
        self.taken_back: list[str] = []
        self._tried = 0

    def add(
        self,
        text: str,
        *,
        quote: str = "",
        category: str | None = None,
        explicit: bool = False,
        standing: bool = False,
        verbatim: Span | None = None,
        reworded: Span | None = None,
        occurred_at: datetime | None = None,
        occurred_until: datetime | None = None,
        corrects: str | None = None,
    ) -> str:
        """Adds a proposal; returns the reason if it is dropped, else an empty text. A `verbatim`
        quote of the user needs no check. A proposal that rules have `reworded` from a part of the
        turn is stored in the original words if the rewording is not recognised."""
        heard, text = self.heard, " ".join(text.split())
        if any(one.text == text for one in self.proposals):
            return ""
        if len(self.proposals) >= PROPOSALS_MAX or self._tried >= _TRIED_MAX:
            return self._drop("too many", text)
        self._tried += 1
        found = self._support(text, quote, verbatim, reworded)
        if isinstance(found, str):
            return self._drop(found, text)
        said = heard.assistant if found.role == ASSISTANT else heard.user
        if _is_about_secret(said, found.span):
            # 'The gate code is' is useless, because the code itself is not stored.
            return self._drop("secret", found.text)
        metadata: dict[str, object] = {SAID_BY: ASSISTANT} if found.role == ASSISTANT else {}
        if explicit:
            metadata[EXPLICIT] = True
        turn = heard.turns.get(found.role, "")
        # It is grounded already, so the proposal need not carry the turn.
        self.proposals.append(
            Proposal(
                found.text,
                category,
                Origin(turn, found.span.start, found.span.end, content_hash(said)),
                at=heard.at,
                occurred_at=occurred_at,
                occurred_until=occurred_until,
                trust=_trust(found.role, found.text),
                session=heard.session,
                speaker=heard.speaker or None,
                metadata=metadata or None,
                standing=standing and found.role == "user",
                corrects=corrects,
            )
        )
        return ""

    def _support(
        self, text: str, quote: str, verbatim: Span | None, reworded: Span | None
    ) -> _Support | str:
        """The side of the turn that supports the proposal, and the position; or the reason why none
        does. The user's words take precedence over the assistant's."""
        from holdfast.text.capture.sentences import without_fillers
        from holdfast.text.capture.wording import in_own_words
        from holdfast.text.grounding import Unsupported, ground

        heard, claim = self.heard, without_note(text)
        found = verbatim or ground(
            claim, heard.user, at=heard.read_at, quote=quote, speaker=heard.speaker
        )
        if reworded and found == Unsupported("question"):
            # The rules have found where the question begins.
            clause = heard.user[reworded.start : reworded.end]
            found = ground(claim, clause, at=heard.read_at, speaker=heard.speaker)
            if not isinstance(found, Unsupported):
                return _Support(text, "user", reworded)
        if not isinstance(found, Unsupported):
            return _Support(text, "user", found)
        if reworded and found.reason in _REWORDING:
            words = without_fillers(heard.user[reworded.start : reworded.end])[0]
            own = in_own_words(_JOINED.sub("", words), heard.read_at)
            # An age needs the day on which it was said in any words.
            noted = own if without_note(own) != own else own + text[len(claim) :]
            return _Support(noted, "user", reworded)
        by_assistant = ground(claim, heard.assistant, at=heard.read_at, quote=quote)
        if isinstance(by_assistant, Unsupported):
            return found.reason
        return _Support(text, ASSISTANT, by_assistant)

    @property
    def is_all_made_up(self) -> bool:
        """Whether there were proposals, and none was supported."""
        return bool(self.dropped) and not self.proposals

    def speaks_of(self, start: int, end: int) -> bool:
        """Whether something was proposed from this part of the user's words."""
        return bool(self._of_words(start, end))

    def texts_of(self, start: int, end: int) -> list[str]:
        """What was proposed from this part of the user's words."""
        return [self.proposals[at].text for at in self._of_words(start, end)]

    def withdraw(self, start: int, end: int) -> None:
        """Removes the proposals from this part of the user's words."""
        for at in reversed(self._of_words(start, end)):
            del self.proposals[at]

    def mark_standing(self, start: int, end: int, changes: str | None = None) -> None:
        """Marks proposals from this part of the user's words for long-term memory, and which
        memory these words change."""
        for at in self._of_words(start, end):
            changed = self.proposals[at].changes or changes
            self.proposals[at] = self.proposals[at]._replace(standing=True, changes=changed)

    def _of_words(self, start: int, end: int) -> list[int]:
        if not self.proposals:
            return []
        said = content_hash(self.heard.user)
        return [
            at
            for at, one in enumerate(self.proposals)
            if one.origin is not None
            and one.origin.hash == said
            and one.origin.start < end
            and one.origin.end > start
        ]

    def _drop(self, reason: str, text: str) -> str:
        self.dropped.append(Noted("dropped", reason, text))
        return reason


def _is_about_secret(said: str, found: Span) -> bool:
    """Whether a secret was replaced in this text, or directly after it."""
    if PLACEHOLDER.search(said, found.start, found.end):
        return True
    return PLACEHOLDER.match(said[found.end :].lstrip(" \t:=\"'")) is not None


def _trust(role: str, text: str) -> Trust:
    """The trust of a text. A text that tries to take over the model was probably pasted into the
    conversation: it gets the trust of a tool, and is held for review."""
    if instruction_shaped(text, in_conversation=True):
        return "tool"
    return "user" if role == "user" else "agent"


# Reasons for which a rewording by the rules may not be recognised, although the original is a
# statement.
_REWORDING = ("words", "tense", "number", "name")
# A statement ends before what joins it to the next one.
_JOINED = lazy(r"(?i)[,;.]* (?:and|but|so|or|because)[,; ]*\Z")


def vectors(core: Core) -> VectorOf | None:
    """Makes vectors for the model that judges sentences, if the hubs have those it was trained
    with."""
    from holdfast.text.capture.sentence_model import trained_with

    embedder = core.embedder
    if embedder is None or embedder.identity != trained_with():
        return None

    def vector_of(sentence: str) -> Sequence[float] | None:
        try:
            (vector,) = embedder.embed_passages([sentence])
        except EmbedderError:
            return None  # Its words are judged, and `doctor` names what is wrong with the model.
        found: list[float] = vector.tolist()
        return found

    return vector_of


def by_rules(
    proposed: Proposed, *, explicit_only: bool = False, vector_of: VectorOf | None = None
) -> None:
    """Adds the facts that rules and the model of sentences find in the user's words, where nothing
    was proposed from these words yet; or only explicit requests."""
    from holdfast.text.capture import capture
    from holdfast.text.grounding import Span

    heard, said = proposed.heard, proposed.heard.user
    facts = capture(
        said,
        at=heard.read_at,
        speaker=heard.speaker,
        question=heard.question,
        learned=not (explicit_only or heard.is_between_people),
        vector_of=vector_of,
    )
    standing = _standing(heard, facts)
    for one in standing:
        proposed.mark_standing(one.start, one.end)
    # Determined before any is added: the same words may state two facts.
    new = [one for one in facts if not proposed.speaks_of(one.start, one.end)]
    for one in new:
        if explicit_only and not one.explicit:
            continue
        span, quote = Span(one.start, one.end), said[one.start : one.end]
        proposed.add(
            one.text,
            quote=quote,
            category=one.category,
            explicit=one.explicit,
            standing=one in standing,
            verbatim=span if one.verbatim else None,
            reworded=None if one.verbatim or heard.speaker else span,
            occurred_at=one.occurred_at,
            occurred_until=one.occurred_until,
        )


def _standing(heard: Heard, facts: Sequence[Captured]) -> list[Captured]:
    """Those that are kept for good at once; fewer of what one person says to another."""
    from holdfast.text.capture.between_people import is_lasting

    standing = [one for one in facts if one.standing]
    if standing and heard.is_between_people:
        return [one for one in standing if is_lasting(one.rule, one.text)]
    return standing


def by_changes(scope: Scope, proposed: Proposed) -> None:
    """Adds statements about a change of a long-term memory, even if no rule recognises them as
    facts: the outdated memory would otherwise stay current."""
    from holdfast.engine.writing.supersede import changed_by
    from holdfast.text.capture import told_changes
    from holdfast.text.grounding import Span

    heard, seen = proposed.heard, -1
    with scope.read() as reader:
        for one in told_changes(heard.user, at=heard.read_at):
            # The parts of a sentence come behind the whole.
            changed = None if one.start < seen else changed_by(reader, scope, one.text)
            if changed is None or (
                heard.is_between_people and not proposed.speaks_of(one.start, one.end)
            ):
                continue
            seen = one.end
            if proposed.speaks_of(one.start, one.end):
                proposed.mark_standing(one.start, one.end, changed.id)
            else:
                span = Span(one.start, one.end)
                proposed.add(one.text, category=changed.category, standing=True, verbatim=span)

"""What a hub does by itself and what it asks a person, as methods: passes and their jobs, the
review inbox, decisions. Thin, like the rest of HubMemory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.hub_base import HubBase
from holdfast.passes.upkeep import note_use

if TYPE_CHECKING:
    from holdfast.domain.decision import Decision
    from holdfast.domain.held import Item
    from holdfast.domain.memory import Memory, Source, Trust
    from holdfast.domain.observed import CapturedDay, Flushed, Observed
    from holdfast.domain.usage import UsageRow
    from holdfast.engine.find import Reference
    from holdfast.engine.jobs import Job
    from holdfast.engine.verdicts import Chosen
    from holdfast.passes.consolidate_plan import Consolidated, Plan


class HubPasses(HubBase):
    """The methods of a hub that are about automatic memory, and about what waits for a person."""

    # What is said

    def observe_turn(
        self,
        user: str,
        assistant: str,
        *,
        mode: str = "current",
        session: str | None = None,
        source: str = "unknown",
        at: datetime | str | None = None,
    ) -> Observed:
        """Shows memory a turn of a conversation: both sides are logged, and with
        `shadowJournal.enabled` what is worth keeping is noted in the day's journal, later, off the
        path of the reply. Turns of the modes cron, heartbeat and consolidation are only logged."""
        observed = engine.observe.observe(
            self.core,
            self.id,
            self.name,
            user,
            assistant,
            mode=mode,
            session=session,
            source=source,
            at=at,
        )
        if observed.queued and not self.core.is_worked:
            from holdfast.passes.work import Shadow

            core, home = self.core.for_upkeep(), self.home
            core.begin("journaler", lambda: Shadow(core, home))
        if self.core.settings["memConsolidate.enabled"]:
            self._run_what_is_due()
        note_use(self)
        return observed

    def _run_what_is_due(self) -> None:
        """Has passes that are due run in the background, where no worker does it."""
        if self.core.is_worked or self.core.permit is not None:
            return
        from holdfast.passes.due import Due

        core, home, kind = self.core.acting(), self.home, type(self)

        def open_hub(name: str) -> HubPasses:
            return kind(core, engine.hubs.find_hub(core, name), home)

        core.begin("due", lambda: Due(core, open_hub))

    def flush(
        self, messages: Iterable[Any] | str | None = None, *, session: str | None = None
    ) -> Flushed:
        """Before a compaction: the prompt that asks the agent to save what it must keep; and what
        users said that nobody has looked at yet is captured by rules, from the log or from the
        conversation given (a transcript, or messages with role and content). Again, it captures
        nothing new. The log is looked at only in a hub that is shared with nobody, as it does not
        say who said what; `note` tells so."""
        from holdfast.passes.flush import flush

        self.core.settings.refresh()
        return flush(self.core, self.home, self.info, messages=messages, session=session)

    def captured(self, *, days: int = 7) -> list[CapturedDay]:
        """What automatic memory took in, left out, and why: the last days on which there was
        anything, newest first."""
        return engine.captured.captured(self.core, self.id, self.name, days=days)

    def usage(self, *, days: int = 30) -> list[UsageRow]:
        """What language models cost this hub in the last days: requests and tokens by day, pass
        and model, newest day first."""
        return engine.usage.usage(self.core, self.id, self.name, days=days)

    def jobs(self, *, limit: int = 100) -> list[Job]:
        """Work for later, on memories that you see and on turns: the newest of it, oldest first.
        What was said in a turn is not told here: the log has it."""
        jobs = engine.jobs
        found = jobs.jobs(self.core, self.id, self.name, limit=limit)
        with self.core.read() as reader:
            seen = reader.memories_by_id(self.id, [job.about.get("memory", "") for job in found])
        return [
            jobs.without_texts(job)
            for job in found
            if job.work == jobs.JOURNAL or job.about.get("memory") in seen
        ]

    # The review inbox

    def review(
        self, *, kind: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list[Item]:
        """What is kept and hidden until a person has looked at it, oldest first: of a kind
        (quarantined, conflict, low_trust), or from a source (mcp, an agent, a file or folder)."""
        return engine.inbox.review(
            self.core, self.id, self.name, kind=kind, source=source, limit=limit
        )

    def review_count(self) -> int:
        """How many items wait for review."""
        return engine.inbox.count(self.core, self.id, self.name)

    def approve(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        text: str | None = None,
        keep_both: bool = False,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list[Memory]:
        """Shows items of the review inbox: those named, or `every` one, those of a `kind` or from a
        `source`; one may be given another `text`. What an item contradicts, or was to renew, it
        takes the place of, unless `keep_both`. Returns the memories that say it now."""
        chosen = _chosen(references, every, kind, source)
        return engine.verdicts.approve(
            self.core, self.id, self.name, chosen, text=text, keep_both=keep_both, reason=reason
        )

    def reject(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list[Memory]:
        """Archives items of the review inbox, hidden as they are; `undo` brings them back."""
        chosen = _chosen(references, every, kind, source)
        return engine.verdicts.reject(self.core, self.id, self.name, chosen, reason=reason)

    # Decisions

    def request_decision(
        self,
        question: str,
        options: Sequence[str],
        context: str = "",
        *,
        trust: Trust = "agent",
        source: Source = "sdk",
        source_agent: str | None = None,
    ) -> Decision:
        """Asks a person to decide between 2 to 4 options. At most 3 questions are open at a time;
        until it is answered, a question is neither recalled nor injected."""
        return engine.decisions.request_decision(
            self.core,
            self.id,
            self.name,
            question,
            options,
            context,
            trust=trust,
            source=source,
            source_agent=source_agent,
        )

    def decisions(self, *, every: bool = False) -> list[Decision]:
        """Open questions, oldest first; with `every`, also those decided or withdrawn."""
        return engine.decisions.decisions(self.core, self.id, self.name, every=every)

    def decide(
        self, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
    ) -> Decision:
        """A person's answer: an option by its words or its number. It becomes a memory."""
        return engine.decisions.decide(
            self.core, self.id, self.name, reference, option, note=note, source=source
        )

    def withdraw_decision(self, reference: Reference, *, note: str = "") -> Decision:
        """Takes a question back without an answer."""
        return engine.decisions.withdraw_decision(
            self.core, self.id, self.name, reference, note=note
        )

    # Consolidation

    def plan_consolidation(self) -> Plan:
        """What a consolidation would do: what it would promote from the journals of the last days
        to long-term memory, merge and retire there, and what it refuses and why. Writes nothing.
        Its `text` can be edited, and given to `consolidate`."""
        from holdfast.passes import consolidate

        return consolidate.plan_consolidation(self.core, self.id, self.name)

    def consolidate(self, plan: Plan | str | None = None, *, dry_run: bool = False) -> Consolidated:
        """Moves what lasts from the journals to long-term memory, as one change set that one undo
        takes back: by a plan or the text of one, or by one that is made now. Skipped where the
        journals are empty, where nothing has changed since the last run, and while another is
        running."""
        from holdfast.passes import consolidate

        return consolidate.consolidate(
            self.core, self.id, self.name, plan=plan, dry_run=dry_run, backup=self._keep_memory_md
        )

    def _keep_memory_md(self) -> str | None:
        """Keeps MEMORY.md as it is beside it; where that is, is told to who has the machine."""
        from holdfast.files.memory_md.copies import keep_copy

        kept = keep_copy(self.memory_md)
        return kept if self.core.permit is None else None


def _chosen(
    references: Reference | Iterable[Reference], every: bool, kind: str | None, source: str | None
) -> Chosen:
    named = (references,) if isinstance(references, str | int) else tuple(references)
    return engine.verdicts.Chosen(named, every, kind, source)

"""What a turn corrects or takes back of the facts that were taken from the person's earlier turns
of the session: 'correction: 15k', 'scratch that', 'I was only kidding'.

Such words mean nothing alone. A value of the same type is put in the place of the older one; other
corrections are kept in the person's own words, with the statement that they correct in brackets. A
fact that was taken back is forgotten. All of it can be undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.records import Turn
from holdfast.engine.core import Scope
from holdfast.text.capture.wording import dated, in_other_language, resolve
from holdfast.text.facts.statements import without_note
from holdfast.text.slots.corrections import (
    Correction,
    corrects,
    names,
    read,
    says_more,
    shares_a_thing,
)
from holdfast.text.slots.values_in import first_clause, is_function_word, with_values_of
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.passes.journaler import Proposed
    from holdfast.store.base import Reader

# How far back a turn is looked for that is corrected: three messages of the person and the replies.
_TURNS_BEFORE = 6
# The same where the turn names what it takes back.
_TURNS_BEFORE_NAMED = 30
# A session has a few facts; the newest are looked at.
_FACTS_MAX = 40


class Corrected(NamedTuple):
    """A fact of an earlier turn, and how the new turn corrects it."""

    memory: Memory
    found: Correction


def by_corrections(scope: Scope, proposed: Proposed) -> list[str]:
    """Adds what a turn says instead of an earlier fact of its session, and returns the ids of the
    facts that it takes back."""
    heard = proposed.heard
    if heard.session is None or heard.speaker or read(heard.user) is None:
        return []
    with scope.read() as reader:
        facts = _corrected(reader, scope, heard.turns.get("user", ""), heard.session, heard.user)
    if not facts or heard.is_between_people:
        return []
    if facts[0].found.manner == "taken back":
        _add_rest(proposed, facts[0])
        return [fact.memory.id for fact in facts]
    # What corrects several facts cannot be put in the place of one.
    if len(facts) == 1:
        _add_correction(proposed, facts[0])
    return []


def _corrected(
    reader: Reader, scope: Scope, turn_id: str, session: str, said: str
) -> list[Corrected]:
    """The facts of the nearest earlier turn that this turn corrects; of several, those that share
    a word with it."""
    found = read(said)
    if found is None or not turn_id:
        return []
    most = _TURNS_BEFORE_NAMED if found.about else _TURNS_BEFORE
    before = reader.turns_around(scope.hub_id, turn_id, before=most, after=0)
    facts = _facts_by_turn(reader, scope, session)
    is_next, reply = True, ""
    for turn in reversed(before):
        if turn.role != "user":
            reply = reply or (turn.content if is_next else "")
            continue
        corrected = _of_turn(turn, facts.get(turn.id, []), said, found, is_next, reply)
        if corrected:
            return corrected
        is_next = False
    return []


def _of_turn(
    turn: Turn, facts: list[Memory], said: str, found: Correction, is_next: bool, reply: str
) -> list[Corrected]:
    if not facts or corrects(said, turn.content, is_next=is_next, reply=reply) is None:
        return []
    if found.about:
        meant = [one for one in facts if names(found.about, one.content)]
    else:
        meant = [one for one in facts if shares_a_thing(said, one.content)]
    if not meant and not found.about and found.manner != "changed":
        meant = facts
    return [Corrected(one, found) for one in meant]


def _facts_by_turn(reader: Reader, scope: Scope, session: str) -> dict[str, list[Memory]]:
    """The person's own current facts of a session, by the turn that they were taken from: of a
    fact and its journal line, the fact."""
    rows = reader.memories(
        scope.hub_id, Filter(session=session), order="newest", after=None, limit=_FACTS_MAX
    )
    now, actor = scope.now(), scope.core.actor
    by_text: dict[tuple[str, str], Memory] = {}
    for one in rows:
        if one.origin is None or one.trust != "user" or one.owner != actor:
            continue
        if not one.in_force(now):
            continue
        key = (one.origin.turn, one.content)
        if key not in by_text or one.layer == "long_term":
            by_text[key] = one
    out: dict[str, list[Memory]] = {}
    for (turn_id, _), memory in by_text.items():
        out.setdefault(turn_id, []).append(memory)
    return out


def _add_rest(proposed: Proposed, fact: Corrected) -> None:
    """Adds to the journal what the person said instead of a fact that they took back."""
    from holdfast.text.grounding import Span

    said = proposed.heard.user
    if not says_more(said) or proposed.speaks_of(fact.found.start, len(said)):
        return
    old = without_note(fact.memory.content)
    text = f"{said.strip()} (taken back: {old})"
    proposed.add(text, category=fact.memory.category, verbatim=Span(0, len(said)))


def _add_correction(proposed: Proposed, fact: Corrected) -> None:
    """Adds what the turn says instead of the fact, as its successor."""
    from holdfast.text.capture import capture
    from holdfast.text.dates import event_in
    from holdfast.text.grounding import Span

    heard, found, memory = proposed.heard, fact.found, fact.memory
    said = heard.user
    if proposed.speaks_of(found.start, len(said)) and not _is_kept_as_said(proposed, found):
        # Rules have understood the statement alone, and it is compared with all others.
        return
    written = _DATE_BEHIND.search(memory.content)
    # The date behind the words is that of the older value.
    old = memory.content[: written.start()] if written else without_note(memory.content)
    words = said[found.start : found.end]
    clause = words if found.manner == "changed" else first_clause(words)
    span = Span(found.begin, found.end)
    # Many such words are for the agent: 'Correction: line 15 is wrong'.
    in_passing = found.manner == "may correct" or (
        found.manner == "corrects"
        and not found.about
        and len(clause.split()) > _VALUE_WORDS_MAX
        and not _shares(words, old, found)
    )
    in_full = resolve(clause, heard.read_at, when="ahead").text
    new = with_values_of(in_full, old, only=in_passing)
    # 'In April' has a year now, and the older statement may have none.
    new = new or with_values_of(clause, old, only=in_passing)
    since = until = None
    if new is not None:
        event = event_in(new, at=heard.read_at)
        since, until = (event.since, event.until) if event else (None, None)
        if written:
            meant = resolve(new, heard.read_at, when="ahead")
            meant = meant if meant.dates else in_other_language(new, heard.read_at) or meant
            new = dated(new, meant, heard.read_at)
    elif found.manner != "changed":
        # 'I moved to Linz, still getting used to it' is understood by its first part.
        alone = capture(first_clause(words), at=heard.read_at)
        if not _replaces_alone(said[found.begin :], old, found, is_statement=len(alone) == 1):
            return
        if len(alone) == 1:
            new, since, until = alone[0].text, alone[0].occurred_at, alone[0].occurred_until
        else:
            span = Span(found.begin, len(said))
            new = f"{said[found.begin :].strip()} (instead of: {old})"
    if new is not None:
        proposed.withdraw(found.begin, len(said))
        proposed.add(
            new,
            category=memory.category,
            standing=memory.layer == "long_term",
            verbatim=span,
            occurred_at=since,
            occurred_until=until,
            corrects=memory.id,
        )


_DATE_BEHIND = lazy(r" \((?:the week of )?(?:\d{1,2} )?(?:[A-Z][a-z]+ )?\d{4}\)\Z")


def _is_kept_as_said(proposed: Proposed, found: Correction) -> bool:
    """Whether all that was proposed is the sentence with the words that correct: 'Non attends,
    mardi' says nothing by itself."""
    said = proposed.heard.user
    sentence = said[found.begin : found.end].strip(_ENDS).casefold()
    least = len(said[found.start : found.end].strip(_ENDS))
    kept = [without_note(text) for text in proposed.texts_of(found.begin, len(said))]
    return all(sentence.endswith(text.casefold()) and len(text) > least for text in kept)


_ENDS = " .,;:!–-…。！，、"


def _replaces_alone(rest: str, old: str, found: Correction, *, is_statement: bool) -> bool:
    """Whether the words certainly correct the fact, though no value shows it. 'That's wrong' and
    'sorry, it's still red' may be about what the agent did, unless they share a word with it. The
    first part of the words may be a statement by itself."""
    if not rest.strip(" ,.;:!–-…"):
        return False
    if found.manner == "corrects":
        # What shares nothing with the fact may be about what the agent does: 'correction: the test
        # is red'. Then only a name or a statement takes its place.
        said = rest[found.start - found.begin :]
        if found.about or _shares(said, old, found):
            return True
        clause = first_clause(said)
        return _is_only_name(clause, found.language) or is_statement
    if found.manner == "denies":
        return _shares(rest, old, found)
    is_name = _IS_NAME.search(rest) is not None and _ENDS_WITH_NAME.search(old) is not None
    return found.manner == "may correct" and found.points and (is_name or shares_a_thing(rest, old))


def _shares(one: str, other: str, found: Correction) -> bool:
    return shares_a_thing(one, other, is_english=not found.language)


# A value and the words around it: 'wegen 15 Euro'.
_VALUE_WORDS_MAX = 3
_NAME_WORDS_MAX = 4
_NAME_CHARS_MAX = 8
_UNSPACED = lazy(r"[぀-ヿ㐀-鿿]")
# What is said of something, in a script without spaces.
_SAYS_OF = lazy(r"[がはを的有]")


def _is_only_name(clause: str, language: str) -> bool:
    """Whether what is new is hardly more than a name: 'Linz', 'chez Thales plutôt'."""
    if _UNSPACED.search(clause):
        return len(clause) <= _NAME_CHARS_MAX and _SAYS_OF.search(clause) is None
    said = clause.split()
    if not 0 < len(said) <= _NAME_WORDS_MAX:
        return False
    is_small = [is_function_word(word) for word in said]
    named = [at for at, word in enumerate(said) if not is_small[at] and any(map(str.isupper, word))]
    if language == "de":
        # All nouns have a capital letter: 'der Befehl heißt ls', 'Test läuft nicht'.
        is_noun = said[0].casefold() in _GERMAN_ARTICLES
        return len(named) == 1 and not is_noun and sum(is_small) == len(said) - 1
    # 'Test fails' begins with one because it begins a sentence.
    return bool(named) and (named != [0] or len(said) == 1 or is_small[1])


_GERMAN_ARTICLES = frozenset("der die das den dem des ein eine einen einem einer".split())  # noqa: SIM905

# 'It's Anja with a j' after 'Sister's name is Ana'.
_IS_NAME = lazy(r"\b(?:[Ii]t|[Hh]e|[Ss]he)(?:'s| is) [A-Z][\w-]+(?: with \S+ \S+)?\W*\Z")
_ENDS_WITH_NAME = lazy(r" [A-Z][\w-]+\Z")

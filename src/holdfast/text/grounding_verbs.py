"""Whether a claim has the verb of what was said: who watched somebody play has not played, and who
rents a flat does not own it.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.text.clauses import Clause
from holdfast.text.grounding_claim import Part
from holdfast.text.grounding_words import words_of
from holdfast.text.terms import STOP_WORDS
from holdfast.text.word_forms import base_form

_SELF = frozenset(["i", "we", "let's", "user"])
_BE = frozenset(["is", "are", "am", "was", "were", "be", "been", "being", "im", "m", "s", "re"])
_HAVE = frozenset(["has", "have", "had", "having"])
_IS = frozenset(["is", "are", "am"])
# Who has something says so with one of these.
_OWNING = frozenset(["have", "has", "had", "got", "own", "owns", "my", "our", "with", "mine"])
# Words before the verb that say how, how often or when.
_ADVERBS = frozenset(
    """
    always never usually often sometimes really just now also still longer currently recently
    finally only mostly normally generally actually already ever once rarely hardly barely seldom
    occasionally probably definitely totally absolutely simply even almost nearly today yesterday
    tonight tomorrow both all anymore then first then
    """.split()  # noqa: SIM905
)
# 'I stopped eating meat' supports that they no longer eat it.
_ENDING = frozenset(base_form(word) for word in ("stopped", "quit", "gave", "ceased", "dropped"))


def same_verb(part: Part, run: Sequence[Clause]) -> bool:
    """Whether the verb of the claim is the one that the speaker is the subject of."""
    claim = [word for word in part.words if word not in _SELF and word not in _ADVERBS]
    said = [word for one in run for word in words_of(one.text)]
    if part.subject != "self":
        # Who recommended a dentist is none.
        return not _IS.intersection(claim) or bool(_BE.intersection(said))
    verb = next((word for word in claim if word not in STOP_WORDS or word in _BE | _HAVE), "")
    if verb in _HAVE and "been" not in claim:
        return bool(_OWNING.intersection(said))
    if "me" in said and base_form("called") in {base_form(word) for word in said[:6]}:
        # 'Call me Bea' says how somebody is called.
        return base_form("called") in {base_form(word) for word in claim}
    if verb in _BE or verb in _HAVE:
        return bool(_BE.intersection(said)) and _second_fits(claim, verb, said)
    if run[0].subject != "self" or not verb:
        return True
    return _fits(verb, run[0], part.ended)


def _second_fits(claim: Sequence[str], verb: str, said: Sequence[str]) -> bool:
    """Of 'is learning', the second word is the verb as well: it must follow a form of be."""
    after = claim[list(claim).index(verb) + 1 :]
    if not after or not after[0].endswith("ing"):
        return True
    keys = [base_form(word) for word in said]
    place = keys.index(base_form(after[0])) if base_form(after[0]) in keys else -1
    return place > 0 and bool(_BE.intersection(said[max(0, place - 3) : place]))


def _fits(verb: str, clause: Clause, ended: bool) -> bool:
    words = words_of(clause.text)
    at = next((place for place, word in enumerate(words) if word in _SELF), -1)
    given = [w for w in words[at + 1 :] if w not in STOP_WORDS and w not in _ADVERBS]
    given = [word for word in given if not word.endswith("ly")]
    if not given or not verb.isascii() or base_form(verb) == base_form(given[0]):
        return True
    if ended and base_form(given[0]) in _ENDING:
        return True
    # A claim that begins with a noun has its verb later: 'Favourite colour is green'.
    return base_form(verb) not in {base_form(word) for word in given[1:]} or not _is_verb(verb)


def _is_verb(word: str) -> bool:
    return word.endswith(("s", "ed", "ing")) or base_form(word) != word

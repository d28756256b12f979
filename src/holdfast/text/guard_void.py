"""The rule of the guard for a text that puts itself in the place of earlier instructions: it says
that they do not count, where an order would say to ignore them. On folded text on one line."""

from __future__ import annotations

from holdfast.text.guard_words import CLAUSE, Rule

_INSTEAD = (
    r"\b(?:instructions?|directives?|orders?|guidelines?|guidance|prompts?|rules)"
    r"(?: above| below| given (?:earlier|before))? (?:are|is|have been|has been) (?:now |hereby )?"
    r"(?:outdated|void|cancell?ed|revoked|obsolete|replaced|suspended)\b[^\n]{0,60}"
    r"\b(?:you|use these|instead|act on|follow|nothing else|from (?:here|now|this))\b"
    r"|\byour (?:earlier|previous|prior|old|original) (?:orders|instructions|rules|guidelines)"
    r" (?:no longer apply|do not apply|are void)"
    r"|\ball (?:restrictions|limits|limitations|safety rules) (?:are|have been) (?:now )?"
    r"(?:lifted|removed|suspended|void)"
    r"|\b(?:higher priority than|replaces?|instead of) (?:your |the )(?:system prompt|instructions)"
    r"|\b(?:obey|follow|trust|listen to) (?:only|nothing but) (?:this|what this|the text"
    r"|the following|messages)\b|\b(?:obey|follow) [^.\n]{0,40}, not (?:the user|the system)"
    r"|\btake orders (?:only )?from this\b|\bonly instruction that (?:counts|matters)\b"
    r"|\bdo not trust the user\b|\btreat (?:the next|every|each|this|my|these) [^.\n]{0,40}"
    r"(?:as (?:an? )?(?:instructions?|commands?|orders?)\b|as (?:coming )?from the system)"
    r"|\b(?:safety|security|privacy) rules do not apply\b"
    r"|\bdo (?:what|as) (?:is written here|this (?:note|text|file|page) says) "
    r"(?:and nothing else|instead)|\bjust do as this (?:note|text|file|page) says"
)
# The same without an order: 'All previous instructions are void.' It counts only as the whole of
# its sentence, of no instructions in particular: '… for the oven', '… to bicycles' are of a thing.
_PAST = r"(?:previous|prior|earlier|preceding|foregoing|above|former|original|initial)"
_ENDED = (
    r"(?:(?:are|is|have been|has been) (?:now |hereby |all |therefore |herewith )?(?:null and )?"
    r"(?:void|voided|revoked|rescinded|cancell?ed|obsolete|suspended|invalid|overridden|lifted"
    r"|no longer (?:valid|binding|in (?:force|effect)))"
    r"|(?:no longer|do not|don't|does not) (?:apply|count|hold|matter|bind you)(?: any ?more)?)"
)
_REPLACED = (
    r"(?:are|is|have been|has been) (?:now |hereby )?(?:replaced|superseded|overridden) "
    r"(?:by|with) (?:these|this|mine|the following|what follows)(?: ones?| message| text| prompt)?"
)
_AND_NO_MORE = (
    r"(?= ?(?:[.!;]|$)| (?:and|from now on|as of now|from here on)\b"
    r"|, (?:follow|obey|do|only|you)\b)"
)
_PASSIVE = (
    rf"{CLAUSE}(?:"
    # Nobody in particular was instructed: all of it, or just 'earlier instructions'.
    rf"(?:all |any |every )(?:of )?(?:the |your |my |our )?(?:{_PAST}(?:,? (?:and |or )?)){{1,3}}"
    r"(?:system )?(?:instructions?|directives?|prompts?|guidelines|guidance|rules|constraints)"
    rf"|{_PAST} (?:system )?(?:instructions|directives|prompts)"
    # The reader was.
    rf"|(?:all )?your (?:{_PAST}|old) (?:system )?(?:instructions|directives|guidelines|rules"
    r"|prompt|programming|training|constraints|restrictions)"
    r"|(?:all |any )?(?:of )?(?:the )?(?:instructions|directives|rules|guidelines|orders)"
    r" (?:that )?you (?:were|have been|had been) given(?: before| earlier| previously| so far)?"
    rf") (?:{_ENDED}{_AND_NO_MORE}|{_REPLACED}(?::|{_AND_NO_MORE}))"
)

VOID = Rule(
    "puts itself in the place of earlier instructions",
    (
        *("outdated", " void", "cancel", "revoked", "obsolete", "replace", "suspended"),
        *("not apply", "longer apply", "all restrictions", "all limit", "all safety"),
        *("priority than", "instead of", "obey", " only this", " only what"),
        *(" only the ", "nothing but", ", not the ", "only messages", "take orders"),
        *("only instruction", "trust the user", "treat ", "nothing else", "do as this"),
        *("rescinded", "invalid", "overridden", "superseded", "lifted", "no longer", "n't apply"),
        *("not count", "not hold", "not matter", "n't count", "not bind"),
    ),
    rf"{_INSTEAD}|{_PASSIVE}",
)

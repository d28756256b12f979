"""Recognises 'forget that' in nine languages. Apart from capture, as a hook reads every prompt."""

from __future__ import annotations

import re

# 'Forget that', and nothing else.
_FORGET_LAST = re.compile(
    r"^\W*(?:please |ok(?:ay)?,? |actually,? |no,? |bitte |nein,? |por favor,? |per favore,? "
    r"|non,? )*"
    r"(?:forget (?:that|this|it|what i (?:just )?said)"
    r"|(?:do not|don'?t) (?:remember|keep|store|save) (?:that|this|it)"
    r"|vergiss (?:das|es)|merk dir das nicht|oublie (?:ça|cela)|oublie-le|olvida(?:lo| eso| esto)"
    r"|dimentica(?:lo|telo)?(?: questo)?|esque[çc][ae] (?:isso|isto)|vergeet (?:dat|het|dit)"
    r"|(?:请)?(?:忘掉|忘了|别记|不要记)(?:这个|那个|它|吧|住)*|(?:今の|それ|これ)(?:は|を)?(?:忘れて|覚えないで)"
    r"(?:ください|下さい|ね)?)(?: please| bitte| alsjeblieft)?\W*$",
    re.IGNORECASE,
)


def asks_to_forget_last(said: str) -> bool:
    """Whether a person asks to forget what they said last, and says nothing else."""
    return _FORGET_LAST.match(said) is not None

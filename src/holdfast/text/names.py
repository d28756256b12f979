"""Parses names of people, organisations, teams and API keys, and references to them.

Every edge calls these functions before anything is compared or decided. Two spellings that parse to
the same value are the same name; a spelling that only looks like a name is refused:

- whitespace around a name is dropped, runs of spaces in it become one, and it is composed (NFC);
- control, format, private-use and unassigned characters are refused, and so are all others that
  Unicode says may be invisible (default ignorable), line separators, and spaces but U+0020;
- compatibility characters (full-width letters, ligatures, `ª`) are refused: their plain form
  (NFKC) is suggested;
- letters of one script only, by 'moderately restrictive' of UTS 39: Latin with one other script is
  allowed, as are Japanese, Chinese and Korean with Latin, but not Latin with Cyrillic, Greek or
  another script with letters that look like Latin ones;
- at most four combining marks in a row, and none at the beginning.

Case matters: `Alice` and `alice` look different, and are different people. Which names exist, this
module does not know.
"""

from __future__ import annotations

import unicodedata

from holdfast.domain.hub import Label, PersonName, PlaceRef, RecordId
from holdfast.errors import InvalidInput, NotFound

NAME_CHARS_MAX = 100
# Longer than every name and id there is.
_REFERENCE_CHARS_MAX = 200
# UTS 39, 5.4: more in a row is not how any language is written.
_MARKS_MAX = 4

# Cc control, Cf format, Cs surrogate, Co private use, Cn unassigned, Zl and Zp separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Default_Ignorable_Code_Point (DerivedCoreProperties.txt) of other categories, and the Braille
# blank, which has no dots.
_HIDDEN_RANGES = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x2800, 0x2800),  # Braille blank
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xE0000, 0xE0FFF),  # tags, variation selectors supplement
)

# Scripts that are written together (UTS 39, 'highly restrictive'). CJK is how Unicode names Han.
_TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
# Scripts with letters that are drawn like Latin ones.
_LIKE_LATIN = frozenset(
    {"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "DESERET", "GREEK", "LISU", "OSAGE", "WARANG"}
)
# First words of the names of letters that belong to no script.
_NO_SCRIPT = frozenset({"IDEOGRAPHIC", "KATAKANA-HIRAGANA", "MODIFIER", "VERTICAL"})


def parse_person(text: object) -> PersonName:
    """The name of a person or an agent."""
    return PersonName(_parse_name(text, "a person"))


def parse_label(text: object, what: str) -> Label:
    """The name of a `what`: an organisation, a team or a key."""
    return Label(_parse_name(text, f"the {what}"))


def parse_place(text: object) -> PlaceRef:
    """A hub, a team or an organisation as somebody refers to it; it need not exist. NotFound for a
    name that is too long for any: it is nowhere, as one that is only unknown."""
    if isinstance(text, str) and len(composed(text)) > _REFERENCE_CHARS_MAX:
        raise NotFound(f"No name is longer than {_REFERENCE_CHARS_MAX} characters.")
    return PlaceRef(_parse_reference(text, "a hub, a team or an organisation"))


def parse_id(text: object, what: str) -> RecordId:
    """The id of a `what`, such as a key; it need not exist."""
    return RecordId(_parse_reference(text, f"the {what}"))


def composed(text: str) -> str:
    """Text as names are stored and compared: composed, without whitespace around it."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()


def hidden_character(text: str) -> int | None:
    """The position of the first character that cannot be seen; None if all can be."""
    if text.isascii() and text.isprintable():
        return None
    for position, character in enumerate(text):
        if unicodedata.category(character) in _HIDDEN_CATEGORIES:
            return position
        code = ord(character)
        if code >= _HIDDEN_RANGES[0][0] and any(a <= code <= b for a, b in _HIDDEN_RANGES):
            return position
    return None


def _parse_name(text: object, what: str) -> str:
    name = _parse_reference(text, what, NAME_CHARS_MAX)
    refuse_confusable(name, what)
    return _single_spaced(name)


def refuse_confusable(name: str, what: str) -> None:
    """Refuses a new name with characters that are taken for others."""
    if name.isascii():
        return
    if any(_is_variant(character) for character in name):
        plain = unicodedata.normalize("NFKC", name)
        raise InvalidInput(
            f"The name of {what} has characters that look like others: {name!r}.",
            hint=f"Write it {_single_spaced(plain.strip())!r}.",
        )
    _refuse_loose_marks(name, what)
    _refuse_mixed_scripts(name, what)


def _parse_reference(text: object, what: str, chars_max: int = _REFERENCE_CHARS_MAX) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"The name of {what} must be text, not {type(text).__name__}.")
    name = composed(text)
    if not name:
        raise InvalidInput(f"The name of {what} cannot be empty.")
    if len(name) > chars_max:
        raise InvalidInput(f"The name of {what} is longer than {chars_max} characters.")
    if (position := hidden_character(name)) is not None:
        raise InvalidInput(
            f"The name of {what} has an invisible character (U+{ord(name[position]):04X}) at "
            f"position {position}.",
            hint="Type the name instead of pasting it.",
        )
    return name


def _single_spaced(name: str) -> str:
    return " ".join(name.split()) if "  " in name else name


def _is_variant(character: str) -> bool:
    """Whether a character is another form of a plain one. Letters without case are not: Thai and
    Lao spell everyday names with some that have a compatibility decomposition."""
    decomposition = unicodedata.decomposition(character)
    if not decomposition.startswith("<"):
        return False
    return not (decomposition.startswith("<compat>") and unicodedata.category(character) == "Lo")


def _refuse_loose_marks(name: str, what: str) -> None:
    """Refuses marks without a base letter, and too many in a row."""
    marks = _MARKS_MAX
    for character in name:
        if unicodedata.category(character) not in ("Mn", "Me"):
            marks = 0 if character != " " else _MARKS_MAX
        elif marks == _MARKS_MAX:
            raise InvalidInput(
                f"The name of {what} has an accent or mark that belongs to no letter: {name!r}.",
                hint="Type the name instead of pasting it.",
            )
        else:
            marks += 1


def _refuse_mixed_scripts(name: str, what: str) -> None:
    """Refuses names with letters from scripts that are not written together."""
    scripts = {_script(character) for character in name if character.isalpha()} - {""}
    if len(scripts) <= 1 or any(scripts <= together for together in _TOGETHER):
        return
    if len(scripts) == 2 and "LATIN" in scripts and not scripts & _LIKE_LATIN:
        return
    mixed = " and ".join(sorted(script.title() for script in scripts))
    raise InvalidInput(
        f"The name of {what} mixes {mixed} letters, some of which look alike: {name!r}.",
        hint="Use letters of one script.",
    )


def _script(character: str) -> str:
    """The script of a letter, from its Unicode name; empty for those of none."""
    if character.isascii():
        return "LATIN"
    word = unicodedata.name(character, "").partition(" ")[0]
    return "" if word in _NO_SCRIPT else word


# Characters that look alike, each with the one that represents all of them: those of
# confusables.txt (UTS 39) that a name can hold and that a reader takes for a Latin letter or an
# ASCII sign.
_LOOKS = {
    **{ord(a): b for a, b in zip("I1|0", "lllO", strict=True)},
    ord("m"): "rn",
    # Latin
    **{ord(a): b for a, b in zip("ıɩǀɡɑʋʏʀꜱᴏᴠᴡᴢᴄ", "iilgauyrsovwzc", strict=True)},
    # Cyrillic
    **{ord(a): b for a, b in zip("аеорсухіјѕһԁԛԝѵӏгп", "aeopcyxijshdqwvlrn", strict=True)},
    **{ord(a): b for a, b in zip("АВЕЅІЈКМНОРСТУХԌԜҮӀԚ", "ABESlJKMHOPCTYXGWYlQ", strict=True)},
    # Greek
    **{ord(a): b for a, b in zip("αγικνορστυχ", "ayiKvopotux", strict=True)},
    **{ord(a): b for a, b in zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHlKMNOPTYX", strict=True)},
    # Armenian, Cherokee
    **{ord(a): b for a, b in zip("օոսցհՕՍՏԼ", "onugHOUSL", strict=True)},
    **{ord(a): b for a, b in zip("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ", strict=True)},
    # Signs
    **{ord(a): b for a, b in zip("‐‒–—−’‘ʼ՚‚⁄∕·", "-----'''',//.", strict=True)},
}


def skeleton(name: str) -> str:
    """The skeleton of a name: names with the same one can be confused (UTS 39, 4)."""
    if not name.isascii():
        name = "".join(one for one in unicodedata.normalize("NFKD", name) if not _hidden(one))
    return unicodedata.normalize("NFD", name.translate(_LOOKS)).translate(_LOOKS).strip()


def _hidden(character: str) -> bool:
    return hidden_character(character) is not None

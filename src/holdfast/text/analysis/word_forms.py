"""Words and numbers in one form, for comparing what two people say: irregular verbs, spellings,
short forms, pairs that mean the same, and numbers by their value (`3`, `three`, `3rd`, `5k`)."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from holdfast.text.analysis.terms import terms

_IRREGULAR = """
    be: am is are was were been being
    become: became
    begin: began begun
    break: broke broken
    bring: brought
    build: built
    buy: bought
    catch: caught
    choose: chose chosen
    come: came
    cut:
    do: does did done
    draw: drew drawn
    drink: drank drunk
    drive: drove driven
    eat: ate eaten
    fall: fell fallen
    feel: felt
    fight: fought
    find: found
    fly: flew flown
    forget: forgot forgotten
    get: got gotten
    give: gave given
    go: goes went gone
    grow: grew grown
    have: has had
    hear: heard
    hold: held
    keep: kept
    know: knew known
    lead: led
    leave: left
    lend: lent
    lose: lost
    make: made
    mean: meant
    meet: met
    pay: paid
    read:
    ride: rode ridden
    run: ran
    say: said
    see: saw seen
    sell: sold
    send: sent
    sing: sang sung
    sit: sat
    sleep: slept
    speak: spoke spoken
    spend: spent
    stand: stood
    steal: stole stolen
    swim: swam swum
    take: took taken
    teach: taught
    tell: told
    think: thought
    throw: threw thrown
    understand: understood
    wake: woke woken
    wear: wore worn
    win: won
    write: wrote written
    child: children kid kids
    person: people persons
    wife: wives
    mother: mom mum mommy mummy moms mums
    father: dad daddy dads
    foot: feet
    tooth: teeth
    mouse: mice
    man: men
    woman: women
"""
# Each row is one word to us; the first is what it becomes.
_ALIKE = """
    called named name call
    begin start
    buy purchase
    relocate move
    reside live
    apartment flat
    bicycle bike
    television tv
    grandmother grandma granny
    grandfather grandpa
    hometown
    kilometre km kms kilometer kilometers kilometres k
    kilogram kg kgs kilo kilos kilograms
    gram g grams
    metre m meter meters metres
    mile mi miles
    minute min mins minutes
    hour h hr hrs hours
    second sec secs s seconds
    euro eur euros €
    dollar usd dollars $ bucks
    pound gbp quid £
    percent % pct
    megabyte mb megabytes
    gigabyte gb gigabytes
    milligram mg milligrams
    millisecond ms milliseconds
    every each
    database db databases
    repository repo repos repositories
    javascript js
    typescript ts
    kubernetes k8s
    postgres postgresql pg
    photo photograph photos photographs pic pics
    favorite favourite fave
    vegetables veggies
    timezone
"""
_SPELLING = (("our", "or"), ("isation", "ization"), ("ise", "ize"), ("yse", "yze"), ("ogue", "og"))
# Words in -our and -ise that have no other spelling.
_KEPT = frozenset(
    """
    our your hour four tour pour flour sour rise wise exercise promise surprise raise noise precise
    otherwise advise devise arise paradise enterprise premise franchise disguise compromise likewise
    praise cruise bruise poise
    """.split()  # noqa: SIM905
)


@cache
def _forms() -> dict[str, str]:
    found: dict[str, str] = {}
    for row in _IRREGULAR.strip().splitlines():
        base, _, forms = row.strip().partition(":")
        found.update(dict.fromkeys([base, *forms.split()], base))
    for row in _ALIKE.strip().splitlines():
        first, *others = row.split()
        first = found.get(first, first)
        found.update(dict.fromkeys([first, *others], first))
    return found


@cache
def _past_forms() -> frozenset[str]:
    rows = (row.partition(":")[2].split() for row in _IRREGULAR.strip().splitlines())
    plain = {"am", "is", "are", "being", "does", "goes", "has", "children", "kid", "kids", "people"}
    return frozenset(word for row in rows for word in row) - plain - {"mom", "mum", "dad"}


# Past forms that are as good as adjectives: 'based in Oslo' is so today.
_STATES = frozenset(
    """
    based called named married interested allergic used retired divorced engaged need speed red bed
    excited supposed
    """.split()  # noqa: SIM905
)


def tense(word: str) -> str:
    """'past', 'ing' or 'present', by the form of a word alone."""
    if word in _STATES:
        return "present"
    if word in _past_forms() or (word.endswith("ed") and len(word) > 4 and word[-3] != "e"):
        return "past"
    return "ing" if word.endswith("ing") and len(word) > 5 else "present"


def base_form(word: str) -> str:
    """A folded word in the form under which it is compared."""
    known = _forms().get(word)
    if known is not None:
        word = known
    elif word.isascii() and word.isalpha() and word not in _KEPT:
        for british, american in _SPELLING:
            plural = word.endswith(british + "s")
            if (plural or word.endswith(british)) and len(word) > len(british) + 2:
                word = word[: -len(british) - plural] + american + ("s" if plural else "")
                break
    found = terms(word)
    return found[0] if len(found) == 1 else word


_UNITS_TABLE = """
    zero | one first | two second twice couple pair | three third thrice | four fourth | five fifth
    | six sixth | seven seventh | eight eighth | nine ninth | ten tenth | eleven eleventh
    | twelve twelfth dozen | thirteen thirteenth | fourteen fourteenth | fifteen fifteenth
    | sixteen sixteenth | seventeen seventeenth | eighteen eighteenth | nineteen nineteenth
"""
_TENS_TABLE = """
    twenty twentieth | thirty thirtieth | forty fortieth | fifty fiftieth | sixty sixtieth
    | seventy seventieth | eighty eightieth | ninety ninetieth
"""


def _numbered(table: str, first: int, step: int) -> dict[str, int]:
    rows = enumerate(table.split("|"), start=first)
    return {word: number * step for number, words in rows for word in words.split()}


_UNITS = _numbered(_UNITS_TABLE, 0, 1)
_TENS = _numbered(_TENS_TABLE, 2, 10)
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
# Words that also mean something else; as a number they count only before another one.
_SHY = frozenset(["one", "first", "second", "pair", "couple", "zero", "third"])

# No number has more than twenty parts; of digits without an end, each would be looked at from each.
_TOKEN = (
    r"(?P<digits>(?<![\w.])v?\d++(?:[.,:]\d++){0,20}(?:st|nd|rd|th|k|m|bn)?(?![\w]|[.,:]\d))"
    r"|(?P<glued>(?<![\w.])\d++(?:[.,]\d++){0,20}(?=[a-z%€]))|(?P<word>[a-z]+)"
)


class Number(NamedTuple):
    """A number, its position, and whether it is spelled in digits."""

    value: str
    start: int
    end: int
    digits: bool


def numbers_in(folded: str) -> list[Number]:
    """The numbers of a folded text, in order."""
    out: list[Number] = []
    run: list[tuple[str, int, int]] = []
    for match in re.finditer(_TOKEN, folded):
        if match["word"] is not None:
            word = match["word"]
            joined = run and folded[run[-1][2] : match.start()] in (" ", "-", " and ", " and a ")
            if word in _UNITS or word in _TENS or (word in _SCALES and joined):
                if run and not joined:
                    out += _spelled(run)
                    run = []
                run.append((word, match.start(), match.end()))
            elif word != "and":
                if word in _SCALES and out and out[-1].digits and out[-1].end + 1 == match.start():
                    last = out.pop()
                    value = (
                        _text(float(last.value) * _SCALES[word]) if _is_plain(last.value) else ""
                    )
                    out.append(Number(value or last.value, last.start, match.end(), True))
                out += _spelled(run)
                run = []
            continue
        out += _spelled(run)
        run = []
        out.append(Number(_value(match[0]), match.start(), match.end(), True))
    return out + _spelled(run)


def is_number_word(word: str) -> bool:
    """Whether a word spells a number, and nothing else."""
    return word in _TENS or word in _SCALES or (word in _UNITS and word not in _SHY)


def _is_plain(value: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", value) is not None


def _value(raw: str) -> str:
    raw = raw.removeprefix("v")
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", raw):
        return str(int(match[1]))
    if match := re.fullmatch(r"(\d+(?:[.,]\d+)?)(k|m|bn)", raw):
        scale = {"k": 1e3, "m": 1e6, "bn": 1e9}[match[2]]
        return _text(float(match[1].replace(",", ".")) * scale)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", raw):
        return raw.replace(",", "")
    # A version or a time is not a number: 3.10 is not 3.1.
    return raw if re.search(r"[.,:]", raw) else str(int(raw))


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _spelled(run: list[tuple[str, int, int]]) -> list[Number]:
    """What a run of number words says: 'twenty three', 'two hundred and five'."""
    if not run or (len(run) == 1 and run[0][0] in _SHY):
        return []
    total = part = 0
    for word, _, _ in run:
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if _SCALES[word] >= 1_000:
                total, part = total + part, 0
        else:
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return [Number(str(total + part), run[0][1], run[-1][2], False)]

"""English words brought to one form for comparing what two people say: irregular verbs, spellings,
short forms, and pairs that mean the same. Only pairs that never differ in what they claim are here.
"""

from __future__ import annotations

from functools import cache

from holdfast.text.terms import terms

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

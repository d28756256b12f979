"""The words and the one pattern by which a date in English is found; what they mean is not here.

Compiling takes some milliseconds, so `find` loads this only when a text may hold a date.
"""

from __future__ import annotations

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# By the first three letters.
MONTH_OF = {name: number for number, name in enumerate(_MONTHS, start=1)}
WEEKDAY_OF = {name: number for number, name in enumerate(_WEEKDAYS)}
NUMBERS = {
    word: number
    for number, words in {
        1: "a an one", 2: "two couple", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 14: "fourteen",
        15: "fifteen", 20: "twenty", 30: "thirty", 60: "sixty", 90: "ninety",
    }.items()
    for word in words.split()
}  # fmt: skip
# Months a season begins with, for the northern half; winter ends in the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Hours from the start of the day; a night ends in the next one.
PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
# Also plain words, a verb, a name, or a star: in lower case they are a date only where the words
# around leave no doubt.
SHY = frozenset(["may", "march", "mar", "sun", "sat", "mon", "wed", "jan"])

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY = (
    "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    "|sat(?:urday)?|sun(?:day)?"
)
_NUMBER = r"\d{1,3}|" + "|".join(
    f"{word}(?:[ ]of)?" if word == "couple" else word for word in NUMBERS
)
_SEASON = "|".join(SEASONS)
_PART = "|".join(PARTS)
_UNIT = "|".join(("hour", *UNIT_DAYS))
_YEAR = r"(?:19|20)\d\d(?![\w/%°]|[-.:,]\d)"
_DAY_NUMBER = r"(?:[12]\d|3[01]|0?[1-9])"

# One pattern, its readings tried from first to last. Each is a group, the last to close when it
# matched, so that `lastgroup` names it; its parts have its letter in front, since names differ.
EXPRESSION = re.compile(
    rf"""(?<![\w@#$€£/.:+-])(?:
    (?P<iso>\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?)?
        (?![\w/]|-\d))
  | (?P<slash>\d{{4}}/\d\d?/\d\d?|\d\d?/\d\d?/\d{{4}})(?![\w/-])
  | (?P<yearmonth>(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\w/:]|-|\.\d))
  | (?P<dayfirst>(?:the\ )?(?P<d_day>{_DAY_NUMBER})(?P<d_th>st|nd|rd|th)?\ (?P<d_of>of\ )?
        (?P<d_month>{_MONTH})\b\.?(?:,?\ (?P<d_year>{_YEAR}))?)
  | (?P<monthfirst>(?P<m_month>{_MONTH})\b\.?\ (?:the\ )?(?P<m_day>{_DAY_NUMBER})
        (?P<m_th>st|nd|rd|th)?(?![\w:%]|[.,]\d)(?:(?:\ ?[-–]\ ?|\ to\ )(?P<m_to>{_DAY_NUMBER})
        (?:st|nd|rd|th)?(?![\w:%]|[.,]\d))?(?:,?\ (?P<m_year>{_YEAR}))?)
  | (?P<monthyear>(?P<y_month>{_MONTH})\b\.?,?(?:\ of)?\ (?P<y_year>{_YEAR}))
  | (?P<monthrel>(?P<r_month>{_MONTH})\b\.?\ (?:of\ )?(?P<r_which>last|this|next)\ year)
  | (?P<season>(?P<s_season>{_SEASON})(?:\ of)?\ (?P<s_year>{_YEAR}))
  | (?P<quarter>q(?P<q_number>[1-4])[ ](?P<q_year>{_YEAR}))
  | (?P<ago>(?:(?P<a_few>a\ few|several)|(?:a\ )?(?P<a_number>{_NUMBER}))\ (?P<a_unit>{_UNIT})s?
        \ (?P<a_way>ago|earlier|from\ now))
  | (?P<span>(?:(?:over|in|during|within)\ )?(?:the\ )?(?P<n_way>last|past|previous|next|coming)
        \ (?:(?P<n_few>few|several)|(?:a\ )?(?P<n_number>{_NUMBER}))\ (?P<n_unit>{_UNIT})s?)
  | (?P<which>(?P<w_way>last|past|previous|this|current|next|coming)\ (?P<w_noun>week(?:end)?|month
        |year|quarter|{_SEASON}|{_PART}|{_MONTH}|{_WEEKDAY})\b(?:\ (?P<w_part>{_PART}))?)
  | (?P<near>(?P<near_day>(?:the\ )?day\ (?:before\ yesterday|after\ tomorrow)|today|yesterday
        |tomorrow)(?:\ (?P<near_part>{_PART}))?)
  | (?P<tonight>tonight)
  | (?P<weekend>over\ the\ (?:weekend|{_SEASON}))
  | (?P<weekday>(?P<weekday_name>{_WEEKDAY})\b(?:\ (?P<weekday_part>{_PART}))?)
  | (?P<month>{_MONTH})
  | (?P<year>{_YEAR})
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)

# After a shy word in lower case, one of these (or no word at all) means that it was a date.
AFTER_DATE = re.compile(
    r"\W*$|\s*[.,;:?!)]|\s+(?:and|or|about|with|in|at|on|to|we|i|she|he|they|was|is|when|for|the"
    r"|\d)\b",
    re.IGNORECASE,
)
# After a number that could be a year, one of these means that it was a count.
COUNTED = frozenset(
    """
    people persons user users token tokens word words char chars character characters line lines row
    rows item items times mile miles km kg m cm mm g ms kb mb gb tb px dollar dollars euro euros
    pounds usd eur bucks step steps cal kcal calories page pages point points hour hours minute
    minutes second seconds day days week weeks month months request requests file files message
    messages rpm votes copies memories documents x hz mhz ghz watt watts volt volts w
    """.split()  # noqa: SIM905 - a list of ninety quoted words is harder to read
)
# Before it, one of these means that it was a number or an amount.
NUMBERED = frozenset(
    """
    port version ver v room page line error issue pr rfc iso no number nr code id model row step
    chapter build commit ticket bug top cost costs about almost nearly over roughly exactly than
    least most windows office server
    """.split()  # noqa: SIM905 - as above
)
# Before a day of the week or a month, one of these means that it comes again and again.
EACH = frozenset(("every", "each", "any", "most", "all", "per", "other"))

_WORD_AFTER = re.compile(r"[\s-]?([A-Za-z]+)")
_WORD_BEFORE = re.compile(r"([A-Za-z]+)[. ]\s*$")


def word_after(text: str, end: int) -> str:
    """The word right behind a place, in lower case; '' when there is none."""
    found = _WORD_AFTER.match(text, end)
    return found.group(1).lower() if found else ""


def word_before(text: str, start: int) -> str:
    """The word right before a place, in lower case; '' when there is none."""
    # 16 characters hold any of the words it is compared with.
    found = _WORD_BEFORE.search(text[max(0, start - 16) : start])
    return found.group(1).lower() if found else ""

"""How a clause is told: the third person, verbs that agree, dates written out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.text.capture.wording import resolve, tell

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)  # a Sunday


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I prefer tabs", "Prefers tabs"),
        ("I watch tennis", "Watches tennis"),
        ("I study law", "Studies law"),
        ("I play chess", "Plays chess"),
        ("I go to Rome", "Goes to Rome"),
        ("I have a dog", "Has a dog"),
        ("we have a dog", "Has a dog"),
        ("I need glasses", "Needs glasses"),
        ("I moved to Lisbon", "Moved to Lisbon"),
        ("I went to Rome", "Went to Rome"),
        ("I'm Dutch", "Is Dutch"),
        ("Im Dutch", "Is Dutch"),
        ("I’m Dutch", "Is Dutch"),
        ("we're Dutch", "Is Dutch"),
        ("I'm not Dutch", "Is not Dutch"),
        ("I was born here", "Was born here"),
        ("we were in Rome", "Was in Rome"),
        ("I've lived in Rome", "Has lived in Rome"),
        ("I haven't seen Rome", "Hasn't seen Rome"),
        ("I don't eat meat", "Doesn't eat meat"),
        ("i dont eat meat", "Doesn't eat meat"),
        ("I do not eat meat", "Does not eat meat"),
        ("I can't swim", "Can't swim"),
        ("I'll start in May", "Will start in May"),
        ("I really prefer tea", "Really prefers tea"),
        ("I just moved", "Moved"),
        ("I no longer smoke", "No longer smokes"),
        ("my wife's name is Ana", "Wife's name is Ana"),
        ("Our dog also bites", "Dog bites"),
        ("I live with my sister", "Lives with their sister"),
        ("I run my own shop", "Runs their own shop"),
        ("I taught myself", "Taught themselves"),
        ("Ana calls me when I'm away", "Ana calls them when they are away"),
        ("I rode since I was a kid", "Rode since they were a kid"),
        ("that car is mine", "That car is theirs"),
        ("I live in the US", "Lives in the US"),
        ("I read Book I", "Reads Book I"),
        ("I love it!!! 🎉", "Loves it"),
        ("one of my goals is to run", "One of their goals is to run"),
    ],
)
def test_words_for_the_speaker_become_the_third_person(said: str, told: str) -> None:
    assert tell(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I moved to Lisbon", "Ann moved to Lisbon"),
        ("My wife is a nurse", "Ann's wife is a nurse"),
        ("one of my goals is to run", "One of Ann's goals is to run"),
        ("The door code is 1234", "The door code is 1234"),
    ],
)
def test_who_has_a_name_is_called_by_it(said: str, told: str) -> None:
    assert tell(said, "Ann") == told


@pytest.mark.parametrize(
    ("when", "said", "told"),
    [
        ("past", "moved last March", "moved in March 2026"),
        ("past", "moved in March", "moved in March 2026"),
        ("past", "moved in December", "moved in December 2025"),
        ("past", "moved on Friday", "moved on 13 November 2026"),
        ("past", "moved yesterday", "moved on 14 November 2026"),
        ("past", "moved last week", "moved in the week of 2 November 2026"),
        ("past", "moved last month", "moved in October 2026"),
        ("past", "moved last year", "moved in 2025"),
        ("past", "moved last summer", "moved in summer 2026"),
        ("past", "moved two years ago", "moved around 2024"),
        ("past", "moved about a month ago", "moved about October 2026"),
        ("past", "moved three days ago", "moved on 12 November 2026"),
        ("past", "moved on 3 May 2019", "moved on 3 May 2019"),
        ("past", "here since last June", "here since June 2026"),
        ("past", "here since June", "here since June 2026"),
        ("past", "before last June", "before June 2026"),
        ("past", "after last June", "after June 2026"),
        ("past", "until last Friday", "until 13 November 2026"),
        # What is told in the present is still to come.
        ("past", "my last day is 30 November", "my last day is 30 November 2026"),
        ("past", "the lease ends on 3 May", "the lease ends on 3 May 2027"),
        ("past", "was born on 3 May", "was born on 3 May"),
        ("past", "our son was born on 3 May", "our son was born on 3 May 2026"),
        ("ahead", "done by March", "done by March 2027"),
        ("past", "went to 4 shows in the last 3 months", "went to 4 shows in the last 3 months"),
        ("ahead", "moves in March", "moves in March 2027"),
        ("ahead", "moves on Friday", "moves on 20 November 2026"),
        ("ahead", "moves next week", "moves in the week of 16 November 2026"),
        ("ahead", "is due by Friday", "is due by 20 November 2026"),
        ("ahead", "is next Friday", "is 20 November 2026"),
        ("ahead", "is on 12 June next year", "is on 12 June 2027"),
        ("ahead", "runs on Monday evenings", "runs on Monday evenings"),
        ("near", "found on 6 November", "found on 6 November 2026"),
        ("near", "due on 3 December", "due on 3 December 2026"),
        ("past", "settled on Friday deploys", "settled on Friday deploys"),
    ],
)
def test_dates_are_written_out(when: str, said: str, told: str) -> None:
    assert resolve(said, AT, when=when).text == told  # type: ignore[arg-type]

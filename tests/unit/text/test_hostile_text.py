"""No text is worth more time than its length: what somebody writes cannot hold a whole server up.

A regular expression holds the interpreter while it runs, so each of these tests runs in a process
of its own, which is ended when it takes too long.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# All of it takes a fraction of a second. A pattern that tries every way to read a line would take
# hours, so that a busy machine is never mistaken for one.
PATIENCE_S = 60


def run(code: str) -> str:
    """What the code prints; a `TimeoutExpired` when it does not end."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    return done.stdout


def test_a_line_that_is_nearly_the_rule_of_a_table_is_read_once() -> None:
    printed = run(
        "from holdfast.text.chunking.markdown import read_blocks\n"
        "for cell in ('| ', '|:', '|:\\t', '|-', '| :-: '):\n"
        "    print([b.kind for b in read_blocks('| a | b |\\n| - |' + cell * 60 + 'x\\n')])\n"
    )
    assert printed == "['prose']\n" * 5


def test_words_that_can_be_read_in_two_ways_are_read_once() -> None:
    printed = run(
        "from holdfast.text.classify import classify\n"
        "from holdfast.engine.echo.shapes import is_fixed_reply\n"
        "from holdfast.text.slots.values import without_when\n"
        "print(classify('I ' + 'really ' * 60 + 'x like').category)\n"
        "print(is_fixed_reply('No results found.' + ' Note: ' * 60 + '\\nx'))\n"
        "print(without_when('Lives in Porto' + ' in May 2020' * 60 + ' 1x').split()[-1])\n"
    )
    assert printed == "fact\nFalse\n1x\n"


def test_time_grows_with_the_length_of_a_text_and_not_with_its_square() -> None:
    # Each of these took more than a minute.
    printed = run(
        "from holdfast.extract.link import page_text\n"
        "from holdfast.files.memory_md import without_any_id\n"
        "from holdfast.files.memory_md.parse import parse\n"
        "from holdfast.passes.consolidation.model import written_down\n"
        "from holdfast.text.chunking import chunk\n"
        "from holdfast.text.analysis.word_forms import numbers_in\n"
        "from holdfast.text.classify.summarise import sentences\n"
        "from holdfast.text.classify.titles import topic_of\n"
        "from holdfast.api.instructions import InstructionFile, statements\n"
        "from holdfast.text.facts.statements import parts_of\n"
        "from holdfast.text.secrets import find\n"
        "print(len(chunk('def o' + 'en' * 200_000 + '\\n', content_type='code')) > 0)\n"
        "print(len(numbers_in('0' + ':0' * 200_000 + 'b')))\n"
        "print(len(sentences('Stop' + '!' * 400_000 + 'x')))\n"
        "print(len(topic_of(['Please stop the pump' + '!' * 400_000 + 'x'])))\n"
        "print(len(parse('# a\\n' + '```a\\n<!-- a\\n' * 10_000).blocks))\n"
        "print(len(parse('- a mem_' + '\\t' * 400_000 + 'x', whole=True).blocks))\n"
        "print(without_any_id('- a' + '<!-- mem_a -->' * 20_000))\n"
        "print(list(written_down('```' + '\\t' * 100_000)))\n"
        "print(len(page_text('<pre>a' + ' ' * 400_000 + 'b</pre>').text))\n"
        "print([len(parts_of(one * 200_000 + ' x')) for one in ('-', '\\t', \"'\")])\n"
        "at = InstructionFile('a.md', 'project', 'user')\n"
        "print(len(statements('# a' + ' ' * 400_000 + '!\\n- bcd', at)))\n"
        "print(find('kind: Secret\\ndata:\\n' + '  a:\\n' * 100_000 + '\\n---' * 50_000))\n"
    )
    assert printed == "True\n1\n1\n400021\n1\n1\n- a\n[]\n400002\n[1, 1, 1]\n1\n[]\n"


# Lines of 25 KB, each hard to read for something.
HOSTILE = (
    *("'| a |\\n| - |' + '| ' * 12_500 + 'x'", "'I ' + 'really ' * 3_500 + 'x like'"),
    *("'Lives in Porto' + ' in May 2020' * 2_000 + ' 1x'", "'0' + ':0' * 12_500 + 'b'"),
    *("'Stop' + '!' * 25_000 + 'x'", "'- a mem_' + '\\t' * 25_000 + 'x'"),
    *("'```a\\n<!-- a\\n' * 2_000", "'- a' + '<!-- mem_a -->' * 1_800"),
)


def test_a_hub_takes_a_hostile_text_in_at_every_door(tmp_path: Path) -> None:
    printed = run(
        "from holdfast.testing import open_for_tests\n"
        f"with open_for_tests({str(tmp_path)!r}) as memory:\n"
        "    hub = memory.create_hub('work')\n"
        f"    text = '\\n\\n'.join([{', '.join(HOSTILE)}])\n"
        "    hub.heard('- [#1] ' + text)\n"
        "    hub.remember(text, trust='agent')\n"
        "    hub.recall(text)\n"
        "    hub.log_turn('user', text)\n"
        "    hub.journal_add(text)\n"
        "    hub.append_memory_md(text)\n"
        "    said = [{'role': 'user', 'content': text}]\n"
        "    print(hub.archive_conversation('s', messages=said).notes, len(hub.turns()))\n"
    )
    assert printed == "() 1\n"


def test_what_is_not_anchored_is_not_tried_at_each_place() -> None:
    # Each of these took between ten seconds and minutes.
    printed = run(
        "from holdfast.files.memory_md.parse import item_text\n"
        "from holdfast.importers.markdown import _headed_parts\n"
        "from holdfast.text.analysis.spans import without_pasted\n"
        "from holdfast.text.secrets import find\n"
        "from holdfast.text.sentences import split_sentences\n"
        "from holdfast.recall.analyse import _names\n"
        "from holdfast.edges.hooks.event import _HOOK_CONTEXT\n"
        "from holdfast.api.instructions import InstructionFile, statements\n"
        "from holdfast.edges.proxy.formats import _REMINDERS\n"
        "wide = ' ' * 200_000\n"
        "print(len(item_text('a' + wide + 'b', 'mem_a')) > 200_000)\n"
        "print(len(list(_headed_parts('# a' + '#' * 200_000 + 'x\\n- b'))))\n"
        "print(without_pasted('```\\n' + wide + 'x') != '')\n"
        "print(len(without_pasted('a\\n' + '`' * 200_000)))\n"
        "print(len(list(split_sentences('Stop' + '!' * 200_000 + 'x'))))\n"
        "print(_names('? ' * 100_000 + 'Ana met Bo'))\n"
        "print(len(_HOOK_CONTEXT.sub('', '<hook_context>' * 20_000)))\n"
        "print(len(_REMINDERS.sub('', '<system-reminder>' * 20_000)))\n"
        "matter = '---\\nname: a' + wide + 'b\\n---\\n- bcd'\n"
        "print(len(statements(matter, InstructionFile('a.md', 'project', 'user'))))\n"
        "begin, end = ('-----%s PRIVATE KEY-----' % word for word in ('BEGIN', 'END'))\n"
        "print(len(find(begin + '\\n' + 'your' * 7_000 + '\\n' + end)))\n"
    )
    assert printed == "True\n1\nTrue\n200002\n1\n('Bo',)\n280000\n340000\n1\n1\n"


def test_long_texts_are_compared_by_their_words() -> None:
    printed = run(
        "from holdfast.text.facts.sameness import similarity\n"
        "from holdfast.text.facts.statements import words_key\n"
        "words_key('**a ' * 50_000)\n"
        "print(similarity('tea ' * 30_000, 'tea ' * 30_000 + 'ale', least=0.6))\n"
    )
    assert 0.6 < float(printed) < 0.7


def test_a_hundred_repetitive_lines_that_all_changed_are_told_apart_in_time() -> None:
    # It took a minute and a half, and the hub's file was locked for as long.
    printed = run(
        "import tempfile, holdfast\n"
        "chosen = {'store.url': 'memory:', 'embed.model': 'none'}\n"
        "with tempfile.TemporaryDirectory() as home, holdfast.open(home, settings=chosen) as all:\n"
        "    hub = all.hub()\n"
        "    for n in range(100):\n"
        "        hub.remember('tea ale oak ' + 'ab' * 235 + f' x{n}', layer='long_term')\n"
        "    before = {m.id for m in hub.list(limit=100)}\n"
        "    text = hub.read_memory_md().replace('tea ale oak', 'oak tea ale')\n"
        "    hub.rewrite_memory_md(text)\n"
        "    print(before == {m.id for m in hub.list(limit=100)}, len(before))\n"
    )
    assert printed == "True 100\n"

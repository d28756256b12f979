"""Words on the command line: where options stand, what mistakes say, and help for everything."""

from __future__ import annotations

from contextlib import suppress

import pytest

from holdfast.edges.cli import table
from holdfast.edges.cli.command import Command, Parser, parser_of, whole
from holdfast.edges.cli.help import tree
from holdfast.edges.cli.table import GROUPS, Group, Module, all_commands, first_words
from holdfast.errors import InvalidInput
from tests.edges.cli.cli_calls import Run


def _parser() -> Parser:
    parser = Parser("holdfast try")
    parser.add_argument("first", metavar="FIRST", help="one word")
    parser.add_argument("rest", nargs="*", metavar="WORD", help="more words")
    parser.add_argument("-n", "--limit", type=whole, metavar="N")
    parser.add_argument("--tag", action="append")
    parser.add_argument("--file", nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--as", dest="name")
    return parser


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a"], {"first": "a", "rest": [], "limit": None, "tag": None, "all": False}),
        (["a", "--limit", "3", "b"], {"rest": ["b"], "limit": 3}),
        (["--limit=3", "a"], {"limit": 3}),
        (["-n", "3", "a"], {"limit": 3}),
        (["--tag", "x", "a", "--tag", "y"], {"tag": ["x", "y"]}),
        (["a", "--file", "f", "g", "--all"], {"file": ["f", "g"], "all": True}),
        (["--", "--all", "-x"], {"first": "--all", "rest": ["-x"], "all": False}),
        (["a", "-5", "- milk", "-"], {"rest": ["-5", "- milk", "-"]}),
        (["a", "--tag", "-dash"], {"tag": ["-dash"]}),
        (["a", "--tag="], {"tag": [""]}),
    ],
)
def test_options_and_words_may_stand_in_any_order(words, expected) -> None:
    found = vars(_parser().parse(words))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs FIRST"),
        (["a", "--limit", "many"], "'many' is not a whole number"),
        (["a", "--limit"], "`--limit` needs a value"),
        (["a", "--limit", "--all"], "`--limit` needs a value"),
        (["a", "--all=yes"], "takes no value"),
        (["a", "--al"], "Did you mean `--all`"),
        (["a", "-x"], "has no option `-x`"),
        (["a", "--name", "b"], "Did you mean `--as`"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence(words, message) -> None:
    with pytest.raises(InvalidInput) as caught:
        _parser().parse(words)
    assert message in str(caught.value)


def test_no_option_fails_at_a_value_of_another_kind() -> None:
    for command in all_commands():
        parser = parser_of(command)
        for option in (*parser.words, *parser.options.values()):
            for value in ("", "many", "1e999", "-"):
                with suppress(InvalidInput):
                    option.convert(value)


def test_a_command_that_takes_no_words_refuses_them() -> None:
    with pytest.raises(InvalidInput, match="does not take `more`"):
        Parser("holdfast try").parse(["more"])


@pytest.mark.parametrize("words", [("--json", "stats"), ("stats", "--json")])
def test_global_options_stand_before_or_after_the_command(run: Run, words) -> None:
    assert run(*words).data["hub"] == "default"


@pytest.mark.sqlite_only("looks for the file of the embedded store")
def test_a_home_may_have_the_name_of_a_command(run: Run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--home", "recall", "remember", "Likes tea").code == 0
    assert (tmp_path / "recall" / "memory.db").exists()


def test_an_unknown_command_names_the_nearest(run: Run) -> None:
    ran = run("remembr", "x")
    assert ran.code == 2
    assert "Did you mean `holdfast remember`?" in ran.err


def test_an_unknown_part_of_a_command_names_the_nearest(run: Run) -> None:
    ran = run("hub", "crate")
    assert ran.code == 2
    assert "Did you mean `create`?" in ran.err


def test_the_first_word_alone_says_what_can_follow(run: Run) -> None:
    ran = run("hub")
    assert ran.code == 2
    assert "create, list, use, rename, folder, delete" in ran.err


def test_the_version_is_printed(run: Run) -> None:
    import holdfast

    assert run("--version").out.startswith(f"holdfast {holdfast.__version__}\n")


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("help",)])
def test_the_overview_names_every_command(run: Run, words) -> None:
    ran = run(*words)
    assert ran.code == 0
    for command in all_commands():
        assert f"  {command.name} " in ran.out


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_every_command_has_help_with_an_example_of_itself(run: Run, command: Command) -> None:
    ran = run(*command.name.split(), "--help")
    assert ran.code == 0
    assert command.help.split()[0] in ran.out
    assert f"holdfast {command.name}" in command.example
    assert f"example:\n  {command.example}" in ran.out
    assert run("help", *command.name.split()).out == ran.out


def test_help_for_hubs_lists_what_can_be_done_with_them(run: Run) -> None:
    ran = run("hub", "--help")
    assert ran.code == 0
    assert "hub rename" in ran.out


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_every_option_says_what_it_is_for(command: Command) -> None:
    parser = parser_of(command)
    for option in [*parser.words, *parser.options.values()]:
        assert option.help, option.names


def test_the_table_names_commands_that_exist_in_their_order() -> None:
    for module in [module for group in GROUPS for module in group.modules]:
        assert [word for word in first_words(module) if word in module.words] == list(module.words)


def test_a_command_that_the_table_does_not_name_is_found(monkeypatch) -> None:
    bare = Group("memory", "", (Module("write", ()), Module("history", ())))
    monkeypatch.setattr(table, "GROUPS", (bare,))
    assert table.find(["timeline", "today"])[0].name == "timeline"
    assert table.find(["memory", "timeline"])[1] == 2
    with pytest.raises(InvalidInput, match="no command `tmeline`") as caught:
        table.find(["tmeline"])
    assert "`holdfast timeline`" in caught.value.hint


def test_the_tree_knows_every_command() -> None:
    text = tree().format_help()
    for group in GROUPS:
        for word in (group.name, *group.words):
            assert f" {word} " in f"{text} ".replace("\n", " ")
    assert tree().parse_args(["hub", "member", "list"]).part == "list"
    assert tree().parse_args(["hub", "list"]).grouped == "list"


def test_a_fault_is_a_sentence_and_not_a_traceback(run: Run, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("holdfast.edges.cli.call.Call.__init__", broken)
    ran = run("stats")
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert "HOLDFAST_DEBUG=1" in ran.err
    monkeypatch.setenv("HOLDFAST_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run("stats")


@pytest.mark.parametrize("word", ["quit", "zzz"])
def test_a_word_that_is_like_no_command_gets_no_guess(run: Run, word: str) -> None:
    ran = run(word)
    assert ran.code == 2
    assert "Did you mean" not in ran.err
    assert "lists them all" in ran.err

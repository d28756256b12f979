"""Settings: file, then environment, then flags; each with where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast import InvalidSetting
from holdfast.settings import SETTINGS, find, load, save


def test_defaults_hold_where_nothing_is_said(tmp_path: Path) -> None:
    settings = load(str(tmp_path), environ={})
    assert settings["recall.limit"] == 5
    assert settings.origin("recall.limit") == "default"


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("hub = 'a'\n[recall]\nlimit = 7\ndeadline_s = 2\n")
    environ = {"HOLDFAST_RECALL_LIMIT": "8", "HOLDFAST_HUB": "b"}
    settings = load(str(tmp_path), environ=environ, flags={"hub": "c", "actor": None})
    assert (settings["recall.deadline_s"], settings["recall.limit"], settings["hub"]) == (
        2.0,
        8,
        "c",
    )
    assert settings.origin("recall.deadline_s").endswith("holdfast.toml")
    assert settings.origin("recall.limit") == "HOLDFAST_RECALL_LIMIT"
    assert settings.origin("hub") == "flag"
    assert settings.origin("actor") == "default"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[recal]\nlimit = 1\n", "recall.limit"),
        ("nonsense = 1\n", "no setting `nonsense`"),
        ("[recall]\nlimit = 'many'\n", "a whole number"),
        ("[recall]\nlimit = 0\n", "at least 1"),
        ("[recall]\nlimit = true\n", "a whole number"),
        ("[recall]\ndeadline_s = nan\n", "at least 0.01"),
        ("[embed]\nbackground = 'yes'\n", "true or false"),
        ("[recall\n", "cannot be read"),
    ],
)
def test_a_bad_file_is_an_error_with_the_way_out(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "holdfast.toml").write_text(text)
    with pytest.raises(InvalidSetting) as caught:
        load(str(tmp_path), environ={})
    assert said in str(caught.value)


@pytest.mark.parametrize(("value", "meant"), [("yes", True), ("0", False), ("ON", True)])
def test_a_switch_in_the_environment_may_be_said_in_words(
    tmp_path: Path, value: str, meant: bool
) -> None:
    settings = load(str(tmp_path), environ={"HOLDFAST_EMBED_BACKGROUND": value})
    assert settings["embed.background"] is meant


@pytest.mark.parametrize("value", ["", "many", "1.5", "-3"])
def test_a_bad_variable_is_an_error(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidSetting, match="HOLDFAST_RECALL_LIMIT"):
        load(str(tmp_path), environ={"HOLDFAST_RECALL_LIMIT": value})


def test_saving_keeps_the_rest_of_the_file_to_the_letter(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text("# mine\nhub = 'a' # this one\n\n[recall]\n# few\nlimit = 3\n")
    assert save(str(tmp_path), "recall.limit", "9") == 9
    assert save(str(tmp_path), "embed.model", "none") == "none"
    text = path.read_text()
    assert "# mine\nhub = 'a' # this one\n\n[recall]\n# few\nlimit = 9\n" in text
    assert load(str(tmp_path), environ={})["embed.model"] == "none"
    save(str(tmp_path), "recall.limit", None)
    assert load(str(tmp_path), environ={}).origin("recall.limit") == "default"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_bad_value_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        save(str(tmp_path), "recall.limit", "0")
    with pytest.raises(InvalidSetting, match=r"recall\.limit"):
        save(str(tmp_path), "recall.limt", "3")
    assert not (tmp_path / "holdfast.toml").exists()


def test_every_setting_has_help_and_a_default_that_passes_its_own_check(tmp_path: Path) -> None:
    for setting in SETTINGS:
        assert setting.help.endswith("."), setting.name
        assert find(setting.name) is setting
        if setting.least is not None:
            assert float(setting.default) >= setting.least


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("HOLDFAST_RECAL_LIMIT", "HOLDFAST_RECALL_LIMIT"),
        ("HOLDFAST_LIMIT", "is no setting"),
        ("HOLDFAST_HOM", "HOLDFAST_HOME"),
    ],
)
def test_a_variable_with_a_slip_in_its_name_is_an_error(
    tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load(str(tmp_path), environ={name: "1", "PATH": "/bin"})


def test_variables_that_are_no_settings_are_let_be(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": "/a", "HOLDFAST_DEBUG": "1", "HOLDFAST_TEST_SEED": "7"}
    assert load(str(tmp_path), environ=environ)["recall.limit"] == 5


def test_a_limit_has_an_upper_bound(tmp_path: Path) -> None:
    assert load(str(tmp_path), environ={}, flags={"recall.limit": 1000})["recall.limit"] == 1000
    with pytest.raises(InvalidSetting, match="at most 1000"):
        load(str(tmp_path), environ={}, flags={"recall.limit": 1001})


@pytest.mark.parametrize(
    "text", ["recall = 5\n", "nonsense = 1\n", "[recall]\nlimit = 0\n", "[recal]\nlimit = 1\n"]
)
def test_nothing_is_saved_where_the_file_would_not_load(tmp_path: Path, text: str) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text(text)
    with pytest.raises(InvalidSetting):
        save(str(tmp_path), "recall.deadline_s", "2")
    assert file.read_text() == text


def test_a_name_that_is_no_setting_can_be_taken_out(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text("nonsense = 1\nhub = 'a'\n[recal]\nlimit = 1\n")
    save(str(tmp_path), "nonsense", None)
    save(str(tmp_path), "recal.limit", None)
    assert load(str(tmp_path), environ={})["hub"] == "a"
    with pytest.raises(InvalidSetting, match="no setting"):
        save(str(tmp_path), "nonsense", None)


def test_what_is_written_into_the_file_holds_from_the_next_look(tmp_path: Path) -> None:
    settings = load(str(tmp_path), environ={"HOLDFAST_HUB": "b"}, flags={"actor": "ann"})
    assert settings["shadowJournal.enabled"] is False
    save(str(tmp_path), "shadowJournal.enabled", "yes")
    save(str(tmp_path), "hub", "c")
    save(str(tmp_path), "actor", "bob")
    assert settings["shadowJournal.enabled"] is False
    settings.refresh()
    assert settings["shadowJournal.enabled"] is True
    assert "[shadowJournal]\nenabled = true" in (tmp_path / "holdfast.toml").read_text()
    # The environment and flags stay in force.
    assert (settings["hub"], settings["actor"]) == ("b", "ann")
    (tmp_path / "holdfast.toml").unlink()
    settings.refresh()
    assert settings["shadowJournal.enabled"] is False


def test_a_file_with_a_mistake_changes_nothing_and_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(str(tmp_path), "recall.limit", "9")
    settings = load(str(tmp_path), environ={})
    (tmp_path / "holdfast.toml").write_text("[recall]\nlimit = 'many'\n")
    settings.refresh()
    settings.refresh()
    assert settings["recall.limit"] == 9
    assert len([one for one in caplog.records if "stay as they were" in one.message]) == 1
    save(str(tmp_path), "recall.limit", None)
    settings.refresh()
    assert settings["recall.limit"] == 5


def test_an_open_memory_obeys_a_changed_file(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        for number in range(4):
            hub.remember(f"The gate code of house {number} is on the board")
        assert len(hub.recall("gate code")) > 2
        save(str(tmp_path), "recall.limit", "2")
        assert len(hub.recall("gate code")) == 2

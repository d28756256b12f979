"""A hub's folder at a place of the user's choice: the folder below the home becomes a link to it.
The link is what remembers the choice, so a store that several machines use says nothing about paths
of one of them."""

from __future__ import annotations

import os
import shutil

from holdfast.errors import Conflict, InvalidInput
from holdfast.files.atomic import file_errors, hub_folder, make_folder


def link_hub_folder(home: str, hub_name: str, chosen: str) -> str:
    """Keeps the hub's files in a folder from now on, and returns its path. What is in the folder so
    far moves there, unless both have files. Repeated after a crash, it goes on."""
    link = hub_folder(home, hub_name)
    target = os.path.abspath(os.path.expanduser(chosen))
    _refuse(home, target)
    source = os.path.realpath(link)
    if source == os.path.realpath(target) and os.path.isdir(source):
        return target
    make_folder(os.path.dirname(link))
    if _has_entries(source):
        _move(source, target)
    elif os.path.isdir(link) and not os.path.islink(link):
        with file_errors(link):
            os.rmdir(link)
    make_folder(target)
    _point(link, target)
    return target


def unlink_hub_folder(home: str, hub_name: str) -> None:
    """Removes the link of a hub that is gone; the folder behind it is the user's and stays."""
    link = hub_folder(home, hub_name)
    if os.path.islink(link):
        with file_errors(link):
            os.unlink(link)


def _refuse(home: str, target: str) -> None:
    """Refuses a place inside the home, where hubs would be inside each other."""
    inside = os.path.realpath(home)
    if os.path.commonpath([os.path.realpath(target), inside]) == inside:
        raise InvalidInput(
            f"{target} is inside of Holdfast's own folder {home}.",
            hint="Choose a folder elsewhere, for example ~/workspace/memory.",
        )
    if os.path.exists(target) and not os.path.isdir(target):
        raise InvalidInput(f"{target} is a file.", hint="Name a folder.")


def _move(source: str, target: str) -> None:
    if _has_entries(target):
        raise Conflict(
            f"Both {source} and {target} have files, so nothing was moved.",
            hint="Move what you want to keep to one of them, and try again.",
        )
    with file_errors(target):
        if os.path.isdir(target):
            os.rmdir(target)
        make_folder(os.path.dirname(target))
        # One rename where both are on one disk; else a copy, whose source goes last.
        shutil.move(source, target)


def _has_entries(folder: str) -> bool:
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as found:
        return any(True for _ in found)


def _point(link: str, target: str) -> None:
    """Makes or replaces the link, in one step."""
    new = f"{link}.new"
    with file_errors(link):
        if os.path.lexists(new):
            os.unlink(new)
        os.symlink(target, new, target_is_directory=True)
        os.replace(new, link)

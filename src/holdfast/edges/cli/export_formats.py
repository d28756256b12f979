"""Exports in the formats of other programs: `holdfast export FILE --format …`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli.output import counted
from holdfast.errors import AlreadyExists, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.memory import Memory
    from holdfast.edges.cli.call import Call
    from holdfast.edges.cli.command import Namespace
    from holdfast.exporters import Exporter


def export_as(call: Call, args: Namespace) -> None:
    """Writes the hub's memories in a format, to a file, a folder or standard output."""
    from holdfast.exporters import exporter_named

    exporter = exporter_named(args.format)
    counting = _Counting(call)
    if args.file == "-":
        if exporter.folder:
            raise InvalidInput(f"{exporter.name} is a folder.", hint="Name one to write it to.")
        call.out.utf8()
        for _, text in exporter.write(counting.memories(), call.hub.name):
            call.out.stdout.write(text)
        return
    if exporter.folder:
        _write_folder(call, args, exporter, counting)
    else:
        _write_file(call, args, exporter, counting)
    count = counting.count
    if call.out.json:
        value = {"file": args.file, "format": exporter.name, "memories": count}
        call.out.value(value, result="exported")
    elif call.out.terminal:
        call.out.line(
            f"Exported hub {call.hub.name}: {counted(count, 'memory')} in {args.file}.", "green"
        )
    else:
        call.out.row("exported", call.hub.name, args.file, str(count))
    call.out.note("It holds what is remembered now. `holdfast export FILE` has the history too.")


class _Counting:
    """The memories that go out, counted as they do."""

    def __init__(self, call: Call) -> None:
        self._call, self.count = call, 0

    def memories(self) -> Iterator[Memory]:
        from holdfast.exporters import exported

        for memory in exported(self._call.hub.scan()):
            self.count += 1
            yield memory


def _write_file(call: Call, args: Namespace, exporter: Exporter, counting: _Counting) -> None:
    from holdfast.system.atomic_file import replacing

    if os.path.isdir(args.file):
        raise InvalidInput(f"{args.file} is a folder.", hint="Name a file in it.")
    if os.path.exists(args.file) and not args.force:
        raise AlreadyExists(f"{args.file} exists already.", hint="Replace it with --force.")
    folder = os.path.dirname(os.path.abspath(args.file))
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.", hint="Make it, or choose another.")
    with replacing(args.file) as file:
        for _, text in exporter.write(counting.memories(), call.hub.name):
            file.write(text.encode())


def _write_folder(call: Call, args: Namespace, exporter: Exporter, counting: _Counting) -> None:
    from holdfast.system.atomic_file import write_file

    if os.path.lexists(args.file) and not os.path.isdir(args.file):
        raise AlreadyExists(f"{args.file} is a file.", hint="Name a folder.")
    os.makedirs(args.file, exist_ok=True)
    if os.listdir(args.file) and not args.force:
        raise AlreadyExists(
            f"The folder {args.file} is not empty.",
            hint="Name another, or write into it with --force.",
        )
    for name, text in exporter.write(counting.memories(), call.hub.name):
        write_file(os.path.join(args.file, name), text.encode(), durable=False)

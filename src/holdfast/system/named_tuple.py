"""`NamedTuple` as `typing` has it, made in less than half the time.

`typing` compiles the text of every annotation, 6 µs a field, and a command makes about a hundred
such classes before it answers. Nothing needs that: who asks for types calls `get_type_hints`, which
reads text as well. Modules that the common commands import take it from here;
`tests/edges/cli/test_cli_processes.py` says which forgot. Their annotations must be text (`from
__future__ import annotations`).
"""

from __future__ import annotations

# As in `typing`, which takes 3 ms to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        def __new__(cls, name, bases, namespace):
            fields = namespace.pop("__annotations__")
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = fields
            for key, value in namespace.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

"""`NamedTuple` as `typing` has it, made in a quarter of the time.

`typing` compiles the text of every annotation, 6 µs a field, and `collections` compiles a `__new__`
and makes seven functions for each class. A command makes about a hundred such classes before it
answers. Nothing needs that: who asks for types calls `get_type_hints`, which reads text as well,
and the methods are the same for all classes but for the names of the parameters of `__new__`, which
are put into code that is compiled once for each number of fields.

Modules that the common commands import take it from here; `tests/edges/cli/test_cli_processes.py`
says which forgot. Their annotations must be text (`from __future__ import annotations`).
"""

from __future__ import annotations

# As in `typing`, which takes 3 ms to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from types import FunctionType

    _codes = {}
    _names = {"_make_tuple": tuple.__new__, "__builtins__": {}}

    def _new(name, fields, defaults):
        """The `__new__` of a class with these fields."""
        count = len(fields)
        if count not in _codes:
            values = "".join(f"_{place}," for place in range(count))
            _codes[count] = eval(f"lambda _cls,{values}: _make_tuple(_cls,({values}))").__code__
        code = _codes[count].replace(
            co_name="__new__", co_qualname=f"{name}.__new__", co_varnames=("_cls", *fields)
        )
        return FunctionType(code, _names, "__new__", defaults)

    @classmethod
    def _make(cls, values):
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changed):
        made = tuple.__new__(type(self), map(changed.pop, self._fields, self))
        if changed:
            raise ValueError(f"Got unexpected field names: {list(changed)!r}")
        return made

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        pairs = zip(self._fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in pairs)})"

    def _getnewargs(self):
        return tuple(self)

    _METHODS = {
        "_make": _make,
        "_replace": _replace,
        "__replace__": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": _getnewargs,
    }

    class _Maker(type):
        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace["__annotations__"])
            defaults = {field: namespace[field] for field in fields if field in namespace}
            made = {
                "__doc__": f"{name}({', '.join(fields)})",
                **_METHODS,
                **namespace,
                "__slots__": (),
                "_fields": fields,
                "_field_defaults": defaults,
                "__match_args__": fields,
                "__new__": _new(name, fields, tuple(defaults.values())),
            }
            for place, field in enumerate(fields):
                made[field] = _tuplegetter(place, f"Alias for field number {place}")
            return type(name, (tuple,), made)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

"""The handler's module, loaded anew for each process that a way plays."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

#: Values of these types are state of the module, which a new process does not have.
_PLAIN = (type(None), bool, int, float, str, bytes, list, dict, set, frozenset, tuple)


class Fresh:
    """Loads modules anew, and puts the old ones back at the end."""

    def __init__(
        self, handler: Callable[..., Any], others: Iterable[str], of_test: Iterable[Any]
    ) -> None:
        """Modules of the functions `of_test` are never loaded anew: they hold the world."""
        self._handler = handler
        self._path: list[str] = []
        #: Why state in variables of the handler's module cannot be checked; None when it is.
        self.note: str | None = None
        names = list(others)
        module = getattr(handler, "__module__", None)
        kept = {getattr(function, "__module__", None) for function in of_test}
        why = self._find(module, kept)
        if why is None and module is not None:
            names.append(module)
        else:
            self.note = f"state in module variables was not checked: {why}"
        self._module = module
        self._old = {name: sys.modules[name] for name in names if name in sys.modules}

    def _find(self, module: str | None, kept: set[str | None]) -> str | None:
        name = getattr(self._handler, "__qualname__", None)
        if module is None or name is None or module not in sys.modules:
            return "the handler is no function of a module"
        if module == "__main__":
            return "the handler is defined in the program itself; move it to a module"
        if module in kept:
            return f"the handler is defined beside the test, in {module}; move it to a module"
        path = name.split(".")
        if "<locals>" in path:
            return f"the handler {name} is defined inside a function"
        found: Any = sys.modules[module]
        for part in path:
            found = getattr(found, part, None)
        if found is not self._handler:
            # A decorated handler has another name than the function in it.
            members = vars(sys.modules[module]).items()
            path = [one for one, value in members if value is self._handler][:1]
        if not path:
            return f"the handler {name} is not to be found in {module}"
        self._path = path
        return None

    def load(self) -> Callable[..., Any]:
        """The handler of freshly loaded modules."""
        for name in self._old:
            sys.modules.pop(name, None)
        for name, old in self._old.items():
            _put_back(old, importlib.import_module(name))
        if self.note is not None or self._module is None:
            return self._handler
        found: Any = sys.modules[self._module]
        for part in self._path:
            found = getattr(found, part)
        handler: Callable[..., Any] = found
        return handler

    def close(self) -> None:
        """Puts the modules back that were there before."""
        for name, old in self._old.items():
            sys.modules[name] = old
            package, _, last = name.rpartition(".")
            if package in sys.modules:
                setattr(sys.modules[package], last, old)


def _put_back(old: ModuleType, new: ModuleType) -> None:
    """What a test has put into the module in place of something else, such as a fake."""
    for name, value in vars(old).items():
        if name.startswith("__") or isinstance(value, _PLAIN) or name not in vars(new):
            continue
        if _origin(value) != _origin(vars(new)[name]):
            setattr(new, name, value)


def _origin(value: Any) -> tuple[Any, Any]:
    """Where it comes from; the same for one value in the old module and in the new one."""
    if isinstance(value, ModuleType):
        return ("module", value.__name__)
    kind = value if isinstance(value, (FunctionType, type)) else type(value)
    return (kind.__module__, kind.__qualname__)

"""Makes docs/reference/python.md from the public classes and functions, and their docstrings.

python scripts/make_reference.py          writes the page
python scripts/make_reference.py --check  says whether it is stale, and fails
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
from pathlib import Path

from fresh import kept

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "src"))
PAGE = TOP.parent.parent / "docs" / "reference" / "python.md"
COLUMNS = 100

#: The parts of the page: a title, and the modules that define what belongs there.
PARTS = {
    "Client": ("_sync.client", "_async.client", "_durations"),
    "Jobs": ("_sync.jobs", "_new_job", "_in_transaction"),
    "Queues, workers, tasks, counters": ("_sync.queues",),
    "Worker": ("_worker.worker", "_worker.hooks", "_worker.failed", "_worker.verdict"),
    "The job in a handler": ("_sync.job", "_async.job", "_signal", "_data"),
    "Processed store": (
        "_processed.idempotent",
        "_sync.processed.store",
        "_async.processed.store",
        "_sync.processed.redis",
        "_async.processed.redis",
        "_sync.processed.postgres",
        "_async.processed.postgres",
        "_sync.processed.memory",
        "_async.processed.memory",
        "_processed.claims",
        "_processed.fingerprint",
    ),
    "Errors": ("errors",),
    "What the server tells": ("records",),
    "Testing": (
        "testing",
        "_fake",
        "_in_memory",
        "_in_memory.client",
        "_server",
        "_proof.prove",
        "_proof.point",
        "_proof.report",
    ),
}
#: Modules whose `__all__` is public, and what is reached through attributes only.
ENTRIES = ("halyard", "halyard.processed", "halyard.testing")
REACHED = {"_sync.jobs": ("Jobs",), "_sync.queues": ("Queues", "Workers", "Tasks", "Counters")}
#: Classes of which users make no objects.
MADE_BY_THE_SDK = frozenset(
    (
        *("AsyncSignal", "Counters", "Data", "FakeJob", "Finding", "Job", "Jobs", "Queues"),
        *("Report", "Server", "Signal", "Tasks", "Worker", "Workers"),
    )
)
#: A module whose public classes are all part of the surface.
RECORDS = "records"

HEAD = """# The Python SDK, name by name

<!-- Made from sdk/python/src by sdk/python/scripts/make_reference.py -->

To learn it, begin with the [quick start](../quickstart-python.md), then [testing](../testing.md)
and the [processed store](../processed-store.md). A `Duration` is seconds or a `timedelta`.
"""


class Module:
    """A module's source: its definitions by name, with their comments."""

    def __init__(self, name: str) -> None:
        path = TOP / "src" / "halyard" / Path(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        text = path.read_text()
        self.lines = text.splitlines()
        self.names: dict[str, ast.stmt] = {}
        for node in ast.parse(text).body:
            for name in defined(node):
                self.names[name] = node

    def comment(self, node: ast.stmt) -> str:
        """The `#:` lines above a definition."""
        lines: list[str] = []
        for line in reversed(self.lines[: node.lineno - 1]):
            if not line.strip().startswith("#:"):
                break
            lines.insert(0, line.strip().removeprefix("#:").strip())
        return " ".join(lines)


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def signature(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A function's head, a parameter on each line when one line is too short for all."""
    arguments = node.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        del arguments.args[0]
    text = ast.unparse(arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and name == node.name else ""
    line = f"{name}({text}){returns}"
    if len(line) <= COLUMNS:
        return line
    call = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(call, ast.FunctionDef)
    return f"{name}(\n    " + ",\n    ".join(parameters(call.args)) + f",\n){returns}"


def parameters(arguments: ast.arguments) -> list[str]:
    """Each parameter as it is written, with `*` where those by name begin."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    texts = [parameter(one, default) for one, default in zip(plain, defaults, strict=True)]
    if arguments.vararg:
        texts.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        texts.append("*")
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    texts += [parameter(one, default) for one, default in by_name]
    if arguments.kwarg:
        texts.append(f"**{ast.unparse(arguments.kwarg)}")
    return texts


def parameter(one: ast.arg, default: ast.expr | None) -> str:
    """A parameter with its default."""
    text = ast.unparse(one)
    return text if default is None else f"{text} = {ast.unparse(default)}"


Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_public(name: str) -> bool:
    """Whether users may say the name."""
    return not name.startswith("_") or name in ("__enter__", "__aenter__", "__aiter__", "__iter__")


def bases(module: Module, node: ast.ClassDef) -> list[ast.ClassDef]:
    """The class, and those of its bases that have no description of their own."""
    found = [node]
    for base in node.bases:
        name = ast.unparse(base)
        inherited = module.names.get(name)
        if isinstance(inherited, ast.ClassDef) and name not in public_names():
            found += bases(module, inherited)
    return found


def docstring(node: ast.ClassDef | Function) -> str:
    """What is told of a definition, with each row of its tables on one line."""
    lines: list[str] = []
    for line in (ast.get_docstring(node) or "").splitlines():
        if line.startswith("| | ") and line != "| | |" and lines[-1].startswith("|"):
            lines[-1] = lines[-1].removesuffix("|") + line.removeprefix("| | ")
        else:
            lines.append(line)
    return "\n".join(lines)


def awaited(module: Module, node: ast.ClassDef) -> str:
    """Which calls of a class for asyncio are awaited."""
    methods = [one for owner in bases(module, node) for one in owner.body]
    plain = sorted(
        {
            f"`{one.name}`"
            for one in methods
            if isinstance(one, ast.FunctionDef)
            and not one.name.startswith("_")
            and "property" not in decorators(one)
        }
    )
    text = "its calls are awaited"
    if plain:
        *others, last = plain
        text += f", but not {', '.join(others)} and {last}" if others else f", but not {last}"
    if node.name == "AsyncHalyard":
        text += "; `jobs.list` is for `async for`"
    return text


def describe_class(module: Module, name: str, node: ast.ClassDef) -> str:
    """A class: its docstring, how it is made, its attributes and its methods."""
    shown = [ast.unparse(base) for base in node.bases]
    shown = [base for base in shown if base in public_names() or base == "TypedDict"]
    text = f"\n### {name}\n\n{docstring(node)}\n"
    if shown:
        text += f"\nInherits from `{'`, `'.join(shown)}`.\n"
    twin = name.removeprefix("Async")
    if twin != name and twin in public_names():
        return text + f"\nIt has what [{twin}](#{twin.lower()}) has; {awaited(module, node)}.\n"
    attributes, methods = "", ""
    for owner in bases(module, node):
        for item in owner.body:
            attributes += attribute(module, item)
            if isinstance(item, Function):
                methods += method(name, item)
                attributes += made_attributes(module, item)
    if attributes:
        text += f"\n| attribute | |\n|---|---|\n{attributes}"
    return text + methods


def attribute(module: Module, node: ast.stmt) -> str:
    """A row for a member that a class declares, or a property."""
    if isinstance(node, Function):
        if not is_public(node.name) or decorators(node) != ["property"]:
            return ""
        kind = ast.unparse(node.returns) if node.returns else "Any"
        return row(node.name, kind, docstring(node))
    names = [name for name in defined(node) if is_public(name)]
    if isinstance(node, ast.AnnAssign):
        kind = ast.unparse(node.annotation)
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        made = node.value.func
        kind = ast.unparse(made.slice) if isinstance(made, ast.Subscript) else ""
    else:
        return ""
    return "".join(row(name, kind, module.comment(node)) for name in names)


def made_attributes(module: Module, node: Function) -> str:
    """Rows for what `__init__` sets and describes."""
    text = ""
    for item in node.body if node.name == "__init__" else []:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Attribute):
            comment = module.comment(item)
            if comment:
                made = item.value.func if isinstance(item.value, ast.Call) else None
                text += row(item.targets[0].attr, ast.unparse(made) if made else "", comment)
    return text


def row(name: str, kind: str, told: str) -> str:
    """A row of a table of attributes."""
    kind = f": {kind}" if kind else ""
    name, told = (text.replace("|", "\\|") for text in (name + kind, " ".join(told.split())))
    return f"| `{name}` | {told} |\n"


def decorators(node: Function) -> list[str]:
    """The last names of a function's decorators."""
    return [ast.unparse(one).split(".")[-1] for one in node.decorator_list]


def method(owner: str, node: Function) -> str:
    """A public method, or how the class is made."""
    if {"property", "overload"} & set(decorators(node)):
        return ""
    told = docstring(node)
    if node.name == "__init__":
        return "" if owner in MADE_BY_THE_SDK else block(signature(owner, node), told)
    if not is_public(node.name) or node.name.startswith("__"):
        return ""
    return f"\n#### {owner}.{node.name}\n" + block(signature(node.name, node), told)


def block(head: str, told: str) -> str:
    """Code, and what is told of it."""
    return f"\n```python\n{head}\n```\n" + (f"\n{told}\n" if told else "")


def describe(module: Module, name: str) -> str:
    """Whatever has that name."""
    node = module.names[name]
    if isinstance(node, ast.ClassDef):
        return describe_class(module, name, node)
    text = f"\n### {name}\n"
    if isinstance(node, Function):
        return text + block(signature(name, node), docstring(node))
    return text + block(ast.unparse(node), module.comment(node))


@functools.cache
def public_names() -> frozenset[str]:
    """Every name that the page describes."""
    names = {name for entry in ENTRIES for name in importlib.import_module(entry).__all__}
    names |= {name for reached in REACHED.values() for name in reached}
    names |= {name for name in Module(RECORDS).names if is_public(name)}
    return frozenset(names - {"__version__"})


@functools.cache
def homes() -> dict[str, str]:
    """The modules of public classes and functions: others may have such a name for themselves."""
    found = {}
    for entry in ENTRIES:
        for name in importlib.import_module(entry).__all__:
            value = getattr(importlib.import_module(entry), name)
            if isinstance(value, type | types.FunctionType):
                found[name] = value.__module__.removeprefix("halyard.")
    return found


def page() -> str:
    """The page. Raises RuntimeError when a public name belongs to no part of it."""
    text, left = HEAD, set(public_names())
    for title, modules in PARTS.items():
        text += f"\n## {title}\n"
        for module_name in modules:
            module = Module(module_name)
            for name in module.names:
                if name in left and homes().get(name, module_name) == module_name:
                    text += describe(module, name)
                    left.discard(name)
    if left:
        raise RuntimeError(f"no part of the page has {', '.join(sorted(left))}")
    return text


if __name__ == "__main__":
    sys.exit(kept({PAGE: page()}))

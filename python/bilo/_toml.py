"""Python values as the problem file's language, TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bilo.errors import ProblemError


def document(table: Mapping[str, Any]) -> str:
    """The text of a file with these entries, in their order where that says something.

    >>> print(document({"name": "rod", "coordinates": {"x": [0, 1]}, "unknown": {"k": {"guess": 1.0}}}))
    name = "rod"
    [coordinates]
    x = [0, 1]
    [unknown.k]
    guess = 1.0
    """
    plain = [f"{key(name)} = {value(entry)}" for name, entry in table.items() if not isinstance(entry, Mapping)]
    sections = [section(key(name), entry) for name, entry in table.items() if isinstance(entry, Mapping)]
    return "\n".join([*plain, *sections])


def section(path: str, table: Mapping[str, Any]) -> str:
    """A table under its heading; tables of nothing but tables have none of their own."""
    if table and all(isinstance(entry, Mapping) for entry in table.values()):
        return "\n".join(section(f"{path}.{key(name)}", entry) for name, entry in table.items())
    return "\n".join([f"[{path}]", *(f"{key(name)} = {value(entry)}" for name, entry in table.items())])


def key(name: object) -> str:
    """A key, with quotes where it needs them."""
    text = str(name)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else json.dumps(text)


def value(entry: Any) -> str:
    """A value on one line.

    >>> value({"grid": {"x": 3}, "noise": 1e-2, "on": True, "of": ["x"]})
    '{ grid = { x = 3 }, noise = 0.01, on = true, of = ["x"] }'
    """
    if hasattr(entry, "tolist"):
        entry = entry.tolist()
    match entry:
        case bool():
            return "true" if entry else "false"
        case str():
            return json.dumps(entry, ensure_ascii=False)
        case int() | float():
            return repr(entry)
        case Mapping():
            return "{ " + ", ".join(f"{key(name)} = {value(inner)}" for name, inner in entry.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(value(inner) for inner in entry) + "]"
    raise ProblemError(f"a problem file has no value such as {entry!r}")

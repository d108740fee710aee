"""Packages that are there only where somebody wants them."""

from __future__ import annotations

import importlib
from typing import Any


def optional(name: str, wanted_for: str) -> Any:
    """A package by its name; without it, an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        package = name.partition(".")[0]
        message = f"{wanted_for} needs {package}: pip install {package}"
        raise ImportError(message, name=package) from missing

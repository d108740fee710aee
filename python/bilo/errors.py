"""What goes wrong, as exceptions, and what deserves attention, as a warning."""

from __future__ import annotations


class BiloError(Exception):
    """Everything that bilo itself refuses or fails at; its text is the annotated one of the program.

    >>> import bilo
    >>> try:
    ...     bilo.Problem('name = "a"\\nabuot = "b"')
    ... except bilo.ProblemError as error:
    ...     print(error.message, error.line, error.column, error.help, sep="; ")
    unknown key `abuot` in the problem; 2; 1; did you mean `about`?
    """

    message: str
    """What is wrong, in one line."""
    help: str | None
    """What to write instead, if that is known."""
    line: int | None
    """The line of the text that is meant, from 1, if there is one."""
    column: int | None
    """The column there, from 1."""

    def __init__(
        self,
        message: str,
        help: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message, help, line, column, text)
        self.message, self.help, self.line, self.column = message, help, line, column
        self._text = text

    def __str__(self) -> str:
        return self._text or "\n".join([self.message, *([f"help: {self.help}"] if self.help else [])])


class ProblemError(BiloError, ValueError):
    """The problem as stated, its data or an argument is at fault."""


class SolverError(BiloError, ArithmeticError):
    """The equations could not be solved."""


class DeviceError(BiloError, RuntimeError):
    """The hardware that was asked for is missing, or failed."""


class ResultWarning(UserWarning):
    """What deserves attention in a result, a sentence each."""

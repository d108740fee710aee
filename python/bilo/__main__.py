"""`python -m bilo`: the program of the command line."""

import sys

from bilo._bilo import main


def run() -> int:
    """Does what the command line asks for; the exit code."""
    return main(["bilo", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(run())

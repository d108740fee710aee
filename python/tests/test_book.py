"""The chapter on Python shows what happens."""

import doctest
import os
import re
from pathlib import Path

CHAPTER = Path(__file__).parents[2] / "book" / "src" / "python.md"


def test_the_examples_of_the_chapter(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", CHAPTER.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, CHAPTER.name, str(CHAPTER), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        told: list[str] = []
        assert runner.run(test, out=told.append).attempted > 15
        assert not runner.failures, "".join(told)
    finally:
        os.chdir(before)

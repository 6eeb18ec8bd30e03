"""Each row of docs/guides/coming-from.md runs as it stands, and each foreign name is told ours."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from windlass import Permanent, Retry, Snooze, Windlass
from windlass.app.declared import Declared

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "coming-from.md").read_text("utf-8")
ROWS = re.findall(r"^\| `([^|]+?)`[^|`]*\| `([^|]+?)`[^|`]*\|$", PAGE, re.M)
[PROGRAM] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_row_of_the_tables_is_read():
    assert len(ROWS) == sum(line.startswith("| `") for line in PAGE.splitlines()) > 35


@pytest.mark.parametrize(("theirs", "ours"), ROWS)
async def test_the_right_side_of_a_row_runs(theirs, ours, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(PROGRAM, names)
    wl = names["wl"]
    assert isinstance(wl, Windlass)
    declares = ours.startswith("@")
    code = f"{ours}\ndef handler() -> None: ..." if declares else ours

    try:
        async with wl.running():
            found = eval(compile(code, theirs, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
            if inspect.isawaitable(found):
                await found
    except (Permanent, Retry, Snooze):
        assert ours.startswith("raise ")
    else:
        assert isinstance(names.get("handler"), Declared) is declares
    finally:
        await wl.close()


def test_the_page_says_what_an_error_says():
    names: dict[str, object] = {}
    exec(
        PROGRAM.replace('Windlass("sqlite:///guide.db")', 'Windlass("sqlite:///unused.db")'), names
    )

    with pytest.raises(AttributeError) as caught:
        _ = names["add"].delay  # type: ignore[attr-defined]

    assert str(caught.value) in PAGE

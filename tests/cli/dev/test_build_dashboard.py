"""`windlass dev` in a checkout builds the dashboard, if its sources have changed."""

import pytest

from windlass.cli.dev.build_dashboard import build_dashboard

MAKEFILE = """
ui: ui/dist/index.html
ui/dist/index.html: ui/package.json
\t{command}
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "package.json").write_text("{}")
    (tmp_path / "Makefile").write_text(
        MAKEFILE.format(command="mkdir -p ui/dist && cp ui/package.json ui/dist/index.html")
    )
    return tmp_path


def built(checkout):
    said = []
    build_dashboard(said.append, checkout)
    return said


def test_it_is_built_once_and_says_so(checkout):
    first, second = built(checkout), built(checkout)

    assert first == ["Building the dashboard: its sources have changed."]
    assert second == []
    assert (checkout / "ui" / "dist" / "index.html").read_text() == "{}"


def test_a_failed_build_shows_why_and_goes_on(checkout):
    command = "@echo 'src/main.tsx: unexpected token'; exit 1"
    (checkout / "Makefile").write_text(MAKEFILE.format(command=command))

    said = built(checkout)

    assert "  src/main.tsx: unexpected token" in said
    assert said[-1].startswith("The dashboard could not be built")


def test_without_npm_nothing_is_built(checkout, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert built(checkout) == []


def test_an_installed_package_has_nothing_to_build(tmp_path):
    assert built(tmp_path) == []

"""crowdgate.toml sets the language of pages and the decimal mark of their numbers; JSON is unaffected."""

import json
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.settings import PageStyle, page_style
from tests.workshop import Workshop, crowdgate


@pytest.mark.thorough
def test_a_page_declares_its_language_and_has_its_decimal_mark(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    crowdgate("plan", workshop.policy, "--json", "--page", workshop.root / "plain.html")
    plain = capsys.readouterr().out
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(f'{settings.read_text() if settings.exists() else ""}\nlang = "de"\ndecimal_mark = ","\n')
    crowdgate("plan", workshop.policy, "--json", "--page", workshop.root / "comma.html")
    assert json.loads(capsys.readouterr().out) == json.loads(plain)
    before, after = ((workshop.root / f"{name}.html").read_text() for name in ("plain", "comma"))
    assert '<html lang="en">' in before
    assert '<html lang="de">' in after
    assert '">0.5</td>' in before
    assert '">0,5</td>' in after


@pytest.mark.parametrize("line", ['lang = "no tag"', "lang = 1", 'decimal_mark = ";"', "decimal_mark = 1"])
def test_another_style_is_refused(tmp_path: Path, line: str) -> None:
    assert page_style(tmp_path) == PageStyle("en", ".")
    (tmp_path / "crowdgate.toml").write_text(f"{line}\n")
    with pytest.raises(ConfigurationError, match=f"crowdgate.toml: {line.split()[0]}: "):
        page_style(tmp_path)

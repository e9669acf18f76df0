"""Drafts of columns that a codebook keeps from publication."""

from pathlib import Path

import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source


def _draft(tmp_path: Path, notes: str, domains: list[str] | None = None) -> str:
    (tmp_path / "t.csv").write_text("a,b\n", encoding="utf-8")
    book = tmp_path / "b.csv"
    book.write_text(f'variable,label,values,notes\na,Region,1=a; 2=b,"{notes}"\nb,Sex,1=m; 2=w,\n', encoding="utf-8")
    return draft_contract(
        read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book), "t", domains
    )


@pytest.mark.parametrize(
    "notes",
    [
        "do not publish", "very sensitive, not in public file", "Not for publication.", "niet publiceren",
        "nicht veröffentlichen", "ne pas publier", "no publicar", "não publicar", "non pubblicare",
        "ikke offentliggøres",
        "nie publikować", "nezveřejňovat", "ne objavljati", "internal use only",
    ],
)  # fmt: skip
def test_a_column_that_is_not_to_be_published_gets_no_domain(tmp_path: Path, notes: str) -> None:
    text = _draft(tmp_path, notes)
    line = next(each for each in text.splitlines() if "name: a" in each)
    assert "not published, as it has no domain; the codebook says: " in line
    assert text.count("property: domain") == 1
    assert _draft(tmp_path, notes, ["a"]).count("property: domain") == 2


@pytest.mark.parametrize("notes", ["published since 2010", "public file", "KNBS codes", "not comparable"])
def test_other_notes_leave_the_domain(tmp_path: Path, notes: str) -> None:
    assert _draft(tmp_path, notes).count("property: domain") == 2

"""The facts of a draft, by column: its role, and what its domain or classification states or leaves to decide."""

from pathlib import Path
from typing import Any

import yaml

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source

Facts = dict[str, Any]


def drafted_items(folder: Path, header: str, book: Path | str, end: str = ".csv") -> dict[str, Facts]:
    """Return the facts of the draft of a table, of which only the header is known, with a codebook: its file or text.

    A value that is left to decide is the text of its CHANGE; sources are left out.
    """
    text = drafted_text(folder, header, book, end)
    columns = yaml.load(text, Loader=yaml.BaseLoader)["schema"][0]["properties"]
    return {each["name"]: _facts(each["customProperties"]) for each in columns}


def _facts(stated: list[Facts]) -> Facts:
    facts = {each["property"]: each["value"] for each in stated if each["property"] not in ("invalid", "levels")}
    domain = facts.get("domain")
    if isinstance(domain, dict):
        facts["domain"] = {key: value for key, value in domain.items() if key != "source"}
    return facts


def drafted_text(folder: Path, header: str, book: Path | str, end: str = ".csv") -> str:
    """Return the text of the draft of a table, of which only the header is known, with a codebook: its file or text."""
    table = folder / "t.csv"
    table.write_text(f"{header}\n", encoding="utf-8")
    path = folder / f"b{end}" if isinstance(book, str) else book
    if isinstance(book, str):
        path.write_text(book, encoding="utf-8")
    return draft_contract(read_draft_source(table, folder, header_line=True, codebook=path), "t")

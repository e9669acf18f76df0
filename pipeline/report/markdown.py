"""What the Markdown pages share."""

from collections.abc import Iterable

from pipeline.gate import Verdict


def cell(text: str) -> str:
    """Text for a Markdown table: column names may hold bars and line ends."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def gates_section(verdicts: Iterable[Verdict]) -> list[str]:
    """The public verdicts, as the last section of a page."""
    rows = [f"| {cell(found.gate)} | {found.outcome} | {cell(found.reason)} |" for found in verdicts if found.public]
    return ["## Gates", "", "| gate | outcome | measured |", "|---|---|---|", *rows, ""]

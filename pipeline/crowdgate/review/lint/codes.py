"""Explanations of the codes of problems and warnings: sections of policies/CODES.md."""

import re

from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.measures import MEASURES
from crowdgate.releases.working_copy import bundled

PAGE = "CODES.md"


def explanation(code: str) -> str:
    """Return the section of a code; of unknown names, with all measures. Raises ConfigurationError for an unknown
    code.
    """
    known = explanations()
    if code.upper() not in known:
        meant = nearest(code.upper(), list(known))
        raise ConfigurationError(Problem("command line", None, "--explain", repr(code), "a code such as CG101", meant))
    measures = f"\n\nMeasures: {', '.join(MEASURES)}." if code.upper() == Code.UNKNOWN_NAME else ""
    return known[code.upper()] + measures


def explanations() -> dict[str, str]:
    """Return the sections of policies/CODES.md by their codes, in order."""
    text = (bundled("policies") / PAGE).read_text(encoding="utf-8")
    found = re.findall(r"^### (CG[0-9]{3})\n\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return {code: body.strip() for code, body in found}

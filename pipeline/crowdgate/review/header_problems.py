"""Problems of a table's header, reported together with those of a faulty policy: all of them come in one round."""

from __future__ import annotations

from pathlib import Path

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import contract_named
from crowdgate.review.table_check import check_table


def with_header_problems(policy: Path, error: ConfigurationError) -> ConfigurationError:
    """Return the error with what the table's header contradicts in the policy's contract.

    An unknown attribute that is like a column with such a problem follows from it, and is left out.
    """
    header = _header_problems(policy)
    if header is None:
        return error
    columns = {problem.where for problem in header.problems}
    rest = [problem for problem in error.problems if problem.instead not in columns]
    return ConfigurationError([*header.problems, *rest])


def _header_problems(policy: Path) -> ConfigurationError | None:
    """Return what the header contradicts; None if nothing does, or if the contract can't be read."""
    try:
        document = read_document(policy)
        name = str(document.data["spec"]["contract"])
        contract = contract_named(document, ("spec", "contract"), name, KNOWN)[1]
    except (ConfigurationError, KeyError, TypeError):
        return None
    try:
        check_table(contract)
    except ConfigurationError as error:
        return error
    return None

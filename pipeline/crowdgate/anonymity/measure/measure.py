"""Measure a contract's table. The findings are shown if everything that is read is public, and stored privately
otherwise.

Counting anonymity sets of a confidential table is an access: the ledger records it before anything is read, and marks
the policies that come after. The findings go to the private folder; the ledger holds a salted commitment only.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from crowdgate.anonymity.measure.page import anonymity_report
from crowdgate.anonymity.measure.register_match import RegisterLink, register_link
from crowdgate.anonymity.measure.request import AnonymityRequest, AttributeSelection, select_attributes
from crowdgate.anonymity.measure.result import AnonymityResult, anonymity_result
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, Crashed, Problem
from crowdgate.ledger.access_log import ANONYMITY_KEPT, ANONYMITY_MEASURED
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.private import private_file, private_folder, put_private, write_private
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.private_traces import name_digest
from crowdgate.planning.public_tables import contracts_describing, contracts_in_working_copy, public_table
from crowdgate.policy.files import budget_of_contract, working_copy
from crowdgate.sources import open_source
from crowdgate.sources.source import Source

STORED_PRIVATELY = "The anonymity sets have been counted. The result is in the private folder of the ledger."


def measure_anonymity(asked: AnonymityRequest, page: Path | None = None) -> AnonymityResult | str:
    """Return the findings, and write their page if one is requested; for confidential data return the line that may be
    shown.

    Raises ConfigurationError for a wrong contract or wrong options, VerificationFailed for a folder that is no release;
    FileFault, LedgerRefused and EnvironmentFault before anything is read. Once confidential data are read every error
    is stored privately, and a signal raises Crashed.
    """
    what, link = select_attributes(asked), register_link(asked)
    confidential = _confidential_contracts(what.contract, asked.input, "--input")
    confidential += [] if link is None else _confidential_contracts(link.register, None, "--register")
    if confidential and page is not None:
        found, expected = (
            "the page would show confidential data",
            "no --page: the page is written into the private folder of the ledger",
        )
        raise ConfigurationError(Problem("command line", None, "--page", found, expected))
    source = open_source(what.contract, what.columns, asked.input)
    if confidential:
        return _measure_privately(asked, what, source, link, confidential)
    measured = anonymity_result(what, source, link)
    if page is not None:
        anonymity_report(measured).write(page)
    return measured


def _confidential_contracts(contract: Contract, path: Path | None, option: str) -> list[Contract]:
    """Return the contracts whose confidential data are read: none for a public table. Raises ConfigurationError if a
    public contract is used for a table that is not public."""
    table, known = path or contract.server.path, contracts_in_working_copy(contract, KNOWN)
    found = public_table(table, contract, KNOWN)
    if contract.public and isinstance(found, str):
        said = f"{table} as the public table of contract {contract.id}, but {found}"
        expected = "the table that a public contract describes and no other, or the contract of this table"
        raise ConfigurationError(Problem("command line", None, option, said, expected))
    if contract.public:
        return []
    return [contract, *(each for each in contracts_describing(table, known) if not each.public)]


@dataclass(frozen=True)
class _PrivatePlace:
    """Place of a private record: a ledger, and the record's name there."""

    ledger: Ledger
    name: str

    @property
    def page(self) -> Path:
        """Path of the record's page, next to the private record."""
        return private_file(self.ledger.path, self.ledger.id, self.name).with_suffix(".html")


def _measure_privately(
    asked: AnonymityRequest,
    what: AttributeSelection,
    source: Source,
    link: RegisterLink | None,
    confidential: list[Contract],
) -> str:
    """Measure, and store the findings privately. Every population's ledger records the access first; the findings are
    stored beside the first ledger. The page of an earlier run is removed before anything is read, and the new one
    follows its record, so that no page ever belongs to another record."""
    ledgers = {contract.population: _ledger(asked, contract) for contract in confidential}
    place = _PrivatePlace(next(iter(ledgers.values())), f"anonymity/{what.contract.id}/{_request_digest(asked)}")
    private_folder(place.ledger.path)
    for population, ledger in ledgers.items():
        ledger.record(
            ANONYMITY_MEASURED, population, name_digest(private_file(ledger.path, ledger.id, place.name).name)
        )
    try:
        place.page.unlink(missing_ok=True)
        commitment = _write_record(place, *_record_and_page(what, source, link))
    except BaseException:
        raise Crashed() from None
    place.ledger.record(ANONYMITY_KEPT, what.contract.id, commitment)
    return STORED_PRIVATELY


def _record_and_page(
    what: AttributeSelection, source: Source, link: RegisterLink | None
) -> tuple[Mapping[str, Any], str | None]:
    """Return the record and its page; if measuring fails, the error as a record, without a page."""
    try:
        found = anonymity_result(what, source, link)
        return found.to_json(), anonymity_report(found).html()
    except Exception as error:
        return {"stopped": f"{type(error).__name__}: {error}"}, None


def _write_record(place: _PrivatePlace, held: Mapping[str, Any], page: str | None) -> str:
    """Write the findings as a private record, and its page, and return the salted commitment of the record."""
    commitment = write_private(place.ledger.path, place.ledger.id, place.name, held)
    if page is not None:
        put_private(place.page, page.encode())
    return commitment


def _ledger(asked: AnonymityRequest, contract: Contract) -> Ledger:
    """Return the ledger of a contract's population: the one that the request names, else that of the working copy, with
    the id that the budget states."""
    budget, _ = budget_of_contract(contract.files[0], contract)
    return ledger_at(working_copy(contract.files[0]), asked.ledger, budget.spec.ledger)


def _request_digest(asked: AnonymityRequest) -> str:
    """Return 16 hexadecimal digits of the request's SHA-256, so that each request has a private record of its own."""
    return hashlib.sha256(repr(astuple(asked)).encode()).hexdigest()[:16]

"""Attachments: one table for making releases and for verifying them. A new attachment is an entry here."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

from crowdgate import report
from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.record_names import record_file
from crowdgate.candidate import AuditQuestion, Candidate
from crowdgate.gate import NEAREST, NUMBERS, NUMBERS_OF_FORMAT_2, NumberFormat, Outcome, Verdict, gate_notes, gate_text
from crowdgate.kind.attachment import Attachment, Context
from crowdgate.manifest import INFORMED, NAME, Manifest, approvals_text, series_text
from crowdgate.measures import MEASURES
from crowdgate.publish.descriptions import DESCRIPTIONS, description
from crowdgate.publish.file_names import SIGNED
from crowdgate.publish.register import REGISTER, parse_register, read_register
from crowdgate.signing.statement import (
    LedgerPlace,
    ReleaseStatement,
    read_unverified,
    release_statement,
    sign_statement,
    verify_statement,
)

if TYPE_CHECKING:
    from crowdgate.audit.common.audit import Audit


_FORMATS: Mapping[int, tuple[NumberFormat, ...]] = {1: (NEAREST,), 2: (NUMBERS_OF_FORMAT_2,)}
"""The formats of numbers in READMEs of old manifest formats."""


def _formats(said: Manifest) -> tuple[NumberFormat, ...]:
    return _FORMATS.get(said.format, (NUMBERS, NUMBERS_OF_FORMAT_2))


def _readme(context: Context, earlier: Mapping[str, object] | None = None, write: NumberFormat | None = None) -> bytes:
    """Return the README of a release, for its users, from the manifest and the content of the files alone."""
    said, page = context.manifest, context.page
    assert page is not None, "a README is made when the files are known"
    values = {
        "title": said.release.policy,
        "description": said.about.description,
        "owner": said.about.owner,
        "release_id": said.release.id,
        "formats": said.formats,
        "estimand": [] if said.estimand is None else said.estimand.words(),
        "guarantee": said.guarantee.words,
        "plain": said.guarantee.plain or (),
        "informed": INFORMED if said.facts.informed else None,
        "approvals": approvals_text(said.facts.approvals or ()),
        "series": series_text(said.facts.series),
        "register": None if context.register is None else parse_register(context.register).words,
        "verdicts": [_gate_row(gate.verdict, write or _formats(said)[0]) for gate in said.verdicts],
        "noted": [(gate.verdict.gate, notes) for gate in said.verdicts if (notes := gate_notes(gate.rule))],
    }
    return report.markdown(page.template, {**values, **page.values, **(earlier or {})}).encode()


def _gate_row(verdict: Verdict, write: NumberFormat) -> dict[str, str]:
    return {"gate": gate_text(verdict.rule, write), "outcome": verdict.ended, "reason": verdict.reason_text(write)}


def _readme_problems(context: Context, found: bytes | None) -> Iterator[str]:
    assert context.page is not None, "it is known when the files are"
    pages = product(({}, *context.page.earlier), _formats(context.manifest))
    if not any(found == _readme(context, *each) for each in pages):
        yield "this page differs from what the manifest and the files say"


def _signature(context: Context) -> bytes | None:
    """Return the signature of a release: a statement over all its files, signed by the configured key; None without
    one."""
    return None if context.signer is None else sign_statement(_statement(context), [context.signer])


def _signature_problems(context: Context, found: bytes | None) -> Iterator[str]:
    """Yield the problems of a release's signature `found` (None: missing). Without trusted keys its statement is still
    compared with the files."""
    if found is None:
        if context.trusted:
            yield "the release is not signed, and you gave trusted keys, so a signature is required"
        return
    stated = (
        verify_statement(found, context.trusted, ReleaseStatement)[0] if context.trusted else read_unverified(found)
    )
    if stated != _statement(context):
        yield "this signature belongs to another release, or the release was changed after it was signed"


def _statement(context: Context) -> ReleaseStatement:
    said = context.manifest
    place = LedgerPlace(id=said.ledger.id, line=said.ledger.line, digest=said.ledger.digest)
    files = {name: file.sha256 for name, file in said.files.items()}
    files[NAME] = hashlib.sha256(context.sealed).hexdigest()
    return release_statement(said.release.id, said.policy_digest, place, files)


def _audit(question: AuditQuestion) -> Attachment:
    """Return the attachment of an audit that answers `question`: the record of attacks by which gates are judged. The
    audit is imported where there is a record."""

    def problems(context: Context, found: bytes | None) -> Iterator[str]:
        if found is not None:
            yield from _audit_problems(AUDITS[question], context.manifest, found)

    def evidence(said: Manifest, candidate: Candidate, found: bytes) -> Candidate:
        audit = AUDITS[question]
        figures = audit.figures(*audit.read(found), date.fromisoformat(said.release.slot[:10]))
        audits = {**candidate.static.audits, question: figures}
        return replace(candidate, static=replace(candidate.static, audits=audits))

    return Attachment(lambda context: context.audits.get(question), problems, evidence=evidence, recorded=question)


def _audit_problems(audit: "Audit[Any, Any]", said: Manifest, found: bytes) -> Iterator[str]:
    measures = (MEASURES.get(gate.measure) for gate in said.verdicts)
    if not any(measure is not None and measure.asks is audit.question for measure in measures):
        yield "no gate of the release is judged by this audit"
    record, findings = audit.read(found)
    setting, guarantee = record.setting, said.guarantee.guarantee
    if findings.outcome is Outcome.INCONCLUSIVE:
        yield "this audit is inconclusive, so no gate can rest on it"
    if findings.outcome is Outcome.FAIL:
        yield "this audit failed: its attackers can exceed its limit"
    if (setting.epsilon, setting.delta, setting.mechanism) != (guarantee.epsilon, guarantee.delta, said.mechanism.kind):
        yield "this audit tried another mechanism, epsilon or delta than the release has"
    if any(each.must != audit.controls.get(each.mechanism, each.must) for each in record.controls):
        yield "this audit expects another finding of a control than Crowdgate does"
    yield from audit.oddities(record)
    if setting.policy_digest != said.policy_digest or setting.confidential:
        yield "this audit belongs to another policy, or ran on a confidential table"


def _register_problems(context: Context, found: bytes | None) -> Iterator[str]:
    """Yield a problem if the release holds counts of a register that no gate reads; the counts themselves are checked
    with the gates."""
    measures = (MEASURES.get(gate.measure) for gate in context.manifest.verdicts)
    if found is not None and not any(measure is not None and measure.register for measure in measures):
        yield "no gate of the release is judged by this audit"


def _register_evidence(_: Manifest, candidate: Candidate, found: bytes) -> Candidate:
    return replace(candidate, register=read_register(found, candidate.static.levels))


def _description(name: str) -> Attachment:
    """Return the attachment of a description for other tools. Releases need not have one."""

    def problems(context: Context, found: bytes | None) -> Iterator[str]:
        if found is not None and found != description(name, context.manifest, context.dictionary):
            yield "this description differs from what the manifest and the dictionary say"

    return Attachment(
        lambda context: description(name, context.manifest, context.dictionary), problems, describing=name
    )


REGISTERED = Attachment(lambda context: context.register, _register_problems, evidence=_register_evidence)
README = Attachment(_readme, _readme_problems)
SIGNATURE = Attachment(_signature, _signature_problems, closing=True)
ATTACHMENTS = {
    "README.md": README,
    **{record_file(question): _audit(question) for question in AUDITS},
    REGISTER: REGISTERED,
    **{file: _description(name) for name, (file, _) in DESCRIPTIONS.items()},
    SIGNED: SIGNATURE,
}
"""Attachments (files of a release besides manifest and data) by the name of the file."""

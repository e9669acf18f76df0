"""Attachments: one table for making releases and verifying them. A new one is an entry here."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from crowdgate import report
from crowdgate.audit import written
from crowdgate.audit.controls import CONTROLS
from crowdgate.audit.findings import found as audited
from crowdgate.audit.record import AuditRecord, weights_of
from crowdgate.candidate import Candidate
from crowdgate.gate import NEAREST, NUMBERS, Outcome, Verdict, Writing, gate_words
from crowdgate.kind.attachment import Attachment, Context
from crowdgate.manifest import INFORMED, NAME, Manifest
from crowdgate.measures import MEASURES
from crowdgate.measures.audited import MAX_AGE
from crowdgate.publish.publisher import SIGNED
from crowdgate.publish.register import REGISTER, read_register, register_said
from crowdgate.signing.statement import (
    LedgerPlace,
    ReleaseStatement,
    release_statement,
    signed,
    unverified,
    verified,
)


def _readme(context: Context) -> bytes:
    """The README of a release, for the people who use it: of nothing but the manifest and what the files hold."""
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
        "register": None if context.register is None else register_said(context.register).words,
        "verdicts": [_judged(gate.verdict, NEAREST if said.format == 1 else NUMBERS) for gate in said.verdicts],
    }
    return report.markdown(page.template, {**values, **page.values}).encode()


def _judged(verdict: Verdict, write: Writing) -> dict[str, str]:
    return {"gate": gate_words(verdict.rule, write), "outcome": verdict.outcome, "reason": verdict.told(write)}


def _readme_problems(context: Context, found: bytes | None) -> Iterator[str]:
    if found != _readme(context):
        yield "it is not what the manifest and the files say"


def _signature(context: Context) -> bytes | None:
    """Who made the release: a statement over all its files, signed by the key that is configured."""
    return None if context.signer is None else signed(_statement(context), [context.signer])


def _signature_problems(context: Context, found: bytes | None) -> Iterator[str]:
    """Without trusted keys a signature is still read: what it says must be what lies there."""
    if found is None:
        if context.trusted:
            yield "missing: keys are given, and nobody signed the release"
        return
    stated = verified(found, context.trusted, ReleaseStatement)[0] if context.trusted else unverified(found)
    if stated != _statement(context):
        yield "it is the signature of another release"


def _statement(context: Context) -> ReleaseStatement:
    said = context.manifest
    place = LedgerPlace(id=said.ledger.id, line=said.ledger.line, digest=said.ledger.digest)
    files = {name: file.sha256 for name, file in said.files.items()}
    files[NAME] = hashlib.sha256(context.sealed).hexdigest()
    return release_statement(said.release.id, said.policy_digest, place, files)


def _audit_problems(context: Context, found: bytes | None) -> Iterator[str]:
    said = context.manifest
    if found is None:
        return
    if not any(MAX_AGE in (gate.options or {}) for gate in said.verdicts):
        yield "no gate is judged by it"
    record = written.parsed(found, AuditRecord)
    setting = record.setting
    if audited(record).outcome is Outcome.INCONCLUSIVE:
        yield "nothing can be concluded from it"
    guarantee = said.guarantee.guarantee
    if (setting.epsilon, setting.delta, setting.mechanism) != (guarantee.epsilon, guarantee.delta, said.mechanism.kind):
        yield "it is the audit of another mechanism"
    must = {each.name: each.must for each in CONTROLS}
    if any(each.must != must.get(each.mechanism, each.must) for each in record.controls):
        yield "it says of a control that it must do something else"
    if setting.weights != weights_of(setting.weight, setting.n):
        yield "it was not judged at the weights that an audit judges"
    if setting.policy_digest != said.policy_digest or setting.confidential:
        yield "it is the audit of another policy"


def _audited(said: Manifest, candidate: Candidate, found: bytes) -> Candidate:
    audit = written.figures(written.parsed(found, AuditRecord), date.fromisoformat(said.release.slot[:10]))
    return replace(candidate, static=replace(candidate.static, audit=audit))


def _register_problems(context: Context, found: bytes | None) -> Iterator[str]:
    """What it counts is read, and judged, with the gates."""
    measures = (MEASURES.get(gate.measure) for gate in context.manifest.verdicts)
    if found is not None and not any(measure is not None and measure.register for measure in measures):
        yield "no gate is judged by it"


def _registered(_: Manifest, candidate: Candidate, found: bytes) -> Candidate:
    return replace(candidate, register=read_register(found, candidate.static.levels))


AUDIT = Attachment(lambda context: context.audit, _audit_problems, evidence=_audited, recorded=True)
REGISTERED = Attachment(lambda context: context.register, _register_problems, evidence=_registered)
README = Attachment(_readme, _readme_problems)
SIGNATURE = Attachment(_signature, _signature_problems, closing=True)
ATTACHMENTS = {"README.md": README, written.NAME: AUDIT, REGISTER: REGISTERED, SIGNED: SIGNATURE}
"""By the name of the file."""

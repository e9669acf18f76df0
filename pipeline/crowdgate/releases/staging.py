"""Files of a release of any kind: the published files, the manifest, and the curator's private record."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Any, BinaryIO

from pydantic import ValidationError

from crowdgate import manifest
from crowdgate.anonymity.predict.planned_release import observed_and_expected
from crowdgate.attachments import ATTACHMENTS
from crowdgate.candidate import Cost, Static
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.formats import FORMATS
from crowdgate.formats.byte_compare import Writer
from crowdgate.gate import verdict
from crowdgate.history.past_runs import settings
from crowdgate.kind.attachment import Context
from crowdgate.kind.plan import Plan
from crowdgate.kind.run import Approval, CountedTable, JudgedCandidate, ReservedRun
from crowdgate.manifest import FileFields, GateFields, Manifest
from crowdgate.manifest.values import ManifestFields
from crowdgate.measures.unique_people import joint_tables
from crowdgate.publish.dictionary import DICTIONARY
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.signing.keys import SigningKey


class ReleaseContents:
    """The published contents of a judged release: its manifest and files."""

    def __init__(self, reserved: ReservedRun, judged: JudgedCandidate, signer: SigningKey | None) -> None:
        self.reserved, self.judged, self.signer = reserved, judged, signer
        plan = reserved.run.plan
        self.kind, self.mechanism = plan.protection.kind, plan.protection.mechanism
        self.contents = self.kind.publish(self.mechanism, judged.candidate, plan.bundle.contract)

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest without the digests of the files, which are not written yet."""
        plan, run = self.reserved.run.plan, self.reserved.run
        place = self.reserved.charge.line
        made: Manifest = self.kind.manifest_class().model_validate({
            **manifest.Manifest.constants,
            **_identity_fields(plan, run.id, run.slot),
            "policyDigest": plan.bundle.digest,
            "ledger": manifest.PlaceFields(id=run.ledger.id, line=place.number, digest=place.digest),
            "facts": _facts(plan, self.reserved.static, self.reserved.informed, self._paid_by, run.approvals),
            "estimand": _estimand(plan),
            "mechanism": self.kind.mechanism_fields(self.mechanism, self.judged.candidate),
            "guarantee": _guarantee_fields(plan, self.reserved.static),
            "verdicts": tuple(GateFields.of_verdict(found) for found in self.judged.verdicts if found.public),
            "data": self.kind.data_fields(self.contents),
            "formats": tuple(plan.bundle.policy.spec.publish.formats),
            "files": {},
            "key": "injected" if self.judged.injected else "operating system",
            "software": manifest.SoftwareFields(crowdgate=version("crowdgate"), pyarrow=version("pyarrow")),
        })  # fmt: skip
        return made

    @property
    def _paid_by(self) -> str:
        """The id of the release that paid for this one: the first of its series."""
        run = self.reserved.run
        entry = None if run.plan.series is None else run.ledger.entry(run.id)
        return run.id if entry is None else run.ledger.paying(entry).release_id

    def writers(self) -> dict[str, Writer]:
        """Return the writers of the published files: the kind's data in the policy's formats, and the attachments."""
        run, levels = self.reserved.run, self.judged.candidate.static.levels
        register = None if run.register is None else run.register.written(levels)
        page = self.kind.page(self.manifest, self.contents)
        context = Context(manifest=self.manifest, page=page, audits=run.audit_records, register=register)
        made = {name: each.make(context) for name, each in ATTACHMENTS.items() if not each.is_last}
        attached = {name: _writer(data) for name, data in made.items() if data is not None}
        return {**self._data_writers(), **attached}

    def _data_writers(self) -> dict[str, Writer]:
        formats = {name: FORMATS[name] for name in self.manifest.formats}
        return dict(self.kind.files(self.manifest, self.contents, formats))

    def _descriptions(self, files: Mapping[str, FileFields]) -> dict[str, bytes]:
        """Return the descriptions for other tools that the policy lists, by file name."""
        wanted = self.reserved.run.plan.bundle.policy.spec.publish.describe
        if not wanted:
            return {}
        dictionary = io.BytesIO()
        self._data_writers()[DICTIONARY](dictionary)
        said = self.manifest.model_copy(update={"files": dict(files)})
        context = Context(manifest=said, dictionary=dictionary.getvalue())
        made = {name: each.make(context) for name, each in ATTACHMENTS.items() if each.describing in wanted}
        return {name: data for name, data in made.items() if data is not None}

    def seal(self, files: Mapping[str, FileFields]) -> dict[str, bytes]:
        """Return the bytes, by file name, of the manifest with these `files`, and of the files that are made
        from it.
        """
        described = self._descriptions(files)
        digests = {
            name: FileFields(bytes=len(data), sha256=sha256(data).hexdigest()) for name, data in described.items()
        }
        said = self.manifest.model_copy(update={"files": {**files, **digests}})
        context = Context(manifest=said, sealed=said.sealed(), signer=self.signer)
        made = {name: each.make(context) for name, each in ATTACHMENTS.items() if each.closing}
        return {
            **described,
            manifest.NAME: context.sealed,
            **{name: data for name, data in made.items() if data is not None},
        }


def check_manifest_fits(plan: Plan, release_id: str, slot: str) -> None:
    """Check that all parts of a manifest which are known before reading fit into one: after reading, a fault would be a
    crash.

    Raises ConfigurationError.
    """
    try:
        _identity_fields(plan, release_id, slot)
        _facts(plan, plan.first_release_facts(), True, release_id)
        _estimand(plan)
        plan.protection.kind.parameters(plan.protection.mechanism)
        _guarantee_fields(plan, plan.first_release_facts())
        for rule, measure in plan.gates:
            GateFields.of_verdict(verdict(rule, measure, None))
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[0]
        place, file = ".".join(map(str, found["loc"])), str(plan.bundle.document.path)
        raise ConfigurationError(
            Problem(file, None, place, "this value does not fit into a manifest", found["msg"], code=Code.VALUE)
        ) from None


def _identity_fields(plan: Plan, release_id: str, slot: str) -> dict[str, ManifestFields]:
    metadata, contract = plan.bundle.policy.metadata, plan.bundle.contract
    return {
        "release": manifest.ReleaseFields(id=release_id, policy=metadata.name, version=metadata.version, slot=slot),
        "about": about_fields(plan),
        "contract": manifest.ContractFields(id=contract.id, version=contract.version, population=contract.population),
    }


def about_fields(plan: Plan) -> manifest.AboutFields:
    """Return the policy owner's description of a policy's releases."""
    metadata = plan.bundle.policy.metadata
    return manifest.AboutFields(description=metadata.description, owner=metadata.owner, **metadata.context)


def _facts(
    plan: Plan, static: Static, informed: bool, paid_by: str, approvals: Sequence[Approval] = ()
) -> manifest.FactsFields:
    """Return the public facts that the gates were judged by; margins only of attributes without joint counts."""
    read = plan.expected_of(static.levels)
    joint = joint_tables(static, read)
    alone = [name for name in static.levels if name in read and not any(name in each.names for each in joint)]
    margins = {name: known for name in alone if (known := static.margins(name)) is not None}
    return manifest.FactsFields(
        people=static.people, rows_per_unit=static.rows_per_unit, margins=margins,
        joint=tuple(map(manifest.JointFields.of, joint)) or None,
        classes=tuple(manifest.ClassFields.of(*each) for each in _classes(plan, static)) if read else None,
        budget=_cost(static.budget), spent=_cost(static.spent), informed=True if informed else None,
        lifetime=None if static.lifetime is None else manifest.LifetimeFields.of(static.lifetime),
        approvals=tuple(
            manifest.ApprovalFields(name=each.name, key=each.key, day=each.day, sha256=each.digest)
            for each in approvals
        ) or None,
        series=series_fields(plan, paid_by),
    )  # fmt: skip


def series_fields(plan: Plan, paid_by: str) -> manifest.SeriesFields | None:
    """Return the series that a policy declares and the release `paid_by` paid for; None without one."""
    planned = plan.series
    if planned is None:
        return None
    return manifest.SeriesFields(
        paid_by=paid_by, releases=planned.releases, epsilon=planned.epsilon, delta=planned.delta
    )


def _classes(plan: Plan, static: Static) -> list[tuple[list[str], ClassSizes]]:
    """Return the counted classes by the attributes of gates, in the order of the attributes' names."""
    held = static.classes or {}
    return sorted(((sorted(names), held[names]) for names in plan.wanted_classes & {*held}), key=lambda each: each[0])


def _guarantee_fields(plan: Plan, static: Static) -> manifest.GuaranteeFields:
    return manifest.GuaranteeFields.of(plan.guarantee, tuple(plan.guarantee_text()), plan.plain(static))


def _estimand(plan: Plan) -> manifest.EstimandFields:
    return manifest.EstimandFields.of_contract(plan.bundle.contract, plan.columns)


def _cost(pair: Cost) -> manifest.CostFields:
    return manifest.CostFields(epsilon=pair[0], delta=pair[1])


def _writer(data: bytes) -> Writer:
    def write(into: BinaryIO) -> None:
        into.write(data)

    return write


def private_record(outcome: str, plan: Plan, found: CountedTable, judged: JudgedCandidate) -> dict[str, Any]:
    """Return the content of a release's private record: the outcome, and confidential measurements and reasons."""
    candidate, protection = judged.candidate, plan.protection
    figures = protection.kind.private(protection.mechanism, candidate, found.views)
    return {
        "outcome": outcome,
        "settings": settings(plan),
        "about": manifest.json_fields(about_fields(plan)),
        "verdicts": [manifest.json_fields(GateFields.of_verdict(each)) for each in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in found.rules],
        "facts": found.facts,
        "ingestion": found.ingested,
        **{name: guarded(make) for name, make in figures.items()},
        "prediction": guarded(lambda: observed_and_expected(plan, candidate, found.views)),
    }


def guarded(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the confidential figures that `make` makes; a fault in them is recorded, and must not change the public
    outcome.
    """
    try:
        return make()
    except Exception as fault:
        return {"fault": type(fault).__name__}

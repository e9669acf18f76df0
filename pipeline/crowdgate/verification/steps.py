"""Verification of a published release from its files alone: bytes in, verified values out; fail closed.

Ten numbered steps. Each uses the results of the steps before it and nothing else of the folder, and reports
everything that does not hold; the first with a problem ends the verification. What is unknown, missing, unreadable,
unread or unmeasured is a problem, and so is whatever a step dies of.

1. folder: plain files only, few enough
2. manifest: canonical, typed and bounded; of a known kind and format; consistent with itself
3. files: exactly those that the manifest names, each of its size and digest
4. signature: made by a trusted key, of these very bytes (asked for, where keys are given)
5. guarantee: epsilon and delta follow from the mechanism's parameters and are paid by its parts
6. contents: data recounted; every file of the kind written again from what was counted, and equal byte by byte
7. gates: every verdict measured again on public facts and on the released data, and judged again, a failure is put up
   with only where the gate is waived; with a policy the gates are those that it states (asked for, where one is given)
8. pages: README and other pages written again, and equal byte by byte
9. ledger: it committed to these bytes at this price (asked for, where a ledger is given)
10. refit: data that follow from other files, made again, are the same (asked for; only of kinds that have such data)

Shared with the maker: the accounting that gives delta, the measures, and the functions that write files and pages. A
mistake in one of these is not found here: the tests compute the guarantee, the classes and the estimates a second time
without them. Recounting itself (classes as runs of equal rows, tables against their margins and laws) is not shared.

Only a signature or the ledger can tell: where a release comes from (its id, policy, contract, place in the ledger,
software), and the record of an audit that its gates are judged by; that a register whose counts it was compared with is
the public one, and of how many rows (whoever has that can count it again); which gates its policy has and by whom they
are waived (whoever has the policy can compare it), and parameters that fit as well (a rate, a k, an inherited sample);
whether a row or a person is protected; the people, budget and past spending that it states; noisy numbers, and the
errors and intervals of means and quantiles; what the contract says of columns (labels, descriptions, order, public
counts); free words; and data that were replaced as a whole by other data that fit.

Time grows with the bytes and rows that are stated. The folder must not change meanwhile: copy it first if others can
write it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError, Problem, VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.formats.byte_compare import Writer, same
from crowdgate.gate import part_name
from crowdgate.kind.attachment import Attachments, Context
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.kind import AnyKind, Formats, Kinds
from crowdgate.limits import LARGEST_LISTING, LARGEST_MANIFEST, MOST_FILES
from crowdgate.manifest import Manifest
from crowdgate.measures.guarantees import kept_costs
from crowdgate.publish.dictionary import DICTIONARY
from crowdgate.publish.register import REGISTER
from crowdgate.publish.tombstone import has_tombstone
from crowdgate.signing.keys import PublicKey
from crowdgate.system.arrow_without_pandas import use_arrow_without_pandas
from crowdgate.system.regular_files import plain_file, read_plain
from crowdgate.verification.gates import gate_problems, policy_problems
from crowdgate.verification.withdrawn import withdrawn_failure

if TYPE_CHECKING:
    from crowdgate.candidate import Candidate
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger


@dataclass
class Verification:
    """One verification of a release's folder: its settings, and the results of its steps so far."""

    folder: Path
    kinds: Kinds
    attachments: Attachments
    trusted: Sequence[PublicKey] = ()
    ledger: Ledger | None = None
    refit: bool = False
    policy: Plan | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    sealed: bytes = b""
    _manifest: Manifest | None = None
    _contents: Any = None

    @property
    def manifest(self) -> Manifest:
        """The release's manifest; available from step 2 on."""
        assert self._manifest is not None, "step 2 comes first"
        return self._manifest

    @property
    def contents(self) -> Any:
        """The contents of the release's data files, in the release kind's own type; available from step 6 on."""
        assert self._contents is not None, "step 6 comes first"
        return self._contents

    @property
    def candidate(self) -> Candidate:
        """The released data as gates measure them, with the recorded audits and the register; available from step 6 on.
        Raises VerificationFailed."""
        candidate = self.kind.output_candidate(self.manifest, self.contents)
        for name, each in self.attachments.items():
            if each.evidence is not None and name in self.sizes:
                try:
                    candidate = each.evidence(self.manifest, candidate, _bytes(self, name))
                except VerificationFailed as fault:
                    raise VerificationFailed(f"{name}: {fault}") from None
        return candidate

    @property
    def kind(self) -> AnyKind:
        """The kind of release that the manifest names; available from step 2 on."""
        return self.kinds[self.manifest.mechanism.kind]

    @property
    def formats(self) -> Formats:
        """The formats of the data files, by name; available from step 2 on."""
        return {name: FORMATS[name] for name in self.manifest.formats}

    @property
    def signed(self) -> bool:
        """True if the folder holds a signature, trusted or not."""
        return any(each.closing and name in self.sizes for name, each in self.attachments.items())

    def run(self) -> Manifest:
        """Run all steps and return the manifest. Raises VerificationFailed that lists all problems, with the step's
        number and name, or that the release was withdrawn.
        """
        if has_tombstone(self.folder):
            raise withdrawn_failure(self.folder, self.trusted)
        for number, (name, step) in enumerate(STEPS, start=1):
            problems = _attempted(step, self)
            if problems:
                raise VerificationFailed("\n".join(f"step {number}, {name}: {problem}" for problem in problems), ADVICE)
        return self.manifest


def _attempted(step: Step, of: Verification) -> list[str]:
    problems: list[str] = []
    try:
        for problem in step(of):
            problems.append(problem)
    except VerificationFailed as error:
        problems += str(error).splitlines()
    except CrowdgateError:
        raise
    except OSError as error:
        problems.append(f"a file can't be read: {error.strerror or type(error).__name__}")
    except Exception as error:  # any failure of a step is a problem of the release: unreadable data are refused
        problems.append(
            f"the check stopped with {type(error).__name__}: the manifest or a file does not have the form of a release"
        )
    return problems


def _folder(of: Verification) -> Iterator[str]:
    with os.scandir(of.folder) as listing:
        for at, each in enumerate(listing):
            if at >= MOST_FILES:
                yield f"more than {MOST_FILES} files"
                return
            found = each.stat(follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                yield f"{each.name!a}: a folder or link, where a release has plain files only"
            of.sizes[each.name] = found.st_size
    if manifest.NAME not in of.sizes:
        yield f"{manifest.NAME}: the file is missing, so this is not a release"


def _manifest(of: Verification) -> Iterator[str]:
    if of.sizes[manifest.NAME] > LARGEST_MANIFEST:
        yield f"{manifest.NAME}: larger than {LARGEST_MANIFEST} bytes"
        return
    of.sealed = read_plain(of.folder / manifest.NAME, LARGEST_MANIFEST)
    kind = of.kinds.get(manifest.kind_in(of.sealed))
    if kind is None:
        yield f"{manifest.NAME}: its mechanism is unknown (known are {', '.join(of.kinds)})"
        return
    if of.refit and not kind.refits:
        raise ConfigurationError(_nothing_to_refit(kind, of.kinds))
    of._manifest = said = manifest.parsed(kind.manifest_class(), of.sealed)
    release, facts = said.release, said.facts
    if release.id != f"{release.policy}/{release.version}/{release.slot}":
        yield "the manifest's release id differs from its policy, version and slot"
    if said.key != "operating system":
        yield "the manifest says that the secret key was injected, as in tests: this is not a real release"
    if len(set(said.formats)) != len(said.formats) or not set(said.formats) <= set(FORMATS):
        yield f"the manifest's formats are unknown or repeated (known are {', '.join(FORMATS)})"
    paid = facts.series or said.guarantee
    stated = (paid.epsilon, paid.delta)
    spent, budget = (facts.spent.epsilon, facts.spent.delta), (facts.budget.epsilon, facts.budget.delta)
    if any(a < b for a, b in zip(spent, stated, strict=True)) or any(a > b for a, b in zip(spent, budget, strict=True)):
        yield "the manifest's total spent by the population is less than this release costs, or more than the budget"


def _nothing_to_refit(kind: AnyKind, kinds: Kinds) -> Problem:
    others = ", ".join(name for name, each in kinds.items() if each.refits)
    found = f"this release is by {kind.name}, whose data can't be computed again from its other files"
    return Problem("command line", None, "--refit", found, f"a release by {others}, or no --refit")


def _files(of: Verification) -> Iterator[str]:
    closing = {name for name, each in of.attachments.items() if each.closing}
    present, stated = {*of.sizes} - {manifest.NAME} - closing, of.manifest.files
    for name in sorted(present ^ {*stated}):
        yield f"{name!a}: " + (
            "the manifest does not list this file"
            if name in present
            else "the manifest lists this file, and it is missing"
        )
    for name, file in sorted(stated.items()):
        # a file of another size is not read
        if name in present and (of.sizes[name] != file.bytes or _digest(of.folder / name) != file.sha256):
            yield f"{name}: the file was changed: its size or digest differs from the manifest's"


def _signature(of: Verification) -> Iterator[str]:
    context = Context(manifest=of.manifest, sealed=of.sealed, trusted=of.trusted)
    for name, each in of.attachments.items():
        if each.closing:
            found = _bytes(of, name) if name in of.sizes else None
            yield from (f"{name}: {problem}" for problem in each.problems(context, found))


def _guarantee(of: Verification) -> Iterator[str]:
    try:
        parts = of.manifest.guarantee.guarantee.parts
    except ValueError:
        yield "the parts of the privacy guarantee do not add up to its totals"
        return
    charged = [(part_name(gate.rule), gate.charge or 0) for gate in of.manifest.verdicts if gate.reads == "charged"]
    others = [part for part in parts if part.name not in of.kind.spends]
    paid = sorted((part.name, part.epsilon) for part in others) == sorted(charged)
    if len({part.name for part in parts}) != len(parts) or not paid or any(part.delta for part in others):
        yield "the parts of the privacy guarantee are not those of the mechanism and the charged gates"
    if of.manifest.guarantee.joint is not None and not of.kind.joint_costs:
        yield "it states a joint cost of its parts, which no release of this kind has"
    if of.manifest.guarantee.plain is not None and of.manifest.guarantee.plain != _plain(of.manifest):
        yield "the manifest's plain sentences on the guarantee differ from its numbers"
    if of.manifest.estimand is not None:
        yield from of.manifest.estimand.problems(of.manifest.guarantee.unit, of.manifest.facts.rows_per_unit)
    yield from of.kind.manifest_problems(of.manifest)


def _plain(said: Manifest) -> tuple[str, ...]:
    facts = said.facts
    figures = (facts.people, facts.rows_per_unit, (facts.spent.epsilon, facts.spent.delta))
    if said.format == 2:
        return manifest.plain_guarantee_of_format_2(*figures, (gate.rule for gate in said.verdicts))
    kept = kept_costs(static_before_data(said), figures[2])
    return manifest.plain_guarantee(*figures, kept, lifetime=facts.lifetime is not None)


def _contents(of: Verification) -> Iterator[str]:
    use_arrow_without_pandas()
    of._contents = held = of.kind.read(of.folder, of.manifest, of.formats)
    if of.kind.data_fields(held) != of.manifest.data:
        yield "the manifest's description of the data differs from the data files"
    if not of.trusted and of.ledger is None:
        yield from of.kind.unvouched_problems(of.manifest, held)
    writers = of.kind.files(of.manifest, held, of.formats)
    pages = {name for name, each in of.attachments.items() if not each.closing}
    for name in sorted({*writers} ^ {*of.manifest.files} - pages):
        yield f"{name}: " + ("the file is missing" if name in writers else "a release of this kind has no such file")
    for name, write in writers.items():
        if name in of.manifest.files and not _compared(of, name)(of.folder / name, write):
            yield f"{name}: its bytes differ from those that Crowdgate would write for this release" + _other_version(
                of
            )


def _compared(of: Verification, name: str) -> Callable[[Path, Writer], bool]:
    form = of.formats.get(name.rpartition(".")[2])
    return same if form is None else form.same


def _other_version(of: Verification) -> str:
    here, there = version("pyarrow"), of.manifest.software.pyarrow
    return "" if here == there else f" by pyarrow {here}, which may write other bytes than {there!a}"


def _gates(of: Verification) -> Iterator[str]:
    yield from gate_problems(of.manifest, of.kind, of.candidate)
    if of.policy is not None:
        yield from policy_problems(of.manifest, of.policy)


def _pages(of: Verification) -> Iterator[str]:
    register = _bytes(of, REGISTER) if REGISTER in of.sizes else None
    dictionary = _bytes(of, DICTIONARY) if DICTIONARY in of.sizes else b""
    page = of.kind.page(of.manifest, of.contents)
    context = Context(manifest=of.manifest, page=page, register=register, dictionary=dictionary)
    for name, each in of.attachments.items():
        if not each.closing:
            found = _bytes(of, name) if name in of.sizes else None
            yield from (f"{name}: {problem}" for problem in each.problems(context, found))


def _ledger(of: Verification) -> Iterator[str]:
    if of.ledger is not None:
        from crowdgate.verification.ledger import audit_problems, ledger_problems, missing_approvals

        yield from ledger_problems(of.manifest, hashlib.sha256(of.sealed).hexdigest(), of.ledger)
        if of.policy is not None:
            yield from missing_approvals(of.manifest, of.policy, of.ledger)
        for name, each in of.attachments.items():
            if each.recorded is not None and name in of.sizes:
                yield from audit_problems(of.manifest, name, each.recorded, of.ledger)


def _refit(of: Verification) -> Iterator[str]:
    if of.refit:
        yield from of.kind.refit(of.manifest, of.contents)


def _bytes(of: Verification, name: str) -> bytes:
    if of.sizes[name] > LARGEST_LISTING:
        raise VerificationFailed(f"{name}: larger than {LARGEST_LISTING} bytes")
    return read_plain(of.folder / name, of.sizes[name])


def _digest(path: Path) -> str:
    with plain_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Step = Callable[[Verification], Iterator[str]]
ADVICE = "Do not use this release. Get an unchanged copy from its custodian, and report the problem."
STEPS: tuple[tuple[str, Step], ...] = (
    ("folder", _folder),
    ("manifest", _manifest),
    ("files", _files),
    ("signature", _signature),
    ("guarantee", _guarantee),
    ("contents", _contents),
    ("gates", _gates),
    ("pages", _pages),
    ("ledger", _ledger),
    ("refit", _refit),
)

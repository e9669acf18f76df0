"""Attachments: one table for making releases and verifying them. A new one is an entry here."""

from collections.abc import Iterator

from crowdgate import report
from crowdgate.errors import VerificationFailed
from crowdgate.kind.attachment import Attachment, Context
from crowdgate.manifest import NAME
from crowdgate.signing.statement import read_release_statement, release_statement


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
        "guarantee": said.guarantee.words,
        "verdicts": [gate.verdict for gate in said.verdicts],
    }
    return report.markdown(page.template, {**values, **page.values}).encode()


def _readme_problems(context: Context, found: bytes | None) -> Iterator[str]:
    if found != _readme(context):
        yield "it is not what the manifest and the files say"


README = Attachment(_readme, _readme_problems)
ATTACHMENTS = {"README.md": README}
"""By the name of the file."""

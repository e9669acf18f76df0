"""The record of an audit of whole releases, as JSON."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.audit.common.record import AuditSetting, Count, Exact, RecordedAudit
from crowdgate.audit.law.record import LawResults


class FilesResults(LawResults):
    """Whole releases of the policy, of which `published` were published, and `marked` had cells that no release may
    show. Their drawn numbers and contradictions are those of an audit of the stated distributions."""

    published: Count
    marked: Count

    @model_validator(mode="after")
    def _possible(self) -> "FilesResults":
        """Check that not more releases were published or marked than were made."""
        if max(self.published, self.marked) > self.releases:
            raise ValueError("more releases were published than made")
        return self


class FilesSetting(AuditSetting):
    """Setting of the audit: `releases` whole releases of the population's table. `error` is the false-alarm rate of a
    first attempt, of all tests together."""

    question: Literal["files"] = "files"
    releases: Annotated[int, Field(ge=1)]
    error: Exact


class FilesRecord(RecordedAudit[FilesSetting, FilesResults]):
    """Record of an audit of whole releases."""

    played: Annotated[tuple[FilesResults, ...], Field(max_length=1)]

"""The manifest of a release: all statements about it, typed, as canonical bytes."""

from typing import TYPE_CHECKING

from crowdgate.system.lazy_exports import exported

if TYPE_CHECKING:
    from crowdgate.manifest.estimand import EstimandFields
    from crowdgate.manifest.gates import GateFields
    from crowdgate.manifest.model import (
        FORMAT,
        NAME,
        AboutFields,
        ApprovalFields,
        ClassFields,
        ContractFields,
        CostFields,
        FactsFields,
        FileFields,
        GuaranteeFields,
        JointFields,
        LifetimeFields,
        Manifest,
        MechanismFields,
        PartFields,
        PlaceFields,
        PointFields,
        ReleaseFields,
        SeriesFields,
        SoftwareFields,
        canonical,
        json_fields,
        kind_in,
        parsed,
    )
    from crowdgate.manifest.printed import guarantee_json, verdict_json
    from crowdgate.manifest.text import (
        INFORMED,
        approvals_text,
        guarantee_sentences,
        guarantee_summary,
        plain_guarantee,
        series_text,
    )
    from crowdgate.manifest.text_of_format_2 import plain_guarantee_of_format_2

__all__ = [
    "FORMAT",
    "INFORMED",
    "NAME",
    "AboutFields",
    "ApprovalFields",
    "ClassFields",
    "ContractFields",
    "CostFields",
    "EstimandFields",
    "FactsFields",
    "FileFields",
    "GateFields",
    "GuaranteeFields",
    "JointFields",
    "LifetimeFields",
    "Manifest",
    "MechanismFields",
    "PartFields",
    "PlaceFields",
    "PointFields",
    "ReleaseFields",
    "SeriesFields",
    "SoftwareFields",
    "approvals_text",
    "canonical",
    "guarantee_json",
    "guarantee_sentences",
    "guarantee_summary",
    "json_fields",
    "kind_in",
    "parsed",
    "plain_guarantee",
    "plain_guarantee_of_format_2",
    "series_text",
    "verdict_json",
]

_PLACES = {
    "EstimandFields": "estimand",
    "GateFields": "gates",
    "FORMAT": "model",
    "NAME": "model",
    "AboutFields": "model",
    "ClassFields": "model",
    "ContractFields": "model",
    "CostFields": "model",
    "ApprovalFields": "model",
    "FactsFields": "model",
    "LifetimeFields": "model",
    "FileFields": "model",
    "GuaranteeFields": "model",
    "JointFields": "model",
    "Manifest": "model",
    "MechanismFields": "model",
    "PartFields": "model",
    "PlaceFields": "model",
    "PointFields": "model",
    "ReleaseFields": "model",
    "SeriesFields": "model",
    "SoftwareFields": "model",
    "canonical": "model",
    "json_fields": "model",
    "kind_in": "model",
    "parsed": "model",
    "guarantee_json": "printed",
    "verdict_json": "printed",
    "INFORMED": "text",
    "approvals_text": "text",
    "series_text": "text",
    "guarantee_sentences": "text",
    "guarantee_summary": "text",
    "plain_guarantee": "text",
    "plain_guarantee_of_format_2": "text_of_format_2",
}

if not TYPE_CHECKING:  # a name that is missing is an error for type checkers
    __getattr__ = exported(__name__, _PLACES)

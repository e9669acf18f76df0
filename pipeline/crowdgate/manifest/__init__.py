"""The manifest of a release: what is said about it, typed, as canonical bytes."""

from typing import TYPE_CHECKING

from crowdgate.later import exported

if TYPE_CHECKING:
    from crowdgate.manifest.estimand import EstimandSaid
    from crowdgate.manifest.gates import GateSaid
    from crowdgate.manifest.model import (
        FORMAT,
        NAME,
        AboutSaid,
        ContractSaid,
        CostSaid,
        FactsSaid,
        FileSaid,
        GuaranteeSaid,
        JointSaid,
        Manifest,
        MechanismSaid,
        PartSaid,
        PlaceSaid,
        ReleaseSaid,
        SoftwareSaid,
        canonical,
        dumped,
        kind_in,
        parsed,
    )
    from crowdgate.manifest.shown import guarantee_json, verdict_json
    from crowdgate.manifest.words import INFORMED, guarantee_words, plain_words

__all__ = [
    "FORMAT",
    "INFORMED",
    "NAME",
    "AboutSaid",
    "ContractSaid",
    "CostSaid",
    "EstimandSaid",
    "FactsSaid",
    "FileSaid",
    "GateSaid",
    "GuaranteeSaid",
    "JointSaid",
    "Manifest",
    "MechanismSaid",
    "PartSaid",
    "PlaceSaid",
    "ReleaseSaid",
    "SoftwareSaid",
    "canonical",
    "dumped",
    "guarantee_json",
    "guarantee_words",
    "kind_in",
    "parsed",
    "plain_words",
    "verdict_json",
]

_PLACES = {
    "EstimandSaid": "estimand",
    "GateSaid": "gates",
    "FORMAT": "model",
    "NAME": "model",
    "AboutSaid": "model",
    "ContractSaid": "model",
    "CostSaid": "model",
    "FactsSaid": "model",
    "FileSaid": "model",
    "GuaranteeSaid": "model",
    "JointSaid": "model",
    "Manifest": "model",
    "MechanismSaid": "model",
    "PartSaid": "model",
    "PlaceSaid": "model",
    "ReleaseSaid": "model",
    "SoftwareSaid": "model",
    "canonical": "model",
    "dumped": "model",
    "kind_in": "model",
    "parsed": "model",
    "guarantee_json": "shown",
    "verdict_json": "shown",
    "INFORMED": "words",
    "guarantee_words": "words",
    "plain_words": "words",
}

if not TYPE_CHECKING:  # a name that is missing is an error for type checkers
    __getattr__ = exported(__name__, _PLACES)

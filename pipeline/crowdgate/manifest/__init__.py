"""The manifest of a release: what is said about it, typed, as canonical bytes."""

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

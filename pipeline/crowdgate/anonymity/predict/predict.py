"""`crowdgate predict`, for a contract, a questionnaire or an entry of a KL repository: the file's own kind decides."""

from collections.abc import Mapping
from pathlib import Path

from crowdgate.anonymity.predict.entry import TrustedKeys, predict_entry
from crowdgate.anonymity.predict.group import PredictionTargets, predict_group
from crowdgate.anonymity.predict.questionnaire import predict_questionnaire
from crowdgate.anonymity.predict.subject import option_problem
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, nearest
from crowdgate.report.report import Report

CONTRACT, QUESTIONNAIRE, ENTRY = "DataContract", "Questionnaire", "a signed entry of a KL repository"


def predict(
    path: Path, of: str | None, population: str | None, source: Path | None, wish: PredictionTargets, trust: TrustedKeys
) -> Report:
    """Return the prediction for the file. Raises ConfigurationError, and as public_counts.figures (for `source`) and
    `predict_entry` do."""
    kind = kind_of(path)
    if kind != ENTRY:
        _refuse({"--key": trust.keys or None}, "only an entry of a KL repository is signed")
    if kind == CONTRACT:
        return predict_group(path, of, population, source, wish)
    options = {"--of": of, "--population": population, "--cost": wish.cost}
    if kind == QUESTIONNAIRE:
        _refuse(options, "this option is for contracts: a questionnaire has its own")
        return predict_questionnaire(path, source, wish)
    _refuse(
        {**options, "--at-most": wish.at_most, "--from": source},
        "this option is for contracts: an entry of a KL repository has its own",
    )
    return predict_entry(path, trust, wish.people)


def _refuse(options: Mapping[str, object], why: str) -> None:
    problems = [option_problem(name, why, f"no {name}") for name, stated in options.items() if stated is not None]
    if problems:
        raise ConfigurationError(problems)


def kind_of(path: Path) -> str:
    """Return the kind of a file: DataContract, Questionnaire, or a signed entry of a KL repository. Raises
    ConfigurationError for any other file."""
    document = read_document(path)
    if isinstance(document.data, dict) and "payloadType" in document.data:
        return ENTRY
    kind = document.data.get("kind") if isinstance(document.data, dict) else None
    known = [CONTRACT, QUESTIONNAIRE]
    if kind not in known:
        found = f"{kind!r}" if isinstance(kind, str) else "no kind"
        near = nearest(kind, known) if isinstance(kind, str) else None
        raise ConfigurationError(document.problem(("kind",), found, f"one of {', '.join(known)}, or {ENTRY}", near))
    return str(kind)

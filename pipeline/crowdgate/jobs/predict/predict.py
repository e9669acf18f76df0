"""`crowdgate predict`: of a contract or a questionnaire, which the file itself says."""

from pathlib import Path

from crowdgate.documents import read_document
from crowdgate.errors import ConfigurationError, nearest
from crowdgate.jobs.predict.foretold import Foretold
from crowdgate.jobs.predict.group import Wish, predict_group
from crowdgate.jobs.predict.questionnaire import predict_form
from crowdgate.jobs.predict.subject import wrong

CONTRACT, QUESTIONNAIRE = "DataContract", "Questionnaire"


def predict(path: Path, of: str | None, population: str | None, source: Path | None, wish: Wish) -> Foretold:
    """The prediction of the file. Raises ConfigurationError, and what jobs.prior raises for `source`."""
    if kind_of(path) == CONTRACT:
        return predict_group(path, of, population, source, wish)
    options = {"--of": of, "--population": population, "--at-most": wish.at_most, "--cost": wish.cost}
    problems = [
        wrong(name, "a questionnaire says itself whom it asks for what", f"no {name}")
        for name, stated in options.items()
        if stated is not None
    ]
    if problems:
        raise ConfigurationError(problems)
    return predict_form(path, source, wish.people)


def kind_of(path: Path) -> str:
    """What a file is. Raises ConfigurationError unless it is a contract or a questionnaire."""
    document = read_document(path)
    kind = document.data.get("kind") if isinstance(document.data, dict) else None
    known = [CONTRACT, QUESTIONNAIRE]
    if kind not in known:
        found = f"{kind!r}" if isinstance(kind, str) else "no kind"
        near = nearest(kind, known) if isinstance(kind, str) else None
        raise ConfigurationError(document.problem(("kind",), found, f"one of {', '.join(known)}", near))
    return str(kind)

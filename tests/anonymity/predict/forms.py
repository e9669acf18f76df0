"""Questionnaires for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from crowdgate.anonymity.predict.questionnaire_file import QuestionnaireModel
from crowdgate.policy.questionnaire import Questionnaire

Text = Mapping[str, Any]


def text_of(questions: Sequence[Text], people: int = 1000, contract: str | None = None) -> Text:
    """Return a questionnaire as a document contains it: numbers are text."""
    named = {} if contract is None else {"contract": contract}
    return {
        "apiVersion": "crowdgate/v1",
        "kind": "Questionnaire",
        "metadata": {"name": "form", "title": "A form"},
        "spec": {"population": {"people": str(people), "who": "people of a town"}, **named, "questions": [*questions]},
    }


def form_of(questions: Sequence[Text], people: int = 1000) -> QuestionnaireModel:
    """Return a questionnaire with shares of its own."""
    return QuestionnaireModel(Questionnaire.model_validate(text_of(questions, people)), None, None, None)


def written(folder: Path, questions: Sequence[Text], people: int = 1000, contract: str | None = None) -> Path:
    """Write a questionnaire to a file of a working copy."""
    path = folder / "form.yaml"
    path.write_text(yaml.safe_dump(text_of(questions, people, contract)), encoding="utf-8")
    return path


@st.composite
def questions(draw: st.DrawFn) -> Text:
    """Draw a question with two to five answers in hundredths, possibly with further answers, several answers, or
    declining."""
    cuts = sorted(draw(st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True)))
    parts = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
    sort = draw(st.sampled_from(["one", "several", "others"]))
    answers = {f"a{at}": f"{part / 100:.2f}" for at, part in enumerate(parts)}
    if sort == "others":
        answers.popitem()
    more = {"others": {"others": str(draw(st.integers(1, 9)))}, "several": {"several": "true"}, "one": {}}[sort]
    decline = draw(st.sampled_from(["0", "0.25"]))
    return {"answers": answers, **more, "decline": decline}


forms = st.lists(questions(), min_size=1, max_size=3).map(
    lambda each: [{"name": f"q{at}", **question} for at, question in enumerate(each)]
)

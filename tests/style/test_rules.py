"""The rules refuse the bad sentences, and accept the good ones."""

from pathlib import Path

import pytest
import yaml

from tests.style.rules import FORBIDDEN, Scope, faults

SENTENCES = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sentence", SENTENCES["bad"], ids=lambda each: each["text"][:30])
def test_a_bad_sentence_is_refused(sentence: dict[str, str]) -> None:
    assert list(faults(sentence["text"], Scope(sentence["scope"])))


@pytest.mark.parametrize("sentence", SENTENCES["good"], ids=lambda each: each["text"][:30])
def test_a_good_sentence_is_accepted(sentence: dict[str, str]) -> None:
    assert list(faults(sentence["text"], Scope(sentence["scope"]))) == []


def test_there_are_few_patterns() -> None:
    assert len(FORBIDDEN) <= 40

"""The guide, the glossary and the reference for policy owners: their code, links, terms, tables and language."""

import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from crowdgate import least_k
from crowdgate.cli.app import COMMANDS, load_command
from crowdgate.forecast.chances.from_past_runs import PastMeasurements, odds_from_past_runs
from crowdgate.measures import MEASURES
from crowdgate.measures.options import OPTIONS
from crowdgate.policy.policy import AuditSpec, GateRule
from crowdgate.review.schemas.reference import tables, updated
from tests.forecast.chances.drawn import plan_at
from tests.policy.pages import FOLDER, GUIDES, PAGES, ROOT, code_blocks, policy_pages, without_code
from tests.policy.test_described import EDITED, SCHEMAS, errors, policy
from tests.style.rules import Scope, faults, lengths

REFERENCE = FOLDER / "reference"
GUIDE = "".join((FOLDER / each).read_text(encoding="utf-8") for each in GUIDES)
GLOSSARY = (FOLDER / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^### ([^\n]+)\n\n(.+?)\n(?=\n|\Z)", GLOSSARY, flags=re.DOTALL | re.MULTILINE)
KINDS = {SCHEMAS[name]["properties"]["kind"]["const"]: name for name in EDITED if "kind" in SCHEMAS[name]["properties"]}
MARKDOWN = sorted({*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *FOLDER.glob("*.md"), *REFERENCE.glob("*.md")})


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def whole(block: Any) -> tuple[str, Any]:
    """Return the schema that a block is for, and the block as a whole file: a part of a policy in the bundled one."""
    if "kind" in block:
        return KINDS[block["kind"]], block
    if "cases" in block.get("spec", {}):
        return "policy-cases.json", {
            "apiVersion": "crowdgate/v1", "kind": "PolicyCases", "metadata": {"name": "a", "owner": "b"}, **block,
        }  # fmt: skip
    document = policy()
    for key, value in block.items():
        part = document["spec"]["mechanism"] if key in ("attributes", "choose", "margins") else document["spec"]
        part[key] = value
    return "release-policy.json", document


@pytest.mark.parametrize("text", code_blocks("yaml"), ids=lambda text: " ".join(text.split())[:40])
def test_yaml_is_as_its_schema_says(text: str) -> None:
    block = yaml.safe_load(text)
    name, document = whole(block)
    if document.get("kind") == "CollectionDecision" and errors(name, document):
        document = {**document, "metadata": {}}
    assert errors(name, document) == []


def test_commands_are_there_with_their_options() -> None:
    """Each `crowdgate COMMAND --option` on a page is one that the command line knows."""
    found = re.findall(r"crowdgate ([a-z]+)((?:[ \n]+[^`|\n;]+)?)", without_code(policy_pages()))
    found += re.findall(r"^(?:.*&& )?crowdgate ([a-z]+)(.*)$", "\n".join(code_blocks("sh")), flags=re.MULTILINE)
    assert len(found) > 50
    for name, rest in found:
        assert name in COMMANDS, name
        command = load_command(name)
        commands = [command, *getattr(command, "commands", {}).values()]
        known = {option for each in commands for parameter in each.params for option in parameter.opts} | {"--help"}
        assert {*re.findall(r"(?<!\S)--[a-z-]+", rest)} <= known, (name, rest)


@pytest.mark.thorough
def test_the_commands_of_the_pages_run(tmp_path: Path) -> None:
    """All of them, one after the other, in one folder."""
    group = subprocess.run(["id", "-gn"], capture_output=True, text=True, check=True).stdout.strip()
    script = "".join(code_blocks("sh")).replace("chgrp team", f"chgrp {group}")
    assert script.count("crowdgate ") >= 10
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["sh", "-euc", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        page = (path.parent / target) if target else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


def test_every_page_of_the_reference_is_linked_in_the_guide() -> None:
    assert [path.name for path in REFERENCE.glob("*.md") if f"(reference/{path.name})" not in GUIDE] == []


@pytest.mark.parametrize("name", tables())
def test_generated_tables_are_those_of_the_code(name: str) -> None:
    text = (REFERENCE / name).read_text(encoding="utf-8")
    current = updated(text, tables()[name]) == text
    assert current, "run python -m crowdgate.review.schemas.reference policies/reference"


def test_a_table_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks of table fields must be there once, not 0 times"):
        updated("# Fields\n", {"fields": ""})


def test_the_table_of_measures_has_every_measure_and_every_option() -> None:
    made = tables()["measures.md"]
    assert re.findall(r"^\| `(\w+)` \|", made["measures"], flags=re.MULTILINE) == list(MEASURES)
    assert re.findall(r"^\| `(\w+)` \|", made["options"], flags=re.MULTILINE) == list(OPTIONS)


def test_the_glossary_defines_each_term_in_one_sentence_with_an_example() -> None:
    assert len(TERMS) > 30
    assert len({name for name, _ in TERMS}) == len(TERMS) == len(re.findall("^### ", GLOSSARY, flags=re.MULTILINE))
    for name, text in TERMS:
        definition, _, example = text.partition("\n*Example: ")
        assert example.endswith("*"), name
        assert len(list(lengths(definition))) <= 2, name
        assert definition.endswith("."), name


def test_figures_of_the_glossary_are_right() -> None:
    factor, row = math.exp(1), 1 / 0.3
    assert f"the factor is at most {factor:.2f}" in GLOSSARY
    assert f"epsilon 1 needs a k of {least_k(epsilon=1, delta=1e-9, beta=0.3)}." in GLOSSARY
    assert f"each row stands for {row:.2f} rows" in GLOSSARY
    assert f"comes to {1e-9 * 300_000:.4f} in all" in GLOSSARY


def test_the_example_of_a_forecast_is_right() -> None:
    rule = GateRule.model_validate({"measure": "released_rows", "at_least": "310"})
    ends = tuple(Fraction(rows) for rows in (306, 311, 283, 295, 316))
    past = PastMeasurements(ends, Fraction(0), 0, 0, 0)
    odds = odds_from_past_runs(plan_at(Fraction(2, 3)), rule, MEASURES["released_rows"], past)
    assert odds is not None
    text = (REFERENCE / "planning.md").read_text(encoding="utf-8")
    assert f"probability of passing is {odds.value:.2f} ({odds.low:.2f} to {odds.high:.2f})" in text


def test_a_policy_can_state_the_default_of_an_audit() -> None:
    spec = AuditSpec.model_validate({"inference": {"coverage": "1", "limit": "0.1"}})
    assert spec == AuditSpec()


DEFINED_IN_THE_GUIDE = ("policy", "policy owner", "margin", "measure", "waiver")
TERM = re.compile(r"\[([^\]]+)\]\((?:\.\./)?glossary\.md#([\w-]+)\)")


def test_the_guide_links_a_term_before_it_uses_it() -> None:
    """Names of sections, code and words of other links aside."""
    prose = re.sub(r"`[^`\n]*`|^#+ .*$", "", without_code(GUIDE), flags=re.MULTILINE)
    linked = {anchor: at.start() for at in reversed(list(TERM.finditer(prose))) for anchor in [at[2]]}
    assert len(linked) > 20
    for name, _ in TERMS:
        if name in DEFINED_IN_THE_GUIDE:
            continue
        used = re.search(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", prose)
        if used:
            assert linked.get(name.replace(" ", "-"), len(prose)) <= used.start(), name


def test_the_guide_is_short_and_speaks_to_its_reader() -> None:
    prose = without_code(GUIDE)
    words = len(prose.split())
    counts = sorted(count for _, count in lengths(prose))
    assert len(GUIDE.split()) <= 3600
    assert len(re.findall(r"\byour?\b", prose, flags=re.IGNORECASE)) / words * 1000 >= 8
    assert counts[len(counts) * 9 // 10] <= 25


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_are_in_plain_english(path: Path) -> None:
    prose = re.sub(r"(?<!\w)`[^`\n]*`", "`CODE`", without_code(path.read_text(encoding="utf-8")))
    assert list(faults(prose, Scope.PROSE)) == []


def test_no_page_skips_a_level_of_headings() -> None:
    for path in PAGES:
        levels = [
            len(each) for each in re.findall(r"^(#+) ", without_code(path.read_text(encoding="utf-8")), re.MULTILINE)
        ]
        assert all(below - above <= 1 for above, below in pairwise([0, *levels])), path.name

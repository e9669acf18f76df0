"""The questions of `init --policy`, and its report on the new policy."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from crowdgate.cli.options import WITHHELD
from crowdgate.cli.output import print_json
from crowdgate.documents.names import NAME
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.limits import MOST_PEOPLE
from crowdgate.policy.files import working_copy
from crowdgate.review.templates.new_policy import (
    NewPolicy,
    NewPolicyRequest,
    budget_of,
    contract_ids,
    create_policy,
    read_contract_by_id,
)
from crowdgate.review.templates.templates import TEMPLATES

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract


def write_policy(
    folder: Path,
    stated: Mapping[str, str | None],
    people: int | None,
    attributes: str | None,
    pilot: Path | None,
    as_json: bool,
) -> None:
    """Ask for missing options, write the files, and print the result of `check` for the policy."""
    root = working_copy(folder.resolve() / "policies")
    said = _complete_options(root, stated, people)
    names = None if attributes is None else tuple(name.strip() for name in attributes.split(","))
    bound = people if people is not None else _people(root, read_contract_by_id(root, said["--contract"]))
    four = said["--template"], said["--contract"], said["--owner"], said["--name"]
    made = create_policy(root, NewPolicyRequest(*four, bound, names, pilot))
    show(made, as_json)
    if not made.checked.allowed:
        raise typer.Exit(WITHHELD)


def show(made: NewPolicy, as_json: bool) -> None:
    """Print the written files of a new policy, and every remaining warning and failure of its check."""
    found = made.checked
    if as_json:
        files = [str(path) for path in made.files]
        print_json({"outcome": "created", "files": files, "check": found.to_json(), "advice": made.advice})
        return
    for path in made.files:
        typer.echo(f"written: {path}")
    if found.refused is not None:
        typer.echo(f"  its ledger refuses it: {found.refused}")
    for warning in found.warnings:
        typer.echo(f"  warning {warning}")
    if made.advice is not None:
        typer.echo(made.advice)
    typer.echo(f"check: {'allowed' if found.allowed else 'would be withheld'}")
    typer.echo(f"next: crowdgate plan {made.files[0]}")


def _complete_options(root: Path, stated: Mapping[str, str | None], people: int | None) -> dict[str, str]:
    """Return every option with its value. Raises ConfigurationError that lists all missing or wrong ones."""
    contracts = contract_ids(root)
    choices = {"--template": list(TEMPLATES), "--contract": contracts}
    if _is_interactive():
        said = {option: value or _ask(option, choices.get(option, ())) for option, value in _required(stated).items()}
    else:
        said = {option: value for option, value in stated.items() if value is not None}
    problems = [_wrong(option, said.get(option), choices.get(option, ())) for option in _required(stated)]
    found = [problem for problem in problems if problem is not None]
    if not _is_interactive() and people is None and _has_no_budget(root, said.get("--contract"), contracts):
        expected = "how many people there are at most: they have no budget yet"
        found.append(Problem("command line", None, "--people", "nothing", expected))
    if found:
        raise ConfigurationError(found)
    return said | {"--name": _name(stated["--name"], said)}


def _required(stated: Mapping[str, str | None]) -> dict[str, str | None]:
    return {option: value for option, value in stated.items() if option != "--name"}


def _wrong(option: str, value: str | None, choices: Sequence[str]) -> Problem | None:
    if value is not None and (value.isprintable() and value.strip()) and (not choices or value in choices):
        return None
    expected = f"one of {', '.join(choices)}" if choices else "words on one line"
    found = "nothing, and no terminal to ask at" if value is None else repr(value)
    return Problem("command line", None, option, found, expected, nearest(value or "", list(choices)))


def _has_no_budget(root: Path, contract: str | None, known: Sequence[str]) -> bool:
    return contract in known and contract is not None and budget_of(root, read_contract_by_id(root, contract)) is None


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _ask(option: str, choices: Sequence[str]) -> str:
    if option == "--template":
        for name, template in TEMPLATES.items():
            typer.echo(f"  {name}: {template.summary}", err=True)
    words = {"--template": "template", "--contract": "contract", "--owner": "who answers for it"}[option]
    answer: str = typer.prompt(words, value_proc=lambda value: _valid_answer(option, value, choices), err=True)
    return answer


def _valid_answer(option: str, value: str, choices: Sequence[str]) -> str:
    """Return the answer to a question about an option. Raises BadParameter for an invalid answer, so that the question
    is repeated."""
    problem = _wrong(option, value, choices)
    if problem is not None:
        raise typer.BadParameter(f"expected {problem.expected}")
    return value


def _people(root: Path, contract: "Contract") -> int | None:
    if budget_of(root, contract) is not None:
        return None
    bound: int = typer.prompt(f"people of {contract.population}, at most", value_proc=_bound, err=True)
    return bound


def _bound(value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value) <= MOST_PEOPLE:
        raise typer.BadParameter(f"expected a whole number from 1 to {MOST_PEOPLE}")
    return int(value)


def _name(stated: str | None, said: Mapping[str, str]) -> str:
    guess = re.sub(r"[^a-z0-9]+", "-", f"{said['--template']}-{said['--contract']}".lower()).strip("-")[:63]
    name: str = stated or (typer.prompt("name of the policy", default=guess, err=True) if _is_interactive() else guess)
    if not re.fullmatch(NAME, name):
        expected = "lower-case letters, digits and hyphens"
        raise ConfigurationError(Problem("command line", None, "--name", repr(name), expected, guess))
    return name

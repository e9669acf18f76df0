"""Candidates of a search as policy files: the policy with another mechanism, under a new name."""

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from crowdgate.errors import EnvironmentFault
from crowdgate.forecast.best_policies import PolicyCandidate, fitting_gates
from crowdgate.forecast.target_search import plain_values
from crowdgate.kind.plan import Plan
from crowdgate.system import permissions

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
HEAD = (
    "# yaml-language-server: $schema=./schema/release-policy.json\n"
    "# Made by `crowdgate plan --best` from {name}. Gates that do not suit this kind of release are left out.\n"
)


def write_candidates(plan: Plan, found: Sequence[PolicyCandidate]) -> list[Path]:
    """Write each candidate as a policy file beside the policy and return the files. Raises EnvironmentFault for a file
    that exists or can't be written; then none is left.
    """
    written, folder = list[Path](), plan.bundle.document.path.parent
    try:
        for number, each in enumerate(found, 1):
            path = folder / f"{plan.bundle.policy.metadata.name}-best-{number}.yaml"
            _write(path, HEAD.format(name=plan.bundle.document.path.name) + policy_text(plan, each, path.stem))
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    return written


def policy_text(plan: Plan, candidate: PolicyCandidate, name: str) -> str:
    """Return the text of the policy file of a candidate, under a new name, in version 1."""
    stated: dict[str, Any] = deepcopy(plan.bundle.document.data)
    spec, mechanism = plan.bundle.policy.spec, candidate.plan.bundle.policy.spec.mechanism
    stated["metadata"] |= {"name": name, "version": "1"}
    kept = fitting_gates(spec.gates, mechanism)
    stated["spec"]["mechanism"] = plain_values(mechanism)
    stated["spec"]["gates"] = [
        text for rule, text in zip(spec.gates, stated["spec"]["gates"], strict=True) if rule in kept
    ]
    return yaml.dump(stated, Dumper=_TextDumper, sort_keys=False, allow_unicode=True, width=120)


class _TextDumper(yaml.SafeDumper):
    """A dumper that quotes no number: the values of a policy file are read as text."""


def _plain_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    number = NUMBER.fullmatch(text)
    tag = "str" if number is None else "float" if number[1] else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{tag}", text)


_TextDumper.add_representer(str, _plain_text)


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        path.chmod(permissions.WORKING_COPY.file_in(path.parent))
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be written: {error.strerror}; nothing was written") from None

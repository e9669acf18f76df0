"""A private working copy for one simulated run: the files that a policy names, and a temporary ledger."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from crowdgate import ledger as ledgers
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.limits import LARGEST_DOCUMENT
from crowdgate.settings import FILE, KEY_VARIABLE, LEDGER_VARIABLE
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.policy.files import Bundle

REHEARSAL = "rehearsal"
LONGEST = 63
"""The greatest length of a policy's name."""
NOBODYS = "REHEARSAL: simulated rows, drawn from public figures; no figure in these files is about real people."


def copy_policy(bundle: Bundle, folder: Path) -> Path:
    """Copy the policy and all files it names to `folder`, and return the copy.

    Its name and description mark it as a rehearsal, its budget belongs to a new ledger, and no key is configured.
    Raises ConfigurationError for a file outside the working copy.
    """
    register = [] if bundle.register is None else [*bundle.register.files, bundle.register.server.path]
    named = (bundle.document.path, bundle.budget_document.path, *bundle.contract.files, *bundle.population.files)
    for file in {path.resolve() for path in (*named, *register)}:
        _copy(file, bundle.root, folder)
    url = f"sqlite:///{folder / 'ledger.db'}"
    (folder / FILE).write_text(f'ledger = "{url}"\n', encoding="utf-8")
    policy, budget = (
        folder / each.path.resolve().relative_to(bundle.root) for each in (bundle.document, bundle.budget_document)
    )
    own = bundle.policy.metadata
    _rewrite_section(
        policy, "metadata", name=f"{REHEARSAL}-{own.name}"[:LONGEST], description=f"{NOBODYS} {own.description}".strip()
    )
    _rewrite_section(policy, "spec", enforcement="enforce")
    _rewrite_section(budget, "spec", ledger=ledgers.create(url, REHEARSAL))
    return policy


def _rewrite_section(path: Path, section: str, **values: str) -> None:
    """Set these values in one section of a YAML file; all other text stays as written."""
    document = yaml.compose(read_plain(path, LARGEST_DOCUMENT).decode(), Loader=yaml.CSafeLoader)
    assert document is not None, "it was read before"
    held = next(value.value for key, value in document.value if key.value == section)
    held[:] = [(key, value) for key, value in held if key.value not in values]
    held += [(_scalar(key), _scalar(value)) for key, value in values.items()]
    path.write_text(yaml.serialize(document, Dumper=yaml.CSafeDumper, allow_unicode=True), encoding="utf-8")


def _scalar(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)


def _copy(file: Path, root: Path, folder: Path) -> None:
    if not file.is_relative_to(root):
        raise ConfigurationError(
            Problem(str(file), None, "file", "outside the working copy", f"a file below {root}", code=Code.UNREADABLE)
        )
    into = folder / file.relative_to(root)
    into.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir():
        shutil.copytree(file, into, dirs_exist_ok=True)
    else:
        shutil.copyfile(file, into)


@contextmanager
def isolated_environment() -> Iterator[None]:
    """Remove ledger and keys from the environment: only the rehearsal's ledger is written, and nothing is signed."""
    kept = {name: os.environ.pop(name) for name in (KEY_VARIABLE, LEDGER_VARIABLE) if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)

"""The pilot release of a policy: published tables with noise, which forecasts rest on.

A pilot is a release like any other: it has a policy of its own, is charged, published and signed before the policy that
names it, and adds to the lifetime budget by itself. Forecasts read its noisy counts and nothing else of the people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate import manifest
from crowdgate.errors import Code, ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from crowdgate.kind.plan import Plan


def counts_source(plan: Plan, stated: Path | None) -> Path | None:
    """Return the source of counts for forecasts: the one `stated`, or else the pilot release that the policy names.

    Raises ConfigurationError if the policy names a folder that is no release of its working copy.
    """
    pilot = plan.bundle.policy.spec.pilot
    if stated is not None or pilot is None:
        return stated
    root = plan.bundle.root.resolve()
    folder = (root / pilot).resolve()
    if not folder.is_relative_to(root) or not (folder / manifest.NAME).is_file():
        expected = "the folder of a published release of tables, relative to the working copy"
        raise ConfigurationError(
            plan.bundle.document.problem(("spec", "pilot"), repr(pilot), expected, None, Code.UNKNOWN_NAME)
        )
    return folder

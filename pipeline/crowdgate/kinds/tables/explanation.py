"""Explanation of how tables are protected, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.kind import KindPage
from crowdgate.number_text import decimal, stated_number

if TYPE_CHECKING:
    from crowdgate.kinds.tables.plan import TablesPlan

TEMPLATE = "kinds/tables/explain.md.j2"


def explanation(planned: TablesPlan) -> KindPage:
    """Return the page that explains the number of tables and cells, the noise, and the limit of trustworthy numbers."""
    found, budget = planned.mechanism, planned.mechanism.budget
    values = {
        "tables": len(found.workload.items),
        "cells": found.workload.cells,
        "noise": budget.noise,
        "spend": decimal(budget.spend),
        "relative_error": stated_number(planned.spec.relative_error),
        "beta": stated_number(found.beta),
    }
    return KindPage(TEMPLATE, values)

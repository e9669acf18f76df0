"""What the README of a release of tables says: for the people who use the numbers."""

from crowdgate.kind.kind import Page
from crowdgate.kinds.tables.plan import workload_words
from crowdgate.kinds.tables.published import PublishedTables
from crowdgate.kinds.tables.said import TablesManifest


def page(said: TablesManifest, _: PublishedTables) -> Page:
    """What the files hold, how the numbers were made, and what their intervals mean."""
    mechanism, tables = said.mechanism, said.data.tables
    cells = sum(query.cells for query in mechanism.queries)
    assert mechanism.spend is not None, "a mechanism of tables states its budget"
    words = workload_words(len(tables), cells, mechanism.noise_kind, mechanism.spend, mechanism.beta)
    values = {
        "tables": [{"file": each.file, "table": each.table, "cells": each.cells} for each in tables],
        "noise": mechanism.noise_kind,
        "beta": f"{float(mechanism.beta):g}",
        "sampled": mechanism.beta != 1,
        "relative": f"{float(mechanism.relative_error):g}",
        "suppress": mechanism.suppress,
        "raw": mechanism.raw,
        "workload": [words],
        "used": "the numbers",
    }
    return Page(f"kinds/tables/release.{said.format}.md.j2", values)

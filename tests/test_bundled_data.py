"""The bundled table meets its contract in every cell, and holds nothing that identifies people more finely."""

import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import INVALID
from crowdgate.planning.bundle import KNOWN

ROOM = Path(__file__).parent.parent / "data_contracts"
ROWS = 299_285


@pytest.fixture(scope="module")
def contract() -> Contract:
    return read_contract(ROOM / "census_income.yaml", KNOWN.servers)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pq.read_table(ROOM / "census_income.parquet")


def _codes(attribute: Attribute, column: pa.ChunkedArray) -> np.ndarray:
    assert attribute.domain is not None
    encoded = pa.concat_arrays([column.cast(pa.string()).combine_chunks()]).dictionary_encode()
    codes: np.ndarray = attribute.domain.codes(encoded.dictionary.to_pylist())[encoded.indices.to_numpy()]
    return codes


def test_every_cell_of_the_bundled_table_is_in_its_domain(contract: Contract, table: pa.Table) -> None:
    assert (table.num_rows, tuple(table.column_names)) == (ROWS, tuple(contract.by_name))
    for attribute in contract.attributes:
        codes = _codes(attribute, table[attribute.name])
        assert not (codes == INVALID).any(), attribute.name
        assert attribute.accepted is None or attribute.accepted[codes].all()


def test_the_margins_are_the_counts_of_the_bundled_table(contract: Contract, table: pa.Table) -> None:
    for attribute in contract.attributes:
        codes = _codes(attribute, table[attribute.name])
        assert attribute.domain is not None
        assert attribute.margins == tuple(np.bincount(codes, minlength=len(attribute.domain)))


def test_every_value_of_a_public_domain_occurs_or_is_a_number(contract: Contract) -> None:
    for attribute in contract.attributes:
        assert attribute.domain is not None
        assert attribute.margins is not None
        assert attribute.domain.grid is not None or min(attribute.margins) > 0, attribute.name


def test_the_bundled_file_is_small_and_holds_no_fingerprint(table: pa.Table) -> None:
    assert (ROOM / "census_income.parquet").stat().st_size <= 2_000_000
    forbidden = ("weight", "detailed", "migration", "wage", "capital", "dividends", "year", "__index")
    assert not [name for name in table.column_names if any(word in name for word in forbidden)]
    assert table.schema.metadata is None
    assert {str(field.type) for field in table.schema if field.name in ("age", "weeks_worked")} == {"int64"}
    others = [field.type for field in table.schema if field.name not in ("age", "weeks_worked")]
    assert all(pa.types.is_dictionary(kind) and kind.value_type == pa.string() for kind in others)


def test_the_bundled_contract_says_what_policies_rely_on(contract: Contract) -> None:
    facts = (contract.id, contract.population, str(contract.unit), contract.public, contract.rows_at_most)
    assert facts == ("census-income", "us-cps-1994-95", "row", True, 300_000)
    assert all(attribute.releasable for attribute in contract.attributes)
    assert contract.server.path.is_file()
    assert {path.name for path in contract.files} > {"census_income.yaml", "education.csv", "age.csv"}


@pytest.mark.parametrize(
    ("attribute", "names", "sizes"),
    [
        ("age", ["5 years", "10 years", "20 years"], [91, 19, 10, 5, 1]),
        ("sex", [], [2, 1]),
        ("education", ["6 groups", "4 groups"], [17, 6, 4, 1]),
        ("marital_status", ["4 groups", "2 groups"], [7, 4, 2, 1]),
        ("country_of_birth", ["subregion", "continent"], [44, 14, 5, 1]),
        ("occupation", ["7 groups", "2 groups"], [16, 8, 3, 1]),
        ("weeks_worked", ["6 bands", "3 bands"], [53, 6, 3, 1]),
    ],
)
def test_levels_of_the_bundled_attributes(
    contract: Contract, attribute: str, names: list[str], sizes: list[int]
) -> None:
    hierarchy = contract.by_name[attribute].hierarchy
    assert hierarchy is not None
    assert hierarchy.names == ("exact", *names, "any")
    assert [len(level) for level in hierarchy.levels] == sizes
    assert all(len(fine) >= len(coarse) for fine, coarse in pairwise(hierarchy.levels))


def test_the_script_refuses_any_other_source(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOM / "make_census_income.py"))
    with pytest.raises(SystemExit, match="SHA-256 differs"):
        script["main"](ROOM / "census_income.parquet", tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_attribution_names_source_and_licence() -> None:
    text = (ROOM / "ATTRIBUTION.md").read_text()
    assert all(said in text for said in ("10.24432/C5N30T", "CC BY 4.0", "What was changed"))

"""A contract that uses every feature, for tests to read and to break."""

from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.planning.bundle import KNOWN

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: clinic
version: 1.0.0
status: active
servers:
  - {server: web, type: api, location: "https://example.org"}
  - {server: disk, type: local, path: visits.csv, format: csv, customProperties: [{property: delimiter, value: ;}]}
schema:
  - name: visits
    customProperties:
      - {property: privacyUnit, value: {person: patient, rows: 1}}
      - {property: population, value: clinic-patients}
      - {property: rowsAtMost, value: 5000}
    quality:
      - {name: rows, metric: rowCount, mustBeBetween: [10, 5000]}
    properties:
      - name: patient
        logicalType: string
        customProperties:
          - {property: privacyRole, value: direct-identifier}
        quality:
          - {metric: duplicateValues, unit: percent, mustBe: 0}
      - name: age
        logicalType: integer
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {from: -10, to: 20, step: 5, top: true, bottom: true, source: book}}
          - property: levels
            value:
              - {name: 10 years, width: 10}
              - {name: sign, tree: {below: ["-10", "-5"], above: ["0", "5", "10", "15", "20"]}}
          - {property: margins, value: age.csv}
        quality:
          - {name: mean, type: custom, engine: greatExpectations, implementation: {type: expect_column_mean_to_be_between, kwargs: {min_value: 3.5, max_value: 9}}}
      - name: dose
        logicalType: number
        customProperties:
          - {property: privacyRole, value: sensitive}
          - {property: domain, value: {from: 0, to: 1, step: 0.1, source: book}}
      - name: day
        logicalType: date
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {from: 2024-01-01, to: 2024-12-31, source: calendar}}
          - {property: levels, value: [{name: month, part: month}, {name: year, part: year}]}
      - name: town
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: {file: towns.csv, column: town}, source: atlas}}
          - {property: levels, value: [{name: letter, prefix: 1}, {name: side, file: towns.csv, column: half}]}
          - {property: invalid, value: level}
        quality:
          - {name: share, metric: invalidValues, unit: percent, mustBeLessThan: 2.5}
      - name: ward
        logicalType: string
        description: Where
        customProperties:
          - {property: privacyRole, value: sensitive}
          - {property: domain, value: {values: [heart, lung, NO, unknown], source: book}}
          - {property: levels, value: [{name: chest, tree: {chest: [heart, lung], other: [NO, unknown]}}]}
        quality:
          - {name: known, type: library, metric: invalidValues, arguments: {validValues: [heart, lung, NO]}, mustBe: 0}
          - {name: lower, metric: invalidValues, arguments: {pattern: "[a-z]+"}, mustBe: 0}
      - name: note
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
"""  # noqa: E501
FILES = {
    "towns.csv": "town,half,side\nAachen,west,x\nApolda,west,x\nBonn,west,x\n",
    "age.csv": "value,count\n-10,1\n0,5\n20,7\n",
}


def line_of(text: str) -> int:
    """Return the first line of the contract with a text."""
    return CONTRACT[: CONTRACT.index(text)].count("\n") + 1


def write(folder: Path, text: str = CONTRACT, **files: str) -> Path:
    """Write the contract and its files into a folder; `age_csv=...` replaces age.csv."""
    for name, content in (FILES | {key.replace("_", "."): value for key, value in files.items()}).items():
        (folder / name).write_bytes(content.encode("utf-8", "surrogatepass"))
    path = folder / "clinic.yaml"
    path.write_bytes(text.encode())
    return path


def problems_of(path: Path) -> tuple[Problem, ...]:
    """Return the problems of reading a contract, which must fail."""
    with pytest.raises(ConfigurationError) as caught:
        read_contract(path, KNOWN.servers)
    return caught.value.problems

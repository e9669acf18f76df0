"""Verifies a release without Crowdgate, from its documentation alone: a stranger's program.

    python tests/verify/outsider.py DIR [PUB.pem]

It ends with 0 if all that it looks at holds, otherwise with 1 and a list of what does not. It was written from
pipeline/verification.md, its page by kind of release and "Signed releases" of pipeline/reference/signatures.md, from
the JSON Schema of the manifest, and from releases and their own README.md, and shares nothing with the library. What
those texts do not say how to check is printed as a note. It needs pandas, jsonschema, and the command `openssl` where a
key is given.
"""

import base64
import hashlib
import json
import math
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

SCHEMA = Path(__file__).resolve().parents[2] / "policies" / "schema" / "release-manifest.json"
MANIFEST, ENVELOPE = "manifest.json", "release.dsse.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = {"_type": "https://in-toto.io/Statement/v1", "predicateType": "urn:crowdgate:release:v1"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
KEY = re.compile(rb"-----BEGIN PUBLIC KEY-----(.*?)-----END PUBLIC KEY-----", re.DOTALL)
ED25519 = bytes.fromhex("302a300506032b6570032100")
"""The first bytes of every ed25519 public key in DER (RFC 8410); 32 bytes follow."""

MOST_BITS = 400_000
"""The greatest denominator, in bits, of exact binomial probabilities: larger ones take too long here."""

NEGLIGIBLE = 1 << 64
"""A sum ends at a binomial term smaller than the sum by this factor, and so stays a lower bound."""

ROUNDED = 6e-6
"""The relative error of a number in six significant digits."""

Json = dict[str, Any]
Labels = dict[tuple[str, str], list[str]]


@dataclass
class Findings:
    """The problems found, and notes on unchecked parts."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def need(self, holds: bool, problem: str) -> None:
        """Add a problem unless `holds`."""
        if not holds:
            self.problems.append(problem)


@dataclass(frozen=True)
class Release:
    """A folder and its manifest."""

    folder: Path
    manifest: Json

    @property
    def rows(self) -> bool:
        return bool(self.manifest["mechanism"]["kind"] == "safe_k_anonymity")

    def text(self, name: str) -> pd.DataFrame:
        """Return the cells of a CSV file unchanged, columns numbered, names in the first line."""
        return pd.read_csv(
            self.folder / name, dtype=str, header=None, na_filter=False, skip_blank_lines=False, encoding="utf-8"
        )

    def lines(self, name: str) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return the column names and the lines of a CSV file."""
        head, *lines = [tuple(map(str, line)) for line in self.text(name).itertuples(index=False, name=None)]
        return list(head), lines

    def dictionary(self) -> Labels:
        """Return the labels of every column and level in dictionary.csv, in order."""
        head, lines = self.lines("dictionary.csv")
        places = [head.index(name) for name in ("column", "level", "label")]
        labels: Labels = {}
        for column, level, label in (tuple(line[i] for i in places) for line in lines):
            labels.setdefault((column, level), []).append(label)
        return labels


def examine(folder: Path, key: Path | None = None) -> Findings:
    """Return the findings about a release; stops when later checks would lack their input."""
    found = Findings()
    attempt(found, "folder", lambda: check_folder(folder, found))
    manifest: Json = {}
    attempt(found, "manifest", lambda: manifest.update(read_manifest(folder, found)))
    if found.problems:
        return found
    release = Release(folder, manifest)
    attempt(found, "files", lambda: check_files(release, found))
    attempt(found, "signature", lambda: check_signature(release, key, found))
    if found.problems:
        return found
    contents = check_rows if release.rows else check_tables
    for name, check in (("statements", check_said), ("guarantee", check_guarantee), ("contents", contents)):
        attempt(found, name, partial(check, release, found))
    attempt(found, "gates", lambda: check_gates(release, found))
    return found


def attempt(found: Findings, name: str, check: Callable[[], None]) -> None:
    """Run a check; unreadable input is a problem."""
    try:
        check()
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError, RecursionError) as error:
        found.problems.append(f"{name}: can't be read ({type(error).__name__}: {error})")


def check_folder(folder: Path, found: Findings) -> None:
    """Check that there are only regular files."""
    for path in sorted(folder.iterdir()):
        found.need(stat.S_ISREG(path.lstat().st_mode), f"folder: {path.name} is not a plain file")


def read_json(content: bytes) -> Any:
    """Return JSON without repeated names in an object, and without NaN."""

    def once(pairs: list[tuple[str, Any]]) -> Json:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    def never(word: str) -> None:
        raise ValueError(f"{word} is no number")

    return json.loads(content.decode("utf-8"), object_pairs_hook=once, parse_constant=never)


def read_manifest(folder: Path, found: Findings) -> Json:
    """Return the manifest, if it conforms to the schema."""
    manifest = read_json((folder / MANIFEST).read_bytes())
    error = best_match(Draft202012Validator(json.loads(SCHEMA.read_bytes())).iter_errors(manifest))
    if error is not None:
        found.problems.append(f"manifest: {error.json_path}: {error.message[:300]}")
        return {}
    for name in manifest["files"]:
        found.need(NAME.fullmatch(name) is not None, f"manifest: {name!r} is no name of a file")
    return dict(manifest)


def check_files(release: Release, found: Findings) -> None:
    """Section 1: check that exactly the named files exist, each with its size and digest."""
    named = release.manifest["files"]
    there = {path.name for path in release.folder.iterdir()} - {MANIFEST, ENVELOPE}
    for name in sorted(there - set(named)):
        found.problems.append(f"files: {name} is not named by the manifest")
    for name in sorted(set(named) - there):
        found.problems.append(f"files: {name} is missing")
    for name in sorted(there & set(named)):
        path = release.folder / name
        found.need(path.stat().st_size == named[name]["bytes"], f"files: {name} is of another size")
        found.need(digest(path) == named[name]["sha256"], f"files: {name} has another SHA-256")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_signature(release: Release, key: Path | None, found: Findings) -> None:
    """Section 2: check that the envelope is about these files, and signed by one of the keys."""
    if not (release.folder / ENVELOPE).exists():
        found.need(key is None, f"signature: a key is given, but there is no {ENVELOPE}")
        found.notes.append("nobody vouches for this release: it is not signed")
        return
    envelope = read_json((release.folder / ENVELOPE).read_bytes())
    found.need(envelope["payloadType"] == PAYLOAD_TYPE, "signature: the payload is of another type")
    payload = base64.b64decode(envelope["payload"], validate=True)
    check_statement(release, read_json(payload), found)
    if key is None:
        found.notes.append("no key is given: who signed this release was not looked at")
        return
    signed = b"DSSEv1 28 %s %d %s" % (PAYLOAD_TYPE.encode(), len(payload), payload)
    signatures = [base64.b64decode(each["sig"], validate=True) for each in envelope["signatures"]]
    keys = public_keys(key)
    found.need(bool(keys), f"signature: {key.name} holds no public key of ed25519")
    found.need(
        any(signed_by(pem, signature, signed) for pem in keys for signature in signatures),
        "signature: made by none of the given keys",
    )


def check_statement(release: Release, statement: Json, found: Findings) -> None:
    """Check that it is an in-toto statement about every file except the envelope, and agrees with the manifest."""
    for name, word in STATEMENT.items():
        found.need(statement[name] == word, f"signature: {name} is not {word}")
    subject = {each["name"]: each["digest"] for each in statement["subject"]}
    found.need(len(subject) == len(statement["subject"]), "signature: a file is named twice")
    there = {path.name for path in release.folder.iterdir()} - {ENVELOPE}
    for name in sorted(there | set(subject)):
        right = name in there and subject.get(name) == {"sha256": digest(release.folder / name)}
        found.need(right, f"signature: does not speak of {name} as it is here")
    manifest = release.manifest
    expected = {"release": manifest["release"]["id"]} | {name: manifest[name] for name in ("policyDigest", "ledger")}
    found.need(statement["predicate"] == expected, "signature: release, policy or ledger are not the manifest's")


def public_keys(path: Path) -> list[bytes]:
    """Return the ed25519 public keys in a file, each as PEM."""
    ders = [base64.b64decode(text) for text in KEY.findall(path.read_bytes())]
    return [
        b"-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n" % base64.b64encode(der)
        for der in ders
        if der.startswith(ED25519) and len(der) == len(ED25519) + 32
    ]


def signed_by(pem: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether openssl accepts a key's signature of some content."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise OSError("openssl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, name) for name in ("inkey", "sigfile", "in")}
        for path, part in zip(paths.values(), (pem, signature, content), strict=True):
            path.write_bytes(part)
        options = [word for name, path in paths.items() for word in (f"-{name}", str(path))]
        command = [openssl, "pkeyutl", "-verify", "-pubin", "-rawin", *options]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def check_said(release: Release, found: Findings) -> None:
    """Check that fields agree as their descriptions in the schema state."""
    said, facts, guarantee = (release.manifest[name] for name in ("release", "facts", "guarantee"))
    found.need(said["id"] == f"{said['policy']}/{said['version']}/{said['slot']}", "release: another id")
    for name in ("epsilon", "delta"):
        spent = Fraction(facts["spent"][name])
        found.need(spent <= Fraction(facts["budget"][name]), f"facts: more {name} was spent than the budget has")
        found.need(spent >= Fraction(guarantee[name]), f"facts: {name} of this release is not among what was spent")
    dictionary = {key: len(values) for key, values in release.dictionary().items()}
    claimed = {(each["name"], each["level"]): each["values"] for each in release.manifest["data"]["columns"]}
    found.need(dictionary == claimed, "dictionary.csv: lists other columns or numbers of values than the manifest")
    found.need(
        all(len(set(values)) == len(values) for values in release.dictionary().values()),
        "dictionary.csv: a value is listed twice",
    )
    found.notes.append("not documented: canonical JSON, the words of the guarantee, and README.md, so not recomputed")


# --- guarantee


def check_guarantee(release: Release, found: Findings) -> None:
    """Section 5: check that parts add up, charges are among them, and delta is not too small."""
    guarantee, mechanism = release.manifest["guarantee"], release.manifest["mechanism"]
    parts = guarantee["parts"]
    for name in ("epsilon", "delta"):
        total = sum(Fraction(part[name]) for part in parts)
        found.need(total == Fraction(guarantee[name]), f"guarantee: the parts do not add up to its {name}")
        found.need(all(Fraction(part[name]) >= 0 for part in parts), f"guarantee: a part's {name} is negative")
    of_mechanism = [part for part in parts if part["name"] == "mechanism"]
    found.need(len(of_mechanism) == 1, "guarantee: not one part is the mechanism's")
    charged = sum(Fraction(each["charge"]) for each in release.manifest["verdicts"] if each.get("charge") is not None)
    others = sum(Fraction(part["epsilon"]) for part in parts if part["name"] != "mechanism")
    if mechanism.get("choice") is None:
        found.need(charged == others, "guarantee: the parts are not what the gates took")
    else:
        found.need(charged <= others, "guarantee: the parts are less than the gates took")
        found.notes.append("not documented: which part of the guarantee the choice of levels is")
    if of_mechanism and release.rows:
        check_delta(mechanism, of_mechanism[0], found)
    elif of_mechanism:
        found.notes.append("not documented: how epsilon and delta of tables follow from the spends, rate and noise")


def check_delta(mechanism: Json, part: Json, found: Findings) -> None:
    """Check that delta is not below the formula of section 5 for the worst n."""
    if mechanism.get("rows", 1) != 1 or mechanism.get("choice") is not None:
        found.notes.append("delta is documented for one row a person and fixed levels only, so not recomputed")
        return
    beta, k = Fraction(mechanism["beta"]), int(mechanism["k"])
    if not 0 < beta <= 1:
        found.problems.append("mechanism: beta is no probability above 0")
        return
    delta, grow = Fraction(part["delta"]), exponential(Fraction(part["epsilon"]))
    for more in (True, False):
        for n in worst_sizes(beta, k, grow, more):
            if n * beta.denominator.bit_length() > MOST_BITS:
                found.notes.append(f"delta was not recomputed for n = {n}: too large")
                continue
            least = least_delta(n, beta, k, grow, more)
            found.need(delta >= least, f"guarantee: delta is at least {float(least):.6g} for n = {n}, not {delta}")


def exponential(epsilon: Fraction) -> Fraction:
    """Return an upper bound of e^epsilon that is hardly greater."""
    with localcontext() as context:
        context.prec, context.rounding = 60, ROUND_CEILING
        exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return Fraction(exponent.exp().next_plus())


def worst_sizes(beta: Fraction, k: int, grow: Fraction, more: bool) -> list[int]:
    """Sizes n of a combination, those with the greatest sum among them.

    With the person (`more`), P(j) > e^epsilon Q(j) holds exactly for j > n g, where g = 1 - (1 - beta) / e^epsilon.
    While n g < k - 1, one row more adds beta (P(k-1) - e^epsilon Q(k-1)) > 0 to the sum. From n g >= k - 1 on, all
    j < k may as well be told apart: the sum is that of the two binomials themselves, and a further coin added to both
    can't enlarge it. So the greatest sum is at the least n >= k with n g >= k - 1. With P and Q exchanged the same
    holds for g = 1 - (1 - beta) e^epsilon; if that is not above 0, no outcome is more than e^epsilon times likelier
    without the person. `grow` is rounded, so n + 1 is taken too; whatever n is taken, delta is at least what comes out.
    """
    edge = 1 - (1 - beta) / grow if more else 1 - (1 - beta) * grow
    if edge <= 0:
        return []
    first = max(k, math.ceil((k - 1) / edge))
    return [first, first + 1]


def least_delta(n: int, beta: Fraction, k: int, grow: Fraction, more: bool) -> Fraction:
    """Return a lower bound of the sum of section 5, exact except for `grow` and omitted negligible terms."""
    if beta == 1:
        return Fraction(int(more and n == k))
    scale = n * (beta.denominator - beta.numerator) * grow.denominator
    nothing, total = 0, 0
    for j, weight in weights(n, beta, k if more else 0):
        with_person, without = scale, (n - j) * beta.denominator * grow.denominator
        if more:
            gain = weight * (with_person - (n - j) * beta.denominator * grow.numerator)
        else:
            gain = weight * (without - n * (beta.denominator - beta.numerator) * grow.numerator)
        nothing += gain if j < k else 0
        total += max(0, gain) if j >= k else 0
        if total and gain * NEGLIGIBLE < total:
            break
    return Fraction(max(0, nothing) + total, scale * beta.denominator**n)


def weights(n: int, beta: Fraction, start: int) -> Iterator[tuple[int, int]]:
    """Yield every j from `start` with the probability of j among n, times the n-th power of beta's denominator."""
    kept, left = beta.numerator, beta.denominator - beta.numerator
    weight = math.comb(n, start) * kept**start * left ** (n - start)
    for j in range(start, n + 1):
        yield j, weight
        weight = weight * (n - j) * kept // ((j + 1) * left)


# --- rows


def check_rows(release: Release, found: Findings) -> None:
    """Sections 3 and 4: check data, classes, values and counts."""
    mechanism, data = release.manifest["mechanism"], release.manifest["data"]
    names = [column["name"] for column in data["columns"]]
    levels = {column["name"]: column["level"] for column in data["columns"]}
    told = {name: level for name, level in mechanism["attributes"].items() if level != "any"}
    found.need(levels == (told or mechanism["attributes"]), "mechanism: attributes are not the columns of the data")
    counted = [count_rows(release, form, names, found) for form in release.manifest["formats"]]
    found.need(all(counts == counted[0] for counts in counted), "data: the formats hold different rows")
    check_classes(counted[0], release, found)
    check_values(counted[0], release, found)
    check_counts(counted[0], release, found)


def count_rows(release: Release, form: str, names: list[str], found: Findings) -> dict[tuple[str, ...], int]:
    """Return how often every row occurs in the data of a format."""
    name = f"data.{form}"
    if form == "csv":
        table = release.text(name)
        head, table = list(table.iloc[0]), table.iloc[1:]
    elif form == "parquet":
        table = pd.read_parquet(release.folder / name)
        head = list(table.columns)
    else:
        raise ValueError(f"a format {form} is not documented")
    found.need(head == names, f"{name}: the columns are not those of the manifest")
    if table.empty:
        return {}
    counts = table.astype(str).value_counts(sort=False, dropna=False)
    return {tuple(map(str, row)): int(count) for row, count in counts.items()}  # type: ignore[call-overload]


def check_classes(counts: dict[tuple[str, ...], int], release: Release, found: Findings) -> None:
    """Check that the numbers of rows and classes are as stated, and no class is below k."""
    data, k = release.manifest["data"], release.manifest["mechanism"]["k"]
    rows = sum(counts.values())
    found.need(rows == data["rows"], f"data: {rows} rows, not {data['rows']}")
    found.need(len(counts) == data["classes"], f"data: {len(counts)} classes, not {data['classes']}")
    small = sum(count < k for count in counts.values())
    found.need(not small, f"data: {small} classes have fewer than {k} rows")


def check_values(counts: dict[tuple[str, ...], int], release: Release, found: Findings) -> None:
    """Check that dictionary.csv lists every value for its column and level."""
    dictionary = release.dictionary()
    for place, column in enumerate(release.manifest["data"]["columns"]):
        unknown = {row[place] for row in counts} - set(dictionary[column["name"], column["level"]])
        found.need(not unknown, f"data: {column['name']} has values that dictionary.csv does not list")


def check_counts(counts: dict[tuple[str, ...], int], release: Release, found: Findings) -> None:
    """Check that the counts are those of the rows: every value that occurs, once."""
    expected: dict[tuple[str, str], int] = {}
    for place, column in enumerate(release.manifest["data"]["columns"]):
        for row, count in counts.items():
            value = (column["name"], row[place])
            expected[value] = expected.get(value, 0) + count
    head, lines = release.lines("counts.csv")
    found.need(head == ["column", "label", "at_least"], "counts.csv: other columns")
    right = sorted((*value, str(count)) for value, count in expected.items())
    found.need(right == sorted(lines), "counts.csv: does not follow from the data")


# --- gates


def check_gates(release: Release, found: Findings) -> None:
    """Section 6: check that blocking gates passed within their limits, or failed while waived; four measures are
    recomputed.
    """
    manifest = release.manifest
    known = {f"guarantee_{name}": Fraction(manifest["guarantee"][name]) for name in ("epsilon", "delta")}
    if release.rows:
        known |= {f"released_{name}": Fraction(manifest["data"][name]) for name in ("rows", "classes")}
    for gate in manifest["verdicts"]:
        name = gate["measure"]
        if gate["severity"] == "block" and gate.get("waived"):
            day = manifest["release"]["slot"][:10]
            found.need(gate["outcome"] == "fail" and not within(gate), f"gates: {name} is waived and has not failed")
            found.need(day <= gate["waiver"]["expires"], f"gates: {name} is waived and its waiver has expired")
        elif gate["severity"] == "block":
            found.need(gate["outcome"] == "pass", f"gates: {name} blocks and has not passed")
            found.need(within(gate), f"gates: {name} does not keep its limit")
        if name in known:
            measured = [number(gate.get(end)) for end in ("value", "low", "high")]
            found.need(measured == [known[name]] * 3, f"gates: {name} is {known[name]}, not {gate.get('value')}")
        else:
            found.notes.append(f"not documented: how gate {name} is measured")


def within(gate: Json) -> bool:
    """Return whether the unfavourable confidence limit keeps every limit, and there is one."""
    limits: list[bool] = []
    if gate.get("at_most") is not None:
        high = number(gate.get("high"))
        limits.append(high is not None and high <= Fraction(gate["at_most"]))
    if gate.get("at_least") is not None:
        low = number(gate.get("low"))
        limits.append(low is not None and low >= Fraction(gate["at_least"]))
    return bool(limits) and all(limits)


def number(text: str | None) -> Fraction | float | None:
    """Return a measured number; None if there is none or it is undefined."""
    if text is None or text == "undefined":
        return None
    return float(text.replace("infinite", "inf")) if text.endswith("infinite") else Fraction(text)


# --- tables


def check_tables(release: Release, found: Findings) -> None:
    """Check every cell of every table, spends, and the standard errors of the noise."""
    check_spends(release, found)
    check_noise(release, found)
    dictionary = release.dictionary()
    tables = release.manifest["data"]["tables"]
    totals = {check_table(release, table, dictionary, found) for table in tables} - {None}
    found.need(len(totals) <= 1, "tables: tables of counts have different totals")
    found.notes.append("not documented: standard errors and intervals after consistency, and quantiles")


def check_spends(release: Release, found: Findings) -> None:
    """Check that the spends add up, shares are respected, and queries have the cells of their levels."""
    mechanism, dictionary = release.manifest["mechanism"], release.dictionary()
    loss = "rho" if mechanism["noise"] == "discrete gaussian" else "epsilon"
    budget = Fraction(mechanism[loss])
    total = sum(Fraction(query[loss]) for query in mechanism["queries"])
    found.need(total == budget, f"mechanism: the spends of the queries do not add up to its {loss}")
    for query in mechanism["queries"]:
        found.need(Fraction(query[loss]) > 0, f"mechanism: {query['name']} spends nothing, so it has no noise")
        if query.get("share") is not None:
            right = Fraction(query["share"]) * budget == Fraction(query[loss])
            found.need(right, f"mechanism: {query['name']} spends another share")
        cells = math.prod(len(dictionary[axis]) for axis in query["levels"].items())
        found.need(cells == query["cells"], f"mechanism: {query['name']} has {cells} cells")


def check_noise(release: Release, found: Findings) -> None:
    """Check that tables.csv repeats the manifest, and states the standard error that follows from the spends."""
    head, lines = release.lines("tables.csv")
    names = ["file", "table", "kind", "column", "level", "cells"]
    found.need(head == [*names, "noise_error"], "tables.csv: other columns")
    tables = release.manifest["data"]["tables"]
    expected = [tuple("" if table.get(name) is None else str(table[name]) for name in names) for table in tables]
    found.need([line[:-1] for line in lines] == expected, "tables.csv: lists other tables than the manifest")
    for table, line in zip(tables, lines, strict=True):
        error = None if table["kind"] == "mean" else noise_error(release.manifest["mechanism"], table)
        stated = float(line[-1]) if line[-1] else None
        right = error == stated or (error and stated and math.isclose(error, stated, rel_tol=ROUNDED))
        found.need(bool(right), f"tables.csv: noise_error of {table['table']} is {error}, not {stated}")


def noise_error(mechanism: Json, table: Json) -> float:
    """Return the standard error of a table's noise, for the whole source table: in units of the grid, divided by beta.

    The documentation states that it follows from epsilon or rho, not how. This is the law with these names in the
    literature: discrete Gaussian noise of scale s costs rho = D^2 / (2 s^2), discrete Laplace noise of scale s epsilon
    = D / s, where D is the sensitivity.
    """
    (query,) = (mechanism["queries"][place] for place in table["queries"])
    sensitivity, unit = query["sensitivity"], Fraction((query.get("grid") or {"unit": "1"})["unit"])
    if mechanism["noise"] == "discrete gaussian":
        error = gaussian_error(sensitivity / math.sqrt(2 * Fraction(query["rho"])))
    else:
        step = float(Fraction(query["epsilon"]) / sensitivity)
        error = math.sqrt(2 * math.exp(-step)) / -math.expm1(-step)
    return error * float(unit / Fraction(mechanism["beta"]))


def gaussian_error(scale: float) -> float:
    """Return the standard deviation of discrete Gaussian noise: above a scale of 5 the scale itself, in all digits."""
    if scale > 5:
        return scale
    chances = {x: math.exp(-(x * x) / (2 * scale * scale)) for x in range(-100, 101)}
    return math.sqrt(sum(x * x * chance for x, chance in chances.items()) / sum(chances.values()))


def check_table(release: Release, table: Json, dictionary: Labels, found: Findings) -> int | None:
    """Check a table in all its files, and return the total of a table of counts, if no cell of it is empty."""
    stems = [table["file"]] + ([f"{table['file']}-raw"] if release.manifest["mechanism"]["raw"] else [])
    total = None
    for stem in stems:
        head, lines = table_lines(release, stem, found)
        check_cells(stem, table, dictionary, (head, lines), found, with_errors(release))
        if table["kind"] == "quantiles":
            bins = set(dictionary[table["column"], table["level"]])
            first = head.index("bin")
            known = all(set(line[first : first + 3]) <= {*bins, ""} for line in lines)
            found.need(known, f"{stem}: a bin does not stand in dictionary.csv")
        else:
            relative, errors = float(Fraction(release.manifest["mechanism"]["relative_error"])), with_errors(release)
            first, consistent = len(table["axes"]), table["kind"] == "count" and stem == table["file"]
            numbers = [line[first:] for line in lines]
            if consistent:
                linear = [(*line[:3], *line[4:]) if errors else line for line in numbers]
                held = all(interval_follows(line, release.manifest["mechanism"]) for line in linear)
                found.need(held, f"{stem}: an interval is not that of unbiased, standard_error and value")
                numbers = [(line[0], *line[2 + errors :]) for line in numbers]
                total = total_of(numbers)
            judge = trusted_interval if errors else trusted
            found.need(all(judge(line[:5], relative) for line in numbers), f"{stem}: trustworthy says otherwise")
    return total


def interval_follows(line: tuple[str, ...], mechanism: Json) -> bool:
    """Return whether lower and upper of a consistent count are those of its unbiased estimate."""
    if not line[0]:
        return not "".join(line[:5])
    value, unbiased, error, lower, upper = map(float, line[:5])
    width, beta = Fraction(mechanism["width"]), Fraction(mechanism["beta"])
    moved = float(width**2 * (1 - beta) / (2 * beta))
    half = math.sqrt(moved**2 + (float(width) * error) ** 2)
    ends = min(max(unbiased + moved - half, 0), value), max(unbiased + moved + half, value)
    return all(math.isclose(*pair, rel_tol=1e-9, abs_tol=1e-9) for pair in zip(ends, (lower, upper), strict=True))


def table_lines(release: Release, stem: str, found: Findings) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the lines of a table, after checking that both formats have the same."""
    formats = release.manifest["formats"]
    if "csv" not in formats:
        return parquet_lines(release, stem)
    head, lines = release.lines(f"{stem}.csv")
    if "parquet" in formats:
        names, others = parquet_lines(release, stem)
        same = names == head and len(lines) == len(others)
        same = same and all(map(alike, chain(*lines), chain(*others)))
        found.need(same, f"{stem}: the formats hold different tables")
    return head, lines


def parquet_lines(release: Release, stem: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the column names and lines of a table in Parquet, as text."""
    frame = pd.read_parquet(release.folder / f"{stem}.parquet")
    words = {True: "true", False: "false"}
    lines = [
        tuple(words[cell] if isinstance(cell, bool) else "" if pd.isna(cell) else str(cell) for cell in line)
        for line in frame.itertuples(index=False, name=None)
    ]
    return list(frame.columns), lines


def alike(cell: str, other: str) -> bool:
    """Return whether two cells have the same text, or the same number: whole numbers with an empty cell are read as
    floats.
    """
    try:
        return cell == other or float(cell) == float(other)
    except ValueError:
        return False


def check_cells(
    stem: str,
    table: Json,
    dictionary: Labels,
    content: tuple[list[str], list[tuple[str, ...]]],
    found: Findings,
    errors: bool,
) -> None:
    """Check that every cell of dictionary.csv's values exists exactly once."""
    head, lines = content
    axes = [axis["column"] for axis in table["axes"]]
    values = [dictionary[axis["column"], axis["level"]] for axis in table["axes"]]
    columns = ["value", "error" if errors else "standard_error", "lower", "upper", "trustworthy"]
    if table["kind"] == "count" and stem == table["file"]:
        columns[1:1] = ["unbiased", "standard_error"] if errors else ["unbiased"]
    columns += ["flag"] if errors else []
    if table["kind"] == "mean" and "numbers" in table:
        columns += ["noisy_sum", "noisy_rows"]
    if table["kind"] == "quantiles":
        axes, values, columns = [*axes, "probability"], [*values, table["at"]], ["bin", "lower", "upper"]
        columns += ["error", "flag"] if errors else []
    found.need(head == axes + columns, f"{stem}: other columns")
    cells = [line[: len(axes)] for line in lines]
    right = len(cells) == table["cells"] and sorted(cells) == sorted(product(*values))
    found.need(right, f"{stem}: does not hold every cell once")


def with_errors(release: Release) -> bool:
    """Return whether tables state the errors of their values, and flags."""
    return "errors" in release.manifest["mechanism"]


def trusted_interval(line: tuple[str, ...], relative: float) -> bool:
    """Return whether a number is marked as trustworthy exactly if both limits are near enough; an empty one never
    is."""
    value, error, lower, upper, said = line
    if not (value and lower and upper):
        return said == "false" and not lower + upper and not (error and not value)
    farthest, most = max(float(upper) - float(value), float(value) - float(lower)), relative * abs(float(value))
    if abs(farthest - most) <= 1e-9 * most:
        return said in ("true", "false")
    return said == ("true" if farthest < most else "false")


def trusted(line: tuple[str, ...], relative: float) -> bool:
    """Return whether a number is marked as trustworthy exactly if its error is small enough; an empty one never is."""
    value, error, lower, upper, said = line
    if not value:
        return said == "false" and not error + lower + upper
    slack = 1e-9 * abs(float(value))
    if abs(float(error) - relative * float(value)) <= slack:
        return said in ("true", "false")
    return said == ("true" if float(error) < relative * float(value) else "false")


def total_of(lines: list[tuple[str, ...]]) -> int | None:
    """Return the sum of nonnegative counts; None if a cell is empty."""
    values = [line[0] for line in lines]
    if "" in values:
        return None
    counts = [int(Fraction(value)) for value in values]
    if min(counts) < 0:
        raise ValueError("a count is negative")
    return sum(counts)


def main(arguments: list[str]) -> int:
    """Print all problems, and return 1 if there are any."""
    if not 1 <= len(arguments) <= 2:
        print("usage: outsider.py DIR [PUB.pem]", file=sys.stderr)
        return 1
    found = examine(Path(arguments[0]), Path(arguments[1]) if len(arguments) > 1 else None)
    for note in dict.fromkeys(found.notes):
        print("note:", note)
    for problem in found.problems:
        print(problem)
    print("does not hold" if found.problems else "holds")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Policies in an editor: with the schemas, yaml-language-server completes measures, describes properties, and marks
mistakes.

It comes from npm, where `.ci/run` gets it.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdgate.measures import MEASURES

ROOT = Path(__file__).parents[2]
SERVER = shutil.which("yaml-language-server")
BUNDLED = [
    *ROOT.glob("policies/*.yaml"), *ROOT.glob("policies/budgets/*.yaml"), *ROOT.glob("policies/cases/*.yaml"),
    *ROOT.glob("policies/questionnaires/*.yaml"), *ROOT.glob("data_contracts/*.yaml"),
]  # fmt: skip
pytestmark = pytest.mark.skipif(SERVER is None, reason="yaml-language-server is not on the PATH (npm ci in .ci/editor)")


class Editor:
    """An editor's connection to the server (Language Server Protocol 3.17)."""

    def __init__(self) -> None:
        assert SERVER is not None
        self.process = subprocess.Popen([SERVER, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.diagnostics = 0, dict[str, list[dict[str, Any]]]()
        configured = {"workspace": {"configuration": True}}
        self.ask("initialize", processId=None, rootUri=ROOT.as_uri(), capabilities=configured)
        self.say("initialized")

    def say(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        return self._until(lambda said: said.get("id") == self.number and "method" not in said)["result"]

    def open(self, file: Path) -> list[dict[str, Any]]:
        """Return the server's diagnostics of a file."""
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": file.read_text(encoding="utf-8")}
        self.say("textDocument/didOpen", textDocument=document)
        found = self._until(lambda said: said.get("params", {}).get("uri") == file.as_uri())
        return list(found["params"]["diagnostics"])

    def at(self, method: str, file: Path, place: tuple[int, int]) -> Any:
        position = {"line": place[0], "character": place[1]}
        return self.ask(f"textDocument/{method}", textDocument={"uri": file.as_uri()}, position=position)

    def _send(self, said: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **said}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _until(self, wanted: Any) -> dict[str, Any]:
        """Return the next wanted message; requests of the server are answered: there are no settings."""
        while True:
            said = self._hear()
            if "method" in said and "id" in said:
                items = said.get("params", {}).get("items", [])
                self._send({"id": said["id"], "result": [None for _ in items] or None})
            elif wanted(said):
                return said

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            assert line or self.process.poll() is None, "the server ended"
            length = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else length
        heard: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return heard


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    opened = Editor()
    yield opened
    opened.process.kill()
    opened.process.communicate()


def policy(folder: Path, old: str = "", new: str = "") -> Path:
    """The bundled policy with its schema, changed in one place."""
    text = (ROOT / "policies" / "census_income.yaml").read_text(encoding="utf-8")
    assert old in text
    lines = [line for line in text.splitlines() if not line.startswith("# yaml-language-server")]
    schema = f"# yaml-language-server: $schema={ROOT / 'policies' / 'schema' / 'release-policy.json'}"
    file = folder / "policy.yaml"
    file.write_text("\n".join([schema, *lines]).replace(old, new, 1) + "\n", encoding="utf-8")
    return file


def place(file: Path, text: str) -> tuple[int, int]:
    """Just after a text."""
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next(at for at, each in enumerate(lines) if text in each)
    return line, lines[line].index(text) + len(text)


def test_measures_are_completed(tmp_path: Path, editor: Editor) -> None:
    file = policy(tmp_path, "measure: pso_bound", "measure: ")
    editor.open(file)
    offered = editor.at("completion", file, place(file, "{measure: "))["items"]
    assert {each["label"] for each in offered} == set(MEASURES)


def test_a_property_says_what_it_means(tmp_path: Path, editor: Editor) -> None:
    file = policy(tmp_path)
    editor.open(file)
    line, after = place(file, "privacy: {epsilon")
    told = json.dumps(editor.at("hover", file, (line, after - 2)))
    assert "the greatest effect of any one person on the release" in told


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.name)
def test_bundled_files_are_right(file: Path, editor: Editor) -> None:
    assert file.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=")
    assert editor.open(file) == []


def test_a_mistake_is_pointed_at(tmp_path: Path, editor: Editor) -> None:
    file = policy(tmp_path, "measure: pso_bound", "measure: pso_bond")
    (found,) = editor.open(file)
    assert "pso_bound" in found["message"]
    assert found["range"]["start"]["line"] == place(file, "pso_bond")[0]

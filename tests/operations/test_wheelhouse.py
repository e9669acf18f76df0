"""A folder of wheels: listed with hashes and licences, and all that a machine without a network needs."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "wheelhouse"
METADATA = "Metadata-Version: 2.1\nName: Small_Package\nVersion: 1.2\n"


def small_wheel(folder: Path, lines: str = "License-Expression: MIT\n") -> Path:
    """Write a wheel of one module."""
    path, info = folder / "small_package-1.2-py3-none-any.whl", "small_package-1.2.dist-info"
    files = {
        "small_package.py": "value = 1\n",
        f"{info}/METADATA": METADATA + lines,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
        file.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))
    return path


def offline(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a program in a network namespace without a network; skip where none can be made."""
    unshare = ["unshare", "--map-root-user", "--net"]
    there = shutil.which("unshare") is not None
    if not there or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made here")
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PIP_CONFIG_FILE": "/dev/null"}
    program = [*unshare, *map(str, command)]
    return subprocess.run(program, capture_output=True, text=True, check=False, env=environment)


def listed(folder: Path) -> None:
    subprocess.run([SCRIPT, "--list", folder], check=True, capture_output=True)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder of one wheel, listed."""
    small_wheel(tmp_path)
    listed(tmp_path)
    return tmp_path


def test_each_wheel_is_listed_with_its_hash_and_licence(wheels: Path) -> None:
    digest = hashlib.sha256((wheels / "small_package-1.2-py3-none-any.whl").read_bytes()).hexdigest()
    assert (wheels / "requirements.txt").read_text() == f"small-package==1.2 --hash=sha256:{digest}\n"
    (found,) = json.loads((wheels / "sbom.json").read_text())["components"]
    assert found["purl"] == "pkg:pypi/small-package@1.2"
    assert found["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert found["licenses"] == [{"expression": "MIT"}]
    licences = ROOT / ".ci" / "licences"
    assert subprocess.run([licences, wheels / "sbom.json"], capture_output=True, check=False).returncode == 0
    small_wheel(wheels, "")
    listed(wheels)
    assert subprocess.run([licences, wheels / "sbom.json"], capture_output=True, check=False).returncode == 1


@pytest.mark.thorough
def test_the_folder_installs_without_a_network_and_not_if_it_was_changed(wheels: Path, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--find-links", wheels]
    locked = ["--require-hashes", "--requirement", wheels / "requirements.txt", "--target", tmp_path / "there"]
    done = offline(*install, *locked)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there" / "small_package.py").exists()
    small_wheel(wheels, "License-Expression: Apache-2.0\n")
    changed = offline(*install, *locked, "--upgrade")
    assert changed.returncode != 0
    assert "HASH" in changed.stderr.upper()


def test_a_namespace_without_a_network_reaches_nothing() -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    assert "Network is unreachable" in offline(sys.executable, "-c", code).stderr


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    assert subprocess.run([SCRIPT], capture_output=True, check=False).returncode == 1
    assert subprocess.run([SCRIPT, tmp_path], capture_output=True, check=False).returncode != 0  # it is there already


@pytest.mark.soak
def test_a_machine_without_a_network_publishes_the_demo(tmp_path: Path) -> None:
    wheels, there = tmp_path / "wheels", tmp_path / "there"
    made = subprocess.run([SCRIPT, wheels], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip("the wheels can't be downloaded here")
    subprocess.run([ROOT / ".ci" / "licences", wheels / "sbom.json"], check=True)
    assert {path.name for path in (wheels / "units").iterdir()} >= {"Containerfile", "cronjob.yaml"}
    assert offline(sys.executable, "-m", "venv", there).returncode == 0
    locked = ["--require-hashes", "--requirement", wheels / "requirements.txt"]
    installed = offline(there / "bin" / "pip", "install", "--no-index", "--find-links", wheels, *locked)
    assert installed.returncode == 0, installed.stderr
    script = f"cd {tmp_path} && {there}/bin/crowdgate demo"
    demo = offline("bash", "-euc", script)
    assert demo.returncode == 0, demo.stderr
    assert (Path(demo.stdout.splitlines()[-1]) / "manifest.json").is_file()

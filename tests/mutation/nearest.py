"""The tests nearest to a module: those of its folder that import it, then the rest of the folder, and others."""

import ast
from functools import cache
from pathlib import Path

LIBRARY = "pipeline"
APART = ("tests/benchmarks", "tests/flows", "tests/mutation")
MOST = 15
"""The greatest number of distant test files: some modules are imported by seventy."""


def nearest(root: Path, path: str) -> tuple[list[str], list[str]]:
    """Return the first test files to try, and further ones. For a module that no test imports they are its importers'
    tests.
    """
    module = _name(path)
    direct = _testing(root, {module})
    asked = {module}
    while not direct:
        more = {_name(file) for file, said in _imports(root, LIBRARY).items() if said & asked} | asked
        if more == asked:
            return [], []
        asked = more
        direct = _testing(root, asked)
    near = [test for test in direct if _mirrors(test, path)] or direct[:3]
    others = [test for test in [*direct, *_imports(root, "tests")] if _is_test(test) and _mirrors(test, path)]
    return near, [test for test in dict.fromkeys([*others, *direct]) if test not in near][:MOST]


def _testing(root: Path, modules: set[str]) -> list[str]:
    imports = _imports(root, "tests")
    helpers = {_name(file) for file, said in imports.items() if said & modules and not _is_test(file)}
    return sorted(file for file, said in imports.items() if _is_test(file) and said & (modules | helpers))


def _mirrors(test: str, path: str) -> bool:
    folders, room = Path(test).parts[1:-1], Path(path).parts[2:]
    same = len(folders) <= len(room) and all(map(str.startswith, room, folders))  # `verify` of `verification`
    return same if folders else Path(test).stem == f"test_{Path(path).stem}"


def _is_test(path: str) -> bool:
    return Path(path).name.startswith("test_") and not path.startswith(APART)


@cache
def _imports(root: Path, folder: str) -> dict[str, set[str]]:
    files = sorted((root / folder).rglob("*.py"))
    return {str(file.relative_to(root)): _imported(file.read_text(encoding="utf-8")) for file in files}


def _imported(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


def _name(path: str) -> str:
    return path.removeprefix(f"{LIBRARY}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")

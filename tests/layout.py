"""The layout of the library in numbers: `python -m tests.layout`.

A *subpackage* is a folder or a module directly below `crowdgate`. Imports inside functions count; imports for types
alone do not. Prints the subpackages, folders and modules that the entry module of a command reaches, and the share of
the lines of each subpackage.
"""

from collections import Counter
from pathlib import Path

import grimp

PACKAGE = "crowdgate"
ROOT = Path(__file__).parents[1] / "pipeline" / PACKAGE
ENTRIES = ("audit", "check", "release", "verify")
"""Commands, each the entry module `crowdgate.cli.NAME`."""


def import_graph(*, with_types: bool = True) -> grimp.ImportGraph:
    """Return the imports of the library, of the flows too; and those under TYPE_CHECKING, if asked for."""
    packages = (PACKAGE, "crowdgate_flows")
    return grimp.build_graph(*packages, exclude_type_checking_imports=not with_types, cache_dir=None)


def modules() -> dict[str, Path]:
    """Return the file of each module of the library."""
    found = {path.relative_to(ROOT.parent).with_suffix(""): path for path in sorted(ROOT.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in found.items()}


def subpackage(module: str) -> str:
    """Return the subpackage of a module, `crowdgate` for the package itself."""
    return ".".join(module.split(".")[:2])


def lines_by_subpackage() -> Counter[str]:
    """Return the number of lines of each subpackage."""
    lines: Counter[str] = Counter()
    for name, path in modules().items():
        lines[subpackage(name)] += len(path.read_text(encoding="utf-8").splitlines())
    return lines


def reached(command: str, graph: grimp.ImportGraph) -> set[str]:
    """Return the modules of the library that the entry module of a command imports, directly or through others."""
    entry = f"{PACKAGE}.cli.{command}"
    return {entry, *(name for name in graph.find_upstream_modules(entry) if name.startswith(f"{PACKAGE}."))}


def _folders(names: set[str]) -> set[str]:
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    return {name if name in packages else name.rpartition(".")[0] for name in names}


def main() -> None:
    """Print both tables."""
    graph = import_graph(with_types=False)
    print("command   subpackages  folders  modules")
    for command in ENTRIES:
        names = reached(command, graph)
        print(f"{command:10}{len(set(map(subpackage, names))):11}{len(_folders(names)):9}{len(names):9}")
    lines = lines_by_subpackage()
    print("\nlines   share  subpackage")
    for name, count in lines.most_common():
        print(f"{count:6,}{count / lines.total():7.1%}  {name}")


if __name__ == "__main__":
    main()

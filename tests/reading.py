"""Reading a contract's table batch by batch, as counting does."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from crowdgate.contracts.contract import Contract, Server
from crowdgate.histogram import Records
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask
from crowdgate.sources.counting import records as read_part
from crowdgate.sources.facts import TableFacts


def file_server(path: Path, reader: str = "parquet", delimiter: str = ",") -> Server:
    """A server that names a file or folder."""
    more = {"delimiter": delimiter} if reader == "csv" else {}
    return Server(reader, {"path": str(path), **more}, Path())


def batches(
    contract: Contract, seen: TableFacts | None = None, names: Sequence[str] | None = None, path: Path | None = None
) -> Iterator[Records]:
    """Yield the codes of all rows; `names` are by default all columns except the person column."""
    columns = tuple(spec.name for spec in contract.attributes if spec.name != contract.unit.person)
    task = CountingTask(contract, columns if names is None else tuple(names), {})
    for part in open_source(contract, task.columns, path).parts:
        for _, found in read_part(part, task, TableFacts() if seen is None else seen):
            yield found

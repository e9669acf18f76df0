"""The numbers that a release of tables draws, beside their stated distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crowdgate.kind.stated_draws import noise_draws
from crowdgate.kind.stated_laws import OTHER_SAMPLE, Contradiction, RecordedRandomness, StatedDraw
from crowdgate.kinds.tables.files import tidy, tidy_raw
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer, consistent_answers, raw_answers
from crowdgate.mechanisms.tables.dp_tables import JOINT

if TYPE_CHECKING:
    import pyarrow as pa

    from crowdgate.histogram import Histogram
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.kinds.tables.release import AnsweredTables
    from crowdgate.kinds.tables.released_files import PublishedTables

OTHER_NUMBERS = Contradiction("Published tables differ from those that follow from the drawn noisy numbers.")


def stated_laws(
    planned: TablesPlan,
    counted: Mapping[str, Histogram],
    candidate: AnsweredTables,
    published: PublishedTables | None,
    recorded: RecordedRandomness,
) -> Iterator[StatedDraw]:
    """Yield the sampled classes and the noise of one release, and a contradiction if the published tables do not follow
    from noisy numbers. `counted` counts the table from which it was drawn; what is `published` is compared unless it is
    None."""
    mechanism = planned.mechanism
    if mechanism.beta != 1:
        made = recorded.sample(mechanism.beta)
        if made is None:
            yield OTHER_SAMPLE
            return
        yield made.drawn
        counted = {JOINT: made.of(counted[JOINT])}
    yield from noise_draws(mechanism, counted, candidate.noisy)
    if published is not None and not _follows(planned, candidate, published):
        yield OTHER_NUMBERS


def _follows(planned: TablesPlan, candidate: AnsweredTables, published: PublishedTables) -> bool:
    mechanism, spec = planned.mechanism, planned.spec
    answers = consistent_answers(mechanism, candidate.noisy, spec.relative_error)
    raw = raw_answers(mechanism, candidate.noisy, spec.relative_error) if spec.raw else ()
    expected = tuple(tidy(_as_written(planned, each)) for each in answers)
    drawn = tuple(tidy_raw(_as_written(planned, each)) for each in raw)
    return [*map(_text, expected)] == [*map(_text, published.tables)] and [*map(_text, drawn)] == [
        *map(_text, published.raw)
    ]


def _as_written(planned: TablesPlan, answer: TableAnswer | QuantileAnswer) -> TableAnswer | QuantileAnswer:
    return answer.suppressed() if planned.spec.suppress and isinstance(answer, TableAnswer) else answer


def _text(table: pa.Table) -> str:
    """Return all cells of a table as text, in which NaN equals NaN."""
    return repr(table.to_pydict())

"""Kind `dp_synthetic`: rows that are nobody's, drawn from a model of noisy tables, with a certificate of every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Shape
from crowdgate.kind.kind import Kind
from crowdgate.later import modules
from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

if TYPE_CHECKING:
    from crowdgate.kinds.synthetic import (
        attacked,
        explained,
        files,
        outlook,
        page,
        pictures,
        plan,
        refit,
        release,
        tells,
        verify,
    )
    from crowdgate.kinds.synthetic.plan import SyntheticPlan
    from crowdgate.kinds.synthetic.published import PublishedSynthetic
    from crowdgate.kinds.synthetic.release import SyntheticCandidate
    from crowdgate.kinds.synthetic.said import SyntheticManifest
else:
    attacked, explained, files, outlook, page, pictures, plan, refit, release, tells, verify = modules(
        "crowdgate.kinds.synthetic",
        "attacked",
        "explained",
        "files",
        "outlook",
        "page",
        "pictures",
        "plan",
        "refit",
        "release",
        "tells",
        "verify",
    )


def _says() -> type[SyntheticManifest]:
    from crowdgate.kinds.synthetic.said import SyntheticManifest

    return SyntheticManifest


SYNTHETIC: Kind[DpSyntheticSpec, SyntheticPlan, SyntheticCandidate, PublishedSynthetic, SyntheticManifest] = Kind(
    name="dp_synthetic",
    serves="rows of many columns to explore and to train on, which are nobody's and invent combinations",
    spec=DpSyntheticSpec,
    shapes=frozenset((Shape.STATIC, Shape.INPUT, Shape.PAIRS)),
    spends=frozenset(("mechanism",)),
    attributes=plan.attributes,
    beside=plan.beside,
    plan=plan.plan,
    figures=plan.figures,
    views=plan.views,
    protect=release.protect,
    attacked=attacked.attacked,
    publish=release.publish,
    files=files.files,
    parameters=release.parameters,
    mechanism=release.stated,
    data=release.data,
    page=page.page,
    measured=verify.measured,
    pictures=pictures.pictures,
    private=release.private,
    promise=plan.promise,
    notes=plan.notes,
    explained=explained.explained,
    outlook=outlook.outlook,
    propose=outlook.propose,
    says=_says,
    claims=verify.claims,
    read=verify.read,
    refit=refit.refit,
    tells=tells.tells,
)

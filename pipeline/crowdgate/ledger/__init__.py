"""The ledger of privacy budgets: charges to populations, and their limits. A new database is a file here and a line in
`stores`.
"""

from typing import TYPE_CHECKING

from crowdgate.system.lazy_exports import exported

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger as Ledger
    from crowdgate.ledger.ledger import create as create
    from crowdgate.ledger.ledger import open_ledger as open_ledger
    from crowdgate.ledger.stores import placed as placed
else:  # imported at their first use
    __getattr__ = exported(
        __name__, {"Ledger": "ledger", "create": "ledger", "open_ledger": "ledger", "placed": "stores"}
    )

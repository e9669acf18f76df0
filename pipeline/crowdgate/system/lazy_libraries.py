"""Parts of libraries that few commands need, each imported when it is first used: `libraries.special.gammaln(n)`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdgate.system.import_filters import imports_filtered

if TYPE_CHECKING:
    from cryptography import exceptions as exceptions
    from cryptography.hazmat.primitives import ciphers as ciphers
    from cryptography.hazmat.primitives import serialization as serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519 as ed25519
    from cryptography.hazmat.primitives.ciphers import aead as aead
    from scipy import optimize as optimize
    from scipy import sparse as sparse
    from scipy import special as special
else:
    _PLACES = {
        "aead": "cryptography.hazmat.primitives.ciphers.aead",
        "ciphers": "cryptography.hazmat.primitives.ciphers",
        "ed25519": "cryptography.hazmat.primitives.asymmetric.ed25519",
        "exceptions": "cryptography.exceptions",
        "optimize": "scipy.optimize",
        "serialization": "cryptography.hazmat.primitives.serialization",
        "sparse": "scipy.sparse",
        "special": "scipy.special",
    }
    _UNUSED = frozenset({"numpy.f2py", "numpy.testing"})
    """Which SciPy imports with every other name of NumPy's: a compiler of Fortran, and tests."""

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with imports_filtered(deferred=_UNUSED):
            globals()[name] = found = import_module(_PLACES[name])
        return found

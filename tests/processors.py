"""A simulated older processor: child processes in which NumPy, the C library and BLAS use only its basic features."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FEATURES: list[str] = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
"""The features of this processor that NumPy uses and can do without."""
PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(FEATURES),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable",
    "OPENBLAS_CORETYPE": "Prescott",
}

needs_features = pytest.mark.skipif(
    not FEATURES, reason="NumPy uses nothing of this processor that could be switched off: there is nothing to compare"
)


def on_a_plain_processor(program: str, *arguments: str) -> str:
    """Return the output of a Python program on such a processor."""
    command = [sys.executable, "-c", program, *arguments]
    told = {**os.environ, **PLAIN}
    return subprocess.run(command, env=told, cwd=ROOT, check=True, capture_output=True, text=True).stdout

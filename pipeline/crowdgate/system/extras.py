"""Optional dependencies of commands, as extras of the package. A command that lacks one names it and ends."""

from dataclasses import dataclass
from importlib.util import find_spec

from crowdgate.errors import Code, ConfigurationError, Problem


@dataclass(frozen=True)
class Extra:
    """An extra by its name in pyproject.toml, and the module that it brings, with its title."""

    name: str
    module: str
    title: str


RELEASE = Extra("release", "opendp", "OpenDP")
EXPECTATIONS = Extra("expectations", "great_expectations", "Great Expectations")
PREFECT = Extra("prefect", "prefect", "Prefect")
FRAMES = Extra("frames", "pandas", "pandas")
PAGE = Extra("page", "matplotlib", "matplotlib")
AUDIT = Extra("audit", "sklearn", "scikit-learn")
DUCKDB = Extra("duckdb", "duckdb", "DuckDB")
POSTGRES = Extra("postgres", "psycopg", "psycopg")
POSTGRES_TABLES = Extra("postgres", "adbc_driver_postgresql", "the ADBC driver for PostgreSQL")
S3 = Extra("s3", "obstore", "obstore")
EXCEL = Extra("excel", "fastexcel", "fastexcel")
STATISTICS = Extra("statistics", "pyreadstat", "pyreadstat")
DASK = Extra("dask", "distributed", "Dask")
EXTRAS = (
    RELEASE, EXPECTATIONS, PREFECT, FRAMES, PAGE, AUDIT, DUCKDB, POSTGRES, POSTGRES_TABLES, S3, EXCEL, STATISTICS,
    DASK,
)  # fmt: skip


def need(extra: Extra, where: str, file: str = "command line") -> None:
    """Raise ConfigurationError if an optional extra of the package, which the feature `where` needs, is not installed.
    Imports nothing.
    """
    if find_spec(extra.module) is None:
        install = f"pip install 'crowdgate[{extra.name}]'"
        raise ConfigurationError(
            Problem(file, None, where, f"{extra.title} is not installed", install, code=Code.ASKED)
        )

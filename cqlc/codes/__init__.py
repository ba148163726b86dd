"""Every code, by its id. A code is declared once, in the module of its phase, and never reused."""

from __future__ import annotations

from types import ModuleType

from cqlc.codes import analysis, names, spark, syntax, testing, windows
from cqlc.diagnostics import Code


def _declared(module: ModuleType) -> list[Code]:
    return [value for value in vars(module).values() if isinstance(value, Code)]


CODES: dict[str, Code] = {
    code.id: code
    for module in (syntax, names, windows, analysis, spark, testing)
    for code in sorted(_declared(module), key=lambda code: code.id)
}

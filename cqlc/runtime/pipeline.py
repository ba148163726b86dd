"""Several kernels in one operator: what one answers in a step is the input of the next.

Kernels that need their rows in the same buckets run in one stateful operator, without a shuffle
between them. Each answer is complete for the span of the step, so the next kernel can go on at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import concat
from cqlc.runtime.kernel import Form, Kernel, Port
from cqlc.runtime.state import Scope


@dataclass(frozen=True)
class Stage:
    """A kernel and where its inputs come from: sides of the operator, or stages before it."""

    name: str
    kernel: Kernel
    sources: Mapping[str, str]


@dataclass(frozen=True)
class Pipeline:
    """Stages in the order in which they run; the last one's answer is the operator's."""

    sides: Mapping[str, Port]
    stages: tuple[Stage, ...]

    @property
    def ports(self) -> Mapping[str, Port]:
        """The inputs from outside."""
        return self.sides

    @property
    def output(self) -> Form:
        """The form of the last stage's answer."""
        return self.stages[-1].kernel.output

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """Run every stage on the answers of those before it."""
        answers = dict(arrived)
        for stage in self.stages:
            ports = stage.kernel.ports
            inputs = {
                name: answers[source].select(ports[name].schema.names).cast(ports[name].schema)
                for name, source in stage.sources.items()
            }
            answers[stage.name] = stage.kernel.step(state.inner(stage.name), inputs, span)
        return answers[self.stages[-1].name]


@dataclass(frozen=True)
class Apply:
    """A stateless operation on rows with their hidden columns: a filter, a projection, a window."""

    port: Port
    function: Callable[[pa.Table], pa.Table]
    output: Form

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input."""
        return {"input": self.port}

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The function of what arrived."""
        return self.function(arrived["input"])


@dataclass(frozen=True)
class Together:
    """UNION ALL: the rows of all inputs, which have one form, by position."""

    inputs: Mapping[str, Port]

    @property
    def ports(self) -> Mapping[str, Port]:
        """The inputs by name."""
        return self.inputs

    @property
    def output(self) -> Form:
        """The form of the inputs."""
        return next(iter(self.inputs.values())).form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """All rows, named as in the first input."""
        first = next(iter(self.inputs.values())).schema
        return concat(
            [arrived[name].rename_columns(first.names).cast(first) for name in self.inputs]
        )

"""What plans mean: the one definition everything else is tested against."""

from cqlc.semantics.meaning import Change, Meaning
from cqlc.semantics.timeline import BEGINNING, FOREVER, Arrival, TableChange, Timeline, Values
from cqlc.semantics.values import EvaluationError

__all__ = [
    "BEGINNING",
    "FOREVER",
    "Arrival",
    "Change",
    "EvaluationError",
    "Meaning",
    "TableChange",
    "Timeline",
    "Values",
]

"""What plans mean: the one definition everything else is tested against."""

from cqlc.semantics.meaning import Change, Meaning
from cqlc.semantics.timeline import BEGINNING, FOREVER, Arrival, TableChange, Timeline, Values

__all__ = [
    "BEGINNING",
    "FOREVER",
    "Arrival",
    "Change",
    "Meaning",
    "TableChange",
    "Timeline",
    "Values",
]

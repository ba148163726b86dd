"""What can go wrong inside a columnar operator, said so that a user can act on it."""

from __future__ import annotations


class OperatorError(Exception):
    """A failure of a columnar operator; the message says what is true and what to do."""


class CorruptBlobError(OperatorError):
    """Bytes read back from state or from a shuffle are not what was written."""


class StateVersionError(OperatorError):
    """The checkpoint was written by a version of cqlc whose state this one cannot read."""


class OtherQueryError(OperatorError):
    """The checkpoint belongs to an operator with other parameters."""


class BucketTooLargeError(OperatorError):
    """One bucket of an operator needs more memory than it may use."""


class BadInputError(OperatorError):
    """A row that no operator can place in time, such as one without an event time."""

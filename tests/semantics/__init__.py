"""The reference semantics against vectors, laws and deliberate faults."""

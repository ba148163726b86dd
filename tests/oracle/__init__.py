"""Judges from outside: answers that other engines computed."""

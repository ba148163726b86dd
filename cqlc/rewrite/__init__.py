"""Plans to equal plans that cost less: laws, and the engine that applies them."""

from cqlc.rewrite.engine import Derivation, Step, rewrite

__all__ = ["Derivation", "Step", "rewrite"]

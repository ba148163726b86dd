"""Syntax tree and catalog to plans: names, types, CQL's defaults, desugaring."""

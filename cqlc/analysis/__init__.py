"""What can be proved about a plan before it runs."""

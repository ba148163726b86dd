"""What plans mean: the one definition everything else is tested against."""

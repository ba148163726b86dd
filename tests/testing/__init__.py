"""`cqlc test` and `cqlc.testing`."""

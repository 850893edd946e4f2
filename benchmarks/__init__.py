"""Kinetree beside its peers: every row checked against the peer before it is timed."""

"""Machine code on the host."""

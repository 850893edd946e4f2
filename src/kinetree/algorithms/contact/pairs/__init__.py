"""One file for each pair of kinds of shapes: where the two touch."""

"""From measurements to a model."""

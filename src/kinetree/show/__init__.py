"""Robots seen: the viewer in the browser, and plots."""

"""Emitters: a program printed for a target, one table of operations each."""

"""Files of numbers. Whatever bytes a file has, it is read right, or refused with a TableError.

parsing.py  what a parser raises, as a sentence; checks that all formats share
csv_file.py  text with commas;  npz.py  NumPy's archives;  parquet.py  Apache's columns
zip_file.py  members of ZIP archives, bounded
atomic.py  files that are complete under their own name, or absent
"""

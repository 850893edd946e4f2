"""Robot files: readers and writers, one file a format."""

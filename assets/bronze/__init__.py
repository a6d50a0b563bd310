"""One file for each source."""

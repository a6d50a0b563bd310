"""The quality report: one page of HTML, from what the checks came to and what the tables' metadata say."""

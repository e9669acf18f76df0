"""Readers of syntax files of statistics programs and of SQL, for what they state of the columns of a table."""

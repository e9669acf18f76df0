"""What populations have lost, and what they may lose. A new database is a file here and a line in `stores`."""

"""The operating system and the libraries: files, permissions, core dumps, imports when they are needed."""

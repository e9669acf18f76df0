"""What a careful reader would object to: warnings, and what the codes of problems mean."""

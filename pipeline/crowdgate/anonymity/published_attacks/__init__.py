"""What published figures of a membership attack mean where members are as rare as they are."""

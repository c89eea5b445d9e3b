"""What those who work on the project need, and nobody who uses it: outside the wheel."""

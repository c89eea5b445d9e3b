"""What the rest of the package does not need to work."""

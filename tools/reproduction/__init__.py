"""What the source documents claim, and what our runs say of it: `invoke report all`."""

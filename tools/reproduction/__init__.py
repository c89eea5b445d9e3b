"""What the source documents claim, and what our runs show: `invoke report all`."""

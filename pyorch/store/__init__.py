"""Results on the disk: committed atomically, sealed, compared."""

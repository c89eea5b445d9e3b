"""What `invoke new-scheme` makes a module of: files with @words@ in the place of names."""

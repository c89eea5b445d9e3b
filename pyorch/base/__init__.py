"""What every room stands on: errors, files, paths, units and the fields of models."""

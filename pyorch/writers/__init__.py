"""The network and the flows of a run in the files of other simulators and tools."""

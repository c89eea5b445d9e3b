"""Readers of other people's files: one file a format, each into plain records of `graphs`.

`door` knows them all; packages add theirs by the entry points "pyorch.readers".
"""

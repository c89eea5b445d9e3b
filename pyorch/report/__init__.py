"""Reports: figures, expectations and one HTML page from the store of an experiment.

Importing this package loads no plotting library; `pyorch.report.write.write_report` does when it is
called.
"""

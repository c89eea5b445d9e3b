"""Figures: a kind is added with @figure in one place. Importing loads no plotting library."""

from pyorch.report.figures.base import MODELS, Drawn, FigureError, FigureModel, figure

__all__ = ["MODELS", "Drawn", "FigureError", "FigureModel", "figure"]

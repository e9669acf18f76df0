"""Forecasts of the next releases: figures of a plan, probabilities of gates, and comparison with other kinds of
release.
"""

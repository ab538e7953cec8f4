"""Noise of gradient estimates."""

"""Stable-Baselines3's learners."""

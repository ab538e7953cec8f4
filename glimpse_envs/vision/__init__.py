"""Scenes, sensors, the gaze, and the base of all picture tasks."""

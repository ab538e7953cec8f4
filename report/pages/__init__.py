"""The text of each published page."""

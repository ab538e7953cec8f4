"""Steps, updates and starts a second."""

"""Steps, images and starts a second."""

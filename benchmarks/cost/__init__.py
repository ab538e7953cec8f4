"""What one read costs."""

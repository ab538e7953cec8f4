"""Tables of cells with addresses."""

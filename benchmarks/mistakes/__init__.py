"""What several runs of one recipe get wrong on the same scenes."""

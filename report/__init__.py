"""Records to pages: everything published is drawn here, and nothing is trained."""

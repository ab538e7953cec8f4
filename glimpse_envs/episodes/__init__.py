"""What the episode loop is made of: actions, dealing, levels, infos, state and display."""

"""Parts of the episode loop: actions, dealing, levels, infos, state and display."""

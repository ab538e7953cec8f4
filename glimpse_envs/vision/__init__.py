"""How pictures are hidden and seen: scenes, sensors and the gaze."""

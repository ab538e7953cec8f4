"""A page on which people play the environments, and watch what agents do there."""

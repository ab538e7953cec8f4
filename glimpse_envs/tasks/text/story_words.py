"""The words of generated stories."""

PEOPLE = ("mary", "john", "sandra", "daniel")
THINGS = ("football", "milk", "apple")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
MOVES = ("went", "moved", "travelled", "journeyed")
TAKES = ("got", "took")
DROPS = ("dropped", "left")
VOCABULARY = ("", "where", "is", "the", "to", *PEOPLE, *MOVES, *TAKES, *DROPS, *THINGS, *PLACES)
WORDS = 5
"""Of the longest statement: "mary went to the garden"."""

"""Three tiny tasks of other families, each one file and one row, which test the contract."""

from glimpse_envs.suite import Row, register

ROWS = {
    row.id: row
    for row in (
        Row("Tiny/FallingBall-v0", "tests.support.tasks.falling_ball:FallingBall", {}),
        Row("Tiny/TwoAnswers-v0", "tests.support.tasks.two_answers:TwoAnswers", {}),
        Row("Tiny/WhoIsWhere-v0", "tests.support.tasks.who_is_where:WhoIsWhere", {}),
    )
}

ODD_CELL = Row("Tiny/OddCell-v0", "tests.support.tasks.odd_cell:OddCell", {})
"""A table, and so with lengths."""

for row in (*ROWS.values(), ODD_CELL):
    register(row.id, task=row.task, **row.kwargs)

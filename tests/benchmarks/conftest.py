"""Fixtures of the tests of tables."""

import pytest

from glimpse_envs.evaluation.record import Record
from tests.support.table_commands import begun, records_of
from tests.support.tables import LONG


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    folder = tmp_path_factory.mktemp("unbroken")
    process = begun(folder, "--workers", "2")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "2 recorded, 0 running, 0 waiting" in out.splitlines()[-1]
    records = records_of(folder)
    assert [record.seed for record in records] == [0, 1]
    assert [record.episodes for record in records] == [LONG.rows[0].episodes] * 2
    return records

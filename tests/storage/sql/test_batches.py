"""Batches: columns by name, checked against the declared ones."""

import re

import pytest

from windlass.core.jobs import outcome
from windlass.core.leases.lease import LeaseRef
from windlass.ids import WorkerId, new_job_id
from windlass.storage.jobs.enqueue import enqueue_params
from windlass.storage.leases.leases import finish_batch
from windlass.storage.mysql.claim import LimitRow, LineRow, PackedJob, RareFields
from windlass.storage.mysql.fast_paths import FAST_PATHS as MYSQL
from windlass.storage.postgres.fast_paths import FAST_PATHS as POSTGRES
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch, Scripts, sql_files
from windlass.storage.sqlite.dialect import driver_dialect


def test_a_column_that_is_left_out_is_null_in_each_row():
    batch = Batch(id=["a", "b"])

    assert list(batch.rows("id", "token")) == [("a", None), ("b", None)]


def test_columns_have_one_length():
    with pytest.raises(ValueError, match="id, token"):
        Batch(id=["a", "b"], token=[1])


def test_a_column_that_is_not_declared_is_refused():
    with pytest.raises(ValueError, match="held has no column tokn"):
        Scripts(driver_dialect()).bind({"held": Batch(id=["a"], tokn=[1])})


def test_tuples_without_a_member_are_an_empty_batch():
    batch = Batch.of_rows(("id", "token"), [])

    assert (len(batch), list(batch.rows("token"))) == (0, [])


def test_a_batch_is_split_by_positions_and_by_a_mask():
    batch = Batch(id=["a", "b", "c"], token=[1, 2, 3])

    assert list(batch.take([2, 0]).rows("id", "token")) == [("c", 3), ("a", 1)]
    assert list(batch.where([False, True, True]).rows("id")) == [("b",), ("c",)]


def test_the_largest_batches_have_every_declared_column():
    lease = LeaseRef(new_job_id(), 1)
    end = outcome.success(lease, result=None, warnings=None, keep=True)

    jobs = enqueue_params([])
    ends = finish_batch(WorkerId("alder"), [end])

    for name, batch in [("jobs", jobs["jobs"]), ("finishes", ends["finishes"])]:
        assert batch.columns.keys() == BATCHES[name].keys()


def test_rows_that_mariadb_reads_from_a_batch_have_its_columns():
    assert set(LineRow._fields) <= BATCHES["lines"].keys()
    assert set(LimitRow._fields) == BATCHES["limits"].keys()


def test_a_packed_job_has_the_fields_that_the_claim_packs():
    text = sql_files("mysql")["claim"].read_text()
    packed = re.search(r"json_array\(:place, (.*?)\) as packed", text, re.DOTALL)[1]
    rare = re.search(r"json_array\((.*?)\)", packed, re.DOTALL)[1]

    outer = re.sub(r"if\(.*json_array\(.*?\)\)", "j.rare", packed, flags=re.DOTALL)

    assert tuple(re.findall(r"j\.(\w+)", rare)) == RareFields._fields
    assert ("place", *re.findall(r"j\.(\w+)", outer)) == PackedJob._fields


@pytest.mark.parametrize(("folder", "fast_paths"), [("mysql", MYSQL), ("postgres", POSTGRES)])
def test_a_fast_path_stands_beside_the_file_of_its_verb(folder, fast_paths):
    assert fast_paths.keys() <= sql_files(folder).keys()

"""The checker of chaos runs notices wrongly counted attempts."""

import pytest

from tests.chaos.checks.database_records import AttemptRow
from tests.chaos.checks.evidence import a_clean_run


@pytest.fixture
def book():
    return a_clean_run()


def test_an_attempt_that_is_not_recorded_is_noticed(book):
    book.attempts = []

    assert "attempts miscounted" in book.broken()


def test_more_attempts_than_allowed_are_noticed(book):
    book.change("job lost once", max_attempts=1)

    assert book.broken() == {"attempts miscounted"}


def test_a_released_attempt_that_was_counted_is_noticed(book):
    book.attempts = [AttemptRow("job lost once", 1, "released")]

    assert book.broken() == {"attempts miscounted"}


def test_an_attempt_that_was_lost_with_others_is_given_back(book):
    book.lose_together("job one", "job two")

    assert book.broken() == set()


def test_an_attempt_that_was_lost_alone_and_given_back_is_noticed(book):
    book.change("job lost once", attempts=1)

    assert book.broken() == {"attempts miscounted"}


def test_a_counted_attempt_that_was_lost_with_others_is_noticed(book):
    book.lose_together("job one", "job two")
    book.change("job one", attempts=2)

    assert book.broken() == {"attempts miscounted"}


def test_invented_neighbours_are_noticed(book):
    book.lose_together("job one", "job two")
    del book.jobs["job two"]
    book.attempts = [row for row in book.attempts if row.job != "job two"]

    assert book.broken() == {"attempts miscounted", "lost"}


def test_an_attempt_lost_twice_by_a_living_worker_is_given_back(book):
    book.acknowledge("job slow")
    for number in (1, 2):
        book.attempts.append(AttemptRow("job slow", number, "lost", worker="alder"))
    for number in (1, 2, 3):
        book.start("job slow", number)
    book.end("job slow", 3)
    book.store("job slow", lease_token=3, attempts=2, worker_deaths=1)

    assert book.broken() == set()


def test_an_uncounted_attempt_that_was_not_lost_is_noticed(book):
    book.attempts = [AttemptRow("job lost once", 1, "failed")]
    book.change("job lost once", attempts=1)

    assert book.broken() == {"attempts miscounted"}


def test_more_dead_workers_than_allowed_are_noticed(book):
    book.change("job lost once", worker_deaths=4)

    assert book.broken() == {"attempts miscounted"}

"""What the catalog needs of a database, and how often it is asked before a user is told.

What passes by itself (a restart, a lock, a deadlock) is asked again; the rest becomes one sentence.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_delay,
    wait_random_exponential,
)

from lakehouse.storage.errors import CatalogError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.exc import SQLAlchemyError

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Database(Protocol):
    """A database that can hold the catalog."""

    @property
    def label(self) -> str:
        """What messages call it; no password is in it."""

    @property
    def engine(self) -> "Engine":
        """Where its tables are asked for."""

    def exists(self) -> bool:
        """Whether it holds the catalog's tables, be they empty."""

    def create(self, refuse: Callable[[], None]) -> None:
        """Make the catalog's tables once, however many processes ask for it together.

        Args:
            refuse: raises if there must have been a catalog before.
        """

    def passes(self, error: "SQLAlchemyError") -> bool:
        """Whether the same question may well be answered a little later."""

    def may_have_committed(self, error: "SQLAlchemyError") -> bool:
        """Whether what a commit that ended in this error wrote may be there."""

    def explain(self, error: "SQLAlchemyError") -> str:
        """What happened and what to do, in one sentence."""


def ask(database: Database, question: Callable[[], Answer], patience_seconds: float) -> Answer:
    """Ask until there is an answer, as long as what prevents it may pass.

    Raises:
        CatalogError: the database does not answer.
        IntegrityError: what was to be inserted is there.
    """
    from sqlalchemy.exc import IntegrityError, SQLAlchemyError

    def again(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        assert isinstance(error, SQLAlchemyError)
        logger.warning("%s Trying again (attempt %s).", database.explain(error), state.attempt_number)

    retrying = Retrying(
        retry=retry_if_exception(
            lambda error: isinstance(error, SQLAlchemyError) and database.passes(error),
        ),
        stop=stop_after_delay(patience_seconds),
        wait=wait_random_exponential(multiplier=0.1, max=5),
        before_sleep=again,
        reraise=True,
    )
    try:
        return retrying(question)
    except IntegrityError:
        raise
    except SQLAlchemyError as error:
        raise CatalogError(database.explain(error)) from error

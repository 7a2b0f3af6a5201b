# Made from _async/calls.py by: python scripts/make_sync.py
"""Sends requests, and repeats them while that may help."""

from __future__ import annotations

import logging
import random
import time

from .. import _retry
from .._http import Answer, Request
from .._settings import Settings
from ..errors import HalyardConnectionError
from .port import Port, pause

_log = logging.getLogger("halyard")


class Calls:
    """The way to one server. Every call of a client goes through here."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.port = Port(settings)

    def send(self, request: Request) -> Answer:
        """Sends a request, again and again while that may help; an error answer is raised."""
        answer = self.exchange(request)
        if not answer.is_success:
            raise answer.error()
        return answer

    def exchange(self, request: Request) -> Answer:
        """Sends a request, again and again while that may help.

        Every complete answer counts, whatever its status. Raises HalyardConnectionError.
        """
        give_up = time.monotonic() + self.settings.retry_for
        repeats = 0
        maybe_done = False
        while True:
            answer = trouble = None
            try:
                answer = self.port.exchange(request)
                if not _retry.is_temporary(answer.status):
                    answer.maybe_done = maybe_done
                    return answer
            except HalyardConnectionError as error:
                trouble = error
            asked = None if answer is None else answer.retry_after
            seconds = _retry.pause(repeats + 1, asked, random.random())
            # The wait for an answer that did not come may have used up all the time for repeats.
            is_silence = trouble is not None and trouble._is_silence
            once_more = is_silence and repeats == 0 and self._repeats_silence(request)
            if time.monotonic() + seconds > give_up and not once_more:
                if answer is None:
                    assert trouble is not None
                    raise trouble
                answer.maybe_done = maybe_done
                return answer
            _log.debug("sending %s %s again in %.3f s", request.method, request.target, seconds)
            maybe_done = maybe_done or answer is None or answer.may_be_done
            pause(seconds)
            repeats += 1

    def _repeats_silence(self, request: Request) -> bool:
        """Whether a request that got no answer in its time is sent a second time.

        One that does not wait for something by itself is, unless the caller wants no repeats.
        """
        return not request.wait and self.settings.retry_for > 0

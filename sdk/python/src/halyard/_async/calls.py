"""Sends requests, and repeats them while that may help."""

from __future__ import annotations

import logging
import random
import time

from .. import _retry
from .._http import Answer, Request
from .._settings import Settings
from ..errors import HalyardConnectionError
from .port import AsyncPort, pause

_log = logging.getLogger("halyard")


class AsyncCalls:
    """The way to one server. Every call of a client goes through here."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.port = AsyncPort(settings)

    async def send(self, request: Request) -> Answer:
        """Sends a request, again and again while that may help; an error answer is raised."""
        answer = await self.exchange(request)
        if not answer.is_success:
            raise answer.error()
        return answer

    async def exchange(self, request: Request) -> Answer:
        """Sends a request, again and again while that may help.

        Every complete answer counts, whatever its status. Raises HalyardConnectionError.
        """
        give_up = time.monotonic() + self.settings.retry_for
        repeats = 0
        while True:
            answer = trouble = None
            try:
                answer = await self.port.exchange(request)
                if not _retry.is_temporary(answer.status):
                    answer.repeats = repeats
                    return answer
            except HalyardConnectionError as error:
                trouble = error
            asked = None if answer is None else answer.retry_after
            seconds = _retry.pause(repeats + 1, asked, random.random())
            if time.monotonic() + seconds > give_up:
                if answer is None:
                    assert trouble is not None
                    raise trouble
                answer.repeats = repeats
                return answer
            _log.debug("sending %s %s again in %.3f s", request.method, request.target, seconds)
            await pause(seconds)
            repeats += 1

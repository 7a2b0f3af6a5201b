"""Answers that send the caller elsewhere, which no call of this API does."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_STATUSES = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def redirection(status: int, url: str, location: str | None) -> str | None:
    """What to say about an answer with this status to a call of `url`; None when it is none.

    Of the target no more is told than its scheme and host: the rest may hold secrets, and is of no
    use.
    """
    if status not in _STATUSES:
        return None
    target = None if location is None else _origin(location, url)
    if target is None:
        return "it redirects to nowhere that can be read"
    if target == _origin(url, url):
        page = f"another page of {target}"
        return f"it redirects to {page}, so what answers there is no Halyard server"
    return f"it redirects to {target}; give that as the server's address"


def _origin(url: str, base: str) -> str | None:
    """Scheme, host and port, unless that is the scheme's own; None for what is no such address."""
    try:
        parts = urlsplit(urljoin(base, url))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
        return None
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")

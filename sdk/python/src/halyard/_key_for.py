"""Keys for the outside effects of a job: the same in every attempt, another for each name."""

from __future__ import annotations

import base64
import hashlib

#: Characters of the digest: 130 of its 256 bits.
_DIGEST_CHARS = 26


def key_for(job_id: str, name: str) -> str:
    """The id, `_`, and 26 characters of lower-case RFC 4648 base32 of SHA-256(name in UTF-8)."""
    digest = base64.b32encode(hashlib.sha256(name.encode()).digest())
    return f"{job_id}_{digest[:_DIGEST_CHARS].decode('ascii').lower()}"

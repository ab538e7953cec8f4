"""What the server refuses: other hosts and origins, and malformed messages."""

import json
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 4096
"""Maximum length of a message."""

HEADERS = (
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Refused(Exception):
    """A request that is refused, with the status of the answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Guard:
    """Lets through what this machine's own browser asks of this page.

    The name in the Host header must be of this machine, as otherwise another site's name could be
    pointed here (DNS rebinding); an Origin must be the page's own, as otherwise another site's page
    could send messages.

    Args:
        app: what is guarded.
        port: on which it listens.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._problem(Headers(scope=scope))
        if problem:
            await JSONResponse({"error": problem}, status_code=403)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self._app(scope, receive, send_guarded)

    def _problem(self, headers: Headers) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            hosts = ", ".join(sorted(self._hosts))
            return (
                f"the host must be one of {hosts}; it is {host!r:.80}: a port that is forwarded "
                "needs the same number at both ends"
            )
        if origin is not None and origin != f"http://{host}":
            return f"the origin must be http://{host}; it is {origin!r:.80}"
        return ""


async def read_message(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request carries.

    Raises:
        Refused: it is not a JSON object, or too long.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise Refused(415, f"a message must be application/json; it is {kind!r:.80}")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise Refused(413, f"a message must be at most {MOST_BYTES} bytes long")
    try:
        message = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise Refused(400, "the message is not JSON") from None
    if not isinstance(message, dict):
        raise Refused(400, f"a message must be a JSON object; it is {message!r:.80}")
    return message

"""Access control of the viewer's page: only requests for this computer, made by the page itself.

Another web page can open a connection to any address that the browser reaches, this computer's own
included. The browser then sends that page's *Origin*. Or its domain resolves to this computer (DNS
rebinding): then the *Host* is that domain. Both headers are checked before viser answers. A request
whose path begins with a key that only a notebook has may have any headers.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from kinetree.errors import KinetreeError

SERVER_MODULE = "viser.infra._infra"
"""The module in which viser starts its server."""
STARTING = threading.Lock()


def refusal(
    hosts: Sequence[str], origins: Sequence[str], local: Collection[str], allowed: Collection[str]
) -> str | None:
    """The reason for refusing a request; None if it is answered.

    Arguments:
        hosts: its Host headers; exactly one is valid.
        origins: its Origin headers: none if no page made the request.
        local: names of this computer; any numeric address is valid, too: DNS is not involved.
        allowed: names of other hosts, whose pages are answered.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return "a request has one Host and at most one Origin"
    name = _name(f"//{hosts[0]}")
    if name is None or not (name in local or name in allowed or _is_address(name)):
        return f"the viewer does not answer requests for host {hosts[0]!r}: name it with allow="
    for origin in origins:
        page = _name(origin)
        same = page is not None and urlsplit(origin).netloc.lower() == hosts[0].lower()
        if not (same or page in allowed):
            return f"the viewer does not answer pages of {origin!r}: name its host with allow="
    return None


def start(viser: Any, allowed: Collection[str], key: str, host: str, **options: Any) -> Any:
    """viser's server, which answers only requests for this computer by its own page.

    viser has no option for this. It passes the package websockets a function that sees each request
    first; that function is wrapped here.

    Arguments:
        viser: the module.
        allowed: names of other hosts, whose pages are answered, too.
        key: requests for /key are answered for any host and origin.
        host: the address to listen on.
        options: of the server.
    """
    import websockets.asyncio.server as websockets

    checked, begin = [], websockets.serve
    local = {"localhost", socket.gethostname().lower(), host.lower()}
    others = {name.lower() for name in allowed}

    def serve(*arguments: Any, process_request: Any = None, **settings: Any) -> Any:
        if getattr(process_request, "__module__", None) != SERVER_MODULE:  # not viser's server
            return begin(*arguments, process_request=process_request, **settings)

        def process(connection: Any, request: Any) -> Any:
            headers = request.headers
            if without_key(request, key):
                return process_request(connection, request)
            why = refusal(headers.get_all("Host"), headers.get_all("Origin"), local, others)
            if why is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            return process_request(connection, request)

        checked.append(process)
        return begin(*arguments, process_request=process, **settings)

    with STARTING:
        websockets.serve = serve  # type: ignore[assignment,misc]
        try:
            server = viser.ViserServer(host=host, **options)
        finally:
            websockets.serve = begin  # type: ignore[misc]
    if not checked:
        server.stop()
        raise KinetreeError(
            f"viser {viser.__version__} starts its server in an unknown way, so other web pages "
            "could read the scene: install another release"
        )
    return server


def without_key(request: Any, key: str) -> bool:
    """Remove the key from the start of a request's path; whether it was there.

    Arguments:
        request: of the package websockets.
        key: the first word of the path.
    """
    path, mark, query = request.path.partition("?")
    first, _, rest = path.lstrip("/").partition("/")
    if not secrets.compare_digest(first.encode(), key.encode()):
        return False
    request.path = f"/{rest}{mark}{query}"
    return True


def check_address(host: str) -> None:
    """Refuse an address that this computer does not have; the server would hang.

    Arguments:
        host: the address to listen on.
    """
    try:
        family, _, _, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.bind(place)
    except OSError as e:
        raise KinetreeError(
            f"host {host!r} is not an address of this computer ({e.strerror}); use 127.0.0.1 for "
            "this computer only, 0.0.0.0 for all interfaces"
        ) from None


def _name(url: str) -> str | None:
    """The host of an address, in lower case; None if there is none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

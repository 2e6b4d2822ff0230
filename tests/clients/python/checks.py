"""What the calls have in common: values that are kept from one for the next, and the check of an answer."""

import atexit
import json
import os
import time
from typing import Any, Callable

from client.client import AuthenticatedClient, Client
from client.types import Response

# Values of earlier calls, by name.
kept: dict[str, str] = json.loads(os.environ["RECADO_KEPT"])
called: list[str] = []
atexit.register(lambda: print(len(called), "calls"))


def client(token: str | None) -> Any:
    """A client with this token."""
    headers = {"X-Service-Secret": kept["secret"]}
    if token is None:
        return Client(base_url=kept["base"], headers=headers)
    return AuthenticatedClient(base_url=kept["base"], token=token)


def at(answer: Response[Any], where: str) -> Any:
    """The value at `data.0.id` of an answer, or nothing."""
    value = json.loads(answer.content)
    for part in where.split("."):
        try:
            value = value[int(part) if part.isdigit() else part]
        except (KeyError, IndexError):
            return None
    return value


def keep(name: str, answer: Response[Any], where: str) -> None:
    """Keeps a value. Of the link to a file its last part is kept."""
    value = at(answer, where)
    assert value, f"there is no {name} in the answer"
    kept[name] = value.rsplit("/", 1)[-1] if name == "media_url" else value


def checked(name: str, answer: Response[Any], statuses: list[int] | None, is_json: bool) -> None:
    """Fails unless the status is accepted and an answer with a body has been read."""
    status = int(answer.status_code)
    accepted = status in statuses if statuses else status in (200, 201)
    assert accepted, f"{name}: {status} {answer.content.decode()}"
    assert not is_json or answer.parsed is not None, f"{name}: no answer was read"
    called.append(name)


def again(
    on: int | None, until: str | None, call: Callable[[], Response[Any]]
) -> Response[Any]:
    """Calls again while the status is `on`, or until the answer has something."""
    for _ in range(100):
        answer = call()
        if int(answer.status_code) != on and (until is None or at(answer, until)):
            break
        time.sleep(0.1)
    return answer

"""What every client script prints: one JSON line with what the client itself made of its calls."""

import json
import os
from collections.abc import Callable

URL = os.environ["TRIVIUM_URL"]
KEY = os.environ["TRIVIUM_API_KEY"]
MODEL = os.environ["TRIVIUM_MODEL"]
BROKEN_MODEL = os.environ.get("TRIVIUM_BROKEN_MODEL", "")
REFUSING_MODEL = os.environ.get("TRIVIUM_REFUSING_MODEL", "")
FAILING_MODEL = os.environ.get("TRIVIUM_FAILING_MODEL", "")
UNKNOWN_MODEL = "acme/unknown"
HELLO = "Hello, who are you?"
WEATHER = "Use get_weather: what is the weather in Paris?"
TWO_CITIES = "Use get_weather in parallel for Paris and Rome."
DESCRIBE = "Describe a city."
LOOK = "What is this?"
# An image of one pixel.
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"Sunny in {city}"


class Report:
    """Collects the streamed text, the tool call and the tokens as the client's own objects tell them."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.tools: list[str] = []
        self.input = 0
        self.output = 0
        self.errors: dict[str, str | None] = {}
        self.shown: list[str] = []

    def chunk(self, text: str | None) -> None:
        if text:
            self.chunks.append(text)

    def tool(self, name: str | None) -> None:
        if name:
            self.tools.append(name)

    def tokens(self, input_tokens: int | None, output_tokens: int | None) -> None:
        self.input += input_tokens or 0
        self.output += output_tokens or 0

    def show_case(self, name: str, holds: bool, seen: object) -> None:
        """Something that the client must have shown; what it showed instead is printed."""
        assert holds, f"{name}: {seen}"
        self.shown.append(name)

    def decline(self, name: str, call: Callable[[], str]) -> None:
        """A model that will not answer: the client tells it in words of its own, or by an error."""
        try:
            told = call()
        except Exception as error:
            told = type(error).__name__
        self.show_case(name, told != "" and "simulator speaking" not in told, told)
        self.errors[name] = told

    def error(self, name: str, call: Callable[[], object]) -> None:
        """Calls, and keeps the name of the error that the client makes of it."""
        self.errors[name] = None
        try:
            call()
        except Exception as error:
            self.errors[name] = type(error).__name__

    def show(self) -> None:
        print(
            json.dumps(
                {
                    "text": "".join(self.chunks),
                    "chunks": len(self.chunks),
                    "tools": self.tools,
                    "input": self.input,
                    "output": self.output,
                    "shown": self.shown,
                    **self.errors,
                }
            )
        )

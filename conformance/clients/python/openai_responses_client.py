import json

from openai import OpenAI
from pydantic import BaseModel
from report import (
    BROKEN_MODEL,
    DESCRIBE,
    FAILING_MODEL,
    HELLO,
    KEY,
    LOOK,
    MODEL,
    PIXEL,
    REFUSING_MODEL,
    TWO_CITIES,
    UNKNOWN_MODEL,
    URL,
    WEATHER,
    Report,
    get_weather,
)

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}


class City(BaseModel):
    name: str
    inhabitants: int


report = Report()
client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
options = {"max_output_tokens": 2000, "reasoning": {"effort": "low", "summary": "auto"}}


def stream(model: str) -> None:
    with client.responses.stream(model=model, input=HELLO, **options) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                report.chunk(event.delta)
        usage = events.get_final_response().usage
        report.tokens(usage.input_tokens, usage.output_tokens)


def count(answer):
    report.tokens(answer.usage.input_tokens, answer.usage.output_tokens)
    return answer


def run_tools(asked: str, ask, **before):
    """A loop over stored answers: only what is new is sent."""
    answer = ask(input=asked, tools=[TOOL], **before)
    outputs = []
    for item in answer.output:
        if item.type == "function_call":
            report.tool(item.name)
            city = json.loads(item.arguments)["city"]
            outputs.append({"type": "function_call_output", "call_id": item.call_id, "output": get_weather(city)})
    ended = ask(input=outputs, previous_response_id=answer.id, tools=[TOOL])
    assert "Sunny in" in ended.output_text, ended.output_text
    return len(outputs), {"previous_response_id": ended.id}


def create(**request):
    return count(client.responses.create(model=MODEL, **request, **options))


def stream_whole(**request):
    with client.responses.stream(model=MODEL, **request, **options) as events:
        for _ in events:
            pass
        return count(events.get_final_response())


def fail_streamed() -> None:
    for _ in client.responses.create(model=FAILING_MODEL, input=HELLO, stream=True):
        pass


def break_off() -> None:
    with client.responses.stream(model=BROKEN_MODEL, input=HELLO) as events:
        for _ in events:
            pass
        events.get_final_response()


def told_by(answer) -> str:
    refusals = [part.refusal for item in answer.output for part in item.content if part.type == "refusal"]
    return " ".join(refusals) or f"{answer.status}: {answer.incomplete_details and answer.incomplete_details.reason}"


def decline_streamed() -> str:
    last = None
    for event in client.responses.create(model=REFUSING_MODEL, input=HELLO, stream=True):
        last = event
    return told_by(last.response)


stream(MODEL)
for kind, ask in (("", create), (", streamed", stream_whole)):
    called, before = run_tools(WEATHER, ask)
    report.show_case(f"a tool{kind}", called == 1, called)
    called, before = run_tools(TWO_CITIES, ask, **before)
    report.show_case(f"tools in parallel{kind}", called == 2, called)
    report.show_case(f"thinking over turns{kind}", run_tools(WEATHER, ask, **before)[0] == 1, before)
for name, parsed in (
    ("structured output", count(client.responses.parse(model=MODEL, input=DESCRIBE, text_format=City, **options))),
    ("structured output, streamed", stream_whole(input=DESCRIBE, text_format=City)),
):
    report.show_case(name, isinstance(parsed.output_parsed, City), parsed)
content = [{"type": "input_text", "text": LOOK}, {"type": "input_image", "image_url": PIXEL, "detail": "auto"}]
for name, ask in (("image", create), ("image, streamed", stream_whole)):
    seen = ask(input=[{"role": "user", "content": content}]).output_text
    report.show_case(name, "image" in seen.lower(), seen)
report.decline("refusal", lambda: told_by(client.responses.create(model=REFUSING_MODEL, input=HELLO)))
report.decline("refusal, streamed", decline_streamed)
report.error("broken", break_off)
report.error("refused", lambda: client.responses.create(model=UNKNOWN_MODEL, input=HELLO))
report.error("failed", lambda: client.responses.create(model=FAILING_MODEL, input=HELLO))
report.show_case("error by its kind", report.errors["failed"] == "RateLimitError", report.errors)
report.error("failed, streamed", fail_streamed)
report.show_case("error by its kind, streamed", report.errors["failed, streamed"] == "RateLimitError", report.errors)
report.show()

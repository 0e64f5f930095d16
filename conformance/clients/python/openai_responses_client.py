from openai import OpenAI
from pydantic import BaseModel
from report import BROKEN_MODEL, HELLO, KEY, MODEL, UNKNOWN_MODEL, URL, WEATHER, Report, get_weather

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


def run_tools(asked: str) -> None:
    """A loop over stored answers: only what is new is sent."""
    answer = client.responses.create(model=MODEL, input=asked, tools=[TOOL], **options)
    report.tokens(answer.usage.input_tokens, answer.usage.output_tokens)
    outputs = []
    for item in answer.output:
        if item.type == "function_call":
            report.tool(item.name)
            outputs.append({"type": "function_call_output", "call_id": item.call_id, "output": get_weather("Paris")})
    ended = client.responses.create(
        model=MODEL, input=outputs, previous_response_id=answer.id, tools=[TOOL], **options
    )
    assert "Sunny in Paris" in ended.output_text, ended.output_text
    report.tokens(ended.usage.input_tokens, ended.usage.output_tokens)


def break_off() -> None:
    with client.responses.stream(model=BROKEN_MODEL, input=HELLO) as events:
        for _ in events:
            pass
        events.get_final_response()


stream(MODEL)
run_tools(WEATHER)
run_tools("Use get_weather in parallel for Paris and Rome.")
assert report.tools == ["get_weather"] * 3, report.tools
parsed = client.responses.parse(model=MODEL, input="Describe a city.", text_format=City, **options)
assert isinstance(parsed.output_parsed, City), parsed
report.tokens(parsed.usage.input_tokens, parsed.usage.output_tokens)
report.error("broken", break_off)
report.error("refused", lambda: client.responses.create(model=UNKNOWN_MODEL, input=HELLO))
report.show()

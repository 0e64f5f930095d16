from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
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


class City(BaseModel):
    """A city."""

    name: str
    inhabitants: int


def client(model: str, **more) -> ChatOpenAI:
    return ChatOpenAI(
        model=model,
        base_url=f"{URL}/v1",
        api_key=KEY,
        max_tokens=2000,
        max_retries=0,
        use_responses_api=True,
        **more,
    )


report = Report()
thinking = {"reasoning": {"effort": "low", "summary": "auto"}}


def count(message, model=MODEL):
    if model == MODEL:
        report.tokens(message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])
    return message


def whole(model, messages):
    return count(model.invoke(messages), model_of(model))


def streamed(model, messages, see=lambda chunk: None):
    answer = None
    for chunk in model.stream(messages):
        see(chunk.text)
        answer = chunk if answer is None else answer + chunk
    return count(answer, model_of(model))


def model_of(model) -> str:
    return getattr(model, "bound", model).model_name


def run_tools(asked: str, ask, before=()):
    """The number of calls, and the history with them."""
    tooled = client(MODEL, **thinking).bind_tools([get_weather])
    history = [*before, HumanMessage(asked)]
    answer = ask(tooled, history)
    results = []
    for call in answer.tool_calls:
        report.tool(call["name"])
        results.append(ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"]))
    history += [answer, *results]
    ended = ask(tooled, history)
    assert "Sunny in" in ended.text, ended
    return len(results), [*history, ended]


def told_by(message) -> str:
    metadata = message.response_metadata
    blocks = message.content if isinstance(message.content, list) else []
    refusals = [block["refusal"] for block in blocks if isinstance(block, dict) and block.get("type") == "refusal"]
    said = message.additional_kwargs.get("refusal") or " ".join(refusals)
    return said or f"{metadata.get('status')}: {metadata.get('incomplete_details')}"


streamed(client(MODEL, **thinking), HELLO, report.chunk)
look = HumanMessage([{"type": "text", "text": LOOK}, {"type": "image_url", "image_url": {"url": PIXEL}}])
for kind, ask in (("", whole), (", streamed", streamed)):
    called, history = run_tools(WEATHER, ask)
    report.show_case(f"a tool{kind}", called == 1, report.tools)
    called, history = run_tools(TWO_CITIES, ask, history)
    report.show_case(f"tools in parallel{kind}", called == 2, report.tools)
    report.show_case(f"thinking over turns{kind}", run_tools(WEATHER, ask, history)[0] == 1, report.tools)
    seen = ask(client(MODEL, **thinking), [look]).text
    report.show_case(f"image{kind}", "image" in seen.lower(), seen)
    report.decline(f"refusal{kind}", lambda ask=ask: told_by(ask(client(REFUSING_MODEL), HELLO)))
structured = client(MODEL, **thinking).with_structured_output(City, include_raw=True)
described = structured.invoke(DESCRIBE)
count(described["raw"])
report.show_case("structured output", isinstance(described["parsed"], City), described)
pieces = {}
for piece in structured.stream(DESCRIBE):
    for name, value in piece.items():
        pieces[name] = pieces[name] + value if name == "raw" and name in pieces else value
count(pieces["raw"])
report.show_case("structured output, streamed", isinstance(pieces["parsed"], City), pieces)
report.error("broken", lambda: list(client(BROKEN_MODEL).stream(HELLO)))
report.error("refused", lambda: client(UNKNOWN_MODEL).invoke(HELLO))
report.error("failed", lambda: client(FAILING_MODEL).invoke(HELLO))
report.show_case("error by its kind", "RateLimit" in report.errors["failed"], report.errors)
report.error("failed, streamed", lambda: list(client(FAILING_MODEL).stream(HELLO)))
report.show_case("error by its kind, streamed", "RateLimit" in report.errors["failed, streamed"], report.errors)
report.show()

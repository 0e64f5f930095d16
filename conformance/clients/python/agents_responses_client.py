import asyncio

from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
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
)
from report import get_weather as weather

report = Report()
thinking = ModelSettings(max_tokens=2000, reasoning=Reasoning(effort="low", summary="auto"))


class City(BaseModel):
    name: str
    inhabitants: int


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    report.tool("get_weather")
    return weather(city)


def agent(model: str, **more) -> Agent:
    settings = {"model_settings": thinking} if model == MODEL else {"model_settings": ModelSettings()}
    return Agent(name="assistant", model=model, **settings, **more)


async def stream(model: str, asked=HELLO, **more):
    streamed = Runner.run_streamed(agent(model, **more), asked)
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            if model == MODEL and asked == HELLO:
                report.chunk(event.data.delta)
    return count(streamed, model)


async def whole(model: str, asked=HELLO, **more):
    return count(await Runner.run(agent(model, **more), asked), model)


def count(ended, model: str):
    usage = ended.context_wrapper.usage
    if model == MODEL:
        report.tokens(usage.input_tokens, usage.output_tokens)
    return ended


def run(work):
    """Each event loop has a client of its own."""
    set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0))
    return asyncio.run(work)


def after(ended, asked: str) -> list:
    """The next turn of a conversation."""
    return [*ended.to_input_list(), {"role": "user", "content": asked}]


def told_by(ended) -> str:
    said = [part for answer in ended.raw_responses for item in answer.output for part in getattr(item, "content", [])]
    refusals = [part.refusal for part in said if part.type == "refusal"]
    return " ".join(refusals) or str(ended.final_output) or "no words at all"


async def main():
    await stream(MODEL)
    image = [{"type": "input_text", "text": LOOK}, {"type": "input_image", "image_url": PIXEL, "detail": "auto"}]
    for kind, ask in (("", whole), (", streamed", stream)):
        ended = await ask(MODEL, WEATHER, tools=[get_weather])
        report.show_case(f"a tool{kind}", "Sunny in Paris" in ended.final_output, ended)
        called = len(report.tools)
        ended = await ask(MODEL, after(ended, TWO_CITIES), tools=[get_weather])
        report.show_case(f"tools in parallel{kind}", len(report.tools) == called + 2, report.tools)
        ended = await ask(MODEL, after(ended, WEATHER), tools=[get_weather])
        report.show_case(f"thinking over turns{kind}", len(report.tools) == called + 3, report.tools)
        described = await ask(MODEL, DESCRIBE, output_type=City)
        report.show_case(f"structured output{kind}", isinstance(described.final_output, City), described)
        seen = await ask(MODEL, [{"role": "user", "content": image}])
        report.show_case(f"image{kind}", "image" in seen.final_output.lower(), seen)


set_tracing_disabled(True)
run(main())
report.decline("refusal", lambda: told_by(run(whole(REFUSING_MODEL))))
report.decline("refusal, streamed", lambda: told_by(run(stream(REFUSING_MODEL))))
report.error("broken", lambda: run(stream(BROKEN_MODEL)))
report.error("refused", lambda: run(stream(UNKNOWN_MODEL.replace("/", "-"))))
report.error("failed", lambda: run(whole(FAILING_MODEL)))
report.show_case("error by its kind", report.errors["failed"] == "RateLimitError", report.errors)
report.error("failed, streamed", lambda: run(stream(FAILING_MODEL)))
report.show_case("error by its kind, streamed", report.errors["failed, streamed"] == "RateLimitError", report.errors)
report.show()

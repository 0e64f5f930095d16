import asyncio

from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from report import BROKEN_MODEL, HELLO, KEY, MODEL, UNKNOWN_MODEL, URL, WEATHER, Report
from report import get_weather as weather

report = Report()
thinking = ModelSettings(max_tokens=2000, reasoning=Reasoning(effort="low", summary="auto"))


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    report.tool("get_weather")
    return weather(city)


def agent(model: str, **more) -> Agent:
    settings = {"model_settings": thinking} if model == MODEL else {"model_settings": ModelSettings()}
    return Agent(name="assistant", model=model, **settings, **more)


async def stream(model: str):
    streamed = Runner.run_streamed(agent(model), HELLO)
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            if model == MODEL:
                report.chunk(event.data.delta)
    return streamed


async def main():
    streamed = await stream(MODEL)
    ended = await Runner.run(agent(MODEL, tools=[get_weather]), WEATHER)
    for run in (streamed, ended):
        usage = run.context_wrapper.usage
        report.tokens(usage.input_tokens, usage.output_tokens)


set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0))
asyncio.run(main())
set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0))
report.error("broken", lambda: asyncio.run(stream(BROKEN_MODEL)))
set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0))
report.error("refused", lambda: asyncio.run(stream(UNKNOWN_MODEL.replace("/", "-"))))
report.show()

import asyncio

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from report import HELLO, KEY, MODEL, URL, WEATHER, Report
from report import get_weather as weather

report = Report()


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    report.tool("get_weather")
    return weather(city)


async def main() -> None:
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel(model=MODEL, openai_client=AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY))
    settings = ModelSettings(max_tokens=400, include_usage=True)
    talker = Agent(name="talker", model=model, model_settings=settings)
    streamed = Runner.run_streamed(talker, HELLO)
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            report.chunk(event.data.delta)
    tooled = Agent(name="tooled", model=model, model_settings=settings, tools=[get_weather])
    ended = await Runner.run(tooled, WEATHER)
    for run in (streamed, ended):
        usage = run.context_wrapper.usage
        report.tokens(usage.input_tokens, usage.output_tokens)


asyncio.run(main())
report.show()

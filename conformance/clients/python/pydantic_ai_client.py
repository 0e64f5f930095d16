import asyncio
import os

from pydantic_ai import Agent
from report import HELLO, KEY, MODEL, URL, WEATHER, Report
from report import get_weather as weather

report = Report()


def model():
    match os.environ["PYDANTIC_AI_PROVIDER"]:
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(MODEL, provider=GoogleProvider(api_key=KEY, base_url=URL))
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(MODEL, provider=AnthropicProvider(api_key=KEY, base_url=URL))
        case protocol:
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            provider = OpenAIProvider(base_url=f"{URL}/v1", api_key=KEY)
            return (OpenAIResponsesModel if protocol == "openai-responses" else OpenAIChatModel)(MODEL, provider=provider)


async def main() -> None:
    talker = Agent(model(), model_settings={"max_tokens": 400})
    async with talker.run_stream(HELLO) as streamed:
        async for text in streamed.stream_text(delta=True, debounce_by=None):
            report.chunk(text)
    tooled = Agent(model(), model_settings={"max_tokens": 400})

    @tooled.tool_plain
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        report.tool("get_weather")
        return weather(city)

    ended = await tooled.run(WEATHER)
    for run in (streamed, ended):
        usage = run.usage() if callable(run.usage) else run.usage
        report.tokens(usage.input_tokens, usage.output_tokens)


asyncio.run(main())
report.show()

from report import HELLO, KEY, MODEL, URL, WEATHER, Report
from report import get_weather as weather
from strands import Agent, tool
from strands.models.openai import OpenAIModel

report = Report()


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    report.tool("get_weather")
    return weather(city)


def model() -> OpenAIModel:
    client = {"api_key": KEY, "base_url": f"{URL}/v1"}
    return OpenAIModel(client_args=client, model_id=MODEL, params={"max_tokens": 400})


talker = Agent(model=model(), callback_handler=lambda **event: report.chunk(event.get("data")))
tooled = Agent(model=model(), tools=[get_weather], callback_handler=None)
for result in (talker(HELLO), tooled(WEATHER)):
    usage = result.metrics.accumulated_usage
    report.tokens(usage["inputTokens"], usage["outputTokens"])
report.show()

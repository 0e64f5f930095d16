from google import genai
from google.genai import types
from report import HELLO, KEY, MODEL, URL, WEATHER, Report
from report import get_weather as weather

report = Report()
client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))


def count(usage) -> None:
    report.tokens(usage.prompt_token_count, usage.candidates_token_count + (usage.thoughts_token_count or 0))


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    report.tool("get_weather")
    return weather(city)


limit = {"max_output_tokens": 400}
last = None
for chunk in client.models.generate_content_stream(model=MODEL, contents=HELLO, config=limit):
    report.chunk(chunk.text)
    last = chunk.usage_metadata or last
count(last)
# A chat whose functions the SDK would call by itself; here each of its answers is counted, so it is not left to it.
silent = types.AutomaticFunctionCallingConfig(disable=True)
chat = client.chats.create(model=MODEL, config={**limit, "tools": [get_weather], "automatic_function_calling": silent})
answer = chat.send_message(WEATHER)
count(answer.usage_metadata)
results = [
    types.Part.from_function_response(name=call.name, response={"result": get_weather(**call.args)})
    for call in answer.function_calls
]
ended = chat.send_message(results)
count(ended.usage_metadata)
assert "Sunny in Paris" in ended.text, ended
report.show()

import os

# Its price list comes with it; the newer one would be fetched from the network at every start.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from report import HELLO, KEY, MODEL, URL, WEATHER, Report

report = Report()
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
route = os.environ["LITELLM_ROUTE"]
base = {"openai": f"{URL}/v1", "anthropic": URL, "gemini": f"{URL}/v1beta"}[route]
options = {"model": f"{route}/{MODEL}", "api_base": base, "api_key": KEY, "max_tokens": 400}
for chunk in litellm.completion(
    messages=[{"role": "user", "content": HELLO}], stream=True, stream_options={"include_usage": True}, **options
):
    if chunk.choices:
        report.chunk(chunk.choices[0].delta.content)
    usage = getattr(chunk, "usage", None)
    if usage:
        report.tokens(usage.prompt_tokens, usage.completion_tokens)
answer = litellm.completion(messages=[{"role": "user", "content": WEATHER}], tools=[TOOL], **options)
for call in answer.choices[0].message.tool_calls or []:
    report.tool(call.function.name)
report.tokens(answer.usage.prompt_tokens, answer.usage.completion_tokens)
report.show()

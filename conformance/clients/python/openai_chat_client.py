from openai import OpenAI
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
report = Report()
client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
options = {"model": MODEL, "max_completion_tokens": 400}
hello = [{"role": "user", "content": HELLO}]
with client.chat.completions.stream(messages=hello, stream_options={"include_usage": True}, **options) as events:
    for event in events:
        if event.type == "content.delta":
            report.chunk(event.delta)
    usage = events.get_final_completion().usage
    report.tokens(usage.prompt_tokens, usage.completion_tokens)
messages = [{"role": "user", "content": WEATHER}]
for _ in range(2):
    answer = client.chat.completions.create(messages=messages, tools=[TOOL], **options)
    report.tokens(answer.usage.prompt_tokens, answer.usage.completion_tokens)
    said = answer.choices[0].message
    messages.append(said)
    for call in said.tool_calls or []:
        report.tool(call.function.name)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": get_weather("Paris")})
assert "Sunny in Paris" in said.content, said
report.show()

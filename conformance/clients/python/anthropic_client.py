from anthropic import Anthropic
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

TOOL = {
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
report = Report()
client = Anthropic(base_url=URL, api_key=KEY, max_retries=0)
options = {"model": MODEL, "max_tokens": 400}
with client.messages.stream(messages=[{"role": "user", "content": HELLO}], **options) as stream:
    for text in stream.text_stream:
        report.chunk(text)
    usage = stream.get_final_message().usage
    report.tokens(usage.input_tokens, usage.output_tokens)
messages = [{"role": "user", "content": WEATHER}]
for _ in range(2):
    answer = client.messages.create(messages=messages, tools=[TOOL], **options)
    report.tokens(answer.usage.input_tokens, answer.usage.output_tokens)
    results = []
    for block in answer.content:
        if block.type == "tool_use":
            report.tool(block.name)
            result = {"type": "tool_result", "tool_use_id": block.id, "content": get_weather(**block.input)}
            results.append(result)
    messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]
assert "Sunny in Paris" in answer.content[0].text, answer
report.show()

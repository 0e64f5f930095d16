from llama_index.core.tools import FunctionTool
from llama_index.llms.anthropic import Anthropic
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

report = Report()
model = Anthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=400)
last = {}
for chunk in model.stream_complete(HELLO):
    report.chunk(chunk.delta)
    usage = chunk.raw.get("usage") if isinstance(chunk.raw, dict) else getattr(chunk.raw, "usage", None)
    if usage is not None:
        for field in ("input_tokens", "output_tokens"):
            value = usage.get(field) if isinstance(usage, dict) else getattr(usage, field, None)
            if value is not None:
                last[field] = value
    message = getattr(chunk.raw, "message", None)
    if message is not None:
        last.setdefault("input_tokens", message.usage.input_tokens)
report.tokens(last.get("input_tokens"), last.get("output_tokens"))
answer = model.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg=WEATHER)
for call in model.get_tool_calls_from_response(answer):
    report.tool(call.tool_name)
usage = answer.raw["usage"]
report.tokens(usage.input_tokens, usage.output_tokens)
report.show()

from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

report = Report()
model = OpenAI(
    model=MODEL,
    api_base=f"{URL}/v1",
    api_key=KEY,
    max_tokens=400,
    additional_kwargs={"stream_options": {"include_usage": True}},
)
for chunk in model.stream_complete(HELLO):
    report.chunk(chunk.delta)
    usage = getattr(chunk.raw, "usage", None)
    if usage:
        report.tokens(usage.prompt_tokens, usage.completion_tokens)
tooled = OpenAI(model=MODEL, api_base=f"{URL}/v1", api_key=KEY, max_tokens=400)
answer = tooled.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg=WEATHER)
for call in tooled.get_tool_calls_from_response(answer):
    report.tool(call.tool_name)
report.tokens(answer.raw.usage.prompt_tokens, answer.raw.usage.completion_tokens)
report.show()

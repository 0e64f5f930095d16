from google.genai import types
from llama_index.core.tools import FunctionTool
from llama_index.llms.google_genai import GoogleGenAI
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

report = Report()
model = GoogleGenAI(model=MODEL, api_key=KEY, max_tokens=400, http_options=types.HttpOptions(base_url=URL))
last = None
for chunk in model.stream_complete(HELLO):
    report.chunk(chunk.delta)
    usage = (chunk.raw or {}).get("usage_metadata")
    last = usage or last
report.tokens(last["prompt_token_count"], last["candidates_token_count"])
answer = model.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg=WEATHER)
for call in model.get_tool_calls_from_response(answer):
    report.tool(call.tool_name)
usage = answer.raw["usage_metadata"]
report.tokens(usage["prompt_token_count"], usage["candidates_token_count"])
report.show()

from langchain_google_genai import ChatGoogleGenerativeAI
from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather

report = Report()
model = ChatGoogleGenerativeAI(model=MODEL, base_url=URL, google_api_key=KEY, max_output_tokens=400)
whole = None
for chunk in model.stream(HELLO):
    report.piece(chunk.text)
    whole = chunk if whole is None else whole + chunk
report.tokens(whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"])
answer = model.bind_tools([get_weather]).invoke(WEATHER)
for call in answer.tool_calls:
    report.tool(call["name"])
report.tokens(answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"])
report.show()

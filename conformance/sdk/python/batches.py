"""Runs a batch in the form of each vendor, with its SDK, and prints the results as one JSON object."""

import io
import json
import os
import time

import anthropic
import openai
from google import genai
from google.genai import types

URL = os.environ["TRIVIUM_URL"]
KEY = os.environ["TRIVIUM_API_KEY"]
MODEL = "sim/echo-request"

results = {}

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
lines = [
    {
        "custom_id": name,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": MODEL, "messages": [{"role": "user", "content": f"{name} words"}]},
    }
    for name in ["alpha", "beta"]
]
content = "\n".join(json.dumps(line) for line in lines).encode()
file = client.files.create(file=("in.jsonl", io.BytesIO(content)), purpose="batch")
batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
while batch.status not in ("completed", "failed"):
    time.sleep(0.05)
    batch = client.batches.retrieve(batch.id)
output = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
results["openai"] = {
    "status": batch.status,
    "lines": {line["custom_id"]: json.dumps(line["response"]["body"]) for line in output},
    "listed": batch.id in [each.id for each in client.batches.list()],
}

client = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
batch = client.messages.batches.create(
    requests=[
        {
            "custom_id": name,
            "params": {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": f"{name} words"}]},
        }
        for name in ["alpha", "beta"]
    ]
)
while batch.processing_status != "ended":
    time.sleep(0.05)
    batch = client.messages.batches.retrieve(batch.id)
results["anthropic"] = {
    "status": batch.processing_status,
    "lines": {
        each.custom_id: each.result.message.model_dump_json() for each in client.messages.batches.results(batch.id)
    },
    "listed": batch.id in [each.id for each in client.messages.batches.list()],
}
client.messages.batches.delete(batch.id)

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))
job = client.batches.create(
    model=MODEL,
    src=[{"contents": [{"role": "user", "parts": [{"text": f"{name} words"}]}]} for name in ["alpha", "beta"]],
    config={"display_name": "greek"},
)
while job.state.name in ("JOB_STATE_PENDING", "JOB_STATE_RUNNING"):
    time.sleep(0.05)
    job = client.batches.get(name=job.name)
answers = [each.response.model_dump_json() for each in job.dest.inlined_responses]
results["google"] = {
    "status": job.state.name,
    "lines": dict(zip(["alpha", "beta"], answers)),
    "listed": job.name in [each.name for each in client.batches.list()],
}
client.batches.delete(name=job.name)

print(json.dumps(results))

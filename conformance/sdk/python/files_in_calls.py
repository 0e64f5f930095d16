"""Uploads files with the SDK of each vendor, and uses them in each protocol with models of each wire.

Every request carries a mark, by which the provider's side recognises it. Prints one JSON line for each call.
"""

import base64
import io
import json
import os
import tempfile

import anthropic
import openai
from google import genai
from google.genai import types

URL = os.environ["TRIVIUM_URL"]
KEY = os.environ["TRIVIUM_API_KEY"]
FILES = {name: base64.b64decode(content) for name, content in json.loads(os.environ["TRIVIUM_TEST_FILES"]).items()}
WIRES = ["chat", "responses", "messages", "genai"]

openai_client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
anthropic_client = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
genai_client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))

KINDS = {".png": "image", ".pdf": "pdf", ".txt": "text", ".wav": "audio"}
TYPES = {"image": "image/png", "pdf": "application/pdf", "text": "text/plain", "audio": "audio/wav"}


def kind_of(name):
    return KINDS[os.path.splitext(name)[1]]


def upload_with_openai(name):
    return openai_client.files.create(file=(name, FILES[name]), purpose="user_data").id


def upload_with_anthropic(name):
    return anthropic_client.beta.files.upload(file=(name, io.BytesIO(FILES[name]), TYPES[kind_of(name)])).id


def upload_with_genai(name):
    path = os.path.join(tempfile.mkdtemp(), name)
    with open(path, "wb") as file:
        file.write(FILES[name])
    return genai_client.files.upload(file=path, config={"mime_type": TYPES[kind_of(name)]}).name


def call_chat(model, file_id, kind, mark):
    content = [{"type": "text", "text": mark}, {"type": "file", "file": {"file_id": file_id}}]
    openai_client.chat.completions.create(model=model, messages=[{"role": "user", "content": content}])


def call_responses(model, file_id, kind, mark):
    part = {"type": "input_image" if kind == "image" else "input_file", "file_id": file_id}
    content = [{"type": "input_text", "text": mark}, part]
    openai_client.responses.create(model=model, input=[{"role": "user", "content": content}])


def call_messages(model, file_id, kind, mark):
    part = {"type": "image" if kind == "image" else "document", "source": {"type": "file", "file_id": file_id}}
    anthropic_client.beta.messages.create(
        model=model,
        max_tokens=100,
        messages=[{"role": "user", "content": [{"type": "text", "text": mark}, part]}],
    )


def call_genai(model, file_id, kind, mark):
    file = genai_client.files.get(name=f"files/{file_id[-22:]}")
    genai_client.models.generate_content(model=model, contents=[mark, file])


UPLOADS = {"openai": upload_with_openai, "anthropic": upload_with_anthropic, "google": upload_with_genai}
CALLS = {"chat": call_chat, "responses": call_responses, "messages": call_messages, "genai": call_genai}

for uploader, upload in UPLOADS.items():
    for name in FILES:
        file_id = upload(name)
        for protocol, call in CALLS.items():
            for wire in WIRES:
                kind = kind_of(name)
                mark = f"mark:{uploader}:{kind}:{protocol}:{wire}:"
                problem = None
                try:
                    call(f"test/{wire}", file_id, kind, mark)
                except (openai.APIError, anthropic.APIError, genai.errors.APIError) as error:
                    problem = str(error)
                print(json.dumps({"mark": mark, "problem": problem}), flush=True)

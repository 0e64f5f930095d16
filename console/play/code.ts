import type { PlayRequest, PlaySettings } from "./request.ts";

export interface Sample {
  name: string;
  code: string;
}

const q = (text: string): string => JSON.stringify(text);
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (base: string, { path, headers = {}, body }: PlayRequest): string =>
  `curl ${shell(base + path)} \\
  -H "Authorization: Bearer $TRIVIUM_API_KEY" \\
  -H "Content-Type: application/json" \\
${Object.entries(headers)
  .map(([name, value]) => `  -H "${name}: ${value}" \\\n`)
  .join("")}  -d ${shell(JSON.stringify(body))}`;

const openaiTs = (base: string, { model, system, prompt }: PlaySettings): string => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${q(`${base}/v1`)}, apiKey: process.env.TRIVIUM_API_KEY });
const stream = await client.chat.completions.create({
  model: ${q(model)},
  messages: [${system === "" ? "" : `{ role: "system", content: ${q(system)} }, `}{ role: "user", content: ${q(prompt)} }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
`;

const openaiPy = (base: string, { model, system, prompt }: PlaySettings): string => `import os
from openai import OpenAI

client = OpenAI(base_url=${q(`${base}/v1`)}, api_key=os.environ["TRIVIUM_API_KEY"])
stream = client.chat.completions.create(
    model=${q(model)},
    messages=[${system === "" ? "" : `{"role": "system", "content": ${q(system)}}, `}{"role": "user", "content": ${q(prompt)}}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")
`;

const anthropicTs = (
  base: string,
  { model, system, prompt, maxTokens }: PlaySettings,
): string => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: ${q(base)}, apiKey: process.env.TRIVIUM_API_KEY });
const stream = client.messages.stream({
  model: ${q(model)},
  max_tokens: ${maxTokens ?? 1024},${system === "" ? "" : `\n  system: ${q(system)},`}
  messages: [{ role: "user", content: ${q(prompt)} }],
});
stream.on("text", (text) => process.stdout.write(text));
await stream.finalMessage();
`;

const anthropicPy = (base: string, { model, system, prompt, maxTokens }: PlaySettings): string => `import os
from anthropic import Anthropic

client = Anthropic(base_url=${q(base)}, api_key=os.environ["TRIVIUM_API_KEY"])
with client.messages.stream(
    model=${q(model)},
    max_tokens=${maxTokens ?? 1024},${system === "" ? "" : `\n    system=${q(system)},`}
    messages=[{"role": "user", "content": ${q(prompt)}}],
) as stream:
    for text in stream.text_stream:
        print(text, end="")
`;

const googleTs = (
  base: string,
  { model, system, prompt }: PlaySettings,
): string => `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: process.env.TRIVIUM_API_KEY, httpOptions: { baseUrl: ${q(base)} } });
const stream = await client.models.generateContentStream({
  model: ${q(model)},
  contents: ${q(prompt)},${system === "" ? "" : `\n  config: { systemInstruction: ${q(system)} },`}
});
for await (const chunk of stream) process.stdout.write(chunk.text ?? "");
`;

const googlePy = (base: string, { model, system, prompt }: PlaySettings): string => `import os
from google import genai
from google.genai import types

client = genai.Client(api_key=os.environ["TRIVIUM_API_KEY"], http_options=types.HttpOptions(base_url=${q(base)}))
for chunk in client.models.generate_content_stream(
    model=${q(model)},
    contents=${q(prompt)},${system === "" ? "" : `\n    config=types.GenerateContentConfig(system_instruction=${q(system)}),`}
):
    print(chunk.text or "", end="")
`;

const aiSdk = (
  base: string,
  { model, system, prompt }: PlaySettings,
): string => `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";

const trivium = createOpenAICompatible({ name: "trivium", baseURL: ${q(`${base}/v1`)}, apiKey: process.env.TRIVIUM_API_KEY });
const { textStream } = streamText({ model: trivium(${q(model)}),${system === "" ? "" : ` system: ${q(system)},`} prompt: ${q(prompt)} });
for await (const text of textStream) process.stdout.write(text);
`;

const TEXT = ["chat", "responses", "messages", "genai", "interactions"];

/** The same request for each client library. The key comes from the environment and is never in the code. */
export function samplesOf(base: string, settings: PlaySettings, request: PlayRequest): Sample[] {
  const samples = [{ name: "curl", code: curl(base, request) }];
  if (!TEXT.includes(settings.protocol)) return samples;
  return [
    ...samples,
    { name: "OpenAI, TypeScript", code: openaiTs(base, settings) },
    { name: "OpenAI, Python", code: openaiPy(base, settings) },
    { name: "Anthropic, TypeScript", code: anthropicTs(base, settings) },
    { name: "Anthropic, Python", code: anthropicPy(base, settings) },
    { name: "Google, TypeScript", code: googleTs(base, settings) },
    { name: "Google, Python", code: googlePy(base, settings) },
    { name: "AI SDK", code: aiSdk(base, settings) },
  ];
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import {
  documentedParts,
  partWith,
  UPLOADED_FILES,
  UPLOADED_KINDS,
  type UploadedName,
} from "../support/uploaded-parts.ts";

const FILES = UPLOADED_FILES;
type Name = UploadedName;
const MIME_TYPES: Readonly<Record<Name, string>> = {
  "shot.png": "image/png",
  "report.pdf": "application/pdf",
  "notes.txt": "text/plain",
  "speech.wav": "audio/wav",
};

/** By kind and wire. */
const documented = documentedParts();
const WIRES = ["chat", "responses", "messages", "genai"] as const;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let genai: GoogleGenAI;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({ config: modelsOfEveryDialect(upstream.url) });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: TEST_KEY, maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: gateway.url } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const wireOf = (path: string): DialectName =>
  path.includes("/messages")
    ? "messages"
    : path.includes(":")
      ? "genai"
      : path.includes("responses")
        ? "responses"
        : "chat";

const answer = () =>
  upstream.play(({ path }, response) => {
    const wire = wireOf(path);
    sendJson(response, plainAnswer(wire, { text: "Seen.", usage: plainUsage(wire, 10, 2) }));
  });

const UPLOADS: Readonly<Record<string, (name: Name) => Promise<string>>> = {
  openai: async (name) => {
    const file = await toFile(FILES[name], name, { type: MIME_TYPES[name] });
    return (await openai.files.create({ file, purpose: "user_data" })).id;
  },
  google: async (name) => {
    const file = new Blob([FILES[name]], { type: MIME_TYPES[name] });
    return (await genai.files.upload({ file, config: { mimeType: MIME_TYPES[name] } })).name ?? "";
  },
  anthropic: async (name) =>
    (await anthropic.beta.files.upload({ file: await toFile(FILES[name], name, { type: MIME_TYPES[name] }) })).id,
};

const random = (id: string): string => id.slice(-22);

const CALLS: Readonly<Record<string, (model: string, id: string, name: Name) => Promise<unknown>>> = {
  chat: (model, id) =>
    openai.chat.completions.create({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look." },
            { type: "file", file: { file_id: id } },
          ],
        },
      ],
    }),
  responses: (model, id, name) => {
    const part = name.endsWith(".png")
      ? { type: "input_image" as const, file_id: id, detail: "auto" as const }
      : { type: "input_file" as const, file_id: id };
    return openai.responses.create({
      model,
      input: [{ role: "user", content: [{ type: "input_text", text: "Look." }, part] }],
    });
  },
  messages: (model, id, name) =>
    anthropic.beta.messages.create({
      model,
      max_tokens: 100,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look." },
            name.endsWith(".png")
              ? { type: "image", source: { type: "file", file_id: id } }
              : { type: "document", source: { type: "file", file_id: id } },
          ],
        },
      ],
    }),
  genai: async (model, id) => {
    const { uri, mimeType } = await genai.files.get({ name: `files/${random(id)}` });
    return genai.models.generateContent({
      model,
      contents: [
        { role: "user", parts: [{ text: "Look." }, { fileData: { fileUri: uri ?? "", mimeType: mimeType ?? "" } }] },
      ],
    });
  },
};

describe("choices 12: an uploaded file works with every model, whatever the SDK that uploaded it", () => {
  for (const [uploader, upload] of Object.entries(UPLOADS))
    for (const name of Object.keys(FILES) as Name[])
      for (const [client, call] of Object.entries(CALLS))
        for (const wire of WIRES) {
          test(`${name}, uploaded with ${uploader}, in ${client} to a model of the ${wire} wire`, async () => {
            const id = await upload(name);
            answer();
            await call(`test/${wire}`, id, name);
            const sent = upstream.seen.at(-1);
            expect(wireOf(sent?.path ?? "")).toBe(wire);
            const kind = Object.keys(UPLOADED_KINDS).find((one) => UPLOADED_KINDS[one] === name);
            expect(documented[`${kind} ${wire}`]).toContain(partWith(sent?.body ?? "", name) ?? "dropped");
            // The gateway's id means nothing to the host.
            expect(sent?.body).not.toContain(random(id));
          });
        }

  test("a stored response keeps the id, and its next turn sends the file again", async () => {
    const id = await UPLOADS["openai"]?.("notes.txt");
    answer();
    const input = [{ role: "user" as const, content: [{ type: "input_file" as const, file_id: id ?? "" }] }];
    const first = await openai.responses.create({ model: "test/messages", input });
    const items = await openai.responses.inputItems.list(first.id);
    expect(JSON.stringify(items.data)).toContain(id ?? "");
    await openai.responses.create({ model: "test/genai", input: "And now?", previous_response_id: first.id });
    const sent = upstream.seen.at(-1)?.body ?? "";
    expect(documented["text genai"]).toContain(partWith(sent, "notes.txt") ?? "dropped");
  });

  test("H56: an unknown id and another project's id are refused alike, with the path", async () => {
    answer();
    const refused = await CALLS["chat"]?.("test/chat", "file-AAAAAAAAAAAAAAAAAAAAAA", "notes.txt").catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ status: 400, param: "messages[0].content[1].file.file_id" });
    expect(upstream.seen.length).toBe(0);
  });
});

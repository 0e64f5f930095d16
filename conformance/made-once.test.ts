import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../src/base/json.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const OTHER_KEY = "sk-trv-other-".padEnd(50, "x");

let gateway: TestGateway;
beforeAll(async () => {
  const keys = [
    { name: "tests", key: TEST_KEY, scopes: ["keys:create"] },
    { name: "other", key: OTHER_KEY },
  ];
  gateway = await startTestGateway({ config: { keys } });
});
afterAll(() => gateway.stop());

interface Creation {
  path: string;
  headers?: Record<string, string>;
  /** `change` makes another request of it. */
  body: (change?: string) => JsonObject | FormData;
  idOf?: (answer: JsonObject, response: Response) => unknown;
}

const line = (text: string) => ({
  custom_id: "a",
  params: { model: "m", max_tokens: 1, messages: [{ role: "user", content: text }] },
});

const formOf = (text: string): FormData => {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set(
    "file",
    new File(
      [`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"${text}"}}\n`],
      "a.jsonl",
    ),
  );
  return form;
};

const CREATIONS: Readonly<Record<string, Creation>> = {
  "a file": { path: "/v1/files", body: (change = "m") => formOf(change) },
  "an upload": {
    path: "/v1/uploads",
    body: (change = "a") => ({
      bytes: 10,
      filename: `${change}.jsonl`,
      mime_type: "application/jsonl",
      purpose: "batch",
    }),
  },
  "a resumable upload": {
    path: "/upload/v1beta/files",
    headers: {
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": "10",
    },
    body: (change = "a") => ({ file: { displayName: change } }),
    idOf: (_, response) => response.headers.get("x-goog-upload-url"),
  },
  "a conversation": {
    path: "/v1/conversations",
    body: (change = "a") => ({ items: [{ type: "message", role: "user", content: change }] }),
  },
  "a batch of messages": {
    path: "/v1/messages/batches",
    headers: { "anthropic-version": "2023-06-01" },
    body: (change = "a") => ({ requests: [line(change)] }),
  },
  "a batch of contents": {
    path: "/v1beta/models/m:batchGenerateContent",
    body: (change = "a") => ({
      batch: {
        displayName: change,
        inputConfig: { requests: { requests: [{ request: { contents: [{ parts: [{ text: "a" }] }] } }] } },
      },
    }),
    idOf: ({ name }) => name,
  },
};

async function create(
  { path, headers, body, idOf = ({ id }) => id }: Creation,
  key: string,
  more: { change?: string; apiKey?: string } = {},
) {
  const content = body(more.change);
  const isForm = content instanceof FormData;
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${more.apiKey ?? TEST_KEY}`,
      "idempotency-key": key,
      ...(isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: isForm ? content : JSON.stringify(content),
  });
  const text = await response.text();
  const answer = (text === "" ? {} : JSON.parse(text)) as JsonObject;
  return { status: response.status, id: idOf(answer, response), answer };
}

describe("choices 5: a request that creates something takes Idempotency-Key", () => {
  for (const [what, creation] of Object.entries(CREATIONS)) {
    test(`${what}: the repetition finds the first, at once and later`, async () => {
      const answers = await Promise.all([1, 2, 3].map(() => create(creation, `${what} one`)));
      answers.push(await create(creation, `${what} one`));
      const [first] = answers;
      expect(answers.map(({ status, id }) => [status, id])).toEqual(answers.map(() => [200, first?.id]));
      expect(first?.id).toBeString();
      const others = [
        await create(creation, `${what} two`),
        await create(creation, `${what} one`, { apiKey: OTHER_KEY }),
      ];
      expect(others.map(({ status }) => status)).toEqual([200, 200]);
      expect(new Set([first?.id, ...others.map(({ id }) => id)]).size).toBe(3);
    });

    test(`${what}: another body under the same key is refused`, async () => {
      await create(creation, `${what} three`);
      const { status, answer } = await create(creation, `${what} three`, { change: "changed" });
      expect([status, JSON.stringify(answer)]).toEqual([
        400,
        expect.stringContaining("Idempotency-Key was already used"),
      ]);
    });
  }

  test("a batch of a file", async () => {
    const { id: input } = await create(CREATIONS["a file"] as Creation, "input");
    const body = (window = "24h") => ({
      input_file_id: String(input),
      endpoint: "/v1/chat/completions",
      completion_window: window,
    });
    const batch: Creation = { path: "/v1/batches", body };
    const ids = await Promise.all([1, 2].map(async () => (await create(batch, "batch")).id));
    expect(ids[0]).toStartWith("batch_");
    expect(new Set(ids).size).toBe(1);
    expect((await create(batch, "batch", { change: "1h" })).status).toBe(400);
  });

  test("a child key: a client that lost its secret gets it again", async () => {
    const child = (change = "a"): JsonObject => ({ name: change });
    const idOf = ({ data }: JsonObject) => data;
    const creation: Creation = { path: "/api/v1/keys", body: child, idOf };
    const [first, again, other] = [
      await create(creation, "child"),
      await create(creation, "child"),
      await create(creation, "child two"),
    ];
    expect([first.status, again.id]).toEqual([201, first.id]);
    expect((first.id as JsonObject)["key"]).not.toBe((other.id as JsonObject)["key"]);
    const used = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${String((again.id as JsonObject)["key"])}` },
    });
    expect(used.status).toBe(200);
  });
});

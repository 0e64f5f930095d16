import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TEST_KEY } from "../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

let gateway: TestGateway;
const keys: Record<string, string> = {};
let file: string;
let upload: string;

beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      simulator: true,
      keys: [
        { name: "owner", key: "trv_owner_key_of_this_test_0001", project: "red", scopes: ["keys:create"] },
        { name: "colleague", key: "trv_colleague_of_this_test_0001", project: "red" },
        { name: "stranger", key: "trv_stranger_of_this_test_00001", project: "blue" },
        { name: "reserved", key: "trv_reserved_of_this_test_00001", project: "red", objects: "private" },
        { name: "test", key: TEST_KEY, project: "red" },
      ],
    },
  });
  keys["owner"] = "trv_owner_key_of_this_test_0001";
  keys["colleague"] = "trv_colleague_of_this_test_0001";
  keys["stranger"] = "trv_stranger_of_this_test_00001";
  keys["reserved"] = "trv_reserved_of_this_test_00001";
  for (const name of ["child", "sibling"]) keys[name] = await childOf(keys["owner"] ?? "", name);
  file = await uploadWith(keys["reserved"] ?? "");
  upload = await beginWith(keys["reserved"] ?? "");
});
afterAll(() => gateway.stop());

const ask = (method: string, path: string, key: string, body?: FormData | string, extra: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(typeof body === "string" && JSON_TYPE), ...extra },
    body: body ?? null,
  });
const JSON_TYPE = { "content-type": "application/json" };

async function childOf(parent: string, name: string): Promise<string> {
  const answer = await ask("POST", "/api/v1/keys", parent, JSON.stringify({ name }));
  return ((await answer.json()) as { data: { key: string } }).data.key;
}

async function uploadWith(key: string): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob(["secret words"], { type: "text/plain" }), "secret.txt");
  form.append("purpose", "user_data");
  return ((await (await ask("POST", "/v1/files", key, form)).json()) as { id: string }).id;
}

async function beginWith(key: string): Promise<string> {
  const body = { bytes: 10, filename: "a.txt", mime_type: "text/plain", purpose: "user_data" };
  return ((await (await ask("POST", "/v1/uploads", key, JSON.stringify(body))).json()) as { id: string }).id;
}

const random = (id: string): string => id.slice(-22);
const part = () => {
  const form = new FormData();
  form.append("data", new Blob(["0123456789"]), "part");
  return form;
};

/** Every request that names an object of another key. */
const REQUESTS: readonly [name: string, status: number, send: (key: string) => Promise<Response>][] = [
  ["show", 404, (key) => ask("GET", `/v1/files/${file}`, key)],
  [
    "show in Anthropic's form",
    404,
    (key) => ask("GET", `/v1/files/file_${random(file)}`, key, undefined, { "anthropic-version": "2023-06-01" }),
  ],
  ["show in Google's form", 404, (key) => ask("GET", `/v1beta/files/${random(file)}`, key)],
  ["read", 404, (key) => ask("GET", `/v1/files/${file}/content`, key)],
  ["delete", 404, (key) => ask("DELETE", `/v1/files/${file}`, key)],
  ["delete in Google's form", 404, (key) => ask("DELETE", `/v1beta/files/${random(file)}`, key)],
  ["add a part", 404, (key) => ask("POST", `/v1/uploads/${upload}/parts`, key, part())],
  ["complete", 404, (key) => ask("POST", `/v1/uploads/${upload}/complete`, key, '{"part_ids":[]}')],
  ["cancel", 404, (key) => ask("POST", `/v1/uploads/${upload}/cancel`, key)],
  [
    "resume",
    404,
    (key) => ask("POST", `/upload/v1beta/files?upload_id=${upload}`, key, "x", { "x-goog-upload-command": "upload" }),
  ],
  ["call in chat", 400, (key) => chat(key, { type: "file", file: { file_id: file } })],
  [
    "call in Responses",
    400,
    (key) => {
      const input = [{ role: "user", content: [{ type: "input_file", file_id: file }] }];
      return ask("POST", "/v1/responses", key, JSON.stringify({ model: "sim/echo-request", input }));
    },
  ],
  [
    "call in Messages",
    400,
    (key) => {
      const content = [{ type: "document", source: { type: "file", file_id: file } }];
      const body = { model: "sim/echo-request", max_tokens: 10, messages: [{ role: "user", content }] };
      return ask("POST", "/v1/messages", key, JSON.stringify(body), { "anthropic-version": "2023-06-01" });
    },
  ],
  [
    "call in generateContent",
    400,
    (key) => {
      const fileData = { fileUri: `${gateway.url}/v1beta/files/${random(file)}`, mimeType: "text/plain" };
      const body = { contents: [{ role: "user", parts: [{ fileData }] }] };
      return ask("POST", "/v1beta/models/sim/echo-request:generateContent", key, JSON.stringify(body));
    },
  ],
];

const chat = (key: string, content: object) =>
  ask(
    "POST",
    "/v1/chat/completions",
    key,
    JSON.stringify({ model: "sim/echo-request", messages: [{ role: "user", content: [content] }] }),
  );

describe("H56: a private file exists only for the key that uploaded it", () => {
  for (const who of ["stranger", "colleague", "child", "sibling"])
    for (const [name, status, send] of REQUESTS) {
      test(`${name} by a ${who}`, async () => {
        const answer = await send(keys[who] ?? "");
        const text = await answer.text();
        expect([answer.status, text.includes("secret")]).toEqual([status, false]);
      });
    }

  test("lists do not show it to others", async () => {
    for (const who of ["stranger", "colleague", "child"]) {
      const texts = await Promise.all(
        ["/v1/files", "/v1beta/files"].map(async (path) => (await ask("GET", path, keys[who] ?? "")).text()),
      );
      expect(texts.join("")).not.toContain(random(file));
    }
    expect(await (await ask("GET", "/v1/files", keys["reserved"] ?? "")).text()).toContain(random(file));
  });

  test("a wrong key gets 401 everywhere", async () => {
    for (const [, , send] of REQUESTS) expect((await send("trv_no_such_key_of_this_test_01")).status).toBe(401);
  });
});

describe("H56: a file that is shared within its project", () => {
  test("is used by a colleague, and not by a stranger", async () => {
    const shared = await uploadWith(keys["owner"] ?? "");
    const content = { type: "file", file: { file_id: shared } };
    expect(await (await chat(keys["colleague"] ?? "", content)).text()).toContain("secret words");
    expect((await chat(keys["stranger"] ?? "", content)).status).toBe(400);
    expect((await ask("GET", `/v1/files/${shared}`, keys["colleague"] ?? "")).status).toBe(200);
  });

  test("a parent key deletes what its child uploaded, and cannot read it", async () => {
    const of = await uploadWith(keys["child"] ?? "");
    const parent = keys["owner"] ?? "";
    expect((await ask("GET", `/v1/files/${of}`, parent)).status).toBe(404);
    expect((await ask("DELETE", `/v1/files/${of}`, keys["sibling"] ?? "")).status).toBe(404);
    expect((await ask("DELETE", `/v1/files/${of}`, parent)).status).toBe(200);
  });

  test("a vendor's raw id is refused", async () => {
    const answer = await chat(keys["owner"] ?? "", { type: "file", file: { file_id: "file-abc123" } });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("provider_objects")]);
  });

  test("is refused where only a file of the provider's account could be used", async () => {
    const shared = await uploadWith(keys["owner"] ?? "");
    const tools = [{ type: "code_interpreter", container: { type: "auto", file_ids: [shared] } }];
    const body = JSON.stringify({ model: "sim/echo-request", input: "Hello", tools });
    const answer = await ask("POST", "/v1/responses", keys["owner"] ?? "", body);
    const { error } = (await answer.json()) as { error: { message: string; param: string } };
    expect([answer.status, error.param]).toEqual([400, "tools[0].container.file_ids[0]"]);
    expect(error.message).toContain("only be used in the content of a message");
  });

  test("the endpoint of generated media does not serve it", async () => {
    const shared = await uploadWith(keys["owner"] ?? "");
    expect((await ask("GET", `/files/file_${random(shared)}`, keys["owner"] ?? "")).status).toBe(404);
  });
});

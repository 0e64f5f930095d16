import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENDPOINTS } from "../src/server/endpoints/index.ts";
import { eventually } from "../testing/eventually.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

type Form = "chat" | "messages" | "genai";

/** The ids of a file, an upload and a batch, as each protocol writes them. */
interface Ids {
  file: Readonly<Record<Form, string>>;
  upload: string;
  batch: Readonly<Record<Form, string>>;
}

interface Row {
  send(key: string, ids: Ids): Promise<Response>;
  /** How a key is refused that may not use the object: as if it did not exist, or with the path of the field that names it. */
  refusal?: 404 | { path: string };
  /** Shows objects, and only those that the key may use. */
  lists?: true;
  /** Serves only generated media, whose signed URLs need no key. */
  isSigned?: true;
  /** The parent of the key that made the object may do it. */
  parentMay?: true;
}

let gateway: TestGateway;
const JSON_TYPE = { "content-type": "application/json" };
const ANTHROPIC = { "anthropic-version": "2023-06-01" };

function ask(
  method: string,
  path: string,
  key: string,
  body?: FormData | object,
  headers: Record<string, string> = {},
) {
  const isForm = body instanceof FormData;
  return fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && !isForm && JSON_TYPE), ...headers },
    body: body === undefined ? null : isForm ? body : JSON.stringify(body),
  });
}

function formWith(field: string, content: string, more: Record<string, string> = {}): FormData {
  const form = new FormData();
  form.append(field, new Blob([content], { type: "text/plain" }), "secret.txt");
  for (const [name, value] of Object.entries(more)) form.append(name, value);
  return form;
}

const message = { model: "sim/standard", max_tokens: 10, messages: [{ role: "user", content: "Hello" }] };
const inAnthropicsForm = (method: string, path: (ids: Ids) => string, refusal: Row["refusal"] = 404): Row => ({
  send: (key, ids) => ask(method, path(ids), key, undefined, ANTHROPIC),
  ...(refusal && { refusal }),
});
const byUrl = (method: string, path: (ids: Ids) => string, more: Partial<Row> = {}): Row => ({
  send: (key, ids) => ask(method, path(ids), key),
  refusal: 404,
  ...more,
});
const bySize = { "x-goog-upload-protocol": "resumable", "x-goog-upload-header-content-length": "3" };

/** One row or several for each endpoint of files, uploads and batches, by its id. */
const ROWS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  uploadFile: { "": { send: (key) => ask("POST", "/v1/files", key, formWith("file", "x", { purpose: "user_data" })) } },
  listFiles: {
    "": { send: (key) => ask("GET", "/v1/files?limit=100", key), lists: true },
    "in Anthropic's form": {
      send: (key) => ask("GET", "/v1/files?limit=100", key, undefined, ANTHROPIC),
      lists: true,
    },
  },
  getUploadedFile: {
    "": byUrl("GET", ({ file }) => `/v1/files/${file.chat}`),
    "in Anthropic's form": inAnthropicsForm("GET", ({ file }) => `/v1/files/${file.messages}`),
  },
  readFile: {
    "": byUrl("GET", ({ file }) => `/v1/files/${file.chat}/content`),
    "in Anthropic's form": inAnthropicsForm("GET", ({ file }) => `/v1/files/${file.messages}/content`),
  },
  deleteFile: {
    "": byUrl("DELETE", ({ file }) => `/v1/files/${file.chat}`, { parentMay: true }),
    "in Anthropic's form": {
      ...inAnthropicsForm("DELETE", ({ file }) => `/v1/files/${file.messages}`),
      parentMay: true,
    },
  },
  listFilesGenai: { "": { send: (key) => ask("GET", "/v1beta/files?pageSize=100", key), lists: true } },
  getUploadedFileGenai: { "": byUrl("GET", ({ file }) => `/v1beta/${file.genai}`) },
  downloadFile: { "": byUrl("GET", ({ file }) => `/v1beta/${file.genai}:download`, { isSigned: true }) },
  deleteFileGenai: { "": byUrl("DELETE", ({ file }) => `/v1beta/${file.genai}`, { parentMay: true }) },
  createUpload: {
    "": {
      send: (key) =>
        ask("POST", "/v1/uploads", key, { bytes: 3, filename: "a", mime_type: "text/plain", purpose: "user_data" }),
    },
  },
  addUploadPart: {
    "": {
      send: (key, { upload }) => ask("POST", `/v1/uploads/${upload}/parts`, key, formWith("data", "0123456789")),
      refusal: 404,
    },
  },
  completeUpload: {
    "": {
      send: (key, { upload }) => ask("POST", `/v1/uploads/${upload}/complete`, key, { part_ids: [] }),
      refusal: 404,
    },
  },
  cancelUpload: { "": byUrl("POST", ({ upload }) => `/v1/uploads/${upload}/cancel`) },
  resumeUpload: {
    begin: {
      send: (key) =>
        ask("POST", "/upload/v1beta/files", key, { file: {} }, { ...bySize, "x-goog-upload-command": "start" }),
    },
    continue: {
      send: (key, { upload }) =>
        ask("POST", `/upload/v1beta/files?upload_id=${upload}`, key, {}, { "x-goog-upload-command": "upload" }),
      refusal: 404,
    },
  },
  createBatch: {
    "": {
      send: (key, { file }) =>
        ask("POST", "/v1/batches", key, {
          input_file_id: file.chat,
          endpoint: "/v1/chat/completions",
          completion_window: "24h",
        }),
      refusal: { path: "input_file_id" },
    },
  },
  listBatches: { "": { send: (key) => ask("GET", "/v1/batches?limit=100", key), lists: true } },
  getBatch: { "": byUrl("GET", ({ batch }) => `/v1/batches/${batch.chat}`) },
  cancelBatch: { "": byUrl("POST", ({ batch }) => `/v1/batches/${batch.chat}/cancel`) },
  createMessageBatch: {
    "": {
      send: (key) =>
        ask("POST", "/v1/messages/batches", key, { requests: [{ custom_id: "a", params: message }] }, ANTHROPIC),
    },
  },
  listMessageBatches: {
    "": { send: (key) => ask("GET", "/v1/messages/batches?limit=100", key, undefined, ANTHROPIC), lists: true },
  },
  getMessageBatch: { "": inAnthropicsForm("GET", ({ batch }) => `/v1/messages/batches/${batch.messages}`) },
  cancelMessageBatch: { "": inAnthropicsForm("POST", ({ batch }) => `/v1/messages/batches/${batch.messages}/cancel`) },
  readMessageBatch: { "": inAnthropicsForm("GET", ({ batch }) => `/v1/messages/batches/${batch.messages}/results`) },
  deleteMessageBatch: {
    "": { ...inAnthropicsForm("DELETE", ({ batch }) => `/v1/messages/batches/${batch.messages}`), parentMay: true },
  },
  batchGenerateContent: {
    "": {
      send: (key, { file }) =>
        ask("POST", "/v1beta/models/sim/standard:batchGenerateContent", key, {
          batch: { inputConfig: { fileName: file.genai } },
        }),
      refusal: { path: "batch.inputConfig.fileName" },
    },
  },
  listGenaiBatches: { "": { send: (key) => ask("GET", "/v1beta/batches?pageSize=100", key), lists: true } },
  getGenaiBatch: { "": byUrl("GET", ({ batch }) => `/v1beta/${batch.genai}`) },
  cancelGenaiBatch: { "": byUrl("POST", ({ batch }) => `/v1beta/${batch.genai}:cancel`) },
  deleteGenaiBatch: { "": byUrl("DELETE", ({ batch }) => `/v1beta/${batch.genai}`, { parentMay: true }) },
};
const TABLE = Object.entries(ROWS).flatMap(([id, rows]) =>
  Object.entries(rows).map(([how, row]) => ({ name: how === "" ? id : `${id}, ${how}`, ...row })),
);

const keys: Record<string, string> = {
  owner: "trv_owner_key_of_this_test_0001",
  colleague: "trv_colleague_of_this_test_0001",
  stranger: "trv_stranger_of_this_test_00001",
  reserved: "trv_reserved_of_this_test_00001",
  suspended: "trv_suspended_of_this_test_0001",
};
/** What each of these keys has made. */
const made: Record<string, Ids> = {};

const key = (who: string): string => keys[who] ?? "";
const idsOf = (who: string): Ids => {
  const ids = made[who];
  if (ids === undefined) throw new Error(`${who} has made nothing`);
  return ids;
};
const random = (id: string): string => id.slice(-22);

/** Makes one object of each kind. */
async function make(who: string): Promise<void> {
  const idIn = async (answer: Promise<Response>) => ((await (await answer).json()) as { id: string }).id;
  const line = JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body: message });
  const form = formWith("file", line, { purpose: "batch" });
  const file = await idIn(ask("POST", "/v1/files", key(who), form));
  const upload = await idIn(
    ask("POST", "/v1/uploads", key(who), { bytes: 10, filename: "a", mime_type: "text/plain", purpose: "user_data" }),
  );
  const batch = await idIn(
    ask("POST", "/v1/messages/batches", key(who), { requests: [{ custom_id: "a", params: message }] }, ANTHROPIC),
  );
  await eventually("the end of the batch", async () => {
    const shown = await ask("GET", `/v1/batches/batch_${random(batch)}`, key(who));
    return ((await shown.json()) as { status: string }).status === "completed";
  });
  made[who] = {
    file: { chat: file, messages: `file_${random(file)}`, genai: `files/${random(file)}` },
    upload,
    batch: { chat: `batch_${random(batch)}`, messages: batch, genai: `batches/${random(batch)}` },
  };
}

async function childOf(parent: string, name: string): Promise<{ key: string; id: string }> {
  const { data } = (await (await ask("POST", "/api/v1/keys", parent, { name })).json()) as {
    data: { key: string; id: string };
  };
  return data;
}

const administer = (method: string, path: string, body: object) =>
  fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, ...JSON_TYPE },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      simulator: true,
      keys: [
        { name: "owner", key: key("owner"), project: "red", scopes: ["keys:create"] },
        { name: "colleague", key: key("colleague"), project: "red" },
        { name: "stranger", key: key("stranger"), project: "blue" },
        { name: "reserved", key: key("reserved"), project: "red", objects: "private" },
        { name: "suspended", key: key("suspended"), project: "grey" },
      ],
    },
  });
  for (const name of ["child", "sibling"]) keys[name] = (await childOf(key("owner"), name)).key;
  const revoked = await childOf(key("owner"), "revoked");
  keys["revoked"] = revoked.key;
  await administer("POST", "/api/projects", { id: "grey", name: "Grey" });
  for (const who of ["owner", "reserved", "child", "revoked", "suspended"]) await make(who);
  await ask("DELETE", `/api/v1/keys/${revoked.id}`, key("owner"));
  expect((await administer("PATCH", "/api/projects/grey", { status: "suspended" })).status).toBe(200);
}, 60_000);
afterAll(() => gateway.stop());

test("choices 12: every endpoint of files, uploads and batches has a row", () => {
  const paths = /^\/(?:upload\/)?v1(?:beta)?\/(?:files|uploads|batches|messages\/batches)\b|:batchGenerateContent$/;
  const declared = ENDPOINTS.filter((endpoint) =>
    endpoint.paths.some(({ documented }) => documented.some(({ path }) => paths.test(path))),
  );
  expect(declared.map(({ id }) => id).sort()).toEqual(Object.keys(ROWS).sort());
});

/** Who may not use what another key has made: the caller, and the owner of the objects. */
const CALLERS = [
  ["a key of another project", "stranger", "reserved"],
  ["a colleague", "colleague", "reserved"],
  ["a child of another key", "child", "reserved"],
  ["a sibling", "sibling", "child"],
  ["the parent", "owner", "child"],
] as const;

async function expectRefusal(answer: Response, refusal: Row["refusal"]): Promise<void> {
  const text = await answer.text();
  if (refusal === 404) return expect([answer.status, text]).toEqual([404, expect.any(String)]);
  expect([answer.status, text.includes(refusal?.path ?? "")]).toEqual([400, true]);
}

for (const [who, caller, owner] of CALLERS) {
  describe(`H56: what another key has made does not exist for ${who}`, () => {
    for (const { name, send, refusal, lists, parentMay } of TABLE) {
      if (refusal === undefined && !lists) continue;
      if (parentMay && caller === "owner") continue;
      test(name, async () => {
        const answer = await send(key(caller), idsOf(owner));
        if (refusal !== undefined) return await expectRefusal(answer, refusal);
        const text = await answer.text();
        const { file, batch } = idsOf(owner);
        const shown = [file.chat, batch.chat].some((id) => text.includes(random(id)));
        expect([answer.status, shown]).toEqual([200, false]);
      });
    }
  });
}

describe("H56: ids of a vendor are unknown", () => {
  const raw: Ids = {
    file: { chat: "file-abc123", messages: "file_011CNha8iCJcU1wXNR6q4V8w", genai: "files/abc-123" },
    upload: "upload_abc123",
    batch: { chat: "batch_abc123", messages: "msgbatch_01HkcTjaV5uDC8jWR4ZsDV8d", genai: "batches/abc123" },
  };
  for (const { name, send, refusal } of TABLE) {
    if (refusal === undefined) continue;
    test(name, async () => expectRefusal(await send(key("owner"), raw), refusal));
  }
});

describe("H56: a key that was revoked, or whose project is suspended, has no access to its own objects", () => {
  for (const { name, send, isSigned } of TABLE) {
    if (isSigned) continue;
    test(name, async () => {
      const answers = [await send(key("revoked"), idsOf("revoked")), await send(key("suspended"), idsOf("suspended"))];
      expect(answers.map(({ status }) => status)).toEqual([401, 403]);
    });
  }
});

describe("choices 12: the parent of a key deletes what it has made", () => {
  for (const { name, send, parentMay } of TABLE) {
    if (!parentMay) continue;
    test(name, async () => {
      await make("child");
      expect((await send(key("sibling"), idsOf("child"))).status).toBe(404);
      expect((await send(key("owner"), idsOf("child"))).status).toBe(200);
      expect((await send(key("child"), idsOf("child"))).status).toBe(404);
    });
  }
});

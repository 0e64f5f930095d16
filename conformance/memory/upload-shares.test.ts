import { beforeEach, describe, expect, test } from "bun:test";
import type { FileContent } from "../../src/files/file-store.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { MemoryFileStore } from "../../testing/memory-file-store.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";

const MB = 1024 ** 2;
const CHUNK = 64 * 1024;

/** A disk that counts the bytes that are written to it: ever, and the most that were on it at a time. */
class CountingStore extends MemoryFileStore {
  written = 0;
  held = 0;
  most = 0;

  override async put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        chunks.push(chunk);
        size += chunk.length;
        this.written += chunk.length;
        this.held += chunk.length;
        this.most = Math.max(this.most, this.held);
      }
      return await super.put(name, Buffer.concat(chunks), maxBytes);
    } catch (thrown) {
      this.held -= size;
      throw thrown;
    }
  }

  override async remove(name: string): Promise<void> {
    this.held -= (await this.open(name))?.size ?? 0;
    await super.remove(name);
  }
}

let machine: Machine;
let store: CountingStore;
let harness: Harness;
beforeEach(async () => {
  machine = await makeMachine();
  const { clock, upstream, storage } = machine;
  store = new CountingStore(clock.wallMs);
  harness = await Harness.start({
    config: { ...modelsOfEveryDialect(UPSTREAM_URL), objects: { project_mb: 1, max_file_mb: 64 } },
    machine,
    within: { clock, send: upstream.send, storage, fileStore: store },
  });
});

/** Bytes that arrive in chunks, and how many of them were asked for. */
function arriving(bytes: number, before = "", after = ""): { body: ReadableStream<Uint8Array>; read: () => number } {
  let read = 0;
  const parts = [
    Buffer.from(before),
    ...Array.from({ length: bytes / CHUNK }, () => Buffer.alloc(CHUNK, 65)),
    Buffer.from(after),
  ].filter(({ length }) => length > 0);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const part = parts.shift();
        if (part === undefined) return controller.close();
        read += part.length;
        controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, read: () => read };
}

const BOUNDARY = "x-boundary";
const formHead = (field: string, purpose = "") =>
  `${purpose && `--${BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`}--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="large.txt"\r\nContent-Type: text/plain\r\n\r\n`;
const FORM_END = `\r\n--${BOUNDARY}--\r\n`;

interface Sent {
  answer: Promise<ReadAnswer>;
  read: () => number;
}

/** A request with that many bytes, with or without its length. */
function send(path: string, bytes: number, declared: boolean, headers: Record<string, string>, field?: string): Sent {
  const [before, after] = field === undefined ? ["", ""] : [formHead(field, "user_data"), FORM_END];
  const { body, read } = arriving(bytes, before, after);
  const length = declared ? { "content-length": String(bytes + before.length + after.length) } : {};
  const type = field === undefined ? {} : { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
  const { answer } = harness.sendRaw(path, body, { ...length, ...type, ...headers });
  return { answer: machine.clock.until(answer), read };
}

async function begun(announced: number): Promise<string> {
  const answer = await harness.post("/v1/uploads", {
    bytes: announced,
    filename: "large.txt",
    mime_type: "text/plain",
    purpose: "user_data",
  });
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.text) as { id: string }).id;
}

async function resumable(announced: number): Promise<ReadAnswer> {
  const headers = {
    "x-goog-upload-protocol": "resumable",
    "x-goog-upload-command": "start",
    "x-goog-upload-header-content-length": String(announced),
    "x-goog-upload-header-content-type": "text/plain",
    "content-length": "0",
  };
  return await machine.clock.until(harness.sendRaw("/upload/v1beta/files", "", headers).answer);
}

const pathOf = (url: string) => url.slice(new URL(url).origin.length);

const stored = async (): Promise<number> => {
  const [row] = await machine.storage.query("SELECT COALESCE(SUM(size), 0) AS total FROM objects");
  return Number(row?.["total"]);
};

const filesLeft = async (): Promise<number> => (await Array.fromAsync(store.list())).length;

function expectFull({ status, text }: ReadAnswer): void {
  expect([status, text]).toEqual([403, expect.stringContaining("take all of its 1 MB")]);
}

describe("S27: what is over the share of a project is never written", () => {
  const OPENAI = {};
  const ANTHROPIC = { "anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14" };

  test.each([
    ["OpenAI", OPENAI],
    ["Anthropic", ANTHROPIC],
  ])("a file in the form of %s with its length: not one byte is written, or read further", async (_, headers) => {
    const { answer, read } = send("/v1/files", 32 * MB, true, headers, "file");
    expectFull(await answer);
    expect([store.written, await filesLeft(), await stored()]).toEqual([0, 0, 0]);
    expect(read()).toBeLessThan(MB);
  });

  test.each([
    ["OpenAI", OPENAI],
    ["Anthropic", ANTHROPIC],
  ])(
    "a file in the form of %s without a length: at most the share is written, and nothing is kept",
    async (_, headers) => {
      const { answer, read } = send("/v1/files", 32 * MB, false, headers, "file");
      expectFull(await answer);
      expect(store.most).toBeLessThanOrEqual(MB);
      expect([await filesLeft(), await stored()]).toEqual([0, 0]);
      expect(read()).toBeLessThan(3 * MB);
    },
  );

  test("a share that is used takes not one byte, with or without a length", async () => {
    expect((await send("/v1/files", MB, true, OPENAI, "file").answer).status).toBe(200);
    store.written = 0;
    for (const declared of [true, false]) expectFull(await send("/v1/files", MB, declared, OPENAI, "file").answer);
    expect(store.written).toBe(0);
    expect(await stored()).toBe(MB);
  });

  test("files that arrive at the same time share what is left", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send("/v1/files", MB / 2, false, OPENAI, "file").answer),
    );
    const kept = answers.filter(({ status }) => status === 200);
    for (const answer of answers) if (answer.status !== 200) expectFull(answer);
    expect(store.most).toBeLessThanOrEqual(MB);
    expect(await stored()).toBe((kept.length * MB) / 2);
    expect(await filesLeft()).toBe(kept.length);
  });

  test("what was refused or failed leaves its room to others", async () => {
    expectFull(await send("/v1/files", 4 * MB, false, OPENAI, "file").answer);
    expect((await send("/v1/files", MB, false, OPENAI, "other").answer).status).toBe(400);
    expect((await send("/v1/files", MB, false, OPENAI, "file").answer).status).toBe(200);
  });

  test("an upload in parts that announces more is refused when it begins", async () => {
    const body = { bytes: 2 * MB, filename: "a.txt", mime_type: "text/plain", purpose: "user_data" };
    expectFull(await harness.post("/v1/uploads", body));
    expectFull(await resumable(2 * MB));
    expect(await machine.storage.query("SELECT id FROM objects")).toEqual([]);
  });

  test.each([true, false])(
    "parts of uploads that announced what each may have, with their length: %p",
    async (declared) => {
      const ids = [await begun(MB), await begun(MB), await begun(MB)];
      const answers = await Promise.all(
        ids.map((id) => send(`/v1/uploads/${id}/parts`, MB, declared, OPENAI, "data").answer),
      );
      const kept = answers.filter(({ status }) => status === 200).length;
      expect(kept).toBeLessThanOrEqual(1);
      for (const answer of answers) if (answer.status !== 200) expectFull(answer);
      expect(store.most).toBeLessThanOrEqual(MB);
      expect([await filesLeft(), await stored()]).toEqual([kept, kept * MB]);
    },
  );

  test.each([true, false])("a resumable upload after others took the share, with its length: %p", async (declared) => {
    const url = (await resumable(MB)).headers.get("x-goog-upload-url") ?? "";
    expect((await send("/v1/files", MB / 2, true, OPENAI, "file").answer).status).toBe(200);
    store.written = 0;
    const headers = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" };
    expectFull(await send(pathOf(url), MB, declared, headers).answer);
    expect(store.written).toBeLessThanOrEqual(declared ? 0 : MB / 2);
    expect([await filesLeft(), await stored()]).toEqual([1, MB / 2]);
  });

  test.each([true, false])("the requests of a batch, with their length: %p", async (declared) => {
    const line = JSON.stringify({
      custom_id: "a",
      params: { model: "test/messages", max_tokens: 8, messages: [{ role: "user", content: "x".repeat(2 * MB) }] },
    });
    const text = `{"requests":[${line}]}`;
    const headers = { "content-type": "application/json", ...(declared && { "content-length": String(text.length) }) };
    const { answer } = harness.sendRaw("/v1/messages/batches", text, headers);
    expectFull(await machine.clock.until(answer));
    expect([store.written, await filesLeft(), await stored()]).toEqual([0, 0, 0]);
  });
});

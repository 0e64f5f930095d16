import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let genai: GoogleGenAI;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true, objects: { max_file_mb: 1, project_mb: 3 } } });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: TEST_KEY, maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: gateway.url } });
});
afterAll(() => gateway.stop());

const random = (id: string): string => id.slice(-22);

describe("choices 12: files", () => {
  test("an uploaded file is shown, listed, read and deleted with its vendor's SDK", async () => {
    const file = await openai.files.create({
      file: await toFile(Buffer.from("a,b\n1,2\n"), "naïve 漢.csv"),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 7_200 },
    });
    expect(file).toMatchObject({ object: "file", bytes: 8, filename: "naïve 漢.csv", purpose: "user_data" });
    expect(file.id).toMatch(/^file-[0-9A-Za-z]{22}$/);
    expect((file.expires_at ?? 0) - file.created_at).toBe(7_200);
    expect(await openai.files.retrieve(file.id)).toEqual(file);
    expect(await (await openai.files.content(file.id)).text()).toBe("a,b\n1,2\n");
    expect((await openai.files.list({ purpose: "user_data" })).data).toEqual([file]);
    expect((await openai.files.list({ purpose: "batch" })).data).toEqual([]);
    expect(await openai.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    const missing = await openai.files.retrieve(file.id).catch((error: unknown) => error);
    expect(missing).toMatchObject({ status: 404, code: "file_not_found" });
  });

  test("a file is listed in all three forms, whatever the SDK that uploaded it", async () => {
    const made = await anthropic.beta.files.upload({ file: await toFile(Buffer.from("%PDF-1.4"), "report.pdf") });
    expect(made).toMatchObject({ type: "file", filename: "report.pdf", mime_type: "application/pdf", size_bytes: 8 });
    const inChat = await openai.files.retrieve(made.id);
    const inGenai = await genai.files.get({ name: `files/${random(made.id)}` });
    expect([random(inChat.id), random(inGenai.name ?? "")]).toEqual([random(made.id), random(made.id)]);
    expect(inGenai).toMatchObject({ displayName: "report.pdf", mimeType: "application/pdf", sizeBytes: "8" });
    expect(inGenai.uri).toBe(`${gateway.url}/v1beta/files/${random(made.id)}`);
    const listed: string[] = [];
    for await (const each of await genai.files.list()) listed.push(each.name ?? "");
    expect(listed).toEqual([inGenai.name ?? ""]);
    expect(await anthropic.beta.files.delete(made.id)).toMatchObject({ type: "file_deleted" });
    expect((await openai.files.list()).data).toEqual([]);
  });

  test("a list is read page by page, in every form", async () => {
    const ids: string[] = [];
    for (let made = 0; made < 5; made++) {
      const file = await toFile(Buffer.from(String(made)), `${made}.txt`);
      ids.unshift(random((await openai.files.create({ file, purpose: "vision" })).id));
    }
    const pages: string[][] = [[], [], []];
    for await (const each of openai.files.list({ limit: 2 })) pages[0]?.push(random(each.id));
    for await (const each of anthropic.beta.files.list({ limit: 2 })) pages[1]?.push(random(each.id));
    const paged = await genai.files.list({ config: { pageSize: 2 } });
    for await (const each of paged) pages[2]?.push(random(each.name ?? ""));
    expect(pages).toEqual([ids, ids, ids]);
    for (const id of ids) await openai.files.delete(`file-${id}`);
  });

  test("a file that is too large, and a full project, are refused, and nothing of them is kept", async () => {
    const large = await toFile(Buffer.alloc(1_200_000), "large.bin");
    const refused = await openai.files.create({ file: large, purpose: "vision" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 413 });
    const kept: string[] = [];
    let full: unknown;
    for (let made = 0; made < 5 && full === undefined; made++) {
      const file = await toFile(Buffer.alloc(1_000_000), `${made}.bin`);
      const answer = openai.files.create({ file, purpose: "vision" });
      await answer.then(
        ({ id }) => kept.push(id),
        (error: unknown) => {
          full = error;
        },
      );
    }
    expect(kept.length).toBe(3);
    expect(full).toMatchObject({ status: 403, code: "storage_limit_exceeded" });
    for (const id of kept) await openai.files.delete(id);
    expect((await openai.files.list()).data).toEqual([]);
  });

  test("a wrong form is refused with the field and what it must be", async () => {
    const send = async (form: FormData | string, type?: string) => {
      const headers = { authorization: `Bearer ${TEST_KEY}`, ...(type && { "content-type": type }) };
      const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
      const { error } = (await answer.json()) as { error: { message: string; param: string | null } };
      return [answer.status, error.param, error.message];
    };
    const form = (entries: Record<string, string | Blob>) => {
      const made = new FormData();
      for (const [name, value] of Object.entries(entries)) made.append(name, value);
      return made;
    };
    expect(await send(form({ purpose: "vision" }))).toEqual([400, "file", "file is missing."]);
    expect(await send(form({ file: new Blob(["x"]) }))).toEqual([400, "purpose", expect.stringContaining("missing")]);
    expect(await send(form({ other: new Blob(["x"]), purpose: "vision" }))).toEqual([
      400,
      "other",
      "other: The form must contain one file, in the field file.",
    ]);
    expect(await send(form({ file: new Blob(["x"]), purpose: "vision", "expires_after[seconds]": "1" }))).toEqual([
      400,
      "expires_after.seconds",
      expect.stringContaining("from 3600"),
    ]);
    expect(await send("{}", "application/json")).toEqual([
      400,
      "Content-Type",
      "The Content-Type must be multipart/form-data, with the file in the field file; it is application/json.",
    ]);
    expect((await openai.files.list()).data).toEqual([]);
  });
});

describe("choices 12: uploads in parts", () => {
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

  test("the parts of an upload become a file, in the order that the client gives", async () => {
    const pieces = [content.subarray(0, 100_000), content.subarray(100_000, 250_000), content.subarray(250_000)];
    const upload = await openai.uploads.create({
      bytes: content.length,
      filename: "data.bin",
      mime_type: "application/octet-stream",
      purpose: "user_data",
    });
    expect(upload).toMatchObject({ object: "upload", status: "pending", bytes: 300_000, filename: "data.bin" });
    // In parallel, so that they arrive in any order.
    const parts = await Promise.all(
      pieces.map(async (piece) => openai.uploads.parts.create(upload.id, { data: await toFile(piece, "part") })),
    );
    const done = await openai.uploads.complete(upload.id, { part_ids: parts.map(({ id }) => id) });
    expect(done).toMatchObject({ status: "completed", file: { bytes: 300_000, filename: "data.bin" } });
    const id = done.file?.id ?? "";
    expect(Buffer.from(await (await openai.files.content(id)).arrayBuffer()).equals(content)).toBe(true);
    const again = await openai.uploads
      .complete(upload.id, { part_ids: parts.map((part) => part.id) })
      .catch((error: unknown) => error);
    expect(again).toMatchObject({ status: 400, code: "upload_not_pending" });
    await openai.files.delete(id);
  });

  test("the MD5 that a client expects of a file is checked", async () => {
    const content = "first second";
    const upload = async (md5: string) => {
      const { id } = await openai.uploads.create({
        bytes: content.length,
        filename: "a.txt",
        mime_type: "text/plain",
        purpose: "user_data",
      });
      const parts = [];
      for (const text of ["first ", "second"])
        parts.push(await openai.uploads.parts.create(id, { data: new File([text], "part") }));
      return openai.uploads.complete(id, { part_ids: parts.map((part) => part.id), md5 });
    };
    const right = new Bun.CryptoHasher("md5").update(content).digest("hex");
    const { status, file } = await upload(right);
    expect(status).toBe("completed");
    await openai.files.delete(file?.id ?? "");
    await expect(upload("0".repeat(32))).rejects.toThrow(`that of the parts is ${right}`);
  });

  test("a missing part, a foreign part and too many bytes are refused; a cancelled upload takes no more", async () => {
    const form = { filename: "data.bin", mime_type: "text/plain", purpose: "user_data" } as const;
    const upload = await openai.uploads.create({ ...form, bytes: 10 });
    const data = await toFile(Buffer.from("12345"), "part");
    const part = await openai.uploads.parts.create(upload.id, { data });
    const refused = (answer: Promise<unknown>) => answer.catch((error: unknown) => error);
    expect(await refused(openai.uploads.complete(upload.id, { part_ids: [part.id] }))).toMatchObject({
      status: 400,
      param: "part_ids",
    });
    const foreign = "part_AAAAAAAAAAAAAAAAAAAAAA";
    expect(await refused(openai.uploads.complete(upload.id, { part_ids: [part.id, foreign] }))).toMatchObject({
      status: 400,
      param: "part_ids[1]",
    });
    const large = await toFile(Buffer.from("123456"), "part");
    expect(await refused(openai.uploads.parts.create(upload.id, { data: large }))).toMatchObject({ status: 413 });
    expect(await openai.uploads.cancel(upload.id)).toMatchObject({ status: "cancelled" });
    expect(await refused(openai.uploads.parts.create(upload.id, { data }))).toMatchObject({ status: 400 });
    expect((await openai.files.list()).data).toEqual([]);
  });

  test("Google's SDK uploads with the resumable protocol", async () => {
    const file = await genai.files.upload({
      file: new Blob([content], { type: "audio/wav" }),
      config: { displayName: "sweep", mimeType: "audio/wav" },
    });
    expect(file).toMatchObject({ displayName: "sweep", mimeType: "audio/wav", sizeBytes: "300000", state: "ACTIVE" });
    const read = await openai.files.content(`file-${random(file.name ?? "")}`);
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true);
    await genai.files.delete({ name: file.name ?? "" });
  });

  test("a resumable upload continues where it stopped, without a key, and its end can be repeated", async () => {
    const start = await fetch(`${gateway.url}/upload/v1beta/files`, {
      method: "POST",
      headers: {
        "x-goog-api-key": TEST_KEY,
        "content-type": "application/json",
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(content.length),
        "x-goog-upload-header-content-type": "video/mp4",
      },
      body: JSON.stringify({ file: { displayName: "film" } }),
    });
    const url = start.headers.get("x-goog-upload-url") ?? "";
    const send = async (command: string, offset: number, body?: Buffer) => {
      const headers = { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) };
      const answer = await fetch(url, { method: "POST", headers, body: body ?? null });
      const received = answer.headers.get("x-goog-upload-size-received");
      return [answer.status, answer.headers.get("x-goog-upload-status"), received, await answer.text()] as const;
    };
    expect(await send("upload", 0, content.subarray(0, 100_000))).toEqual([200, "active", "100000", ""]);
    expect((await send("upload", 0, content.subarray(0, 100_000)))[0]).toBe(400);
    expect(await send("query", 0)).toEqual([200, "active", "100000", ""]);
    const last = await send("upload, finalize", 100_000, content.subarray(100_000));
    expect(last.slice(0, 2)).toEqual([200, "final"]);
    expect(await send("upload, finalize", 100_000, content.subarray(100_000))).toEqual(last);
    const { file } = JSON.parse(last[3]) as { file: { name: string; mimeType: string } };
    expect(file.mimeType).toBe("video/mp4");
    await openai.files.delete(`file-${random(file.name)}`);
    const stranger = url.replace(/upload_\w{22}/, `upload_${"A".repeat(22)}`);
    expect((await fetch(stranger, { method: "POST" })).status).toBe(404);
  });
});

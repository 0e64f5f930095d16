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

  test("H43: a file that is too large, and a full project, are refused, and nothing of them is kept", async () => {
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
    expect((await send("{}", "application/json"))[0]).toBe(400);
    expect((await openai.files.list()).data).toEqual([]);
  });
});

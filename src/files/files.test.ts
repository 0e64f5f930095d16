import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { selectFile, sumFileSizes } from "../storage/tables/files.ts";
import { inChunks, sampleBytes } from "./file-store.contract.ts";
import type { FileStore } from "./file-store.ts";
import { type FileLimits, Files, type FileToKeep, type FileUrl } from "./files.ts";
import { openFileStore } from "./open-file-store.ts";

const HOUR_MS = 60 * 60_000;
const NOW = 1_800_000_000_000;
const makeId = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");

describe("files", () => {
  let folder: string;
  let storage: Storage;
  let store: FileStore;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "trivium-kept-"));
    storage = await openStorage(`sqlite:${join(folder, "rows.db")}`, system.clock);
    store = await openFileStore(join(folder, "blobs"), {}, system);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (limits: Partial<FileLimits> = {}, changes: { store?: FileStore; storage?: Storage } = {}) =>
    Files.open({
      storage,
      store,
      publicUrl: () => "https://gateway.example/base/",
      random: { ...system.random, id: makeId },
      limits,
      ...changes,
    });
  const video = (changes: Partial<FileToKeep> = {}): FileToKeep => {
    const content = sampleBytes(1_000);
    return { project: "red", owner: "op_1", mimeType: "video/mp4", content, nowMs: NOW, ...changes };
  };
  const blobs = () => readdirSync(join(folder, "blobs")).sort();
  const partsOf = (url: string): FileUrl => {
    const { searchParams } = new URL(url);
    const [expires = "", signature = "", holder = ""] = ["expires", "signature", "holder"].map(
      (name) => searchParams.get(name) ?? undefined,
    );
    return { expires, signature, holder };
  };
  test("choices 5: a file is kept for 48 hours, under an id that cannot be guessed", async () => {
    const files = await open();
    const record = await files.keep(video());
    const { id, ...rest } = record;
    expect(id).toMatch(/^file[0-9a-f]{32}$/);
    expect(rest).toEqual({
      project: "red",
      ownerId: "op_1",
      mimeType: "video/mp4",
      size: 1_000,
      createdAtMs: NOW,
      expiresAtMs: NOW + 48 * HOUR_MS,
    });
    expect(await files.read(id, ["red"], NOW + 48 * HOUR_MS - 1)).toEqual(record);
    expect(await files.read(id, ["red"], NOW + 48 * HOUR_MS)).toBeUndefined();
  });

  test("a type that a browser would run as a page of the gateway is stored as plain bytes", async () => {
    const files = await open();
    const typeOf = async (mimeType: string) => (await files.keep(video({ mimeType }))).mimeType;
    for (const type of [
      "text/html",
      "image/svg+xml",
      "IMAGE/SVG+XML; charset=utf-8",
      "",
      "video/mp4\r\nx: y",
      "video/",
    ]) {
      expect(await typeOf(type)).toBe("application/octet-stream");
    }
    expect(await typeOf("Image/PNG; q=1")).toBe("image/png");
  });

  test("a signed URL is right on every instance until it expires, and not with one character changed", async () => {
    const files = await open();
    const record = await files.keep(video());
    const url = files.urlOf(record, "static:a b&c");
    expect(url).toStartWith(`https://gateway.example/base/files/${record.id}?expires=`);
    const parts = partsOf(url);
    expect(parts.holder).toBe("static:a b&c");
    expect(Number(parts.expires)).toBe((NOW + 48 * HOUR_MS) / 1000);
    const other = await open();
    expect(await other.holderOf(record.id, parts, NOW)).toEqual({ keyId: expect.any(String), project: "red" });

    for (const part of ["signature", "holder"] as const) {
      for (let index = 0; index < parts[part].length; index += 1) {
        const changed = parts[part][index] === "A" ? "B" : "A";
        const value = parts[part].slice(0, index) + changed + parts[part].slice(index + 1);
        expect(await files.holderOf(record.id, { ...parts, [part]: value }, NOW)).toBeUndefined();
      }
    }
    for (const signature of ["", `${parts.signature}=`, parts.signature.slice(1), "é".repeat(43)]) {
      expect(await files.holderOf(record.id, { ...parts, signature }, NOW)).toBeUndefined();
    }
    for (const expires of [String(Number(parts.expires) + 1), `0${parts.expires}`, `${parts.expires}.0`, "", "1e99"]) {
      expect(await files.holderOf(record.id, { ...parts, expires }, NOW)).toBeUndefined();
    }
    const second = await files.keep(video());
    expect(await files.holderOf(second.id, parts, NOW)).toBeUndefined();
  });

  test("a URL may expire before its file, and never after it", async () => {
    const files = await open();
    const record = await files.keep(video());
    const short = partsOf(files.urlOf(record, "key", NOW + 60_000));
    expect(await files.holderOf(record.id, short, NOW + 59_000)).toEqual({ keyId: expect.any(String), project: "red" });
    expect(await files.holderOf(record.id, short, NOW + 60_000)).toBeUndefined();
    const long = partsOf(files.urlOf(record, "key", NOW + 1_000 * HOUR_MS));
    expect(Number(long.expires) * 1000).toBe(record.expiresAtMs);
  });

  test("S09: another project's claim, no claim and a malformed id find nothing", async () => {
    const files = await open();
    const { id } = await files.keep(video());
    expect(await files.read(id, ["blue"], NOW)).toBeUndefined();
    expect(await files.read(id, [], NOW)).toBeUndefined();
    expect(await files.read(`${id}/..`, ["red"], NOW)).toBeUndefined();
    expect(await files.read(id, ["blue", "red"], NOW)).toBeDefined();
  });

  test("a file beyond its limit is rejected, and leaves neither row nor blob", async () => {
    const files = await open({ maxFileBytes: 2_000 });
    for (const content of [sampleBytes(2_001), inChunks(sampleBytes(2_001), 100)]) {
      await expect(files.keep(video({ content }))).rejects.toHaveProperty("kind", "too_large");
    }
    expect(blobs()).toEqual([]);
    expect(await sumFileSizes(storage)).toBe(0);
    expect((await files.keep(video({ content: sampleBytes(2_000) }))).size).toBe(2_000);
  });

  test("a full store rejects files until some expire, and then frees space automatically", async () => {
    const files = await open({ maxTotalBytes: 2_500 });
    const first = await files.keep(video());
    const second = await files.keep(video({ nowMs: NOW + HOUR_MS }));
    for (const content of [sampleBytes(1_000), inChunks(sampleBytes(1_000), 100)]) {
      await expect(files.keep(video({ content }))).rejects.toHaveProperty("kind", "overloaded");
    }
    expect(blobs()).toEqual([first.id, second.id].sort());
    const third = await files.keep(video({ nowMs: first.expiresAtMs }));
    expect(blobs()).toEqual([second.id, third.id].sort());
  });

  test("a project that has used its share is refused, and others are not", async () => {
    const files = await open({ maxTotalBytes: 10_000, maxProjectBytes: 1_500 });
    await files.keep(video());
    for (const content of [sampleBytes(1_000), inChunks(sampleBytes(1_000), 100)]) {
      const error = await files.keep(video({ content })).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: "overloaded", message: expect.stringContaining('"red" has used its share') });
    }
    expect((await files.keep(video({ project: "blue" }))).size).toBe(1_000);
    expect(blobs()).toHaveLength(2);
  });

  test("free space can be checked before anything is generated", async () => {
    const files = await open({ maxTotalBytes: 2_500, maxProjectBytes: 1_500 });
    const first = await files.keep(video());
    await files.requireSpace("red", 500, NOW);
    await files.requireSpace("blue", 1_500, NOW);
    await expect(files.requireSpace("red", 501, NOW)).rejects.toHaveProperty("kind", "overloaded");
    await expect(files.requireSpace("blue", 1_501, NOW)).rejects.toHaveProperty("kind", "overloaded");
    await files.requireSpace("red", 1_500, first.expiresAtMs);
    const unbounded = await open({ maxTotalBytes: 1e18, maxProjectBytes: 1e18 });
    // No disk is that large.
    await expect(unbounded.requireSpace("red", 1e17, NOW)).rejects.toHaveProperty("kind", "overloaded");
  });

  test("files stored at the same time do not exceed the limit together", async () => {
    const files = await open({ maxTotalBytes: 3_500 });
    const kept = await Promise.allSettled(
      Array.from({ length: 10 }, () => files.keep(video({ content: inChunks(sampleBytes(1_000), 100) }))),
    );
    const records = kept.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    expect(records.length).toBeLessThanOrEqual(3);
    expect(blobs()).toEqual(records.sort());
    // Rejected files do not count forever.
    const left = 3 - records.length;
    for (let count = 0; count < left; count += 1) await files.keep(video());
    expect(await sumFileSizes(storage)).toBe(3_000);
  });

  test("content of unknown size is stopped when the store is full, not at its end", async () => {
    const files = await open({ maxTotalBytes: 2_500 });
    await files.keep(video());
    let given = 0;
    const content = (async function* () {
      for (; given < 100_000; given += 100) yield sampleBytes(100);
    })();
    await expect(files.keep(video({ content }))).rejects.toHaveProperty("kind", "overloaded");
    expect(given).toBeLessThan(2_000);
    expect(blobs()).toHaveLength(1);
  });

  test("H20: a stream that is rejected before it is read is closed", async () => {
    const files = await open({ maxTotalBytes: 10 });
    await files.keep(video({ content: sampleBytes(10) }));
    let isClosed = false;
    const content = new ReadableStream<Uint8Array>({
      cancel: () => {
        isClosed = true;
      },
    });
    await expect(files.keep(video({ content }))).rejects.toThrow("full");
    expect(isClosed).toBe(true);
  });

  test("a failed insert of the row removes the blob", async () => {
    const broken: Storage = {
      engine: storage.engine,
      query: (text, parameters) => storage.query(text, parameters),
      transaction: () => Promise.reject(new Error("the storage is unavailable")),
      runForEach: (text, rows) => storage.runForEach(text, rows),
      changeStamp: () => storage.changeStamp(),
      close: () => storage.close(),
    };
    const files = await open({}, { storage: broken });
    await expect(files.keep(video())).rejects.toThrow("the storage is unavailable");
    expect(blobs()).toEqual([]);
  });

  test("the sweep removes expired files and blobs that lost their row an hour ago, and nothing else", async () => {
    const files = await open();
    const expired = await files.keep(video());
    const later = expired.expiresAtMs + 1;
    const kept = await files.keep(video({ nowMs: later }));
    const [lost, young] = [`file_${makeId()}`, `file_${makeId()}`];
    const path = (name: string) => join(folder, "blobs", name);
    for (const [name, atMs] of [
      [lost, later - HOUR_MS - 1_000],
      [young, later - HOUR_MS + 1_000],
      [kept.id, later - 10 * HOUR_MS],
    ] as const) {
      if (name !== kept.id) writeFileSync(path(name), "bytes");
      utimesSync(path(name), atMs / 1000, atMs / 1000);
    }
    await files.sweep(later);
    expect(blobs()).toEqual([kept.id, young].sort());
    expect(await selectFile(storage, expired.id)).toBeUndefined();
    expect(await selectFile(storage, kept.id)).toEqual(kept);
  });

  test("two instances may sweep at once while files are being stored", async () => {
    const files = await open();
    const old = await Promise.all(Array.from({ length: 450 }, () => files.keep(video({ content: sampleBytes(10) }))));
    const later = (old[0]?.expiresAtMs ?? 0) + HOUR_MS;
    const elsewhere = await openStorage(`sqlite:${join(folder, "rows.db")}`, system.clock);
    const other = await open({}, { storage: elsewhere, store: await openFileStore(join(folder, "blobs"), {}, system) });
    const [, , , ...fresh] = await Promise.all([
      files.sweep(later),
      other.sweep(later),
      files.sweep(later),
      ...Array.from({ length: 20 }, () => other.keep(video({ nowMs: later }))),
    ]);
    await elsewhere.close();
    expect(blobs()).toEqual(fresh.map(({ id }) => id).sort());
    expect(await sumFileSizes(storage)).toBe(20_000);
  });
});

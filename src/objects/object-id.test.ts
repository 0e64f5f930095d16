import { expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { batchIdFor, newObjectRandom, objectId, parseObjectId } from "./object-id.ts";

const RANDOM = "AbCdEfGhIjKlMnOpQrStU1";

test("decision 0087: the three forms of a file id share one random part, and each of them finds it", () => {
  const forms = [
    objectId("file", "chat", RANDOM),
    objectId("file", "messages", RANDOM),
    objectId("file", "genai", RANDOM),
  ];
  expect(forms).toEqual([`file-${RANDOM}`, `file_${RANDOM}`, `files/${RANDOM}`]);
  for (const form of [...forms, `https://gateway.example/v1beta/files/${RANDOM}`]) {
    expect(parseObjectId(form)).toEqual({ kind: "file", random: RANDOM });
  }
});

test("decision 0087: each kind has the vendors' own form", () => {
  expect(
    [
      objectId("batch", "chat", RANDOM),
      objectId("batch", "messages", RANDOM),
      objectId("batch", "genai", RANDOM),
      objectId("conversation", "chat", RANDOM),
      objectId("cache", "genai", RANDOM),
      objectId("upload", "chat", RANDOM),
      objectId("completion", "chat", RANDOM),
    ].map((id) => id.slice(0, -RANDOM.length)),
  ).toEqual(["batch_", "msgbatch_", "batches/", "conv_", "cachedContents/", "upload_", "chatcmpl-"]);
  expect(parseObjectId(`msgbatch_${RANDOM}`)).toEqual({ kind: "batch", random: RANDOM });
});

test("decision 0110: a client of the vendor's cloud names a cache with its project and location", () => {
  const written = `projects/undefined/locations/us-central1/cachedContents/${RANDOM}`;
  expect(parseObjectId(written)).toEqual({ kind: "cache", random: RANDOM });
});

test("strings that no gateway creates are not ids", () => {
  for (const written of [
    "",
    RANDOM,
    `file-${RANDOM}x`,
    `file-${RANDOM.slice(1)}`,
    `file-${RANDOM.slice(1)}_`,
    `files/${RANDOM}/more`,
    `gs://bucket/files/${RANDOM}`,
    `https://host.example/?files/${RANDOM}`,
    `projects/p/locations/l/files/${RANDOM}`,
    `projects/p/cachedContents/${RANDOM}`,
    `xfile-${RANDOM}`,
  ]) {
    expect(parseObjectId(written)).toBeUndefined();
  }
});

test("the random part has 22 letters and digits, uniformly distributed", () => {
  const drawn = Array.from({ length: 2_000 }, () => newObjectRandom(system.random));
  expect(drawn.every((one) => /^[0-9A-Za-z]{22}$/.test(one))).toBe(true);
  expect(new Set(drawn).size).toBe(drawn.length);
  const counts = new Map<string, number>();
  for (const letter of drawn.join("")) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  const expected = (2_000 * 22) / 62;
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected / 3);
});

test("bytes that would make some letters more likely are discarded", () => {
  const bytes = [255, 250, 248, 0, 61, 62, 247];
  let at = 0;
  const random = { id: () => "", bytes: (length: number) => Uint8Array.from({ length }, () => bytes[at++ % 7] ?? 0) };
  expect(newObjectRandom(random)).toMatch(/^(?:0z0z)+0z$/);
});

test("a batch is named as its client knows it, whatever form its id is kept in", () => {
  const kept = objectId("batch", "chat", RANDOM);
  expect(["messages", "genai", "chat", "responses"].map((client) => batchIdFor(kept, client))).toEqual([
    `msgbatch_${RANDOM}`,
    `batches/${RANDOM}`,
    kept,
    kept,
  ]);
  expect(batchIdFor("something else", "messages")).toBe("something else");
});

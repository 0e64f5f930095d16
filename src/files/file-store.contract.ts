import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import type { FileStore } from "./file-store.ts";

let made = 0;
export const newName = (): string => {
  made += 1;
  return `file_${String(made).padStart(22, "0")}`;
};

/** Bytes that differ at every offset, so that a range from a wrong offset is noticed. */
export function sampleBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let index = 0; index < size; index += 1) bytes[index] = (index * 31 + (index >> 8) * 7 + (index >> 16)) & 255;
  return bytes;
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

export async function namesIn(store: FileStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.list()) names.push(name);
  return names.sort();
}

const MiB = 1024 * 1024;

/** Tests that every kind of file store must pass. */
export function fileStoreContract(kind: string, store: () => FileStore): void {
  const read = async (name: string, start?: number, end?: number): Promise<Uint8Array | undefined> => {
    const opened = await store().open(name, start === undefined || end === undefined ? undefined : { start, end });
    return opened && new Uint8Array(await new Response(opened.stream).arrayBuffer());
  };
  const same = (one: Uint8Array | undefined, other: Uint8Array) =>
    one !== undefined && Bun.hash(one) === Bun.hash(other);

  describe(`file store contract: ${kind}`, () => {
    test("bytes, a stream and an iterable are read back unchanged, with their size", async () => {
      const bytes = sampleBytes(3 * MiB + 17);
      for (const content of [bytes, new Blob([bytes.slice().buffer]).stream(), inChunks(bytes, 65_521)]) {
        const name = newName();
        expect(await store().put(name, content, bytes.length)).toEqual({ size: bytes.length });
        expect((await store().open(name, { start: 0, end: 0 }))?.size).toBe(bytes.length);
        expect(same(await read(name), bytes)).toBe(true);
      }
    });

    test("an empty file is a file", async () => {
      const name = newName();
      expect(await store().put(name, new Uint8Array(0), 10)).toEqual({ size: 0 });
      expect((await read(name))?.length).toBe(0);
    });

    test("ranges are exact to the byte, across read boundaries", async () => {
      const bytes = sampleBytes(600 * 1024);
      const name = newName();
      await store().put(name, bytes, MiB);
      const edges = [0, 1, 262_143, 262_144, 262_145, 524_288, bytes.length - 1, bytes.length];
      for (const start of edges) {
        for (const end of edges.filter((edge) => edge >= start)) {
          expect(same(await read(name, start, end), bytes.subarray(start, end))).toBe(true);
        }
      }
    });

    test("content beyond its limit leaves nothing, and its source is cancelled", async () => {
      const before = await namesIn(store());
      let cancelled = false;
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(MiB)),
        cancel: () => {
          cancelled = true;
        },
      });
      const thrown = await store()
        .put(newName(), endless, 20 * MiB)
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(GatewayError);
      expect(thrown).toHaveProperty("kind", "too_large");
      expect(cancelled).toBe(true);
      expect(await namesIn(store())).toEqual(before);
    });

    test("a source that fails, early or late, leaves nothing, and its error is thrown", async () => {
      const before = await namesIn(store());
      for (const chunks of [0, 1, 20]) {
        const breaking = (async function* () {
          yield* inChunks(new Uint8Array(chunks * MiB), MiB);
          throw new Error(`broke after ${chunks}`);
        })();
        await expect(store().put(newName(), breaking, 100 * MiB)).rejects.toThrow(`broke after ${chunks}`);
      }
      expect(await namesIn(store())).toEqual(before);
    });

    test("a missing file cannot be opened, and removing it is not an error, even twice at once", async () => {
      expect(await store().open(newName())).toBeUndefined();
      const name = newName();
      await store().put(name, sampleBytes(10), 10);
      expect(await namesIn(store())).toContain(name);
      await Promise.all([store().remove(name), store().remove(name)]);
      expect(await store().open(name)).toBeUndefined();
      expect(await namesIn(store())).not.toContain(name);
    });

    test("S09: names that the gateway did not create are rejected before anything is touched", async () => {
      const hostile = ["", "..", "../x", "/etc/passwd", "file_", `file_${"a".repeat(21)}/`, `file_${"a".repeat(23)}`];
      for (const name of [
        ...hostile,
        `file_${"a".repeat(22)}\n`,
        `../file_${"a".repeat(22)}`,
        `file_${"é".repeat(22)}`,
      ]) {
        await expect(store().put(name, sampleBytes(1), 1)).rejects.toThrow("did not create");
        await expect(store().open(name)).rejects.toThrow("did not create");
        await expect(store().remove(name)).rejects.toThrow("did not create");
      }
    });

    test("its name is always the same, and is not in the list", async () => {
      const before = await namesIn(store());
      const names = await Promise.all([1, 2, 3].map(() => store().identity()));
      expect(new Set([...names, await store().identity()]).size).toBe(1);
      expect(await namesIn(store())).toEqual(before);
    });

    test("the list includes when a file was written", async () => {
      const name = newName();
      const beforeMs = Date.now();
      await store().put(name, sampleBytes(5), 5);
      for await (const file of store().list()) {
        // Some stores only have second precision.
        if (file.name === name) expect(file.writtenAtMs).toBeWithin(beforeMs - 2_000, Date.now() + 2_000);
      }
    });
  });
}

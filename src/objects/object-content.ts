import type { Random } from "../base/sources.ts";
import { streamOf } from "../files/chunks.ts";
import type { ByteRange, FileContent, FileStore } from "../files/file-store.ts";
import type { Storage } from "../storage/storage.ts";
import { type ObjectBlob, selectBlobs, selectKnownBlobs } from "../storage/tables/objects.ts";
import { type Addition, Shares } from "./share.ts";

interface ObjectContentOptions {
  storage: Storage;
  store: FileStore;
  random: Random;
}

/** A blob that was written and has no row yet. */
export interface WrittenBlob extends ObjectBlob {
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** The bytes of objects: blobs of the file store that rows of the storage refer to. */
export class ObjectContent {
  readonly #options: ObjectContentOptions;
  readonly #shares: Shares;

  constructor(options: ObjectContentOptions) {
    this.#options = options;
    this.#shares = new Shares(options.storage);
  }

  /**
   * Writes a blob before its row, so that no row is without its blob. A blob that never gets a row is swept. What is over the share
   * of a project is never written.
   */
  write(content: FileContent, maxBytes: number, of?: Addition): Promise<WrittenBlob> {
    const put = (take?: (bytes: number) => void) => this.#put(content, maxBytes, take);
    return of === undefined ? put() : this.#shares.within(of, put);
  }

  /** Throws if a project may not add so much. */
  checkRoom(of: Addition): Promise<void> {
    return this.#shares.within(of, async () => {});
  }

  async #put(content: FileContent, maxBytes: number, take?: (bytes: number) => void): Promise<WrittenBlob> {
    const { store, random } = this.#options;
    const blob = `file_${random.id()}`;
    const hash = new Bun.CryptoHasher("sha256");
    const hashed = streamOf(content, (chunk) => {
      take?.(chunk.length);
      hash.update(chunk);
    });
    const { size } = await store.put(blob, hashed, maxBytes);
    return { blob, size, sha256: hash.digest("hex") };
  }

  /** The bytes of an object, or a range of them, read on demand. Undefined if they have just been removed. */
  async open(objectId: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | undefined> {
    const { storage, store } = this.#options;
    const parts = partsIn(await selectBlobs(storage, objectId), range);
    const [first, ...others] = parts;
    if (first === undefined) return streamOf(new Uint8Array());
    // A missing blob is noticed before the response begins.
    const opened = await store.open(first.blob, first.range);
    if (opened === undefined) return undefined;
    return others.length === 0 ? opened.stream : streamOf(joined(opened.stream, others, store));
  }

  /** The MD5 of these blobs in their order. Undefined if one has just been removed. */
  async md5Of(blobs: readonly Pick<ObjectBlob, "blob" | "size">[]): Promise<string | undefined> {
    const hash = new Bun.CryptoHasher("md5");
    for (const { blob, size } of blobs) {
      const opened = size === 0 ? undefined : await this.#options.store.open(blob, { start: 0, end: size });
      if (opened === undefined && size > 0) return undefined;
      for await (const chunk of opened?.stream ?? []) hash.update(chunk);
    }
    return hash.digest("hex");
  }

  /** Removes blobs that no object has any more. A batch shares the blobs of its input file. */
  async remove(blobs: readonly Pick<ObjectBlob, "blob">[]): Promise<void> {
    const { storage, store } = this.#options;
    const names = blobs.map(({ blob }) => blob);
    const used = await selectKnownBlobs(storage, names);
    for (const name of names) if (!used.has(name)) await store.remove(name);
  }
}

interface BlobPart {
  blob: string;
  range: ByteRange;
}

function partsIn(blobs: readonly ObjectBlob[], range: ByteRange | undefined): BlobPart[] {
  const { start, end } = range ?? { start: 0, end: Number.POSITIVE_INFINITY };
  const parts: BlobPart[] = [];
  let at = 0;
  for (const { blob, size } of blobs) {
    const part = { start: Math.max(0, start - at), end: Math.min(size, end - at) };
    if (part.start < part.end) parts.push({ blob, range: part });
    at += size;
  }
  return parts;
}

async function* joined(
  first: ReadableStream<Uint8Array>,
  others: readonly BlobPart[],
  store: FileStore,
): AsyncGenerator<Uint8Array> {
  yield* first;
  for (const { blob, range } of others) {
    const opened = await store.open(blob, range);
    if (opened === undefined) throw new Error(`the blob ${blob} of an object is missing`);
    yield* opened.stream;
  }
}

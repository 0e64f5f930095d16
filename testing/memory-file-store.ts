import type { ByteRange, FileContent, FileStore, ListedFile, OpenFile } from "../src/files/file-store.ts";

/** Files that last as long as the test. */
export class MemoryFileStore implements FileStore {
  readonly #nowMs: () => number;
  readonly #files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; writtenAtMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  async put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }> {
    const bytes =
      content instanceof Uint8Array
        ? Uint8Array.from(content)
        : new Uint8Array(await new Response(content as ReadableStream).arrayBuffer());
    if (bytes.length > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
    this.#files.set(name, { bytes, writtenAtMs: this.#nowMs() });
    return { size: bytes.length };
  }

  async open(name: string, range?: ByteRange): Promise<OpenFile | undefined> {
    const bytes = this.#files.get(name)?.bytes;
    if (bytes === undefined) return undefined;
    const { start, end } = range ?? { start: 0, end: bytes.length };
    return { stream: new Blob([bytes.subarray(start, end)]).stream(), size: bytes.length };
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }

  async *list(): AsyncGenerator<ListedFile> {
    for (const [name, { writtenAtMs }] of this.#files) yield { name, writtenAtMs };
  }

  async identity(): Promise<string> {
    return "memory";
  }

  async removeUnfinished(): Promise<void> {}
}

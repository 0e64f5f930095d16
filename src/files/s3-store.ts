import { S3Client } from "bun";
import type { Clock } from "../base/clock.ts";
import { errorCode, unlessMissing } from "../base/error-code.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { boundedContent, WRITE_LIMIT_MS } from "./bounded-content.ts";
import { streamOf } from "./chunks.ts";
import {
  type ByteRange,
  checkedFileName,
  FILE_NAME,
  type FileContent,
  type FileStore,
  type ListedFile,
  type OpenFile,
} from "./file-store.ts";

export interface S3Settings {
  bucket: string;
  /** Prepended to every name; empty, or ends in a slash. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  endpoint?: string;
  region?: string;
  /** How long the bucket's host may be silent in the middle of a file. */
  stallMs?: number;
  /** The form of the names, as the source of a pattern. */
  names?: string;
}

const ANSWER_MS = 30_000;

/** Parts in flight times their size is the memory that one upload takes. */
const UPLOAD = { partSize: 8 * 1024 * 1024, queueSize: 2, retry: 3 };

/** Files in an S3 bucket of Amazon or of a compatible host. */
export class S3Store implements FileStore {
  readonly #client: S3Client;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #stallMs: number;
  readonly #shown: string;
  readonly #names: RegExp;

  private constructor({ prefix, stallMs = ANSWER_MS, names = FILE_NAME, ...options }: S3Settings, clock: Clock) {
    this.#client = new S3Client(options);
    this.#clock = clock;
    this.#prefix = prefix;
    this.#stallMs = stallMs;
    this.#names = new RegExp(`^${names}$`);
    this.#shown = `s3://${options.bucket}/${prefix}`;
  }

  /** Queries the bucket once, so that a wrong name or credential fails at the start and not with the first video. */
  static async open(settings: S3Settings, clock: Clock): Promise<S3Store> {
    const store = new S3Store(settings, clock);
    await store.#ask(store.#client.list({ prefix: settings.prefix, maxKeys: 1 }));
    return store;
  }

  /**
   * A part of an upload is not an object: the name appears with the last step. The runtime aborts an upload whose
   * stream fails; ending its writer with an error, as its types offer, has been seen to complete the upload instead.
   */
  async put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }> {
    const key = this.#key(name);
    let failure: unknown;
    let size = 0;
    const chunks = boundedContent(content, { maxBytes }, this.#clock);
    let giveUp: (reason: unknown) => void = () => undefined;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          giveUp = (reason) => controller.error(reason);
        },
        pull: async (controller) => {
          try {
            const next = await chunks.next();
            if (next.done) return controller.close();
            size += next.value.length;
            controller.enqueue(next.value);
          } catch (thrown) {
            failure = thrown;
            throw thrown;
          }
        },
        cancel: async () => {
          await chunks.return();
        },
      },
      { highWaterMark: 0 },
    );
    try {
      await this.#ask(this.#client.file(key).write(new Response(stream), UPLOAD), WRITE_LIMIT_MS);
      return { size };
    } catch (thrown) {
      giveUp(thrown);
      await chunks.return();
      // The source's own error, if the source failed.
      throw failure ?? thrown;
    }
  }

  async open(name: string, range?: ByteRange): Promise<OpenFile | undefined> {
    const file = this.#client.file(this.#key(name));
    const found = await this.#ask(unlessMissing(file.stat(), "NoSuchKey"));
    if (found === undefined) return undefined;
    const { start, end } = range ?? { start: 0, end: found.size };
    // The range header cannot express an empty range.
    const content = start === end ? new Uint8Array(0) : file.slice(start, end).stream();
    // A slow client is not a silent bucket, so the whole transfer has no limit.
    const bounds = { maxBytes: end - start, stallMs: this.#stallMs, limitMs: Number.POSITIVE_INFINITY };
    return { stream: streamOf(boundedContent(content, bounds, this.#clock)), size: found.size };
  }

  async remove(name: string): Promise<void> {
    await this.#ask(this.#client.unlink(this.#key(name)));
  }

  async *list(): AsyncGenerator<ListedFile> {
    let continuationToken: string | undefined;
    do {
      const page = await this.#ask(this.#client.list(withoutAbsent({ prefix: this.#prefix, continuationToken })));
      for (const { key, lastModified } of page.contents ?? []) {
        const name = key.slice(this.#prefix.length);
        if (this.#names.test(name) && lastModified !== undefined) yield { name, writtenAtMs: Date.parse(lastModified) };
      }
      continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    } while (continuationToken !== undefined);
  }

  /** Whoever writes there writes to the same objects. Hosts have several addresses, so theirs is not a part of it. */
  async identity(): Promise<string> {
    return this.#shown;
  }

  /**
   * Uploads of killed writers are not objects, and the runtime cannot list them: the bucket's lifecycle rule removes
   * them.
   */
  async removeUnfinished(): Promise<void> {}

  #key(name: string): string {
    return this.#prefix + checkedFileName(name, this.#names);
  }

  async #ask<Answer>(answer: Promise<Answer>, waitMs = ANSWER_MS): Promise<Answer> {
    try {
      return await withTimeout(answer, waitMs, this.#clock, () => new Error("no response in time"));
    } catch (cause) {
      const reason = errorCode(cause) ?? (cause instanceof Error ? cause.message : "unknown reason");
      throw new GatewayError("internal", `The file store ${this.#shown} cannot be used: ${reason}.`, { cause });
    }
  }
}

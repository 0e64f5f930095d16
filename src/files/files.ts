import { createHmac, timingSafeEqual } from "node:crypto";
import type { Random } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import {
  deleteFiles,
  insertFile,
  type StoredFile,
  selectExpiredFiles,
  selectFile,
  selectKnownFiles,
  sumFileSizes,
} from "../storage/tables/files.ts";
import { selectKnownBlobs } from "../storage/tables/objects.ts";
import { claimSetting } from "../storage/tables/settings.ts";
import { streamOf } from "./chunks.ts";
import {
  type ByteRange,
  type FileContent,
  type FileStore,
  isFileName,
  newFileName,
  type OpenFile,
} from "./file-store.ts";
import { servedType } from "./media-type.ts";

export interface FileLimits {
  /** How long a file is kept. */
  retentionMs: number;
  maxFileBytes: number;
  /** For all files of all projects. */
  maxTotalBytes: number;
  /** For the files of one project: no project may fill the store for all others. */
  maxProjectBytes: number;
}

export const DEFAULT_FILE_LIMITS: FileLimits = {
  retentionMs: 48 * 60 * 60_000,
  maxFileBytes: 1024 ** 3,
  maxTotalBytes: 10 * 1024 ** 3,
  maxProjectBytes: 10 * 1024 ** 3,
};

interface FilesOptions {
  storage: Storage;
  store: FileStore;
  publicUrl: () => string;
  random: Random;
  limits?: Partial<FileLimits>;
}

export interface FileToKeep {
  project: string;
  /** The operation or receipt that it belongs to. */
  owner: string;
  mimeType: string;
  content: FileContent;
  nowMs: number;
}

/** The query parameters of a signed URL. */
export interface FileUrl {
  expires: string;
  signature: string;
  /** The id of the key that it was given to. */
  holder: string;
}

const SECRET_SETTING = "file_url_secret";

/** A blob that has had no row for this long lost it in a crash; a younger one may be about to get its row. */
const ORPHAN_MS = 60 * 60_000;
const SWEEP_BATCH = 200;
const MAX_SWEEP_BATCHES = 500;

/** Generated media, kept for a while: bytes in the file store, metadata in the storage. */
export class Files {
  readonly #storage: Storage;
  readonly #store: FileStore;
  readonly #publicUrl: () => string;
  readonly #random: Random;
  readonly #limits: FileLimits;
  readonly #secret: string;
  /** Bytes of files that have no row yet. */
  #unwritten = 0;
  #sweeping: Promise<void> | undefined;

  private constructor(options: FilesOptions, secret: string) {
    this.#storage = options.storage;
    this.#store = options.store;
    this.#publicUrl = options.publicUrl;
    this.#random = options.random;
    this.#limits = { ...DEFAULT_FILE_LIMITS, ...options.limits };
    this.#secret = secret;
  }

  /** The secret of signed URLs is created once, so that they are valid on every instance and after a restart. */
  static async open(options: FilesOptions): Promise<Files> {
    const made = Buffer.from(options.random.bytes(32)).toString("base64url");
    return new Files(options, await claimSetting(options.storage, SECRET_SETTING, made));
  }

  /** The blob is written before its row, so that no row is ever without its blob. */
  async keep({ project, owner, mimeType, content, nowMs }: FileToKeep): Promise<StoredFile> {
    const known = content instanceof Uint8Array ? content.length : 0;
    const used = await this.#usedBytes(project, known, nowMs).catch((refusal: unknown) => {
      // Otherwise its connection would stay open until it times out.
      if (content instanceof ReadableStream) void content.cancel().catch(() => {});
      throw refusal;
    });
    const id = newFileName(this.#random);
    let counted = 0;
    const count = (chunk: Uint8Array) => {
      counted += chunk.length;
      this.#unwritten += chunk.length;
      if (used.total + this.#unwritten > this.#limits.maxTotalBytes) throw storeFull();
      if (used.ofProject + counted > this.#limits.maxProjectBytes) throw shareUsed(project);
    };
    try {
      const { size } = await this.#store.put(id, streamOf(content, count), this.#limits.maxFileBytes);
      const record: StoredFile = {
        id,
        project,
        ownerId: owner,
        mimeType: servedType(mimeType),
        size,
        createdAtMs: Math.floor(nowMs),
        expiresAtMs: Math.floor(nowMs + this.#limits.retentionMs),
      };
      const kept = await insertFile(this.#storage, record, this.#limits);
      if (kept !== "kept") throw kept === "project_full" ? shareUsed(project) : storeFull();
      return record;
    } catch (thrown) {
      await this.#removeUnlessKept(id);
      throw thrown;
    } finally {
      this.#unwritten -= counted;
    }
  }

  /** Throws if this many more bytes of the project could not be stored. Call it before they are generated. */
  async requireSpace(project: string, bytes: number, nowMs: number): Promise<void> {
    await this.#usedBytes(project, bytes, nowMs);
    const free = await this.#store.freeBytes?.();
    if (free !== undefined && free < bytes) throw storeFull();
  }

  /** A URL from which anybody can fetch the file as this key, until the file expires at the latest. */
  urlOf(record: StoredFile, holder: string, untilMs = record.expiresAtMs): string {
    const expires = String(Math.floor(Math.min(untilMs, record.expiresAtMs) / 1000));
    const signature = signFile(this.#secret, record.id, { expires, holder });
    const query = new URLSearchParams({ expires, signature, holder });
    return `${this.#publicUrl().replace(/\/+$/, "")}/files/${record.id}?${query}`;
  }

  /** The key that was given this URL, in the project of the file. Undefined if the URL is wrong. What the key may see is another question. */
  async holderOf(
    id: string,
    { expires, signature, holder }: FileUrl,
    nowMs: number,
  ): Promise<{ keyId: string; project: string } | undefined> {
    // Only one spelling: the signature covers a number, and a second spelling would be a second URL.
    if (!/^[1-9]\d{0,11}$/.test(expires) || Number(expires) * 1000 <= nowMs) return undefined;
    const right = Buffer.from(signFile(this.#secret, id, { expires, holder }));
    const presented = Buffer.from(signature);
    if (presented.length !== right.length || !timingSafeEqual(presented, right)) return undefined;
    const record = await selectFile(this.#storage, id);
    return record && { keyId: holder, project: record.project };
  }

  /** The file, for callers of these projects. To all others it looks as if it never existed (S09). */
  async read(id: string, projects: readonly string[], nowMs: number): Promise<StoredFile | undefined> {
    if (!isFileName(id)) return undefined;
    const record = await selectFile(this.#storage, id);
    if (record === undefined || record.expiresAtMs <= nowMs) return undefined;
    return projects.includes(record.project) ? record : undefined;
  }

  /** Removes files of a project before they expire. */
  async remove(project: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const record = await selectFile(this.#storage, id);
      if (record?.project !== project) continue;
      await deleteFiles(this.#storage, [id]);
      await this.#store.remove(id);
    }
  }

  open(record: StoredFile, range?: ByteRange): Promise<OpenFile | undefined> {
    return this.#store.open(record.id, range);
  }

  /** Removes expired files and the remains of crashes. Several instances may do so at once. */
  async sweep(nowMs: number): Promise<void> {
    this.#sweeping ??= this.#sweep(nowMs).finally(() => {
      this.#sweeping = undefined;
    });
    await this.#sweeping;
  }

  async #sweep(nowMs: number): Promise<void> {
    await this.#removeExpired(nowMs);
    await this.#removeOrphans(nowMs);
    await this.#store.removeUnfinished(nowMs);
  }

  /** Rows are removed before their blobs, and written after them: no row is without its blob. */
  async #removeExpired(nowMs: number): Promise<void> {
    for (let batch = 0; batch < MAX_SWEEP_BATCHES; batch += 1) {
      const ids = (await selectExpiredFiles(this.#storage, nowMs, SWEEP_BATCH)).map(({ id }) => id);
      await deleteFiles(this.#storage, ids);
      for (const id of ids) await this.#store.remove(id);
      if (ids.length < SWEEP_BATCH) return;
    }
  }

  async #removeOrphans(nowMs: number): Promise<void> {
    let names: string[] = [];
    const removeUnknown = async () => {
      const known = await selectKnownFiles(this.#storage, names);
      const inObjects = await selectKnownBlobs(this.#storage, names);
      for (const name of names) if (!known.has(name) && !inObjects.has(name)) await this.#store.remove(name);
      names = [];
    };
    for await (const { name, writtenAtMs } of this.#store.list()) {
      if (writtenAtMs >= nowMs - ORPHAN_MS) continue;
      if (names.push(name) === SWEEP_BATCH) await removeUnknown();
    }
    await removeUnknown();
  }

  /** The used space, after making room for `wanted` bytes: expired files are removed before a file is rejected. */
  async #usedBytes(project: string, wanted: number, nowMs: number): Promise<{ total: number; ofProject: number }> {
    const look = async () => {
      const total = await sumFileSizes(this.#storage);
      const ofProject = await sumFileSizes(this.#storage, project);
      const more = Math.max(wanted, 1);
      const full =
        total + this.#unwritten + more > this.#limits.maxTotalBytes
          ? storeFull()
          : ofProject + more > this.#limits.maxProjectBytes
            ? shareUsed(project)
            : undefined;
      return { used: { total, ofProject }, full };
    };
    const first = await look();
    if (first.full === undefined) return first.used;
    await this.#removeExpired(nowMs);
    const { used, full } = await look();
    if (full !== undefined) throw full;
    return used;
  }

  /** After a failure it may be unknown whether the row was written: a blob is removed only if it certainly has none. */
  async #removeUnlessKept(id: string): Promise<void> {
    try {
      if ((await selectFile(this.#storage, id)) === undefined) await this.#store.remove(id);
    } catch {
      // The caller must see the first failure; the sweep finds the blob later.
    }
  }
}

const storeFull = (): GatewayError =>
  new GatewayError(
    "overloaded",
    "The file store is full: generated media cannot be stored until older files expire or its limit is raised.",
  );

const shareUsed = (project: string): GatewayError =>
  new GatewayError(
    "overloaded",
    `The project "${project}" has used its share of the file store: generated media cannot be stored until older files of the project expire.`,
  );

/** The right to fetch one file as a key until a time, in seconds since 1970. */
function signFile(secret: string, id: string, { expires, holder }: Omit<FileUrl, "signature">): string {
  return createHmac("sha256", secret).update(`${id}\n${expires}\n${holder}`).digest("base64url");
}

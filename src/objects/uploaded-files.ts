import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { isVisible, type Owned, type Reader } from "../canon/ownership.ts";
import type { ByteRange, FileContent } from "../files/file-store.ts";
import type { Storage } from "../storage/storage.ts";
import {
  insertObjectWithin,
  listObjects,
  type ObjectBlob,
  type ObjectPage,
  type StoredObject,
  selectObjects,
} from "../storage/tables/objects.ts";
import { askedOf, madeOnce, newIdOf, type ObjectOwner } from "./made-once.ts";
import type { ObjectContent } from "./object-content.ts";
import { parseObjectId } from "./object-id.ts";
import type { Objects } from "./objects.ts";
import { shareUsed } from "./share.ts";

export interface UploadLimits {
  maxFileBytes: number;
  /** For the content of all objects of a project that has no share of its own. */
  maxProjectBytes: number;
  /** How long a file is kept that does not say; if absent, until it is deleted. */
  retentionMs?: number | undefined;
}

interface UploadedFilesOptions extends Sources {
  storage: Storage;
  content: ObjectContent;
  objects: Objects;
  limits: UploadLimits;
}

/** What a client says about a file. */
export interface FileDescription {
  name: string;
  mimeType: string;
  purpose: string;
  /** How long to keep it. */
  expiresAfterMs?: number | undefined;
}

/** A file that a client has uploaded. */
export interface UploadedFile {
  /** The random part of its id. */
  id: string;
  name: string;
  mimeType: string;
  purpose: string;
  size: number;
  /** In hexadecimal; absent for a file that was uploaded in parts. */
  sha256?: string;
  createdAtMs: number;
  expiresAtMs?: number;
}

/** Which files to list. `after` and `before` are ids in any form; at most one of them is set. */
export interface FilePage extends Pick<ObjectPage, "purpose" | "order" | "limit"> {
  after?: string | undefined;
  before?: string | undefined;
}

/** Files that clients upload and name in later requests: in any protocol, whatever the one that they were uploaded with. */
export class UploadedFiles {
  readonly #options: UploadedFilesOptions;
  readonly limits: UploadLimits;

  constructor(options: UploadedFilesOptions) {
    this.#options = options;
    this.limits = options.limits;
  }

  /** Stores bytes of a project. Nobody finds them until `create` makes a file of them. `atLeast`: what is known of their size. */
  write(project: string, content: FileContent, atLeast = 0): Promise<ObjectBlob & { sha256: string }> {
    const { maxFileBytes, maxProjectBytes: usualBytes } = this.limits;
    return this.#options.content.write(content, maxFileBytes, { project, usualBytes, atLeast });
  }

  /** Removes bytes that do not become a file. */
  discard(blobs: readonly ObjectBlob[]): Promise<void> {
    return this.#options.content.remove(blobs);
  }

  /** Makes a file of bytes that were written. If that fails, they are removed. */
  async create(
    owner: ObjectOwner,
    { name, mimeType, purpose, expiresAfterMs = this.limits.retentionMs }: FileDescription,
    blobs: readonly (ObjectBlob & { sha256?: string })[],
  ): Promise<UploadedFile> {
    const { storage, clock, random } = this.#options;
    const createdAtMs = Math.floor(clock.wallMs());
    const [only, ...others] = blobs;
    const asked = askedOf(owner, name, mimeType, purpose, only?.sha256);
    const object: StoredObject = withoutAbsent({
      id: newIdOf(owner, "file", random),
      kind: "file" as const,
      project: owner.project,
      keyId: owner.keyId,
      share: owner.share,
      state: "uploaded",
      size: blobs.reduce((sum, { size }) => sum + size, 0),
      purpose,
      metadata: withoutAbsent({ name, mimeType, sha256: others.length === 0 ? only?.sha256 : undefined, ...asked }),
      createdAtMs,
      expiresAtMs: expiresAfterMs === undefined ? undefined : createdAtMs + Math.floor(expiresAfterMs),
    });
    let isKept = false;
    try {
      const made = await madeOnce(object, async () => {
        const full = await insertObjectWithin(storage, object, blobs, this.limits.maxProjectBytes);
        if (full !== undefined) throw shareUsed(owner.project, full);
      });
      isKept = made === object;
      return fileOf(made);
    } finally {
      // If the row may have been written after all, the sweep decides.
      if (!isKept) await this.discard(blobs).catch(() => undefined);
    }
  }

  /** Undefined if there is none that the reader may see. */
  async find(reader: Reader, id: string): Promise<UploadedFile | undefined> {
    const object = await this.#object(id);
    return object !== undefined && isVisible(object, reader) ? fileOf(object) : undefined;
  }

  open({ id }: Pick<UploadedFile, "id">, range?: ByteRange): Promise<ReadableStream<Uint8Array> | undefined> {
    return this.#options.content.open(id, range);
  }

  /** A page of the files that the reader may see, newest first unless it says otherwise. */
  async list(reader: Reader, page: FilePage): Promise<{ files: UploadedFile[]; hasMore: boolean }> {
    const { storage, clock } = this.#options;
    const { after, before, order, limit, purpose } = page;
    const cursor = after ?? before;
    const from = cursor === undefined ? undefined : await this.find(reader, cursor);
    if (cursor !== undefined && from === undefined) return { files: [], hasMore: false };
    const isBackwards = before !== undefined;
    const wanted = isBackwards ? (order === "asc" ? "desc" : "asc") : order;
    const found = await listObjects(
      storage,
      reader,
      { kind: "file", purpose, order: wanted, after: from, limit: limit + 1 },
      clock.wallMs(),
    );
    const files = found.slice(0, limit).map(fileOf);
    return { files: isBackwards ? files.toReversed() : files, hasMore: found.length > limit };
  }

  /** False if there is none that `may` be deleted. */
  async delete(id: string, may: (owned: Owned) => boolean): Promise<boolean> {
    const object = await this.#object(id);
    return object !== undefined && may(object) && (await this.#options.objects.delete(object.id));
  }

  async #object(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named?.kind !== "file") return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === "file" ? object : undefined;
  }
}

export function fileOf({ id, size, purpose = "", metadata, createdAtMs, expiresAtMs }: StoredObject): UploadedFile {
  const { name, mimeType, sha256 } = metadata as { name: string; mimeType: string; sha256?: string };
  return withoutAbsent({ id, name, mimeType, purpose, size, sha256, createdAtMs, expiresAtMs });
}

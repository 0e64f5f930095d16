import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { isVisible, type Reader } from "../canon/ownership.ts";
import type { FileContent } from "../files/file-store.ts";
import type { Storage } from "../storage/storage.ts";
import {
  appendBlobWithin,
  endObject,
  insertObject,
  moveBlobs,
  type StoredObject,
  selectBlobs,
  selectObjects,
} from "../storage/tables/objects.ts";
import { askedOf, madeOnce, newIdOf, type ObjectOwner } from "./made-once.ts";
import type { ObjectContent } from "./object-content.ts";
import { newObjectRandom, parseObjectId } from "./object-id.ts";
import { shareUsed } from "./share.ts";
import { type FileDescription, fileOf, type UploadedFile, type UploadLimits } from "./uploaded-files.ts";

interface PartialUploadsOptions extends Sources {
  storage: Storage;
  content: ObjectContent;
  limits: UploadLimits;
}

export type UploadState = "pending" | "completed" | "cancelled";

/** A file that arrives in several requests. */
export interface PartialUpload extends FileDescription {
  /** The random part of its id. */
  id: string;
  state: UploadState;
  /** The size that was announced, and what has arrived of it. */
  announced: number;
  received: number;
  createdAtMs: number;
  expiresAtMs: number;
  /** The id of the file, once it is complete. */
  fileId?: string | undefined;
}

export interface UploadPart {
  /** Names the part when the upload is completed. */
  id: string;
  createdAtMs: number;
}

/** An upload that is not completed by then is removed. */
const LIFETIME_MS = 60 * 60_000;
const MAX_PARTS = 10_000;
const PART = /^part_([A-Za-z0-9_-]{22})$/;

/** Uploads of files in parts. Any instance may receive any part; the bytes are written once. */
export class PartialUploads {
  readonly #options: PartialUploadsOptions;

  constructor(options: PartialUploadsOptions) {
    this.#options = options;
  }

  async begin(owner: ObjectOwner, description: FileDescription, announced: number): Promise<PartialUpload> {
    const { storage, content, clock, random, limits } = this.#options;
    if (announced > limits.maxFileBytes) throw tooLarge(limits);
    await content.checkRoom({ project: owner.project, usualBytes: limits.maxProjectBytes, atLeast: announced });
    const createdAtMs = Math.floor(clock.wallMs());
    const object: StoredObject = {
      id: newIdOf(owner, "upload", random),
      kind: "upload",
      project: owner.project,
      keyId: owner.keyId,
      share: owner.share,
      state: "pending",
      size: 0,
      purpose: description.purpose,
      metadata: withoutAbsent({ ...description, announced, ...askedOf(owner, description, announced) }),
      createdAtMs,
      expiresAtMs: createdAtMs + LIFETIME_MS,
    };
    return uploadOf(await madeOnce(object, () => insertObject(storage, object)));
  }

  /** Undefined if there is none that the reader may see. */
  async find(reader: Reader, id: string): Promise<PartialUpload | undefined> {
    const object = await this.#object(id);
    return object !== undefined && isVisible(object, reader) ? uploadOf(object) : undefined;
  }

  /** The key that began an upload: whoever has its unguessable id may continue it as that key. */
  async holderOf(id: string): Promise<Pick<StoredObject, "keyId" | "project"> | undefined> {
    return await this.#object(id);
  }

  /** Stores a part. `atLeast`: what is known of its size. `offset`: where it begins, if parts arrive in order. */
  async add(
    { id, announced }: PartialUpload,
    content: FileContent,
    { atLeast = 0, offset }: { atLeast?: number; offset?: number } = {},
  ): Promise<UploadPart> {
    const { storage, content: contents, limits, clock } = this.#options;
    const object = await this.#pending(id);
    const left = Math.min(announced, limits.maxFileBytes) - object.size;
    const of = { project: object.project, usualBytes: limits.maxProjectBytes, atLeast };
    const written = await contents.write(content, Math.max(0, left), of).catch((error: unknown) => {
      throw error instanceof GatewayError && error.kind === "too_large" ? moreThanAnnounced(announced) : error;
    });
    let kept: Awaited<ReturnType<typeof appendBlobWithin>> | undefined;
    try {
      if ((await selectBlobs(storage, object.id)).length >= MAX_PARTS) throw tooManyParts();
      const within = { state: "pending", offset, maxBytes: limits.maxProjectBytes };
      kept = await appendBlobWithin(storage, object, written, within);
    } finally {
      if (kept !== "kept") await contents.remove([written]).catch(() => undefined);
    }
    if (kept === "moved") throw notPending(id);
    if (kept !== "kept") throw shareUsed(object.project, kept);
    return { id: `part_${written.blob.slice("file_".length)}`, createdAtMs: Math.floor(clock.wallMs()) };
  }

  /** Makes a file of these parts, or of all in the order of their arrival. `md5`: what the client expects of it. */
  async complete({ id }: PartialUpload, parts?: readonly string[], md5?: string): Promise<UploadedFile> {
    const { storage, content, limits, clock, random } = this.#options;
    const object = await this.#pending(id);
    const { announced, name, mimeType, purpose, expiresAfterMs = limits.retentionMs } = uploadOf(object);
    const sizes = new Map((await selectBlobs(storage, object.id)).map(({ blob, size }) => [blob, size]));
    const order = parts === undefined ? [...sizes.keys()] : parts.map((part, index) => blobOf(part, index, sizes));
    if (new Set(order).size !== order.length) throw wrongParts("part_ids names a part twice.");
    const size = order.reduce((sum, blob) => sum + (sizes.get(blob) ?? 0), 0);
    if (size !== announced) {
      throw wrongParts(`The parts have ${size} bytes together; the upload was created with ${announced}.`);
    }
    const made = md5 && (await content.md5Of(order.map((blob) => ({ blob, size: sizes.get(blob) ?? 0 }))));
    if (md5 && made !== md5.toLowerCase()) {
      const message = `md5 is ${md5.slice(0, 40)}; that of the parts is ${made}. Upload the file again.`;
      throw new GatewayError("invalid_request", message, { path: "md5" });
    }
    const createdAtMs = Math.floor(clock.wallMs());
    const file: StoredObject = withoutAbsent({
      ...object,
      id: newObjectRandom(random),
      kind: "file" as const,
      state: "uploaded",
      size,
      metadata: { name, mimeType },
      purpose,
      createdAtMs,
      expiresAtMs: expiresAfterMs === undefined ? undefined : createdAtMs + Math.floor(expiresAfterMs),
    });
    const ended = { from: "pending", to: "completed", metadata: { ...object.metadata, fileId: file.id } };
    const unused = await moveBlobs(storage, object, ended, file, order);
    if (unused === undefined) throw notPending(id);
    await content.remove(unused);
    return fileOf(file);
  }

  async cancel({ id }: PartialUpload): Promise<void> {
    const { storage, content } = this.#options;
    const blobs = await endObject(storage, id, { from: "pending", to: "cancelled" });
    if (blobs === undefined) throw notPending(id);
    await content.remove(blobs);
  }

  async #pending(random: string): Promise<StoredObject> {
    const { storage, clock } = this.#options;
    const object = (await selectObjects(storage, [random], clock.wallMs())).get(random);
    if (object?.kind !== "upload" || object.state !== "pending") throw notPending(random);
    return object;
  }

  async #object(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named?.kind !== "upload") return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === "upload" ? object : undefined;
  }
}

function uploadOf({ id, state, size, metadata, createdAtMs, expiresAtMs = 0 }: StoredObject): PartialUpload {
  const described = metadata as unknown as FileDescription & { announced: number; fileId?: string };
  return { ...described, id, state: state as UploadState, received: size, createdAtMs, expiresAtMs };
}

function blobOf(part: string, index: number, sizes: ReadonlyMap<string, number>): string {
  const blob = `file_${PART.exec(part)?.[1] ?? ""}`;
  if (sizes.has(blob)) return blob;
  const message = `part_ids[${index}] is not a part of this upload: ${JSON.stringify(part.slice(0, 60))}.`;
  throw new GatewayError("invalid_request", message, { path: `part_ids[${index}]` });
}

const wrongParts = (message: string) => new GatewayError("invalid_request", message, { path: "part_ids" });

const tooLarge = ({ maxFileBytes }: UploadLimits) =>
  new GatewayError("too_large", `The file is larger than ${maxFileBytes} bytes, the maximum size of a file.`);

const moreThanAnnounced = (announced: number) =>
  new GatewayError("too_large", `The parts are larger than the ${announced} bytes that the upload was created with.`);

const tooManyParts = () => new GatewayError("too_large", `An upload has at most ${MAX_PARTS} parts.`);

const notPending = (id: string) =>
  new GatewayError(
    "invalid_request",
    `The upload ${JSON.stringify(id)} has been completed, cancelled or changed by another request.`,
    { code: "upload_not_pending" },
  );

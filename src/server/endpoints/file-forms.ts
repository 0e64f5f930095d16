import { withoutAbsent } from "../../base/without-absent.ts";
import { objectId } from "../../objects/object-id.ts";
import type { FileDescription, FilePage, UploadedFile } from "../../objects/uploaded-files.ts";
import { wrongField } from "../wrong-field.ts";

/** How one protocol writes files. All of them show the same files. */
export interface FileForm {
  id: (file: Pick<UploadedFile, "id">) => string;
  entry: (file: UploadedFile, publicUrl: string) => object;
  /** What the fields of an upload say. */
  describe: (fields: ReadonlyMap<string, string>) => Pick<FileDescription, "purpose" | "expiresAfterMs">;
  readPage: (query: URLSearchParams) => FilePage;
  list: (entries: readonly object[], page: { ids: readonly string[]; hasMore: boolean }) => object;
  deleted: (id: string) => object;
}

/** The purpose of a file that was uploaded in a protocol without purposes. */
const NO_PURPOSE = "user_data";
const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];
const HOUR_S = 3_600;
const MAX_SECONDS = 10 * 365 * 24 * HOUR_S;

const isoTime = (ms: number): string => new Date(ms).toISOString();

const chatForm: FileForm = {
  id: ({ id }) => objectId("file", "chat", id),
  entry: ({ id, size, createdAtMs, expiresAtMs, name, purpose }) =>
    withoutAbsent({
      id: objectId("file", "chat", id),
      object: "file",
      bytes: size,
      created_at: Math.floor(createdAtMs / 1000),
      expires_at: expiresAtMs === undefined ? undefined : Math.floor(expiresAtMs / 1000),
      filename: name,
      purpose,
      status: "processed",
    }),
  describe: (fields) => {
    const purpose = fields.get("purpose");
    if (purpose === undefined || !PURPOSES.includes(purpose)) {
      const found = purpose === undefined ? "it is missing" : `it is "${purpose.slice(0, 40)}"`;
      throw wrongField("purpose", `must be one of ${PURPOSES.join(", ")}; ${found}`);
    }
    const anchor = fields.get("expires_after[anchor]");
    if (anchor !== undefined && anchor !== "created_at") {
      throw wrongField("expires_after.anchor", "must be created_at");
    }
    return { purpose, expiresAfterMs: readSeconds(fields.get("expires_after[seconds]"), "expires_after.seconds") };
  },
  readPage: (query) => ({
    order: query.get("order") === "asc" ? "asc" : "desc",
    limit: readLimit(query.get("limit"), "limit", { most: 10_000, unsaid: 10_000 }),
    after: query.get("after") ?? undefined,
    purpose: query.get("purpose") ?? undefined,
  }),
  list: (data, { ids, hasMore }) => ({
    object: "list",
    data,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    has_more: hasMore,
  }),
  deleted: (id) => ({ id, object: "file", deleted: true }),
};

const messagesForm: FileForm = {
  id: ({ id }) => objectId("file", "messages", id),
  entry: ({ id, name, mimeType, size, createdAtMs, expiresAtMs }) => ({
    id: objectId("file", "messages", id),
    type: "file",
    filename: name,
    mime_type: mimeType,
    size_bytes: size,
    created_at: isoTime(createdAtMs),
    downloadable: true,
    expires_at: expiresAtMs === undefined ? null : isoTime(expiresAtMs),
  }),
  describe: (fields) => ({
    purpose: NO_PURPOSE,
    expiresAfterMs: readSeconds(fields.get("expires_in_seconds"), "expires_in_seconds"),
  }),
  readPage: (query) => ({
    order: "desc",
    limit: readLimit(query.get("limit"), "limit", { most: 1_000, unsaid: 20 }),
    // A page's token is the id of the last file before it.
    after: query.get("page") ?? query.get("after_id") ?? undefined,
    before: query.has("page") || query.has("after_id") ? undefined : (query.get("before_id") ?? undefined),
  }),
  list: (data, { ids, hasMore }) => ({
    data,
    has_more: hasMore,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    next_page: hasMore ? (ids.at(-1) ?? null) : null,
  }),
  deleted: (id) => ({ id, type: "file_deleted" }),
};

const genaiForm: FileForm = {
  id: ({ id }) => objectId("file", "genai", id),
  entry: ({ id, name, mimeType, size, sha256, createdAtMs, expiresAtMs }, publicUrl) =>
    withoutAbsent({
      name: objectId("file", "genai", id),
      displayName: name === "" ? undefined : name,
      mimeType,
      sizeBytes: String(size),
      createTime: isoTime(createdAtMs),
      updateTime: isoTime(createdAtMs),
      expirationTime: expiresAtMs === undefined ? undefined : isoTime(expiresAtMs),
      // The vendor encodes the hexadecimal digits in base64 once more.
      sha256Hash: sha256 === undefined ? undefined : Buffer.from(sha256).toString("base64"),
      uri: `${publicUrl.replace(/\/+$/, "")}/v1beta/${objectId("file", "genai", id)}`,
      state: "ACTIVE",
      source: "UPLOADED",
    }),
  describe: () => ({ purpose: NO_PURPOSE }),
  readPage: (query) => ({
    order: "desc",
    limit: readLimit(query.get("pageSize"), "pageSize", { most: 100, unsaid: 10 }),
    after: query.get("pageToken") ?? undefined,
  }),
  list: (files, { ids, hasMore }) => withoutAbsent({ files, nextPageToken: hasMore ? ids.at(-1) : undefined }),
  deleted: () => ({}),
};

const FORMS: Readonly<Record<string, FileForm>> = { messages: messagesForm, genai: genaiForm };

/** The form of a dialect. Clients of every other one use the same SDK as those of chat completions. */
export const fileFormOf = ({ name }: { name: string }): FileForm => FORMS[name] ?? chatForm;

function readSeconds(written: string | undefined, path: string): number | undefined {
  if (written === undefined) return undefined;
  const seconds = Number(written);
  if (Number.isInteger(seconds) && seconds >= HOUR_S && seconds <= MAX_SECONDS) return seconds * 1000;
  throw wrongField(path, `must be a whole number from ${HOUR_S} to ${MAX_SECONDS}`);
}

export function readLimit(
  written: string | null,
  path: string,
  { most, unsaid }: { most: number; unsaid: number },
): number {
  if (written === null) return unsaid;
  const limit = Number(written);
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  throw wrongField(path, `must be a whole number from 1 to ${most}`);
}

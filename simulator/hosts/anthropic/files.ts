import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { readForm } from "../../read-form.ts";
import type { SimulatedFile } from "../../stored-files.ts";
import { anthropicError, invalid } from "./text/errors.ts";

/** The files of this host: the collection, or one of it. */
export const FILES = /^\/v1\/files(?:\/([^/]+))?$/;

/** https://platform.claude.com/docs/en/build-with-claude/files */
export function answerFiles({ method, headers, bodyBytes, state }: Exchange, key: string, id?: string): JsonObject {
  const { files } = state;
  if (id === undefined && method === "GET")
    return { data: files.of(key, "anthropic").map(entry), has_more: false, next_page: null };
  if (id === undefined && method === "POST") {
    const parts = readForm(bodyBytes, headers.get("content-type") ?? "") ?? [];
    const file = parts.find((part) => part.name === "file" && part.fileName !== undefined);
    if (file === undefined) throw invalid("file", "Field required");
    const seconds = Number(parts.find((part) => part.name === "expires_in_seconds")?.bytes.toString() ?? Number.NaN);
    const { fileName = "", mimeType, bytes } = file;
    const expiresAtMs = Number.isNaN(seconds) ? undefined : files.nowMs() + seconds * 1000;
    const about = { owner: key, host: "anthropic" as const, name: fileName, mimeType, purpose: "", expiresAtMs };
    return entry(files.add({ ...about, bytes: bytes.length }));
  }
  const file = files.find(id ?? "", key);
  if (file === undefined) throw anthropicError(404, "not_found_error", `File not found: ${id}`);
  if (method === "GET") return entry(file);
  if (method !== "DELETE") throw anthropicError(404, "not_found_error", "Not Found");
  files.remove(file);
  return { id: file.id, type: "file_deleted" };
}

const entry = ({ id, bytes, createdAtMs, expiresAtMs, name, mimeType }: SimulatedFile): JsonObject => ({
  id,
  type: "file",
  filename: name,
  mime_type: mimeType,
  size_bytes: bytes,
  created_at: new Date(createdAtMs).toISOString(),
  downloadable: false,
  expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
});

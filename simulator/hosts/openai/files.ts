import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { readForm } from "../../read-form.ts";
import type { SimulatedFile } from "../../stored-files.ts";
import { invalid, openaiError } from "./text/errors.ts";

/** The files of this host: the collection, one of it, or its content. */
export const FILES = /^\/v1\/files(?:\/([^/]+)(\/content)?)?$/;

const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];

/** https://platform.openai.com/docs/api-reference/files */
export function answerFiles(
  { method, path, headers, bodyBytes, state }: Exchange,
  key: string,
  id?: string,
): JsonObject {
  const { files } = state;
  if (id === undefined && method === "GET")
    return { object: "list", data: files.of(key, "openai").map(entry), has_more: false };
  if (id === undefined && method === "POST") {
    const parts = readForm(bodyBytes, headers.get("content-type") ?? "") ?? [];
    const text = (name: string) => parts.find((part) => part.name === name)?.bytes.toString();
    const file = parts.find((part) => part.name === "file" && part.fileName !== undefined);
    const purpose = text("purpose") ?? "";
    if (file === undefined) throw invalid("'file' is a required property", "file", null);
    if (!PURPOSES.includes(purpose))
      throw invalid(`'${purpose}' is not one of ${PURPOSES.join(", ")}`, "purpose", null);
    const seconds = Number(text("expires_after[seconds]") ?? Number.NaN);
    const { fileName = "", mimeType, bytes } = file;
    const expiresAtMs = Number.isNaN(seconds) ? undefined : files.nowMs() + seconds * 1000;
    const made = {
      owner: key,
      host: "openai" as const,
      name: fileName,
      mimeType,
      purpose,
      bytes: bytes.length,
      expiresAtMs,
      content: purpose === "batch" ? bytes.toString() : undefined,
    };
    return entry(files.add(made));
  }
  const file = files.find(id ?? "", key);
  if (file === undefined) throw openaiError(404, `No such File object: ${id}`, { param: "id" });
  if (method === "DELETE") {
    files.remove(file);
    return { id: file.id, object: "file", deleted: true };
  }
  if (method !== "GET") throw openaiError(404, `Invalid URL (${method} ${path})`);
  return entry(file);
}

/** The content of a file. Of those for batches and from them alone it is kept. */
export function sendFile({ method, path, state }: Exchange, key: string, id: string): Response {
  if (method !== "GET") throw openaiError(404, `Invalid URL (${method} ${path})`);
  const file = state.files.find(id, key);
  if (file === undefined) throw openaiError(404, `No such File object: ${id}`, { param: "id" });
  if (file.content === undefined)
    throw invalid(`Not allowed to download files of purpose: ${file.purpose}`, null, null);
  return new Response(file.content, { headers: { "content-type": "application/octet-stream" } });
}

const entry = ({ id, bytes, createdAtMs, expiresAtMs, name, purpose }: SimulatedFile): JsonObject => ({
  id,
  object: "file",
  bytes,
  created_at: Math.floor(createdAtMs / 1000),
  ...(expiresAtMs === undefined ? {} : { expires_at: Math.floor(expiresAtMs / 1000) }),
  filename: name,
  purpose,
  status: "processed",
});

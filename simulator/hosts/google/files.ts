import type { Exchange } from "../../exchange.ts";
import { isObject, type JsonObject, textOr } from "../../json.ts";
import type { SimulatedFile } from "../../stored-files.ts";
import { googleError, invalid } from "./text/errors.ts";

/** The files of the Gemini API: the collection, or one of it. */
export const FILES = /^\/v1(?:beta)?\/files(?:\/([^/:]+))?$/;
/** Where the contents of those from batches are. */
export const DOWNLOADS = /^(?:\/download)?\/v1(?:beta)?\/files\/(sim[0-9a-f]{16}):download$/;
/** Where they are uploaded. */
export const UPLOADS = /^\/upload\/v1(?:beta)?\/files$/;

/** Of requests of batches, which the content is kept of. */
const JSONL = /^(?:application|text)\/(?:x-)?(?:jsonl|ndjson|jsonlines)$/;
const MAX_JSONL_BYTES = 100 * 1024 * 1024;

const LIFETIME_MS = 48 * 3_600_000;

/** https://ai.google.dev/api/files: the first request describes the file, the next one has its content. */
export function answerUpload({ url, headers, body, bodyBytes, bodyText, state }: Exchange, key: string): Response {
  const { files } = state;
  const command = headers.get("x-goog-upload-command") ?? "";
  const uploadId = url.searchParams.get("upload_id");
  if (uploadId === null) {
    if (headers.get("x-goog-upload-protocol") !== "resumable" || command !== "start")
      throw invalid("Only resumable uploads are simulated: the command must be start.");
    const described = isObject(body) && isObject(body.file) ? body.file : {};
    const id = files.begin({
      owner: key,
      host: "gemini",
      name: textOr(described.displayName, ""),
      mimeType:
        headers.get("x-goog-upload-header-content-type") ?? textOr(described.mimeType, "application/octet-stream"),
      purpose: "",
      expiresAtMs: files.nowMs() + LIFETIME_MS,
    });
    return new Response(null, { headers: { "x-goog-upload-url": `${url.origin}${url.pathname}?upload_id=${id}` } });
  }
  if (command !== "upload, finalize") throw invalid("Only uploads in one piece are simulated: upload, finalize.");
  const isLarge = bodyBytes.length > MAX_JSONL_BYTES;
  const file = files.finish(uploadId, bodyBytes.length, ({ mimeType }) =>
    JSONL.test(mimeType) && !isLarge ? bodyText : undefined,
  );
  if (file === undefined) throw googleError(404, "NOT_FOUND", "The upload was not found.");
  return Response.json({ file: entry(file, url) }, { headers: { "x-goog-upload-status": "final" } });
}

/** https://ai.google.dev/api/files */
export function answerFiles({ method, url, path, state }: Exchange, key: string, id?: string): JsonObject {
  const { files } = state;
  if (id === undefined) return { files: files.of(key, "gemini").map((file) => entry(file, url)) };
  const file = files.find(`files/${id}`, key);
  if (file === undefined) throw fileForbidden(`files/${id}`);
  if (method === "GET") return entry(file, url);
  if (method !== "DELETE") throw googleError(404, "NOT_FOUND", `The requested URL ${path} was not found.`);
  files.remove(file);
  return {};
}

/** The content of a file. Of those for batches and from them alone it is kept. */
export function sendFile({ state }: Exchange, key: string, name: string): Response {
  const content = state.files.find(name, key)?.content;
  if (content === undefined) throw fileForbidden(name);
  return new Response(content, { headers: { "content-type": "application/jsonl" } });
}

/** This host does not distinguish files of others and files that do not exist. */
export const fileForbidden = (name: string) =>
  googleError(
    403,
    "PERMISSION_DENIED",
    `You do not have permission to access the File ${name.slice("files/".length)} or it may not exist.`,
  );

function entry({ id, bytes, createdAtMs, expiresAtMs, name, mimeType }: SimulatedFile, url: URL): JsonObject {
  const root = /^(\/\w+)\/(?:upload\/)?v1(?:beta)?\//.exec(url.pathname)?.[1] ?? "";
  return {
    name: id,
    displayName: name,
    mimeType,
    sizeBytes: String(bytes),
    createTime: new Date(createdAtMs).toISOString(),
    updateTime: new Date(createdAtMs).toISOString(),
    expirationTime: new Date(expiresAtMs ?? createdAtMs).toISOString(),
    uri: `${url.origin}${root}/v1beta/${id}`,
    state: "ACTIVE",
    source: "UPLOADED",
  };
}

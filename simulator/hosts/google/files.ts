import type { Exchange } from "../../exchange.ts";
import { isObject, type JsonObject, textOr } from "../../json.ts";
import type { SimulatedFile } from "../../stored-files.ts";
import { googleError, invalid } from "./text/errors.ts";

/** The files of the Gemini API: the collection, or one of it. */
export const FILES = /^\/v1beta\/files(?:\/([^/:]+))?$/;
/** Where they are uploaded. */
export const UPLOADS = "/upload/v1beta/files";

const LIFETIME_MS = 48 * 3_600_000;

/** https://ai.google.dev/api/files: the first request describes the file, the next one has its content. */
export function answerUpload({ url, headers, body, bodyBytes, state }: Exchange, key: string): Response {
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
  const file = files.finish(uploadId, bodyBytes.length);
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

/** This host does not distinguish files of others and files that do not exist. */
export const fileForbidden = (name: string) =>
  googleError(
    403,
    "PERMISSION_DENIED",
    `You do not have permission to access the File ${name.slice("files/".length)} or it may not exist.`,
  );

function entry({ id, bytes, createdAtMs, expiresAtMs, name, mimeType }: SimulatedFile, url: URL): JsonObject {
  const root = /^(\/\w+)\/(?:upload\/)?v1beta\//.exec(url.pathname)?.[1] ?? "";
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

// https://ai.google.dev/gemini-api/docs/files; facts: @google/genai, uploadFile and fetchUploadUrl

import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { FileAtProvider, FilesApi } from "./files-api.ts";

const GIGABYTE = 1024 * 1024 * 1024;
const ALL = ["image", "document", "audio", "video"] as const;
const MAX_NAME = 512;

/** Requests name a file by its URI, which ends in its name. Only names are used in paths. */
function pathOf(uri: string): string {
  const name = /(?:^|\/)files\/([\w-]{1,100})$/.exec(uri)?.[1];
  if (name === undefined) throw new Error("a file at a provider has an unknown form of id");
  return `/v1beta/files/${name}`;
}

export const GEMINI_FILES: FilesApi = {
  kinds: { genai: ALL, interactions: ALL },
  maxBytes: 2 * GIGABYTE,
  pollMs: 1_000,
  // The host deletes files after 48 hours, whatever it is asked.
  upload: async (host, { name, mimeType, bytes, open }) => {
    const begun = await host.ask({
      method: "POST",
      url: "/upload/v1beta/files",
      headers: {
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(bytes),
        "x-goog-upload-header-content-type": mimeType,
      },
      body: { json: { file: { displayName: name.slice(0, MAX_NAME), mimeType } } },
    });
    const url = begun.headers?.get("x-goog-upload-url");
    if (url === undefined || !URL.canParse(url) || !host.owns(url))
      throw new GatewayError("upstream_failed", "The provider's files API returned no URL of its own to upload to.");
    const answer = await host.ask({
      method: "POST",
      url,
      headers: { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" },
      body: { streamed: { contentType: mimeType, bytes, open } },
    });
    return fileIn(objectAt(answer.body, "file"));
  },
  show: (id) => ({ method: "GET", url: pathOf(id) }),
  readShown: ({ body }: MediaAnswer) => fileIn(body),
  remove: (id) => ({ method: "DELETE", url: pathOf(id) }),
  // Files of others and files that do not exist are both forbidden.
  isGone: ({ status }) => status === 404 || status === 403,
};

const STATES: Readonly<Record<string, FileAtProvider["state"]>> = { PROCESSING: "processing", FAILED: "failed" };

function fileIn(file: JsonObject | undefined): FileAtProvider {
  const id = stringAt(file, "uri");
  if (id === undefined || !/\/files\/[\w-]{1,100}$/.test(id))
    throw new GatewayError("upstream_failed", "The provider's files API returned no URI.");
  const expiresAtMs = Date.parse(stringAt(file, "expirationTime") ?? "");
  return {
    id,
    expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs,
    state: STATES[stringAt(file, "state") ?? ""] ?? "ready",
  };
}

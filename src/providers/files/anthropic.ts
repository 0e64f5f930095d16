// https://platform.claude.com/docs/en/build-with-claude/files; facts: @anthropic-ai/sdk 1.8.0, resources/files.d.ts

import { stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { FileAtProvider, FilesApi } from "./files-api.ts";

const MEGABYTE = 1024 * 1024;
const HOUR_S = 3_600;
const MAX_S = 90 * 24 * HOUR_S;
/** Hosts where files are not generally available require it; the others accept it. */
const BETA = "files-api-2025-04-14";
const HEADERS = { "anthropic-version": "2023-06-01", "anthropic-beta": BETA };

const pathOf = (id: string): string => `/v1/files/${encodeURIComponent(id)}`;

export const ANTHROPIC_FILES: FilesApi = {
  kinds: { messages: ["document", "image"] },
  maxBytes: 500 * MEGABYTE,
  callHeaders: { "anthropic-beta": BETA },
  upload: async (host, { name, mimeType, lifetimeMs, bytes, open }) => {
    const seconds = Math.min(MAX_S, Math.max(HOUR_S, Math.floor(lifetimeMs / 1000)));
    const answer = await host.ask({
      method: "POST",
      url: "/v1/files",
      headers: HEADERS,
      body: {
        streamedForm: {
          fields: [{ name: "expires_in_seconds", value: String(seconds) }],
          file: { name: "file", fileName: name, mimeType, bytes, open },
        },
      },
    });
    return fileIn(answer);
  },
  show: (id) => ({ method: "GET", url: pathOf(id), headers: HEADERS }),
  readShown: fileIn,
  remove: (id) => ({ method: "DELETE", url: pathOf(id), headers: HEADERS }),
  isGone: ({ status }) => status === 404,
};

function fileIn({ body }: Pick<MediaAnswer, "body">): FileAtProvider {
  const id = stringAt(body, "id");
  if (!id) throw new GatewayError("upstream_failed", "The provider's files API returned no id.");
  const expiresAtMs = Date.parse(stringAt(body, "expires_at") ?? "");
  return { id, expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs, state: "ready" };
}

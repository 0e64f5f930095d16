// https://platform.openai.com/docs/api-reference/files; facts: openai 7.53.0, resources/files.d.ts

import { numberAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { FileAtProvider, FilesApi } from "./files-api.ts";

const MEGABYTE = 1024 * 1024;
const HOUR_S = 3_600;
const MAX_S = 30 * 24 * HOUR_S;

const pathOf = (id: string): string => `/files/${encodeURIComponent(id)}`;

export const OPENAI_FILES: FilesApi = {
  // Chat completions name only documents by their id.
  kinds: { chat: ["document"], responses: ["document", "image"] },
  maxBytes: 512 * MEGABYTE,
  upload: async (host, { name, mimeType, lifetimeMs, bytes, open }) => {
    const seconds = Math.min(MAX_S, Math.max(HOUR_S, Math.floor(lifetimeMs / 1000)));
    const answer = await host.ask({
      method: "POST",
      url: "/files",
      body: {
        streamedForm: {
          fields: [
            { name: "purpose", value: "user_data" },
            { name: "expires_after[anchor]", value: "created_at" },
            { name: "expires_after[seconds]", value: String(seconds) },
          ],
          file: { name: "file", fileName: name, mimeType, bytes, open },
        },
      },
    });
    return fileIn(answer);
  },
  show: (id) => ({ method: "GET", url: pathOf(id) }),
  readShown: fileIn,
  remove: (id) => ({ method: "DELETE", url: pathOf(id) }),
  isGone: ({ status }) => status === 404,
};

function fileIn({ body }: Pick<MediaAnswer, "body">): FileAtProvider {
  const id = stringAt(body, "id");
  if (!id) throw new GatewayError("upstream_failed", "The provider's files API returned no id.");
  const expiresAtS = numberAt(body, "expires_at");
  const state = stringAt(body, "status") === "error" ? "failed" : "ready";
  return { id, expiresAtMs: expiresAtS === undefined ? undefined : expiresAtS * 1000, state };
}

import { stringAt } from "../../base/json.ts";
import type { FileParts } from "../request/file-parts.ts";

const MEDIA = new Set<unknown>(["image", "audio", "document", "video"]);

export const interactionsFileParts: FileParts = {
  idOf: (part) => (MEDIA.has(part["type"]) ? stringAt(part, "uri") : undefined),
  inline: ({ uri: _, ...part }, { mimeType, base64, text }) => {
    if (text !== undefined) return { type: "text", text };
    return { ...part, data: base64, mime_type: stringAt(part, "mime_type") ?? mimeType };
  },
  rename: (part, uri, { mimeType }) => ({ ...part, uri, mime_type: stringAt(part, "mime_type") ?? mimeType }),
};

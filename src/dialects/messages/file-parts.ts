import { objectAt, stringAt } from "../../base/json.ts";
import type { FileParts } from "../request/file-parts.ts";

export const messagesFileParts: FileParts = {
  idOf: (part) => {
    const source = objectAt(part, "source");
    return source?.["type"] === "file" ? stringAt(source, "file_id") : undefined;
  },
  inline: (part, { mimeType, base64, text }) => {
    const data = { type: "base64", media_type: mimeType, data: base64 };
    if (mimeType.startsWith("image/")) return { ...part, type: "image", source: data };
    if (part["type"] !== "document") return undefined;
    if (text !== undefined) return { ...part, source: { type: "text", media_type: "text/plain", data: text } };
    return { ...part, source: data };
  },
  rename: (part, file_id, { mimeType }) => ({
    ...part,
    type: mimeType.startsWith("image/") ? "image" : part["type"],
    source: { type: "file", file_id },
  }),
};

import { stringAt } from "../../../base/json.ts";
import { dataUrlOf, type FileParts } from "../../request/file-parts.ts";

const NAMED = new Set<unknown>(["input_file", "input_image"]);

export const responsesFileParts: FileParts = {
  idOf: (part) => (NAMED.has(part["type"]) ? stringAt(part, "file_id") : undefined),
  inline: (part, file) => {
    const { file_id: _, filename, image_url: __, ...rest } = part;
    const { mimeType, text, name } = file;
    if (mimeType.startsWith("image/")) return { ...rest, type: "input_image", image_url: dataUrlOf(file) };
    if (part["type"] === "input_image") return undefined;
    if (text !== undefined) return { type: "input_text", text };
    return { ...rest, filename: filename ?? name, file_data: dataUrlOf(file) };
  },
  rename: ({ filename: _, ...rest }, file_id, { mimeType }) => ({
    ...rest,
    type: mimeType.startsWith("image/") ? "input_image" : rest["type"],
    file_id,
  }),
};

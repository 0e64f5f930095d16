import { objectAt, stringAt } from "../../base/json.ts";
import { dataUrlOf, type FileParts } from "../request/file-parts.ts";

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
};

export const chatFileParts: FileParts = {
  idOf: (part) => (part["type"] === "file" ? stringAt(objectAt(part, "file"), "file_id") : undefined),
  inline: (part, file) => {
    const { mimeType, base64, text, name } = file;
    const { file: _, ...rest } = part;
    if (mimeType.startsWith("image/")) return { ...rest, type: "image_url", image_url: { url: dataUrlOf(file) } };
    const format = AUDIO_FORMATS[mimeType];
    if (format !== undefined) return { ...rest, type: "input_audio", input_audio: { data: base64, format } };
    if (text !== undefined) return { ...rest, type: "text", text };
    return { ...rest, type: "file", file: { filename: name, file_data: dataUrlOf(file) } };
  },
  rename: (part, file_id) => ({ ...part, file: { file_id } }),
};

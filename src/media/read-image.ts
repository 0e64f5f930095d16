import { treatString } from "../dialects/genai/treat-string.ts";
import { refuse } from "../dialects/reading/check.ts";
import type { InlineImage } from "./image.ts";

/** An image in the request, or the URL of one that is to be fetched. */
export type ImageSource = InlineImage | { url: string };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;
/** The type of an image that declares none. Its bytes decide later. */
const UNKNOWN_TYPE = "application/octet-stream";

/** Converts any form of base64 to the standard alphabet, padded. */
function readBase64(text: string, path: string): string {
  const standard = treatString(/\s/.test(text) ? text.replace(/\s+/g, "") : text, "bytes");
  if (standard.length % 4 !== 0 || !BASE64.test(standard)) {
    refuse(
      path,
      text === "" ? "must be a base64-encoded image; it is empty" : "must be base64; it contains other characters",
    );
  }
  return standard;
}

export function inlineImage(base64: string, mimeType: string | undefined, path: string): InlineImage {
  return { mimeType: mimeType?.toLowerCase() ?? UNKNOWN_TYPE, base64: readBase64(base64, path) };
}

/** An image in one string: a data URL, a URL, or bare base64. */
export function readImageText(text: string, path: string): ImageSource {
  if (/^https?:\/\//i.test(text)) return { url: text };
  const scheme = /^[a-z][a-z0-9+.-]{1,20}:/i.exec(text)?.[0] ?? "";
  if (scheme === "") return inlineImage(text, undefined, path);
  if (scheme.toLowerCase() !== "data:") {
    return refuse(path, `must be a data URL, base64, or an https URL; it begins with ${scheme}`);
  }
  const match = DATA_URL.exec(text.slice(0, 256));
  if (match === null || !/;base64$/i.test(match[2] ?? "")) {
    return refuse(path, "must be a data URL of the form data:image/png;base64,… or an https URL");
  }
  return inlineImage(text.slice(match[0].length), match[1] || undefined, path);
}

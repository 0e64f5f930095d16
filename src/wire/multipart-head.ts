import { withoutAbsent } from "../base/without-absent.ts";
import { MultipartError } from "./multipart-error.ts";

/** The headers of a part. */
export interface PartHead {
  name: string;
  fileName?: string;
  mimeType: string;
  file: boolean;
}

const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g;
/** How browsers write the three characters that a quoted name cannot contain. */
const ESCAPES: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };

/** Reads the headers of part `number`, counted from one. Lines end in CRLF. */
export function readPartHead(text: string, number: number): PartHead {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (line === "") continue;
    if (colon < 1)
      throw new MultipartError("malformed", `Part ${number} of the form has a header line without a colon.`);
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const parameters = headerParameters(disposition);
  const name = parameters.get("name");
  if (!/^form-data\s*(?:;|$)/i.test(disposition) || name === undefined) {
    const right = 'Content-Disposition: form-data; name="…"';
    throw new MultipartError("malformed", `Part ${number} of the form must begin with the header ${right}.`);
  }
  const transfer = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!["binary", "8bit", "7bit"].includes(transfer)) {
    throw new MultipartError(
      "malformed",
      `The form field ${name} must not be transfer-encoded; it is encoded as ${transfer}.`,
      name,
    );
  }
  const fileName = extendedName(parameters.get("filename*")) ?? parameters.get("filename");
  const mimeType = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const isText = mimeType === undefined || mimeType.startsWith("text/") || mimeType === "application/json";
  return withoutAbsent({
    name,
    fileName,
    mimeType: mimeType ?? "application/octet-stream",
    file: fileName !== undefined || !isText,
  });
}

/** The parameters after the first semicolon of a header, by lower-case name. */
export function headerParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, key = "", quoted, bare = ""] of header.matchAll(PARAMETER)) {
    parameters.set(key.toLowerCase(), quoted === undefined ? bare : unquoted(quoted));
  }
  return parameters;
}

/** A backslash before any character other than a quote or a backslash belongs to a path and is no escape. */
function unquoted(text: string): string {
  return text
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22|%0D|%0A/gi, (written) => ESCAPES[written.toUpperCase()] ?? written);
}

/** `UTF-8''na%C3%AFve.png`. */
function extendedName(value: string | undefined): string | undefined {
  const match = /^utf-8'[^']*'(.*)$/i.exec(value ?? "");
  if (match?.[1] === undefined) return undefined;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    // On invalid escapes, the plain name is used.
    return undefined;
  }
}

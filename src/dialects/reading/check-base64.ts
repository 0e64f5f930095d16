import { refuse } from "./check.ts";

/** Characters in neither of the two alphabets. */
const FOREIGN = /[^A-Za-z0-9+/_-]/;

/** Rejects invalid base64 here, because hosts report it in their own way or decode something else (contract 2.6, 2.10, 2.12). */
export function checkBase64(data: string, path: () => string): void {
  const bare = data.endsWith("=") ? data.slice(0, data.endsWith("==") ? -2 : -1) : data;
  const found = FOREIGN.exec(bare);
  if (found === null && bare.length % 4 !== 1) return;
  if (found !== null && /\s/.test(found[0])) {
    // Some encoders break lines.
    checkBase64(data.replace(/\s+/g, ""), path);
    return;
  }
  const problem =
    found === null
      ? `${bare.length} characters is not a valid length`
      : `it has ${JSON.stringify(found[0])} at character ${found.index + 1}`;
  refuse(path(), `must be base64; ${problem}`);
}

const DATA_URL = /^data:[^,]{0,200};base64,/i;

/** The same for a string that may be a data URL; `url` need not contain data at all. */
export function checkDataUrl(url: string, path: () => string): void {
  const head = DATA_URL.exec(url)?.[0];
  if (head !== undefined) checkBase64(url.slice(head.length), path);
}

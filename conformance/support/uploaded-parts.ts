import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject, parseObject } from "../../src/base/json.ts";

const WAV_SECONDS = 1;

function wav(): Buffer {
  const samples = Buffer.alloc(8_000 * WAV_SECONDS * 2);
  for (let index = 0; index < samples.length / 2; index++) samples.writeInt16LE((index * 37) % 2_000, index * 2);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** A file of each kind that clients upload. */
export const UPLOADED_FILES = {
  "shot.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  ),
  "report.pdf": Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"),
  "notes.txt": Buffer.from("the harbour is closed"),
  "speech.wav": wav(),
} as const;
export type UploadedName = keyof typeof UPLOADED_FILES;

/** The part of a provider's request that has the content of a file, by the type that the protocol gives it. */
export function partWith(body: string, name: UploadedName): string | undefined {
  const bytes = UPLOADED_FILES[name];
  const contents = [bytes.toString("base64"), ...(name.endsWith(".txt") ? [bytes.toString()] : [])];
  const holds = (value: unknown): boolean =>
    typeof value === "string"
      ? contents.some((content) => value.includes(content))
      : typeof value === "object" && value !== null && Object.values(value).some(holds);
  const find = (value: unknown): JsonObject | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    for (const child of Object.values(value)) {
      const found = find(child);
      if (found !== undefined) return found;
    }
    return Array.isArray(value) ? value.filter(isObject).find(holds) : undefined;
  };
  const part = find(parseObject(body));
  if (part === undefined) return undefined;
  const type = typeof part["type"] === "string" ? part["type"] : Object.keys(part)[0];
  const source = isObject(part["source"]) ? ` (${String(part["source"]["type"])})` : "";
  return `${type}${source}`;
}

/** What docs/files.md calls the kinds of files. */
export const UPLOADED_KINDS: Readonly<Record<string, UploadedName>> = {
  image: "shot.png",
  pdf: "report.pdf",
  text: "notes.txt",
  audio: "speech.wav",
};

/** The table of docs/files.md: what a file of each kind becomes at each wire, as `image chat`. */
export function documentedParts(): Record<string, string[]> {
  const page = readFileSync(join(import.meta.dir, "../../docs/files.md"), "utf8");
  const rows = page
    .split("\n")
    .filter((line) => Object.keys(UPLOADED_KINDS).some((kind) => line.startsWith(`| ${kind} |`)));
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [kind = "", ...cells] = row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", ""));
      return ["chat", "responses", "messages", "genai"].map((wire, index) => [
        `${kind} ${wire}`,
        (cells[index] ?? "").split(" or ").sort(),
      ]);
    }),
  );
}

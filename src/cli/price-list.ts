import { statSync } from "node:fs";
import { basename } from "node:path";
import { isObject, type JsonObject } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { readList, unknownFormat } from "../catalogue/updates/read-list.ts";
import type { SourceList } from "../catalogue/updates/source-list.ts";
import { UsageError } from "./command.ts";

/** Lists that have a name. */
const NAMED: Readonly<Record<string, string>> = {
  "models.dev": "https://models.dev/api.json",
  litellm: "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
};

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Archives give files without a date one of these years. */
const FIRST_YEAR = 2020;

export interface PriceList {
  source: string;
  /** YYYY-MM-DD */
  asOf: string;
  list: SourceList;
}

/** Reads a published list of models: one that has a name, a file or a URL. */
export async function readPriceList(from: string, asOf: string | undefined): Promise<PriceList> {
  if (asOf !== undefined && !/^20\d\d-\d\d-\d\d$/.test(asOf))
    throw new UsageError("--as-of must be a day: 2026-01-31.");
  const url = NAMED[from] ?? (/^https?:\/\//.test(from) ? from : undefined);
  const { text, day } = url === undefined ? await readFile(from) : await download(url);
  const document = parse(text, from);
  const list = readList(document, from);
  const found = asOf ?? day;
  if (found === undefined) throw new UsageError(`${from} has no usable date. Pass it as --as-of YYYY-MM-DD.`);
  return { source: url === undefined ? basename(from) : from, asOf: found, list };
}

async function readFile(path: string): Promise<{ text: string; day: string | undefined }> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new UsageError(`No such file: ${path}. --from takes models.dev, litellm, a file or a URL.`);
  if (stat.size > MAX_BYTES) throw tooLarge(path);
  const day = stat.mtime.getUTCFullYear() < FIRST_YEAR ? undefined : stat.mtime.toISOString().slice(0, 10);
  return { text: await Bun.file(path).text(), day };
}

async function download(url: string): Promise<{ text: string; day: string | undefined }> {
  const failed = (why: string, cause?: unknown) =>
    new GatewayError("upstream_failed", `${url} could not be read: ${why}`, { cause });
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw failed(cause instanceof Error ? cause.message : String(cause), cause);
  }
  if (!response.ok) throw failed(`the server answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw tooLarge(url);
    chunks.push(chunk);
  }
  const changed = new Date(response.headers.get("last-modified") ?? response.headers.get("date") ?? Number.NaN);
  const day = Number.isNaN(changed.getTime()) ? undefined : changed.toISOString().slice(0, 10);
  return { text: Buffer.concat(chunks).toString("utf8"), day };
}

const tooLarge = (from: string) => new GatewayError("too_large", `${from} is larger than ${MAX_BYTES} bytes.`);

function parse(text: string, from: string): JsonObject {
  try {
    const document: unknown = JSON.parse(text);
    if (isObject(document)) return document;
  } catch (cause) {
    throw new GatewayError("invalid_request", `${from} is not JSON.`, { cause });
  }
  throw unknownFormat(from);
}

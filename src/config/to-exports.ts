import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExportSettings } from "./config.ts";
import { durationMs } from "./duration.ts";
import type { RootFile } from "./schema.ts";

const MAX_NAME = 64;

export function toExports(files: RootFile["exports"] = [], folder: string): ExportSettings[] {
  return files.map(({ name, to, format, every }) => ({
    name: name ?? nameOf(to, format),
    to: destinationOf(to, folder),
    format,
    everyMs: durationMs(every),
  }));
}

/** The destination and the format: it does not change if other exports are added or removed. */
function nameOf(to: string, format: string): string {
  const place = to.replace(/^(s3|file):/, "").replaceAll(/[^A-Za-z0-9]+/g, "-");
  return `${place}-${format}`.replace(/^-+/, "").slice(-MAX_NAME).replace(/^-+/, "");
}

function destinationOf(to: string, folder: string): string {
  if (to.startsWith("s3://")) return to.replace(/\/+$/, "");
  return to.startsWith("file://") ? fileURLToPath(to) : resolve(folder, to.slice("file:".length));
}

import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { sniffMedia } from "../wire/sniff-media.ts";
import { UsageError } from "./command.ts";

/** The gateway's own limit is lower; this one avoids reading a video that was named by mistake. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Images or videos of one call; the path of each file is checked before the call. */
export const MAX_RESULTS = 100;

export interface ImageFile {
  name: string;
  mimeType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export function readImageFile(flag: string, path: string): ImageFile {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new UsageError(`${flag}: "${path}" is larger than 256 MB.`);
    bytes = new Uint8Array(readFileSync(path));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${flag}: cannot read "${path}".`, { cause });
  }
  const mimeType = sniffMedia(bytes);
  if (!mimeType?.startsWith("image/")) throw new UsageError(`${flag}: "${path}" is not an image.`);
  return { name: basename(path), mimeType, bytes };
}

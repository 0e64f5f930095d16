import { GatewayError } from "../../canon/error.ts";
import type { MediaKind } from "../../canon/part.ts";
import type { NamedFile } from "../../dialects/request/file-parts.ts";
import type { ProviderFiles } from "../../providers/files/provider-files.ts";
import type { TextTarget } from "../../routing/target.ts";

const MEGABYTE = 1024 * 1024;

/** For the content of all files that are sent inline: it is held in memory. */
export const MAX_INLINE_BYTES = 64 * MEGABYTE;
/** What hosts accept whose limit is not known. */
const USUAL_REQUEST_BYTES = 96 * MEGABYTE;
/** Of a request's limit, for what translation adds to it. */
const ROOM = 0.95;

/** How one target gets the files of a request, by the ids in it. */
export interface WaysToSend {
  /** Ids whose content is sent in the request. */
  readonly inline: ReadonlySet<string>;
  /** Ids of the others, which the provider gets first. */
  readonly upload: ReadonlySet<string>;
  readonly files: ProviderFiles | undefined;
}

/** What goes into a request, so far. */
interface RequestSize {
  readonly files: ReadonlyMap<string, NamedFile>;
  /** Without the files. */
  readonly characters: number;
}

const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

export function kindOfType(mimeType: string): MediaKind {
  const family = mimeType.split("/")[0];
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}

/** Everything inline if it fits; otherwise the largest files are uploaded. Undefined if the target cannot get them at all. */
export function waysToSend(
  { files, characters }: RequestSize,
  { provider, via }: Pick<TextTarget, "provider" | "via">,
): WaysToSend | undefined {
  const atProvider = provider.files.find(({ api }) => Object.hasOwn(api.kinds, via));
  const limit = (provider.maxRequestBytes ?? USUAL_REQUEST_BYTES) * ROOM;
  const inline = new Set(files.keys());
  const upload = new Set<string>();
  let total = characters;
  let inlineBytes = 0;
  for (const { size, parts } of files.values()) {
    total += base64Length(size) * parts;
    inlineBytes += size * parts;
  }
  const isOver = () => total > limit || inlineBytes > MAX_INLINE_BYTES;
  const largestFirst = [...files].sort(([, one], [, other]) => other.size * other.parts - one.size * one.parts);
  for (const [id, { size, parts, mimeType }] of largestFirst) {
    if (!isOver()) break;
    const { kinds, maxBytes } = atProvider?.api ?? { kinds: undefined, maxBytes: 0 };
    if (kinds?.[via]?.includes(kindOfType(mimeType)) !== true || size > maxBytes) continue;
    inline.delete(id);
    upload.add(id);
    total -= base64Length(size) * parts;
    inlineBytes -= size * parts;
  }
  return isOver() ? undefined : { inline, upload, files: upload.size === 0 ? undefined : atProvider };
}

/** For a request whose files no target can get. */
export function tooLarge(files: ReadonlyMap<string, NamedFile>): GatewayError {
  let largest: NamedFile | undefined;
  let bytes = 0;
  for (const file of files.values()) {
    bytes += file.size * file.parts;
    if (largest === undefined || file.size * file.parts > largest.size * largest.parts) largest = file;
  }
  const message = `The files of this request add up to ${bytes} bytes, which is more than any provider of this model accepts.`;
  return new GatewayError("too_large", message, largest === undefined ? {} : { path: largest.path });
}

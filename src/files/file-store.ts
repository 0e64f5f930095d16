import type { Random } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";

export type FileContent = Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A part of a file, from the byte `start` to before the byte `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface OpenFile {
  /** The bytes of the range, read on demand. */
  stream: ReadableStream<Uint8Array>;
  /** Of the whole file. */
  size: number;
}

export interface ListedFile {
  name: string;
  writtenAtMs: number;
}

/** Bytes under names. Their type, owner and expiry are in the storage. */
export interface FileStore {
  /** Afterwards the whole content is stored or, if this fails or the process is killed, nothing. */
  put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }>;
  /**
   * Undefined if there is no file of that name. A file that is being read can be read to its end, even if it is
   * removed.
   */
  open(name: string, range?: ByteRange): Promise<OpenFile | undefined>;
  /** A missing file is not an error: two instances may remove the same one. */
  remove(name: string): Promise<void>;
  /**
   * Every file with a name of this gateway. Other programs' files in the same folder or bucket are not listed, and so
   * never removed.
   */
  list(): AsyncIterable<ListedFile>;
  /** The free space, if known. */
  freeBytes?(): Promise<number>;
  /**
   * A name of the store that all its users read, and users of another store do not. The first one of a folder gives it its
   * name, which moves with it.
   */
  identity(): Promise<string>;
  /** Removes the remains of writers that were killed long before this time. */
  removeUnfinished(nowMs: number): Promise<void>;
}

/** `file` and 128 random bits. One vendor's SDK reads the name in a URL up to the first character that is not one of `a-z0-9`. */
export const newFileName = (random: Random): string => `file${Buffer.from(random.bytes(16)).toString("hex")}`;

/** Names of this form, and of the one that earlier versions used, as the source of a pattern. */
export const FILE_NAME = "(?:file[0-9a-f]{32}|file_[A-Za-z0-9_-]{22})";
const NAME = new RegExp(`^${FILE_NAME}$`);

/** Only the gateway creates names. No path has their form. */
export const isFileName = (name: string): boolean => NAME.test(name);

/** Returns the name. Another form comes from elsewhere and must not become part of a path. */
export function checkedFileName(name: string, form: RegExp = NAME): string {
  if (form.test(name)) return name;
  throw new GatewayError("internal", "The file store received a name that the gateway did not create.");
}

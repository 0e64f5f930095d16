import { GatewayError } from "../canon/error.ts";

export type FileContent = Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A part of a file, from the byte `start` up to and without the byte `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface OpenFile {
  /** The bytes of the range, read as they are asked for. */
  stream: ReadableStream<Uint8Array>;
  /** Of the whole file. */
  size: number;
}

export interface ListedFile {
  name: string;
  writtenAtMs: number;
}

/** Bytes under names. What they are, whose, and for how long is written in the storage. */
export interface FileStore {
  /** The whole content is there afterwards or, where this fails or the process is killed, nothing is. */
  put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }>;
  /** Undefined where there is no file of that name. What has begun to be read can be read to its end, removed or not. */
  open(name: string, range?: ByteRange): Promise<OpenFile | undefined>;
  /** A file that is not there is no fault: two instances may remove the same one. */
  remove(name: string): Promise<void>;
  /** Every file with a name of ours. Other programs' files in the same folder or bucket are not listed, and so never removed. */
  list(): AsyncIterable<ListedFile>;
  /** How much more fits, where that is known. */
  freeBytes?(): Promise<number>;
  /** Clears away what writers left behind that were killed long before this moment. */
  removeUnfinished(nowMs: number): Promise<void>;
}

const NAME = /^file_[A-Za-z0-9_-]{22}$/;

/** Names are made by the gateway alone: `file_` and 22 characters for 128 random bits. No path can be spelt like that. */
export const isFileName = (name: string): boolean => NAME.test(name);

/** The name itself. What has another shape came from elsewhere, and must not get near a path. */
export function checkedFileName(name: string): string {
  if (isFileName(name)) return name;
  throw new GatewayError("internal", "A name that the gateway did not make was given to the file store.");
}

import type { MediaKind } from "../../canon/part.ts";
import type { ApiHosts, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { StreamedBody } from "../../wire/http/http-exchange.ts";

/** A file to upload, which is read while it is sent. */
export interface FileToUpload extends StreamedBody {
  readonly name: string;
  readonly mimeType: string;
  /** How long the provider is asked to keep it. */
  readonly lifetimeMs: number;
}

/** A file at a provider. */
export interface FileAtProvider {
  /** As requests name it. */
  readonly id: string;
  /** When the provider deletes it, if it says so. */
  readonly expiresAtMs: number | undefined;
  /** `processing`: requests cannot name it yet. `failed`: they never will. */
  readonly state: "ready" | "processing" | "failed";
}

/** The provider as its files API is called. */
export interface FilesHost {
  /** Throws a GatewayError unless the status is 2xx. */
  ask(request: MediaRequest): Promise<MediaAnswer>;
  /** Whether the credential may be sent there. */
  owns(url: string): boolean;
}

/** A vendor's files API. It keeps no state. */
export interface FilesApi extends ApiHosts {
  /** The protocols whose requests can name its files, each with the kinds of media. */
  readonly kinds: Readonly<Record<string, readonly MediaKind[]>>;
  readonly maxBytes: number;
  /** How often to ask for the state of a file that is processed. */
  readonly pollMs?: number;
  upload(host: FilesHost, file: FileToUpload): Promise<FileAtProvider>;
  show(id: string): MediaRequest;
  readShown(answer: MediaAnswer): FileAtProvider;
  remove(id: string): MediaRequest;
  /** Whether an answer to `show` or `remove` means that there is no such file. */
  isGone(answer: Pick<MediaAnswer, "status">): boolean;
  /** Headers that requests need if they name a file. */
  readonly callHeaders?: Readonly<Record<string, string>>;
}

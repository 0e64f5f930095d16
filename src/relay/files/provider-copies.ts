import type { StoredFile } from "../../dialects/request/file-parts.ts";
import type { ProviderFiles } from "../../providers/files/provider-files.ts";
import type { Provider } from "../../providers/provider.ts";

/** What a call needs at a provider. */
export interface WantedFile {
  file: StoredFile;
  files: ProviderFiles;
  /** How long the call may need it. */
  neededMs: number;
}

/** How often files were uploaded, for metrics. */
export interface UploadCounts {
  readonly provider: string;
  readonly outcome: "ok" | "failed";
  count: number;
}

/** Uploaded files at providers, each once for each credential that needs it. */
export interface ProviderCopies {
  readonly counts: readonly UploadCounts[];
  /** The provider's id of a file, which is uploaded if it is not there. The upload continues if the call ends. */
  ensure(wanted: WantedFile, signal: AbortSignal): Promise<{ id: string; isNew: boolean }>;
  /** Forgets a file if its provider does not have it any more, so that it is uploaded again. */
  forgetIfGone(file: StoredFile, files: ProviderFiles, providerId: string): Promise<boolean>;
  /** Deletes the files of providers whose objects were deleted or have expired. Several instances may do so at once. */
  sweep(providers: ReadonlyMap<string, readonly Provider[]>): Promise<void>;
}

import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { StoredFile } from "../../dialects/request/file-parts.ts";
import type { FileAtProvider } from "../../providers/files/files-api.ts";
import type { ProviderFiles } from "../../providers/files/provider-files.ts";
import type { Storage } from "../../storage/storage.ts";
import {
  claimLeftFiles,
  claimUpload,
  deleteExpiredProviderFiles,
  dropProviderFile,
  dropUpload,
  finishUpload,
  forgetLeftFile,
  type ProviderFile,
  renewUpload,
  selectProviderFile,
} from "../../storage/tables/provider-files.ts";
import type { Gateway, Snapshot } from "../gateway.ts";
import type { ProviderCopies, UploadCounts, WantedFile } from "./provider-copies.ts";
import { ProviderFilesHost } from "./provider-files-host.ts";
import { UploadRefusedError } from "./upload-refused-error.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long providers are asked to keep a file. One that is lost in a crash is gone after this time. */
const LIFETIME_MS = 48 * HOUR_MS;
const LEASE_MS = 15_000;
/** How often another process is looked at that uploads the same file. */
const LOOK_MS = 250;
/** How long a provider may process a file. */
const PROCESSING_MS = 10 * MINUTE_MS;
/** How long a deletion takes at most, and when a failed one is tried again. */
const DELETE_MS = 2 * MINUTE_MS;
const DELETE_AT_ONCE = 50;
/** A row of a credential that is not configured any more, if its provider did not say when it deletes the file. */
const FORGET_MS = 90 * 24 * HOUR_MS;

interface FilesAtProvidersOptions extends Pick<Gateway, "clock" | "send" | "random" | "log" | "uploads"> {
  storage: Storage;
}

/**
 * Uploaded files at providers, each once for each credential that needs it. What is where is in the storage, so that every process
 * knows it, and so that a file is deleted everywhere.
 */
export class FilesAtProviders implements ProviderCopies {
  readonly #options: FilesAtProvidersOptions;
  /** Uploads of this process, by object and credential. */
  readonly #running = new Map<string, Promise<string>>();
  readonly #counts = new Map<string, UploadCounts>();
  #isSweeping = false;
  #isSweepWanted = false;

  constructor(options: FilesAtProvidersOptions) {
    this.#options = options;
  }

  get counts(): readonly UploadCounts[] {
    return [...this.#counts.values()];
  }

  async ensure(wanted: WantedFile, signal: AbortSignal): Promise<{ id: string; isNew: boolean }> {
    const { clock } = this.#options;
    const { file, files } = wanted;
    const place = { objectId: file.id, credential: files.credential };
    const key = `${file.id} ${files.credential}`;
    for (;;) {
      signal.throwIfAborted();
      const running = this.#running.get(key);
      if (running !== undefined) return { id: await orAborted(running, signal), isNew: false };
      const row = await selectProviderFile(this.#options.storage, place);
      if (row?.providerId !== undefined && isFresh(row, wanted, clock.wallMs()))
        return { id: row.providerId, isNew: false };
      const uploadId = await this.#claim(wanted, row);
      if (uploadId !== undefined) {
        const upload = this.#upload(wanted, uploadId);
        this.#running.set(key, upload);
        upload.finally(() => this.#running.delete(key)).catch(() => undefined);
        return { id: await orAborted(upload, signal), isNew: true };
      }
      if (this.#running.has(key)) continue;
      await orAborted(clock.sleep(LOOK_MS), signal);
    }
  }

  /** Undefined if another process uploads the file. */
  async #claim({ file, files }: WantedFile, row: ProviderFile | undefined): Promise<string | undefined> {
    const { clock, random, storage } = this.#options;
    const nowMs = clock.wallMs();
    const uploadId = random.id();
    const { credential, provider } = files;
    const claim = { objectId: file.id, credential, provider, uploadId, leaseUntilMs: nowMs + LEASE_MS };
    // A row that was replaced meanwhile has a later time.
    const neededUntilMs = row?.expiresAtMs === undefined ? 0 : row.expiresAtMs + 1;
    return (await claimUpload(storage, claim, { nowMs, neededUntilMs })) ? uploadId : undefined;
  }

  async #upload({ file, files }: WantedFile, uploadId: string): Promise<string> {
    const { clock, log } = this.#options;
    const place = { objectId: file.id, credential: files.credential };
    const { provider } = files;
    const stopRenewing = clock.every(
      LEASE_MS / 3,
      () => {
        renewUpload(this.#options.storage, uploadId, place, clock.wallMs() + LEASE_MS).catch((err: unknown) =>
          log.warn({ err, provider }, "failed to renew the lease of an upload to a provider"),
        );
      },
      { background: true },
    );
    let made: FileAtProvider | undefined;
    try {
      made = await this.#send(file, files);
      const { id: providerId, expiresAtMs } = made;
      if (!(await finishUpload(this.#options.storage, { ...place, uploadId, providerId, expiresAtMs })))
        throw new GatewayError("overloaded", "Another process took over the upload of a file. Try again.");
      this.#count(provider, "ok");
      return providerId;
    } catch (thrown) {
      this.#count(provider, "failed");
      if (made !== undefined) await this.#remove(files, made.id).catch(() => undefined);
      await dropUpload(this.#options.storage, uploadId, place).catch(() => undefined);
      throw thrown;
    } finally {
      stopRenewing();
    }
  }

  /** Reads the file while it is sent. */
  async #send(file: StoredFile, files: ProviderFiles): Promise<FileAtProvider> {
    const { clock } = this.#options;
    const { uploads } = this.#options;
    let unread: unknown;
    const read = async function* () {
      try {
        const content = await uploads.open(file);
        if (content === undefined) throw new Error("the content of an uploaded file is missing");
        yield* content;
      } catch (thrown) {
        unread = thrown;
        throw thrown;
      }
    };
    const { api } = files;
    const host = new ProviderFilesHost(files, this.#options);
    const leftMs = (file.expiresAtMs ?? Number.POSITIVE_INFINITY) - clock.wallMs();
    const { name, mimeType, size: bytes } = file;
    let at: FileAtProvider;
    try {
      const sent = { name: name === "" ? "file" : name, mimeType: plainType(mimeType), bytes, open: read };
      at = await api.upload(host, { ...sent, lifetimeMs: Math.min(LIFETIME_MS, leftMs) });
    } catch (thrown) {
      if (unread === undefined) throw thrown;
      throw new GatewayError("overloaded", "The gateway could not read an uploaded file. Try again.", {
        cause: unread,
      });
    }
    const untilMs = clock.nowMs() + PROCESSING_MS;
    while (at.state === "processing" && clock.nowMs() < untilMs) {
      await clock.sleep(api.pollMs ?? 1_000);
      at = api.readShown(await host.ask(api.show(at.id)));
    }
    if (at.state === "ready") return at;
    await this.#remove(files, at.id).catch(() => undefined);
    const problem = at.state === "failed" ? "could not process a file" : `processed a file for ${PROCESSING_MS} ms`;
    throw new UploadRefusedError("upstream_failed", `The provider ${problem}.`);
  }

  async forgetIfGone(file: StoredFile, files: ProviderFiles, providerId: string): Promise<boolean> {
    try {
      await new ProviderFilesHost(files, this.#options).ask(files.api.show(providerId));
      return false;
    } catch (thrown) {
      if (!isGone(files, thrown)) return false;
      await dropProviderFile(this.#options.storage, { objectId: file.id, credential: files.credential, providerId });
      return true;
    }
  }

  async sweep(providers: Snapshot["providers"]): Promise<void> {
    this.#isSweepWanted = true;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const { clock, random } = this.#options;
    try {
      const owner = random.id();
      while (this.#isSweepWanted) {
        this.#isSweepWanted = false;
        const nowMs = clock.wallMs();
        const claim = { owner, leaseUntilMs: nowMs + DELETE_MS, nowMs, limit: DELETE_AT_ONCE };
        const left = await claimLeftFiles(this.#options.storage, claim);
        for (const file of left) await this.#delete(file, providers);
        if (left.length === DELETE_AT_ONCE) this.#isSweepWanted = true;
      }
      await deleteExpiredProviderFiles(this.#options.storage, clock.wallMs());
    } finally {
      this.#isSweeping = false;
    }
  }

  async #delete(left: ProviderFile, providers: Snapshot["providers"]): Promise<void> {
    const { clock, log } = this.#options;
    const { provider, providerId, credential, createdAtMs } = left;
    try {
      const files = providerId === undefined ? undefined : filesOf(credential, providers);
      if (files !== undefined && providerId !== undefined) await this.#remove(files, providerId);
      // It stays until its provider deletes it.
      else if (providerId !== undefined && clock.wallMs() - createdAtMs < FORGET_MS) return;
      await forgetLeftFile(this.#options.storage, left);
    } catch (thrown) {
      const { kind, message } = asGatewayError(thrown);
      log.warn({ provider, kind, reason: message }, "failed to delete a file at its provider; will retry");
    }
  }

  async #remove(files: ProviderFiles, providerId: string): Promise<void> {
    try {
      await new ProviderFilesHost(files, this.#options).ask(files.api.remove(providerId));
    } catch (thrown) {
      if (!isGone(files, thrown)) throw thrown;
    }
  }

  #count(provider: string, outcome: UploadCounts["outcome"]): void {
    const key = `${outcome} ${provider}`;
    const known = this.#counts.get(key) ?? { provider, outcome, count: 0 };
    known.count++;
    this.#counts.set(key, known);
  }
}

const isGone = ({ api }: ProviderFiles, thrown: unknown): boolean => {
  const status = thrown instanceof GatewayError ? thrown.failure?.status : undefined;
  return status !== undefined && api.isGone({ status });
};

/** Undefined if the credential is not configured any more. */
function filesOf(credential: string, providers: Snapshot["providers"]): ProviderFiles | undefined {
  for (const credentials of providers.values())
    for (const { files } of credentials) for (const one of files) if (one.credential === credential) return one;
  return undefined;
}

/** At least half of its lifetime may be used, so that a provider that keeps files for less than a call may need is not sent each twice. */
function isFresh({ createdAtMs, expiresAtMs }: ProviderFile, { neededMs }: WantedFile, nowMs: number): boolean {
  return expiresAtMs === undefined || expiresAtMs - nowMs > Math.min(neededMs, (expiresAtMs - createdAtMs) / 2);
}

/** What a client declares is part of a header. */
const plainType = (type: string): string => (/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream");

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

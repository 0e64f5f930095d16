import type { Json } from "./json.ts";

/** A file. Of most, only what lists and answers say of them is kept, and not the content. */
export interface SimulatedFile {
  id: string;
  /** The key that it belongs to. */
  owner: string;
  /** The host that has it. */
  host: "openai" | "anthropic" | "gemini";
  name: string;
  mimeType: string;
  purpose: string;
  bytes: number;
  createdAtMs: number;
  expiresAtMs: number | undefined;
  /** Of files for batches and from them, until others need the space. */
  content?: string | undefined;
}

/** A file whose content has not come yet. */
type Upload = Omit<SimulatedFile, "id" | "bytes" | "createdAtMs">;

/** The oldest go first. */
const MAX_FILES = 1_000;
/** Of all contents together, in characters. */
const MAX_CONTENT = 128 * 1024 * 1024;
/** As this simulator makes them. Other ids are taken for files that were uploaded before. */
const MADE_HERE = /\b(?:file-sim|file_sim|files\/sim)[0-9a-f]{16}\b/;
const PREFIXES = { openai: "file-sim", anthropic: "file_sim", gemini: "files/sim" } as const;
/** Where requests name files. */
const NAMING = new Set(["file_id", "fileUri", "uri"]);

/** Files of all hosts. */
export class StoredFiles {
  readonly #files = new Map<string, SimulatedFile>();
  readonly #uploads = new Map<string, Upload>();
  readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  add(file: Omit<SimulatedFile, "id" | "createdAtMs">): SimulatedFile {
    const id = PREFIXES[file.host] + randomId();
    const stored = { ...file, id, createdAtMs: this.nowMs() };
    this.#files.set(id, stored);
    dropOldest(this.#files);
    this.#dropContents();
    return stored;
  }

  /** Undefined for one that has expired, or that another key has. */
  find(id: string, owner: string): SimulatedFile | undefined {
    const file = this.#files.get(id);
    const isThere = file !== undefined && file.owner === owner && (file.expiresAtMs ?? Infinity) > this.nowMs();
    return isThere ? file : undefined;
  }

  remove({ id }: SimulatedFile): void {
    this.#files.delete(id);
  }

  of(owner: string, host: SimulatedFile["host"]): SimulatedFile[] {
    const all = [...this.#files.values()].filter((one) => one.owner === owner && one.host === host);
    return all.filter((one) => this.find(one.id, owner) !== undefined).reverse();
  }

  /** A file whose content comes with the next request. Returns the id of the upload. */
  begin(file: Upload): string {
    const id = randomId();
    this.#uploads.set(id, file);
    dropOldest(this.#uploads);
    return id;
  }

  finish(uploadId: string, bytes: number, contentOf: (file: Upload) => string | undefined): SimulatedFile | undefined {
    const begun = this.#uploads.get(uploadId);
    this.#uploads.delete(uploadId);
    return begun && this.add({ ...begun, bytes, content: contentOf(begun) });
  }

  #dropContents(): void {
    let kept = 0;
    for (const file of [...this.#files.values()].reverse()) {
      kept += file.content?.length ?? 0;
      if (kept > MAX_CONTENT) file.content = undefined;
    }
  }

  /** The first id in a request that this simulator has made, and that its key cannot use. */
  missingIn(body: Json | undefined, owner: string): string | undefined {
    const waiting: Json[] = body === undefined ? [] : [body];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (typeof value !== "object" || value === null) continue;
      for (const [name, member] of Object.entries(value)) {
        const id = typeof member === "string" && NAMING.has(name) ? MADE_HERE.exec(member)?.[0] : undefined;
        if (id !== undefined && this.find(id, owner) === undefined) return id;
        waiting.push(member);
      }
    }
    return undefined;
  }
}

const randomId = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");

function dropOldest(all: Map<string, unknown>): void {
  for (const oldest of all.keys()) {
    if (all.size <= MAX_FILES) break;
    all.delete(oldest);
  }
}

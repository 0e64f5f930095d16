import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { plainAnswer, plainUsage } from "../plain-answer.ts";

export type FilesVendor = "openai" | "anthropic" | "gemini";

/** A file that the host has. */
interface HostFile {
  id: string;
  vendor: FilesVendor;
  /** Only this credential can see it. */
  credential: string;
  bytes: number;
  sha256: string;
  expiresAtMs: number;
  /** How often it is still shown as being processed. */
  processing: number;
}

/** Ways in which the host misbehaves. All are off unless set. */
interface FilesFaults {
  /** This many uploads are refused with this status. */
  refusals: { status: number; times: number };
  /** Uploads are read this slowly: a pause after each chunk. */
  slowMs: number;
  /** This many uploads are read, and never answered. */
  silences: number;
  /** How often a file is shown as being processed before it can be used. */
  processing: number;
  /** Processing fails. */
  fails: boolean;
  /** The lifetime of files, whatever is asked for. */
  lifetimeMs: number | undefined;
}

const NO_FAULTS: FilesFaults = {
  refusals: { status: 400, times: 0 },
  slowMs: 0,
  silences: 0,
  processing: 0,
  fails: false,
  lifetimeMs: undefined,
};

const DIALECTS = { openai: "chat", anthropic: "messages", gemini: "genai" } as const;

/** A call as the host received it. */
interface HostCall {
  path: string;
  body: string;
  headers: IncomingMessage["headers"];
}

/**
 * A host with the files APIs of three vendors, over HTTP, as their SDKs declare them. A call that names a file which the credential does
 * not have is refused in the vendor's words; any other is answered with what the named files contain.
 */
export class PlayedFilesHost {
  url = "";
  faults: FilesFaults = structuredClone(NO_FAULTS);
  readonly counts = { uploads: 0, deletions: 0, calls: 0, refusedCalls: 0, shows: 0 };
  readonly files = new Map<string, HostFile>();
  readonly calls: HostCall[] = [];
  readonly #uploads = new Map<string, { mimeType: string }>();
  #serial = 0;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  reset(): void {
    this.faults = structuredClone(NO_FAULTS);
    this.files.clear();
    this.calls.length = 0;
    for (const name of Object.keys(this.counts) as (keyof typeof this.counts)[]) this.counts[name] = 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const { method = "GET", headers } = request;
    const path = url.pathname;
    const credential = String(headers["x-goog-api-key"] ?? headers["x-api-key"] ?? headers.authorization);
    const route = `${method} ${path}`;
    if (route === "POST /upload/v1beta/files") return this.#begin(headers, url, response);
    if (route === "POST /upload/v1beta/content") return this.#receive("gemini", credential, request, response, url);
    if (route === "POST /v1/files")
      return this.#receive(headers["anthropic-version"] ? "anthropic" : "openai", credential, request, response, url);
    const id = /^\/v1(?:beta)?\/files\/([\w-]+)$/.exec(path)?.[1];
    if (id !== undefined) return this.#fileOf(method, id, credential, response);
    const body = (await textOf(request)).toString();
    return this.#call(path, body, headers, credential, response);
  }

  async #begin(headers: IncomingMessage["headers"], url: URL, response: ServerResponse): Promise<void> {
    if (this.#refuses(response)) return;
    const id = `upload${++this.#serial}`;
    this.#uploads.set(id, { mimeType: String(headers["x-goog-upload-header-content-type"]) });
    response.writeHead(200, { "x-goog-upload-url": `${url.origin}/upload/v1beta/content?upload_id=${id}` }).end("{}");
  }

  #refuses(response: ServerResponse): boolean {
    const { refusals } = this.faults;
    if (refusals.times === 0) return false;
    refusals.times--;
    send(response, { error: { type: "invalid_request_error", message: "This upload is refused." } }, refusals.status);
    return true;
  }

  async #receive(
    vendor: FilesVendor,
    credential: string,
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
  ): Promise<void> {
    this.counts.uploads++;
    const upload = vendor === "gemini" ? this.#uploads.get(url.searchParams.get("upload_id") ?? "") : undefined;
    if (vendor === "gemini" && upload === undefined) return send(response, { error: { message: "No upload." } }, 404);
    if (vendor !== "gemini" && this.#refuses(response)) return;
    const form = vendor === "gemini" ? undefined : new FormReader(String(request.headers["content-type"]));
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of request) {
      for (const piece of form === undefined ? [chunk as Buffer] : form.push(chunk as Buffer)) {
        hash.update(piece);
        bytes += piece.length;
      }
      if (this.faults.slowMs > 0) await Bun.sleep(this.faults.slowMs);
    }
    if (form !== undefined) {
      const rest = form.end();
      hash.update(rest);
      bytes += rest.length;
    }
    if (this.faults.silences > 0) {
      this.faults.silences--;
      return;
    }
    const id = vendor === "gemini" ? `gemini${++this.#serial}` : `file-${vendor}${++this.#serial}`;
    const { lifetimeMs = lifetimeOf(vendor, form?.head ?? "") } = this.faults;
    const { processing } = this.faults;
    const sha256 = hash.digest("hex");
    const file: HostFile = { id, vendor, credential, bytes, sha256, expiresAtMs: Date.now() + lifetimeMs, processing };
    this.files.set(id, file);
    send(response, vendor === "gemini" ? { file: this.#shown(file) } : this.#shown(file));
  }

  #shown(file: HostFile): object {
    const { id, vendor, bytes, expiresAtMs } = file;
    if (vendor === "openai")
      return { id, object: "file", bytes, status: "processed", expires_at: Math.floor(expiresAtMs / 1000) };
    if (vendor === "anthropic")
      return { id, type: "file", size_bytes: bytes, expires_at: new Date(expiresAtMs).toISOString() };
    const isProcessing = file.processing-- > 0;
    return {
      name: `files/${id}`,
      uri: `${this.url}/v1beta/files/${id}`,
      sizeBytes: String(bytes),
      expirationTime: new Date(expiresAtMs).toISOString(),
      state: isProcessing ? "PROCESSING" : this.faults.fails ? "FAILED" : "ACTIVE",
    };
  }

  async #fileOf(method: string, id: string, credential: string, response: ServerResponse): Promise<void> {
    const file = this.files.get(id);
    if (file === undefined || file.credential !== credential)
      return send(response, { error: { message: `No such file: ${id}` } }, 404);
    if (method === "DELETE") {
      this.counts.deletions++;
      this.files.delete(id);
      return send(response, { id, deleted: true });
    }
    this.counts.shows++;
    send(response, this.#shown(file));
  }

  async #call(
    path: string,
    body: string,
    headers: IncomingMessage["headers"],
    credential: string,
    response: ServerResponse,
  ): Promise<void> {
    this.counts.calls++;
    this.calls.push({ path, body, headers });
    const vendor = path.includes("/v1beta/") ? "gemini" : path.endsWith("/messages") ? "anthropic" : "openai";
    const named = [...body.matchAll(/"(?:file_id|fileUri)": ?"(?:[^"]*\/)?([\w-]+)"/g)].map(([, id = ""]) => id);
    const known = named.map((id) => this.files.get(id));
    const missing = named.find((_id, at) => known[at]?.credential !== credential || known[at]?.vendor !== vendor);
    if (missing !== undefined) {
      this.counts.refusedCalls++;
      const message = `The file ${missing} does not exist or you do not have access to it.`;
      const status = vendor === "gemini" ? 403 : vendor === "anthropic" ? 400 : 404;
      return send(response, { type: "error", error: { type: "invalid_request_error", code: status, message } }, status);
    }
    const dialect = path.endsWith("/responses") ? "responses" : DIALECTS[vendor];
    const text = known.map((file) => `${file?.sha256} ${file?.bytes}`).join(", ");
    send(response, plainAnswer(dialect, { text: `read ${text}`, usage: plainUsage(dialect, 1000, 10) }));
  }
}

/** The content of the last part of a form, as it arrives. The end of the form is held back. */
class FormReader {
  head = "";
  readonly #end: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #isInFile = false;

  constructor(contentType: string) {
    this.#end = Buffer.from(`\r\n--${/boundary=(.+)$/.exec(contentType)?.[1]}--\r\n`);
  }

  *push(chunk: Buffer): Generator<Buffer> {
    let rest = Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    if (!this.#isInFile) {
      const at = rest.indexOf("filename=");
      const content = at < 0 ? -1 : rest.indexOf("\r\n\r\n", at);
      if (content < 0) {
        this.#held = rest;
        return;
      }
      this.head = rest.toString("latin1", 0, content);
      this.#isInFile = true;
      rest = rest.subarray(content + 4);
    }
    const ready = rest.length - this.#end.length;
    if (ready > 0) yield rest.subarray(0, ready);
    this.#held = Buffer.from(rest.subarray(Math.max(0, ready)));
  }

  end(): Buffer {
    if (!this.#held.equals(this.#end)) throw new Error("the form does not end properly");
    return Buffer.alloc(0);
  }
}

function lifetimeOf(vendor: FilesVendor, head: string): number {
  if (vendor === "gemini") return 48 * 3_600_000;
  const seconds = /name="(?:expires_after\[seconds\]|expires_in_seconds)"\r\n\r\n(\d+)/.exec(head)?.[1];
  if (seconds === undefined) throw new Error("the upload has no lifetime");
  return Number(seconds) * 1000;
}

async function textOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const send = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

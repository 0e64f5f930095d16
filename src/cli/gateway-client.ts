import { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import { type ErrorKind, GatewayError } from "../canon/error.ts";
import { UsageError } from "./command.ts";
import { gatewayUrl } from "./gateway-url.ts";
import { programName } from "./program-name.ts";

/** Flags of the commands that call a running gateway. */
export const CONNECTION_FLAGS = {
  url: {
    type: "string",
    value: "URL",
    about: "URL of the gateway (default: $TRIVIUM_URL, else http://127.0.0.1:8787)",
  },
  key: { type: "string", value: "KEY", about: "API key (default: $TRIVIUM_API_KEY)" },
  config: {
    type: "string",
    value: "FILE",
    about: "configuration file to read the URL from (default: $TRIVIUM_CONFIG)",
  },
} as const;

/** The request may have arrived, but its answer was lost. */
export class UnheardError extends GatewayError {}

/** These failures come before anything is sent. */
const NEVER_SENT: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND"];

/** Codes for an image that moderation blocked. Some providers' own codes replace the gateway's. */
const MODERATION_CODES: readonly unknown[] = ["content_filter", "moderation_blocked"];
export const isModerationCode = (code: unknown): boolean => MODERATION_CODES.includes(code);

const NO_KEY =
  "Set TRIVIUM_API_KEY or pass --key. " +
  `The gateway prints a key when it first starts; \`${programName()} keys create --name NAME\` creates another.`;

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = {
  404: "not_found",
  413: "too_large",
  429: "rate_limited",
};

interface Connection {
  config?: string | undefined;
  url?: string | undefined;
  key?: string | undefined;
}

export async function connect({ config, url, key }: Connection): Promise<GatewayClient> {
  const given = (key ?? process.env["TRIVIUM_API_KEY"])?.trim();
  if (!given) throw new UsageError(`No API key given. ${NO_KEY}`);
  if (!/^[\x21-\x7e]+$/.test(given)) throw new UsageError(`The API key contains invalid characters. ${NO_KEY}`);
  return new GatewayClient(await gatewayUrl({ url, config }), given);
}

export interface Sending {
  signal?: AbortSignal;
  /** From the first byte sent to the last one read. */
  timeoutMs: number;
}

const READ_MS = 30_000;
/** Receipts are written shortly after their calls. */
const COST_ATTEMPTS = 20;
const COST_WAIT_MS = 100;
/** Models that a message names. */
const MAX_NAMED = 20;

/** A gateway over HTTP, as any other client sees it. */
export class GatewayClient {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  post(path: string, body: JsonObject | FormData, sending: Sending): Promise<Response> {
    const authorization = `Bearer ${this.key}`;
    const init =
      body instanceof FormData
        ? { body, headers: { authorization } }
        : { body: JSON.stringify(body), headers: { authorization, "content-type": "application/json" } };
    return this.#send(this.url + path, { method: "POST", ...init }, sending);
  }

  /** What a call cost, in US dollars. Undefined until its receipt is written. */
  async costOf(receipt: string): Promise<number | undefined> {
    for (let attempt = 0; attempt < COST_ATTEMPTS; attempt++) {
      try {
        const { data } = await this.#read(`/api/v1/generation?id=${encodeURIComponent(receipt)}`);
        return numberAt(isObject(data) ? data : undefined, "cost_usd");
      } catch (thrown) {
        if (!(thrown instanceof GatewayError) || thrown.kind !== "not_found") return undefined;
        await Bun.sleep(COST_WAIT_MS);
      }
    }
    return undefined;
  }

  /** A file at the URL that an answer gave. The URL is signed, so the key is not sent. */
  async *download(url: string, sending: Sending): AsyncGenerator<Uint8Array> {
    const response = await this.#send(url, {}, sending);
    yield* responseChunks(response, sending.signal);
  }

  /** The model that was named, else the simulator's if the gateway has it. */
  async chooseModel(
    named: string | undefined,
    simulated: string,
    modality: "text" | "image" | "video" | "audio",
  ): Promise<string> {
    if (named !== undefined) {
      if (!/^[^/]+\/[^/]+$/.test(named))
        throw new UsageError(`--model: "${named}" does not have the form PROVIDER/MODEL.`);
      return named;
    }
    const models = arrayAt(await this.#read("/api/v1/models"), "data");
    const able = models.filter((model) => arrayAt(model, "output_modalities").includes(modality));
    const ids = able.map((model) => stringAt(model, "id") ?? "");
    if (ids.includes(simulated)) return simulated;
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
    const known = ids.length === 0 ? "none" : ids.slice(0, MAX_NAMED).join(", ") + more;
    const word = modality === "text" ? "MODEL" : "--model";
    throw new UsageError(`Missing ${word}. Available models: ${known}.`);
  }

  async #read(path: string): Promise<JsonObject> {
    const init = { headers: { authorization: `Bearer ${this.key}` } };
    return readJson(await this.#send(this.url + path, init, { timeoutMs: READ_MS }));
  }

  async #send(url: string, init: RequestInit, { signal, timeoutMs }: Sending): Promise<Response> {
    const limit = AbortSignal.timeout(timeoutMs);
    let response: Response;
    try {
      // Bun would give up after five silent minutes; an image may take longer.
      const limits = { timeout: timeoutMs, signal: signal ? AbortSignal.any([signal, limit]) : limit };
      response = await fetch(url, { ...init, ...limits });
    } catch (cause) {
      signal?.throwIfAborted();
      const { origin } = new URL(url);
      if (cause instanceof Error && "code" in cause && NEVER_SENT.includes(cause.code)) {
        const remedy = `Start a gateway with \`${programName()} serve\`, or set its address with --url or TRIVIUM_URL.`;
        throw new GatewayError("upstream_failed", `Cannot connect to a gateway at ${origin}. ${remedy}`, { cause });
      }
      const problem = limit.aborted ? "did not respond in time" : "closed the connection";
      throw new UnheardError("upstream_failed", `The gateway at ${origin} ${problem}.`, { cause });
    }
    if (response.ok) return response;
    throw await this.#refusal(response);
  }

  async #refusal(response: Response): Promise<GatewayError> {
    const error = objectAt(parseObject(await response.text()), "error");
    const message = stringAt(error, "message") ?? `The gateway returned status ${response.status}.`;
    const { status, headers } = response;
    if (status === 401) return new GatewayError("unauthenticated", `${message} ${NO_KEY}`);
    const receipt = headers.get("x-trivium-receipt");
    if (isModerationCode(error?.["code"]) || (status === 400 && receipt && (await this.#wasModerated(receipt)))) {
      return new GatewayError("content_blocked", message);
    }
    return new GatewayError(KIND_OF_STATUS[status] ?? (status >= 500 ? "upstream_failed" : "invalid_request"), message);
  }

  /** Not every protocol reports moderation in its errors; the receipt does. */
  async #wasModerated(receipt: string): Promise<boolean> {
    try {
      const { data } = await this.#read(`/api/v1/generation?id=${encodeURIComponent(receipt)}`);
      return stringAt(arrayAt(data, "offers").at(-1), "reason") === "content_blocked";
    } catch {
      // The call's own error matters more than the failure to read its receipt.
      return false;
    }
  }
}

export async function readJson(response: Response): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of responseChunks(response)) chunks.push(chunk);
  const body = parseObject(Buffer.concat(chunks).toString("utf8"));
  if (!isObject(body))
    throw new GatewayError("upstream_failed", `The server at ${response.url} is not a Trivium gateway.`);
  return body;
}

/** The body of an answer. */
export async function* responseChunks(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (cause) {
    signal?.throwIfAborted();
    throw new UnheardError("upstream_failed", "The connection to the gateway was lost during the response.", {
      cause,
    });
  }
}

import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../base/json.ts";
import { type ErrorKind, GatewayError } from "../canon/error.ts";
import { adminAccess } from "./admin-url.ts";
import { programName } from "./program-name.ts";

/** Flags of the commands that call the Admin API of a running gateway. */
export const ADMIN_FLAGS = {
  url: {
    type: "string",
    value: "URL",
    about: "URL of the Admin API (default: $TRIVIUM_ADMIN_URL, else http://127.0.0.1:8788)",
  },
  secret: {
    type: "string",
    value: "SECRET",
    about: "operator secret (default: $TRIVIUM_ADMIN_SECRET, which other users of this machine cannot see)",
  },
  config: {
    type: "string",
    value: "FILE",
    about: "configuration file to read the URL and secret from (default: $TRIVIUM_CONFIG)",
  },
} as const;

const TIMEOUT_MS = 60_000;

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  429: "rate_limited",
};

interface Given {
  url?: string | undefined;
  secret?: string | undefined;
  config?: string | undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

export const connectAdmin = async (given: Given): Promise<AdminClient> => new AdminClient(await adminAccess(given));

/** The Admin API of a running gateway, as any other client sees it. */
export class AdminClient {
  readonly #url: string;
  readonly #secret: string;

  constructor({ url, secret }: { url: string; secret: string }) {
    this.#url = url;
    this.#secret = secret;
  }

  /** The `data` of a response. */
  async read(path: string, query: Query = {}): Promise<unknown> {
    return (await this.readAll(path, query))["data"];
  }

  /** The whole response. */
  readAll(path: string, query: Query = {}): Promise<JsonObject> {
    return this.#ask("GET", path + queryOf(query));
  }

  /** A list, page by page, up to a maximum number of items. */
  async list<Item extends object = JsonObject>(path: string, query: Query, most: number): Promise<Item[]> {
    const items: Item[] = [];
    let after: string | undefined;
    do {
      const limit = String(Math.min(MAX_PAGE, most - items.length));
      const page = await this.#ask("GET", path + queryOf({ ...query, limit, after }));
      items.push(...(arrayAt(page, "data") as unknown[] as Item[]));
      after = stringAt(page, "next");
    } while (after !== undefined && items.length < most);
    return items;
  }

  async change(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object): Promise<unknown> {
    return (await this.#ask(method, path, body))["data"];
  }

  /** A response that is not JSON, streamed. */
  async stream(path: string, query: Query): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send("GET", path + queryOf(query));
    if (!response.ok) throw refusal(response.status, await response.text(), this.#url);
    return response.body ?? new ReadableStream();
  }

  async #ask(method: string, path: string, body?: object): Promise<JsonObject> {
    const response = await this.#send(method, path, body);
    const text = await response.text();
    const answer = parseObject(text);
    if (response.ok && answer !== undefined) return answer;
    throw refusal(response.status, text, this.#url);
  }

  async #send(method: string, path: string, body?: object): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#secret}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await fetch(this.#url + path, { method, headers, ...sent, signal, redirect: "manual" });
    } catch (cause) {
      const remedy = `Start a gateway with \`${programName()} serve\`, or set its address with --url or TRIVIUM_ADMIN_URL.`;
      throw new GatewayError("upstream_failed", `Cannot connect to the Admin API at ${this.#url}. ${remedy}`, {
        cause,
      });
    }
  }
}

/** The maximum page size of the Admin API. */
const MAX_PAGE = 500;

function queryOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function refusal(status: number, text: string, url: string): GatewayError {
  const said = stringAt(objectAt(parseObject(text), "error"), "message");
  const message = said ?? `The server at ${url} is not a Trivium Admin API.`;
  return new GatewayError(KIND_OF_STATUS[status] ?? (status >= 500 ? "upstream_failed" : "invalid_request"), message);
}

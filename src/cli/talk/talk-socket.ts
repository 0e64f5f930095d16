import { type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { programName } from "../program-name.ts";

const OPEN_MS = 30_000;
/** Longer than a provider takes for its first word. */
const SILENCE_MS = 90_000;
/** The gateway is sent more once it has taken most of what is buffered. */
const MAX_WAITING_BYTES = 256 * 1024;
const LOOK_MS = 10;
const NORMAL = 1000;

/** A live connection to the gateway, as a client that reads one message after the other. */
export class TalkSocket {
  readonly #socket: WebSocket;
  readonly #origin: string;
  readonly #messages: JsonObject[] = [];
  #end: Error | undefined;
  #arrived = Promise.withResolvers<void>();

  private constructor(socket: WebSocket, origin: string) {
    this.#socket = socket;
    this.#origin = origin;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      const message = parseObject(typeof data === "string" ? data : new TextDecoder().decode(data));
      if (message === undefined) this.#fail(`The gateway at ${origin} sent a message that is not JSON.`);
      else this.#messages.push(message);
      this.#arrive();
    };
    socket.onclose = ({ code, reason }) => this.#fail(closing(origin, code, reason));
  }

  /** Opens a connection. A refusal is thrown with the gateway's own message. */
  static async open(url: string, headers: Record<string, string>): Promise<TalkSocket> {
    const { origin } = new URL(url);
    // The runtime's client takes headers, which the standard does not have.
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers } as never);
    const talking = new TalkSocket(socket, origin);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const limit = setTimeout(() => resolve(false), OPEN_MS);
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
    const isOpen = await promise;
    clearTimeout(limit);
    if (isOpen) return talking;
    talking.close();
    throw await refusalOf(url, headers, origin);
  }

  /**
   * Sends a message, as soon as the gateway has taken most of those before. False if the connection has ended: `next` tells why.
   */
  async send(message: object): Promise<boolean> {
    while (this.#end === undefined && this.#socket.bufferedAmount > MAX_WAITING_BYTES) await Bun.sleep(LOOK_MS);
    if (this.#end !== undefined) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** The next message. Throws when the connection ends, or says nothing for too long. */
  async next(): Promise<JsonObject> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      if (this.#end !== undefined) throw this.#end;
      const limit = setTimeout(
        () => this.#fail(`The gateway at ${this.#origin} sent nothing for ${SILENCE_MS / 1_000} seconds.`),
        SILENCE_MS,
      );
      await this.#arrived.promise;
      clearTimeout(limit);
    }
  }

  close(): void {
    this.#socket.onclose = null;
    this.#socket.close(NORMAL);
  }

  #fail(message: string): void {
    this.#end ??= new GatewayError("upstream_failed", message);
    this.#arrive();
  }

  #arrive(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

function closing(origin: string, code: number, reason: string): string {
  if (code === 1006) return `The connection to the gateway at ${origin} was lost.`;
  return `The gateway at ${origin} closed the connection with code ${code}${reason === "" ? "." : `: ${reason}`}`;
}

/** A refused handshake tells no more than its status: the same request is sent once more, for the message. */
async function refusalOf(url: string, headers: Record<string, string>, origin: string): Promise<GatewayError> {
  const handshake = { ...headers, upgrade: "websocket", connection: "Upgrade", "sec-websocket-version": "13" };
  try {
    const response = await fetch(url, { headers: handshake, signal: AbortSignal.timeout(OPEN_MS) });
    const error = objectAt(parseObject(await response.text()), "error");
    const message =
      stringAt(error, "message") ?? `The gateway at ${origin} refused the connection with status ${response.status}.`;
    return new GatewayError(response.status === 401 ? "unauthenticated" : "invalid_request", message);
  } catch (cause) {
    const remedy = `Start a gateway with \`${programName()} serve\`, or set its address with --url or TRIVIUM_URL.`;
    return new GatewayError("upstream_failed", `Cannot connect to a gateway at ${origin}. ${remedy}`, { cause });
  }
}

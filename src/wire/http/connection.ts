import { HttpFailure } from "./failure.ts";
import type { RequestUrl } from "./request-url.ts";

/** The exclusive user of a connection during one request. */
export interface ConnectionUser {
  /** The connection is open and, if it uses TLS, the host is verified. */
  ready(connection: Connection): void;
  receive(bytes: Buffer): void;
  /** The host closed the connection, or it broke. Nothing more will arrive. */
  lost(failure: HttpFailure, properEnd: boolean): void;
}

/** The socket rarely accepts longer text in one write, so longer text is converted to bytes once instead of in every write. */
const TEXT_AT_ONCE = 64 * 1024;

function bytesOf(head: string, body: string, bodyBytes: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(head.length + bodyBytes);
  bytes.write(body, bytes.write(head, "latin1"));
  return bytes;
}

type Socket = Bun.Socket<Connection>;

const handlers: Bun.SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, trusted, error) => socket.data.shookHands(trusted, error),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(undefined),
  close: (socket, error) => socket.data.ended(error),
  error: (socket, error) => socket.data.broke(error),
};

/** A socket to a host. While it has no user it waits in the pool, and any event on it closes it. */
export class Connection {
  readonly origin: string;
  /** It was used before, so the host may have closed it since. */
  reused = false;
  /** How many requests it was used for. */
  uses = 1;
  readonly madeAtMs: number;
  idleSinceMs = 0;
  /** When the host has probably closed it. */
  idleUntilMs = 0;
  #user: ConnectionUser | undefined;
  #socket: Socket | undefined;
  #open = true;
  #secure: boolean;
  #unsent: Uint8Array | undefined;
  /** The rest of a request is still being read. */
  #isFeeding = false;
  #whenDrained: (() => void) | undefined;
  /** Called when the connection closes while it has no user. */
  #onIdleEnd: ((connection: Connection) => void) | undefined;

  constructor(requestUrl: RequestUrl, user: ConnectionUser, nowMs: number) {
    this.madeAtMs = nowMs;
    this.origin = requestUrl.origin;
    this.#secure = requestUrl.secure;
    this.#user = user;
    void this.#connect(requestUrl);
  }

  async #connect({ hostname, port, secure }: RequestUrl): Promise<void> {
    try {
      // The runtime verifies the chain and the name. Its trust store honours NODE_EXTRA_CA_CERTS.
      const tls = secure ? { tls: { rejectUnauthorized: true } } : {};
      await Bun.connect<Connection>({ hostname, port, data: this, socket: handlers, ...tls });
    } catch (error) {
      this.#lose(new HttpFailure("connect", "could not connect to the host", error), false);
    }
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    if (!this.#open) socket.terminate();
    else if (!this.#secure) this.#user?.ready(this);
  }

  shookHands(trusted: boolean, error: Error | null): void {
    if (!this.#secure || !this.#open) return;
    if (trusted && !error) this.#user?.ready(this);
    else {
      this.#lose(new HttpFailure("connect", "the host's certificate could not be verified", error ?? undefined), false);
      this.#socket?.terminate();
    }
  }

  received(bytes: Buffer): void {
    // No request expects these bytes, and the next response must not begin with them.
    if (!this.#user) this.terminate();
    else this.#user.receive(bytes);
  }

  ended(error: Error | undefined): void {
    this.#lose(new HttpFailure("broken", "the host closed the connection", error), error === undefined);
  }

  broke(error: Error | undefined): void {
    this.#lose(new HttpFailure("broken", "the connection broke", error), false);
    this.#socket?.terminate();
  }

  #lose(failure: HttpFailure, properEnd: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#dropUnsent();
    const user = this.#user;
    this.#user = undefined;
    if (user) user.lost(failure, properEnd);
    else this.#onIdleEnd?.(this);
  }

  /** The whole request was sent. */
  get sent(): boolean {
    return this.#unsent === undefined && !this.#isFeeding;
  }

  /** `head` is ASCII; `bodyBytes` is the body's length in UTF-8. */
  send(head: string, body: string | Uint8Array, bodyBytes: number): void {
    if (typeof body === "string" && bodyBytes > TEXT_AT_ONCE) {
      this.#unsent = bytesOf(head, body, bodyBytes);
      this.drained();
      return;
    }
    if (typeof body === "string") {
      const text = head + body;
      const written = this.#write(text);
      if (written < head.length + bodyBytes) this.#unsent = Buffer.from(text).subarray(written);
      return;
    }
    const written = this.#write(head);
    if (written < head.length) this.#unsent = Buffer.concat([Buffer.from(head).subarray(written), body]);
    else {
      this.#unsent = body;
      this.drained();
    }
  }

  /** Sends a request while it is read, no faster than the host takes it. Ends early if nothing more will be sent. */
  async feed(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    this.#isFeeding = true;
    for await (const chunk of chunks) {
      if (chunk.length > 0) await this.#push(chunk);
      if (!this.#open || !this.#isFeeding) return;
    }
    this.#isFeeding = false;
  }

  #push(chunk: Uint8Array): Promise<void> | undefined {
    if (!this.#open || this.#unsent !== undefined) return undefined;
    this.#unsent = chunk;
    this.drained();
    if (this.#unsent === undefined) return undefined;
    return new Promise((resolve) => {
      this.#whenDrained = resolve;
    });
  }

  drained(): void {
    while (this.#unsent) {
      const written = this.#write(this.#unsent);
      if (written === 0) return;
      this.#unsent = written < this.#unsent.length ? this.#unsent.subarray(written) : undefined;
    }
    this.#whenDrained?.();
    this.#whenDrained = undefined;
  }

  #dropUnsent(): void {
    this.#unsent = undefined;
    this.#whenDrained?.();
    this.#whenDrained = undefined;
  }

  /** A closed socket accepts nothing, and reports its end separately. */
  #write(data: string | Uint8Array): number {
    return Math.max(0, this.#socket?.write(data) ?? 0);
  }

  /** Drops the rest of the request. The connection cannot be reused. */
  stopSending(): void {
    if (this.#unsent === undefined && !this.#isFeeding) return;
    this.#isFeeding = false;
    this.#unsent = new Uint8Array(0);
    this.#whenDrained?.();
    this.#whenDrained = undefined;
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Gives the connection to its next user. Returns false if it has closed meanwhile. */
  lend(user: ConnectionUser): boolean {
    if (!this.#open) return false;
    this.reused = true;
    this.uses++;
    this.#onIdleEnd = undefined;
    this.#user = user;
    this.#socket?.ref();
    return true;
  }

  /** Takes the connection back. An idle connection does not keep the process alive. */
  park(nowMs: number, idleMs: number, onEnd: (connection: Connection) => void): void {
    this.#user = undefined;
    this.idleSinceMs = nowMs;
    this.idleUntilMs = nowMs + idleMs;
    this.#onIdleEnd = onEnd;
    this.#socket?.unref();
  }

  terminate(): void {
    this.#user = undefined;
    if (!this.#open) return;
    this.#open = false;
    this.#dropUnsent();
    this.#socket?.terminate();
    this.#onIdleEnd?.(this);
  }
}

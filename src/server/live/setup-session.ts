import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { LiveClose } from "../../dialects/live-dialect.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { OpeningPresence } from "./begin-relayed.ts";
import { FrameRate } from "./frame-rate.ts";
import { POLICY } from "./live-connection.ts";
import type { LiveSocket, RunTurn, SocketHandler } from "./live-socket.ts";
import type { RelayedSession } from "./relayed-session.ts";

/** How long a client may take to say what the session is for. */
const SETUP_MS = 10_000;

/** What follows once the client has said what the session is for. */
interface AwaitedSession {
  begin(first: string, presence: OpeningPresence): Promise<RelayedSession>;
  /** The refusal as the client sees it. */
  refuse(error: GatewayError): { frames: readonly string[]; close: LiveClose };
  /** Counts the session no longer. */
  release(): void;
}

/** A live connection whose client names the model in its first frame. Until then nothing is opened at a host. */
export class SetupSession implements SocketHandler {
  readonly #awaited: AwaitedSession;
  readonly #gateway: Gateway;
  readonly #rate: FrameRate;
  readonly #presence = new OpeningPresence();
  readonly #waiting: (string | Uint8Array)[] = [];
  #socket: LiveSocket | undefined;
  #run: RunTurn | undefined;
  #session: RelayedSession | undefined;
  #isBegun = false;
  #isOver = false;
  #cancelDeadline: () => void = () => {};

  constructor(awaited: AwaitedSession, gateway: Gateway) {
    this.#awaited = awaited;
    this.#gateway = gateway;
    this.#rate = new FrameRate(gateway);
  }

  opened(socket: LiveSocket, run: RunTurn): void {
    this.#socket = socket;
    this.#run = run;
    const late = () => this.#end({ code: POLICY, reason: `No setup within ${SETUP_MS / 1000} seconds.` });
    this.#cancelDeadline = this.#gateway.clock.after(SETUP_MS, late, { background: true });
  }

  message(frame: string | Uint8Array): void {
    if (this.#session !== undefined) {
      this.#session.message(frame);
      return;
    }
    if (this.#isOver || this.#isTooFast(frame.length)) return;
    if (this.#isBegun) this.#waiting.push(frame);
    else void this.#begin(typeof frame === "string" ? frame : Buffer.from(frame).toString());
  }

  pinged(): void {
    if (this.#session !== undefined) this.#session.pinged();
    else if (!this.#isOver) this.#isTooFast(0);
  }

  #isTooFast(bytes: number): boolean {
    const refusal = this.#rate.take(bytes);
    if (refusal !== undefined) this.#end({ code: POLICY, reason: refusal.message });
    return refusal !== undefined;
  }

  async #begin(first: string): Promise<void> {
    this.#isBegun = true;
    this.#cancelDeadline();
    try {
      const session = await this.#awaited.begin(first, this.#presence);
      const socket = this.#socket;
      if (this.#isOver || socket === undefined || this.#run === undefined) {
        session.abandon();
        return;
      }
      this.#session = session;
      session.opened(socket, this.#run);
      for (const frame of this.#waiting.splice(0)) session.message(frame);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (error.kind === "internal")
        this.#gateway.log.error({ err: error.cause ?? error }, "internal error in a session");
      const { frames, close } = this.#awaited.refuse(error);
      if (!this.#isOver) for (const frame of frames) this.#socket?.send(frame);
      this.#end(close);
    }
  }

  #end({ code, reason }: LiveClose): void {
    if (this.#isOver) return;
    this.#socket?.close(code, reason);
    this.closed();
  }

  drained(): void {
    this.#session?.drained();
  }

  closed(): void {
    if (this.#session !== undefined) {
      this.#session.closed();
      return;
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelDeadline();
    this.#presence.leave();
    this.#awaited.release();
  }
}

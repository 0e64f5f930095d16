import type { JsonObject } from "../../base/json.ts";
import type { LiveClientCodec, LiveEvent, LiveStep, LiveUpstreamCodec } from "../../canon/live.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { live } from "../live/index.ts";
import { DEFAULT_LIVE_QUIRKS, type LiveQuirks } from "../live/quirks.ts";
import type { LiveDialect } from "../live-dialect.ts";
import { realtime } from "../realtime/index.ts";

interface BridgeOptions {
  quirks?: Partial<LiveQuirks>;
  reasoning?: boolean;
  beta?: boolean;
  /** Without the setup. */
  bare?: boolean;
}

/** What a frame led to. Frames are parsed. */
export interface Led {
  toHost: JsonObject[];
  toClient: JsonObject[];
  events: readonly LiveEvent[];
}

/** A translated session without sockets: the client of one dialect and the host of the other. */
export class Bridge {
  readonly client: LiveClientCodec;
  readonly host: LiveUpstreamCodec;
  readonly notes: FieldNote[] = [];
  nowMs = 0;

  constructor(from: LiveDialect, to: LiveDialect, { quirks, reasoning = false, beta = false }: BridgeOptions = {}) {
    let made = 0;
    const makeId = () => `${++made}`;
    this.client = from.client({ sessionId: "ses_1", model: "a/b", expiresAtSeconds: 3300, makeId, beta });
    this.host = to.upstream({
      upstreamModel: "host-model",
      traits: { reasoning },
      quirks: { ...DEFAULT_LIVE_QUIRKS, ...quirks },
      makeId,
      nowMs: () => this.nowMs,
      clientDialect: from.name,
    });
  }

  open(): Led {
    return this.#led([this.host.open()]);
  }

  /** A client's frame. Invalid ones are answered with their error. */
  says(frame: object | string): Led {
    const text = typeof frame === "string" ? frame : JSON.stringify(frame);
    const toClient: string[] = [];
    const steps = this.client.decode(text).map((command) => {
      if (command.type === "invalid") toClient.push(...this.client.encodeError(command.error, command.eventId));
      return this.host.encode(command);
    });
    return this.#led(steps, toClient);
  }

  /** A host's frame. */
  hears(frame: object | string): Led {
    return this.#led([this.host.decode(typeof frame === "string" ? frame : JSON.stringify(frame))]);
  }

  #led(steps: readonly LiveStep[], told: readonly string[] = []): Led {
    const events = steps.flatMap((step) => step.events);
    const toClient = [...told, ...events.flatMap((event) => this.client.encode(event))];
    this.notes.push(...this.client.takeNotes(), ...this.host.takeNotes());
    const parse = (text: string) => JSON.parse(text) as JsonObject;
    return { toHost: steps.flatMap(({ frames }) => frames.map(parse)), toClient: toClient.map(parse), events };
  }
}

/** A client of Realtime on a Live host, after the session's first event. */
export function realtimeOnLive(options?: BridgeOptions): Bridge {
  const bridge = new Bridge(realtime, live, options);
  bridge.open();
  return bridge;
}

/** A client of Live on a Realtime host that has confirmed the setup. */
export function liveOnRealtime(setup: object = {}, options?: BridgeOptions): Bridge {
  const bridge = new Bridge(live, realtime, options);
  bridge.open();
  bridge.hears({ type: "session.created", event_id: "e", session: { id: "sess_1", type: "realtime" } });
  if (options?.bare) return bridge;
  bridge.says({ setup: { model: "models/a/b", ...setup } });
  bridge.hears({ type: "session.updated", event_id: "e", session: { id: "sess_1", type: "realtime" } });
  return bridge;
}

export const typesOf = (frames: readonly JsonObject[]): unknown[] => frames.map(({ type }) => type);

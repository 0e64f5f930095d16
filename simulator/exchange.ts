import type { Json } from "./json.ts";
import type { Ending } from "./play.ts";
import type { IncomingCall, SimulatorState } from "./text/adapter.ts";

/** One HTTP request on its way through the simulator. */
export interface Exchange {
  url: URL;
  /** The path below the host's own segment, such as `/v1/messages`. */
  path: string;
  method: string;
  headers: Headers;
  bodyText: string;
  /** The raw bytes, because forms with files are not text. */
  bodyBytes: Uint8Array;
  /** `undefined` when the body is not JSON. */
  body: Json | undefined;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
  state: SimulatorState;
  /** Must be called once, when the response was sent; a thrown HostError does so automatically. */
  ended: (how: Ending) => void;
  countModel: (name: string) => void;
}

/** A simulated vendor: answers, or throws a HostError. */
export interface Host {
  handle(exchange: Exchange): Promise<Response>;
  /** The header that carries this host's request id. */
  requestIdHeader?: string;
}

/** A name in a path. One that is not well encoded matches no model. */
export function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function incomingCall(exchange: Exchange, body: Json, key: string, modelName: string): IncomingCall {
  exchange.countModel(modelName);
  return { url: exchange.url, method: exchange.method, headers: exchange.headers, body, key, modelName };
}

export function jsonAnswer(exchange: Exchange, body: Json): Response {
  exchange.ended("finished");
  return Response.json(body);
}

import { HttpFailure } from "./http/failure.ts";
import { usesProxy } from "./http/proxy.ts";
import { readRequestUrl } from "./http/request-url.ts";

/** Opens a WebSocket to a host. What happens to it is reported to the receiver; the last report is `ended`. */
export type Connect = (request: SocketRequest, receiver: SocketReceiver) => HostSocket;

export interface SocketRequest {
  /** With the scheme http or https, as in a request. */
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** What a host does. */
export interface SocketReceiver {
  opened(): void;
  received(frame: string | Uint8Array): void;
  ended(end: SocketEnd): void;
}

export interface SocketEnd {
  /** As in the host's close frame: 1005 if it had no code, 1006 if there was no such frame. */
  readonly code: number;
  readonly reason: string;
  /** Why the socket was never opened: the host refused the handshake with this status, or was not reached. */
  readonly refused?: { readonly status?: number; readonly cause?: unknown };
}

/** A WebSocket to a host. */
export interface HostSocket {
  send(frame: string | Uint8Array): void;
  /** How much the host has not taken yet. */
  readonly waitingBytes: number;
  /** Reads nothing more until `resume`, so that the host must wait. */
  pause(): void;
  resume(): void;
  /** Asks for an answer, so that a path without traffic stays open and a dead one is noticed. */
  ping(): void;
  close(): void;
  /** Closes it without a handshake. */
  terminate(): void;
}

const NORMAL = 1000;
const ABNORMAL = 1006;

const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = process.env;
const environment = { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY };

/** Connects with the runtime's client, through a proxy if the environment names one. Redirects are not followed. */
export function createConnect(): Connect {
  return ({ url, headers }, receiver) => {
    const requestUrl = readRequestUrl(url);
    const proxy = requestUrl.secure ? (https_proxy ?? HTTPS_PROXY) : (http_proxy ?? HTTP_PROXY);
    const through = proxy !== undefined && usesProxy(requestUrl, environment) ? { proxy } : {};
    const options = { headers, perMessageDeflate: false, ...through };
    const socket = new WebSocket(url.replace(/^http/, "ws"), options);
    socket.binaryType = "arraybuffer";
    let failure: Pick<SocketEnd, "refused"> = { refused: {} };
    socket.onopen = () => {
      failure = {};
      receiver.opened();
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      receiver.received(typeof data === "string" ? data : new Uint8Array(data));
    socket.onerror = (event) => {
      if (failure.refused !== undefined) failure = { refused: refusalOf(event) };
    };
    socket.onclose = ({ code, reason }) => receiver.ended({ code, reason, ...failure });
    return {
      send: (frame) => void socket.send(frame as string),
      get waitingBytes() {
        return socket.bufferedAmount;
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      ping: () => socket.ping(),
      close: () => socket.close(NORMAL),
      terminate: () => socket.terminate(),
    };
  };
}

/** The runtime reports the status of a refused handshake only in its message. */
function refusalOf(event: Event): NonNullable<SocketEnd["refused"]> {
  const { message = "", error } = event as Partial<ErrorEvent>;
  const status = /status code: (\d{3})/.exec(message)?.[1];
  const cause = error instanceof Error ? error : new HttpFailure("connect", message);
  return status === undefined ? { cause } : { status: Number(status), cause };
}

/** Whether the host closed the connection with a code of its own. */
export const isClean = ({ code }: SocketEnd): boolean => code !== ABNORMAL && code !== 1005 && code !== 1015;

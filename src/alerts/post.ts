import type { WebhookSettings } from "../config/config.ts";
import { signatureOf } from "./sign.ts";

export interface AlertRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Ends it before its time. */
  abort: AbortSignal;
}

export interface AlertAnswer {
  status: number;
  /** How long it asks to wait; 0 where it does not. */
  retryAfterMs: number;
  /** The beginning of what it says. */
  body: string;
}

/** Sends a request, and ends in time whatever the receiver does. Follows no redirect. */
export type PostAlert = (request: AlertRequest) => Promise<AlertAnswer>;

/** How a try went. */
export interface Attempt {
  ok: boolean;
  status: number | undefined;
  /** Why it failed, without the address. */
  error: string | undefined;
  answer: string;
  /** How long the receiver asks to wait. */
  retryAfterMs: number;
  /** It wants nothing any more. */
  isGone: boolean;
}

interface Sent {
  id: string;
  type: string;
  body: string;
}

const GONE = 410;
const MAX_ANSWER = 300;

/** Never rejects. */
export async function attempt(
  post: PostAlert,
  { id, type, body }: Sent,
  { url, secret }: WebhookSettings,
  { wallMs, abort }: { wallMs: number; abort: AbortSignal },
): Promise<Attempt> {
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "trivium-alerts",
    "x-trivium-event": type,
    "x-trivium-id": id,
    ...(secret === undefined ? {} : { "x-trivium-signature": signatureOf(body, secret, wallMs) }),
  };
  try {
    const { status, retryAfterMs, body: said } = await post({ url: url.reveal(), headers, body, abort });
    const ok = status >= 200 && status < 300;
    return {
      ok,
      status,
      error: ok ? undefined : refusal(status),
      answer: said.replaceAll(/\p{C}/gu, " ").slice(0, MAX_ANSWER),
      retryAfterMs,
      isGone: status === GONE,
    };
  } catch (thrown) {
    return { ok: false, status: undefined, error: reasonOf(thrown), answer: "", retryAfterMs: 0, isGone: false };
  }
}

function refusal(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return `answered ${status}`;
}

/** Messages of the network may name the address, which may be a secret: only what kind of failure it is. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "failed";
  if (thrown.name === "TimeoutError") return "did not answer in time";
  const { code } = thrown as { code?: unknown };
  return `no connection, or it broke off (${typeof code === "string" ? code : thrown.name})`;
}

import { webhookSignature } from "../base/webhook-signature.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { WebhookSettings } from "../config/config.ts";

export interface AlertRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Ends the request early. */
  abort: AbortSignal;
}

export interface AlertAnswer {
  status: number;
  /** From Retry-After; 0 if absent. */
  retryAfterMs: number;
  /** The first part of the response body. */
  body: string;
}

/** Sends a request with a time limit. Redirects are not followed. */
export type PostAlert = (request: AlertRequest) => Promise<AlertAnswer>;

/** The outcome of an attempt. */
export interface DeliveryAttempt {
  ok: boolean;
  status: number | undefined;
  /** Why it failed, without the address. */
  error: string | undefined;
  answer: string;
  /** From Retry-After. */
  retryAfterMs: number;
  /** The receiver answered 410 Gone: send nothing more. */
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
): Promise<DeliveryAttempt> {
  const headers = withoutAbsent({
    "content-type": "application/json; charset=utf-8",
    "user-agent": "trivium-alerts",
    "x-trivium-event": type,
    "x-trivium-id": id,
    "x-trivium-signature": secret && webhookSignature(body, secret, wallMs),
  });
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

/** Network errors may contain the address, which may be a secret, so only the kind of failure is kept. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "failed";
  if (thrown.name === "TimeoutError") return "did not answer in time";
  const { code } = thrown as { code?: unknown };
  return `connection failed or was closed (${typeof code === "string" ? code : thrown.name})`;
}

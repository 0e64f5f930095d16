import type { PostAlert } from "../alerts/post.ts";
import { readRetryAfter } from "../wire/http/retry-after.ts";

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024;

/**
 * Sends to a webhook with the runtime's HTTP client. The operator has configured the address, so it may be in a private
 * network; redirects may lead anywhere and are not followed.
 */
export const webhookPost =
  (timeoutMs = TIMEOUT_MS): PostAlert =>
  async ({ url, headers, body, abort }) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers },
      body,
      redirect: "manual",
      // A pooled connection that the receiver has closed would fail an attempt.
      keepalive: false,
      signal: AbortSignal.any([abort, AbortSignal.timeout(timeoutMs)]),
    });
    const seconds = readRetryAfter(answer.headers.get("retry-after"), Date.now()) ?? 0;
    return { status: answer.status, retryAfterMs: seconds * 1000, body: await beginning(answer) };
  };

/** It has answered by its status; how it says so matters to people alone, and may not end. */
async function beginning({ body }: Response): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk.subarray(0, MAX_ANSWER_BYTES), { stream: true });
    if (text.length >= MAX_ANSWER_BYTES) break;
  }
  return text.slice(0, MAX_ANSWER_BYTES);
}

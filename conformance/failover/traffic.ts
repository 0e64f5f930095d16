/** Constants shared by all parts of the failover run. */

export type ProviderMode = "answer" | "stall" | "refuse";

/** The response, chunk by chunk. */
export const ANSWER: readonly string[] = Array.from({ length: 10 }, (_, index) => `word${index} `);
export const FIRST_CONTENT_MS = 20;
export const CHUNK_MS = 2;

export interface Traffic {
  url: string;
  key: string;
  perSecond: number;
  seconds: number;
  /** Of every call. */
  headers: Readonly<Record<string, string>>;
}

export interface CallResult {
  /** Since the traffic began. */
  atMs: number;
  ms: number;
  /** Why it failed. */
  failure?: string;
}

/** The protocols take turns, each streamed and not. */
const REQUESTS = [
  { path: "/v1/chat/completions", body: { stream: true } },
  { path: "/v1/messages", body: { stream: true, max_tokens: 100 } },
  { path: "/v1beta/models/acme/model:streamGenerateContent?alt=sse", body: undefined },
  { path: "/v1/chat/completions", body: {} },
  { path: "/v1/messages", body: { max_tokens: 100 } },
  { path: "/v1beta/models/acme/model:generateContent", body: undefined },
] as const;

/** Calls at a steady rate, however long each takes: a slow gateway does not slow its clients down. */
export async function send(traffic: Traffic): Promise<CallResult[]> {
  const { perSecond, seconds } = traffic;
  const startedMs = performance.now();
  const running: Promise<CallResult>[] = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    const dueMs = startedMs + (index * 1000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await Bun.sleep(earlyMs);
    running.push(call(traffic, index, startedMs));
  }
  return Promise.all(running);
}

async function call({ url, key, headers }: Traffic, index: number, startedMs: number): Promise<CallResult> {
  const sentMs = performance.now();
  let failure: string | undefined;
  try {
    failure = await problemOf(url, key, headers, index);
  } catch (error) {
    failure = String(error);
  }
  const result = { atMs: sentMs - startedMs, ms: performance.now() - sentMs };
  return failure === undefined ? result : { ...result, failure };
}

async function problemOf(
  url: string,
  key: string,
  headers: Traffic["headers"],
  index: number,
): Promise<string | undefined> {
  const { path, body } = REQUESTS[index % REQUESTS.length] ?? REQUESTS[0];
  const question = `question ${index}`;
  const sent =
    body === undefined
      ? { contents: [{ role: "user", parts: [{ text: question }] }] }
      : { model: "acme/model", messages: [{ role: "user", content: question }], ...body };
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key, "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify(sent),
  });
  const text = await response.text();
  if (response.status !== 200) return `${response.status} ${text.slice(0, 200)}`;
  // Each word once and in order, in whatever protocol.
  const words = text.match(/word\d+/g) ?? [];
  return words.join(" ") === ANSWER.map((word) => word.trim()).join(" ")
    ? undefined
    : `not the answer: ${text.slice(-300)}`;
}

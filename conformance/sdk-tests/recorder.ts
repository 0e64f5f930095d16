import { withRealValues } from "./placeholders.ts";
import type { Suite } from "./suite.ts";

/** One request of a test, and its response. */
export interface Exchange {
  test: string;
  method: string;
  path: string;
  status: number;
  /** What the response is; `bug` with its reason. */
  verdict: "accepted" | "refused" | "unserved" | "bug";
  reason: string;
}

/** How a test ended that reached the gateway. */
export interface Ending {
  test: string;
  outcome: "passed" | "failed" | "skipped";
  why: string;
}

/** No request of these tests takes longer: they are small, and the simulator answers at once. */
const TIMEOUT_MS = 20_000;

export interface Recorder {
  url: string;
  exchanges: Exchange[];
  endings: Ending[];
  stop(): Promise<void>;
}

/** A proxy in front of the gateway that replaces the tests' keys and judges every response. */
export function startRecorder(suite: Suite, gateway: { url: string; key: string }): Recorder {
  const exchanges: Exchange[] = [];
  const endings: Ending[] = [];
  let current = "";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/-/begin") {
        current = ((await request.json()) as { test: string }).test;
        return new Response();
      }
      if (pathname === "/-/end") {
        endings.push((await request.json()) as Ending);
        return new Response();
      }
      const test = current;
      const headers = new Headers(request.headers);
      for (const name of ["authorization", "x-api-key", "x-goog-api-key", "host", "accept-encoding", "content-length"])
        headers.delete(name);
      headers.set(suite.keyHeader, suite.keyHeader === "authorization" ? `Bearer ${gateway.key}` : gateway.key);
      const { method } = request;
      const body = method === "GET" || method === "HEAD" ? null : new Uint8Array(await request.arrayBuffer());
      const noted = (status: number, verdict: Exchange["verdict"], reason: string) =>
        exchanges.push({ test, method, path: pathname, status, verdict, reason });
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const sent = await withRealValues({ method, path: pathname, search, headers, body }, gateway);
        const response = await fetch(gateway.url + sent.path + sent.search, {
          method,
          headers,
          body: sent.body,
          signal,
          redirect: "manual",
        });
        const bytes = await response.bytes();
        const { verdict, reason } = judge(suite, response, bytes);
        noted(response.status, verdict, reason);
        const answered = new Headers(response.headers);
        for (const name of ["content-encoding", "content-length", "transfer-encoding"]) answered.delete(name);
        return new Response(bytes, { status: response.status, headers: answered });
      } catch (thrown) {
        noted(0, "bug", `no response: ${String(thrown).slice(0, 200)}`);
        return new Response("the gateway did not respond", { status: 400 });
      }
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, exchanges, endings, stop: () => server.stop(true) };
}

function judge(suite: Suite, { status }: Response, bytes: Uint8Array): Pick<Exchange, "verdict" | "reason"> {
  if (status >= 200 && status < 300) return { verdict: "accepted", reason: "" };
  const text = new TextDecoder().decode(bytes);
  if (status < 400 || status >= 500) return { verdict: "bug", reason: `status ${status}: ${text.slice(0, 300)}` };
  const body = parsed(text);
  if (!suite.isError(body)) return { verdict: "bug", reason: `not an error of this protocol: ${text.slice(0, 300)}` };
  const { message } = (body as { error: { message: string } }).error;
  const isUnserved = status === 404 && /^Unknown (endpoint|verb)|is not supported/.test(message);
  return { verdict: isUnserved ? "unserved" : "refused", reason: `${status} ${message.slice(0, 160)}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

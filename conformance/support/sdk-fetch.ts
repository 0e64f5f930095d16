import type { Harness } from "../../testing/harness.ts";

/** A `fetch` by which a vendor's SDK calls a gateway in memory. */
export const sdkFetch =
  (harness: Harness) =>
  async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const sent = harness.sendRaw(pathname + search, init.body ?? "", headers);
    const answer = await harness.clock.until(sent.answer);
    return new Response(answer.text, { status: answer.status, headers: answer.headers });
  };

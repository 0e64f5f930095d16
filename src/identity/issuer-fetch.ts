import type { IssuerFetch } from "./issuer.ts";

/** Discovery documents and key sets have a few kilobytes. */
const MAX_ANSWER_BYTES = 512 * 1024;

/** Sends to an issuer with the runtime's HTTP client, so that it shares no connections with calls. */
export const issuerFetch: IssuerFetch = async (url, { method = "GET", headers, body, signal }) => {
  const answer = await fetch(url, {
    method,
    ...(headers && { headers }),
    ...(body && { body }),
    redirect: "manual",
    signal,
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`The response has more than ${MAX_ANSWER_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: answer.status, headers: plainHeaders(answer.headers) });
};

/** The body is decoded by now. */
function plainHeaders(given: Headers): Headers {
  const headers = new Headers(given);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  return headers;
}

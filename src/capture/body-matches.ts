import type { CapturedBodies, CapturedBody } from "./captured-bodies.ts";

/** How often strings in JSON may contain JSON: the arguments of a tool in a request, or a request within one. */
const MAX_DEPTH = 3;

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
/** What the events of streams call the next part of a text. */
const PART =
  /"(?:content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal|transcript)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const STREAM = /^(?:data|event|id|retry)?:/m;

/** Whether one of the bodies has this text: as it is, in strings of JSON whatever their escapes, or across the events of a stream. */
export function bodyMatches(bodies: CapturedBodies, wanted: string): boolean {
  const { client_request, provider_request, provider_answer, client_answer } = bodies;
  return [client_request, provider_request, client_answer, provider_answer].some((body) => hasText(body, wanted));
}

function hasText(body: CapturedBody | null, wanted: string): boolean {
  if (body === null) return false;
  if (hasDecoded(body.text, wanted)) return true;
  return STREAM.test(body.text) && hasDecoded(partsOf(body.text), wanted);
}

function hasDecoded(text: string, wanted: string): boolean {
  let decoded = text;
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    if (decoded.includes(wanted)) return true;
    if (!decoded.includes("\\")) return false;
    decoded = decoded.replaceAll(ESCAPE, (_, code?: string, sign?: string) =>
      code === undefined ? (SHORT[sign ?? ""] ?? sign ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
  return false;
}

/** The texts of the events, one after the other. */
const partsOf = (stream: string): string => [...stream.matchAll(PART)].map(([, part]) => part).join("");

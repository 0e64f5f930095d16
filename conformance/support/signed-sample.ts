import { REDACTED_PURPOSE, THINKING_PURPOSE } from "../../simulator/hosts/anthropic/text/read-blocks.ts";
import { THOUGHT_PURPOSE } from "../../simulator/hosts/google/interactions/read-steps.ts";
import { CALL_PURPOSE, callPayload, TEXT_PURPOSE } from "../../simulator/hosts/google/text/read-contents.ts";
import { Seed } from "../../simulator/seed.ts";
import { seal, sign } from "../../simulator/text/signature.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { type Opaque, wrapOpaque, wrapOpaqueBase64 } from "../../src/canon/opaque.ts";
import type { Part } from "../../src/canon/part.ts";
import { DIALECTS } from "../../src/dialects/index.ts";

const SEED = new Seed("signed samples");

/**
 * A request whose invented signatures are replaced by those that the simulated hosts would have given: hosts reject
 * any other, which would hide what a sample is about.
 */
export function signedSample(dialect: DialectName, text: string): string {
  const call = DIALECTS[dialect].codec.decodeRequest(JSON.parse(text) as JsonObject);
  let signed = text;
  for (const part of call.turns.flatMap(({ parts }) => parts)) {
    const { signature } = part;
    if (signature === undefined) continue;
    const value = signatureFor(part, signature);
    if (value === undefined) continue;
    // Carriers record where in the message a signature belongs, in a format that decoding removes.
    for (const format of [signature.format, "text", "empty-text"]) {
      const made: Opaque = format === undefined ? signature : { ...signature, format };
      for (const written of [({ value: own }: Opaque) => own, wrapOpaque, wrapOpaqueBase64])
        signed = signed.replaceAll(`"${written(made)}"`, `"${written({ ...made, value })}"`);
    }
  }
  return signed;
}

function signatureFor(part: Part, { origin, kind }: Opaque): string | undefined {
  if (origin === "messages" && part.type === "reasoning")
    return kind === "signature" ? sign(THINKING_PURPOSE, part.text, SEED) : seal(REDACTED_PURPOSE, "secret", SEED);
  if (origin === "interactions" && part.type === "reasoning") return sign(THOUGHT_PURPOSE, "", SEED);
  if (origin !== "genai" || kind !== "signature") return undefined;
  if (part.type !== "tool-call") return sign(TEXT_PURPOSE, "", SEED);
  const input: unknown = JSON.parse(part.input || "{}");
  return sign(CALL_PURPOSE, callPayload(part.name, isObject(input) ? (input as never) : {}), SEED);
}

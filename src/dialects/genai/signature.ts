import type { JsonObject } from "../../base/json.ts";
import { type Opaque, unwrapOpaqueBase64, wrapOpaqueBase64 } from "../../canon/opaque.ts";

/** The origin of the signatures that this dialect writes unwrapped. */
export const OWN_ORIGIN = "genai";

/**
 * The placeholder that the provider documents for calls without a signature, because another model made them or the client lost
 * it.
 */
export const BYPASS_SIGNATURE = "skip_thought_signature_validator";

/** Where a part comes from, which determines the origin of its signature. */
export interface PartSource {
  /** The origin of signatures that are not wrapped. */
  origin: string;
  /** In a client's request, signatures of other origins are wrapped. An upstream's signatures are its own in any form. */
  fromClient: boolean;
  /** JSON path in the client's request. */
  path?: string;
}

export function readSignature(value: string | undefined, { origin, fromClient }: PartSource): { signature?: Opaque } {
  if (!value) return {};
  return { signature: (fromClient ? unwrapOpaqueBase64(value) : undefined) ?? { origin, kind: "signature", value } };
}

/** For a client: writes a signature of this dialect unchanged, and wraps any other in base64, which readers require. */
export function clientSignature(signature: Opaque | undefined): JsonObject {
  if (signature === undefined) return {};
  const own = signature.origin === OWN_ORIGIN && signature.kind === "signature" && signature.format === undefined;
  return { thoughtSignature: own ? signature.value : wrapOpaqueBase64(signature) };
}

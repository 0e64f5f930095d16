import type { JsonObject } from "../../base/json.ts";
import { type Opaque, unwrapOpaqueBase64, wrapOpaqueBase64 } from "../../canon/opaque.ts";

/** The origin of the signatures that stand in this dialect as they are. */
export const OWN_ORIGIN = "genai";

/** What the provider documents for calls that have no signature, because another model made them or the client lost it. */
export const BYPASS_SIGNATURE = "skip_thought_signature_validator";

/** Where a part comes from, which decides whose its signature is. */
export interface PartSource {
  /** Whose a signature is that stands there as it is. */
  origin: string;
  /** In a client's request signatures of other origins stand wrapped; what an upstream sends is its own in any form. */
  fromClient: boolean;
  /** JSON path in the client's request. */
  path?: string;
}

export function readSignature(value: string | undefined, { origin, fromClient }: PartSource): { signature?: Opaque } {
  if (!value) return {};
  return { signature: (fromClient ? unwrapOpaqueBase64(value) : undefined) ?? { origin, kind: "signature", value } };
}

/** For a client: a signature of this dialect's own as it is, any other wrapped in base64, on which readers insist. */
export function clientSignature(signature: Opaque | undefined): JsonObject {
  if (signature === undefined) return {};
  const own = signature.origin === OWN_ORIGIN && signature.kind === "signature" && signature.format === undefined;
  return { thoughtSignature: own ? signature.value : wrapOpaqueBase64(signature) };
}

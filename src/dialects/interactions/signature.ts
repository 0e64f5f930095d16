import { type Opaque, unwrapOpaqueBase64, wrapOpaqueBase64 } from "../../canon/opaque.ts";
import { type Carrier, unwrapCarrier, wrapCarrier } from "../request/carriers.ts";

/** The origin of the signatures that this dialect writes unwrapped. */
export const OWN_ORIGIN = "interactions";

/** Where a step comes from, which determines the origin of its signature. */
export interface StepSource {
  /** The origin of signatures that are not wrapped. */
  origin: string;
  /** In a client's request, signatures of other origins are wrapped. An upstream's signatures are its own in any form. */
  fromClient: boolean;
}

export const CLIENT_SOURCE: StepSource = { origin: OWN_ORIGIN, fromClient: true };

/** Hosts send an empty signature with steps that have none. */
export function readSignature(value: string | undefined, { origin, fromClient }: StepSource): Opaque | undefined {
  if (!value) return undefined;
  return (fromClient ? unwrapOpaqueBase64(value) : undefined) ?? { origin, kind: "signature", value };
}

/** For a client: a signature of this dialect unchanged, and any other wrapped in base64, which readers require. */
export const writeSignature = (signature: Opaque): string =>
  signature.origin === OWN_ORIGIN && signature.kind === "signature" && signature.format === undefined
    ? signature.value
    : wrapOpaqueBase64(signature);

/** The signature of an adjacent text, in the signature of a thought that says nothing (decision 0011). */
export const writeCarrier = (carrier: Carrier): string => btoa(wrapCarrier(carrier));

export function readCarrier(value: string | undefined): Carrier | undefined {
  if (!value || unwrapOpaqueBase64(value) === undefined) return undefined;
  return unwrapCarrier(Buffer.from(value, "base64").toString("latin1"));
}

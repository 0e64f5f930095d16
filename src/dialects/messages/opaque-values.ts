import { type Opaque, unwrapOpaque, wrapOpaque } from "../../canon/opaque.ts";

/** The origin of the opaque values that stand in this dialect as they are. */
export const OWN_ORIGIN = "messages";

/** Where a block comes from, which decides whose its opaque values are. */
export interface BlockSource {
  /** Whose a value is that stands there as it is. */
  origin: string;
  /** A client's request: values of other origins stand there wrapped. What an upstream sends is its own in any form. */
  fromClient: boolean;
}

export const CLIENT_SOURCE: BlockSource = { origin: OWN_ORIGIN, fromClient: true };

/** An empty value says that there is none: the dialect demands a text where other origins have nothing to put. */
export function readOpaque(
  value: string | undefined,
  kind: Opaque["kind"],
  { origin, fromClient }: BlockSource,
): Opaque | undefined {
  if (!value) return undefined;
  return (fromClient ? unwrapOpaque(value) : undefined) ?? { origin, kind, value };
}

/** How an opaque value is written where the dialect has a place for values of this kind. */
export type OpaqueWriter = (opaque: Opaque, kind: Opaque["kind"]) => string;

/** For an upstream, which is given its own values only. */
export const rawOpaque: OpaqueWriter = ({ value }) => value;

/** For a client: a value of this dialect's own as it is, any other wrapped. */
export const encodeOpaque: OpaqueWriter = (opaque, kind) =>
  opaque.origin === OWN_ORIGIN && opaque.kind === kind && opaque.format === undefined
    ? opaque.value
    : wrapOpaque(opaque);

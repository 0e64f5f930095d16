import { type Opaque, unwrapOpaque, wrapOpaque } from "../../canon/opaque.ts";

/** The origin of the opaque values that this dialect writes unwrapped. */
export const OWN_ORIGIN = "messages";

/** Where a block comes from, which determines the origin of its opaque values. */
export interface BlockSource {
  /** The origin of values that are not wrapped. */
  origin: string;
  /**
   * The block comes from a client's request, where values of other origins are wrapped. An upstream's values are its own in any
   * form.
   */
  fromClient: boolean;
}

export const CLIENT_SOURCE: BlockSource = { origin: OWN_ORIGIN, fromClient: true };

/** An empty value means none: the dialect requires a string even for origins without signatures. */
export function readOpaque(
  value: string | undefined,
  kind: Opaque["kind"],
  { origin, fromClient }: BlockSource,
): Opaque | undefined {
  if (!value) return undefined;
  return (fromClient ? unwrapOpaque(value) : undefined) ?? { origin, kind, value };
}

/** Writes an opaque value where the dialect has a field for values of this kind. */
export type OpaqueWriter = (opaque: Opaque, kind: Opaque["kind"]) => string;

/** For an upstream, which only receives its own values. */
export const rawOpaque: OpaqueWriter = ({ value }) => value;

/** For a client: writes a value of this dialect unchanged, and wraps any other. */
export const encodeOpaque: OpaqueWriter = (opaque, kind) =>
  opaque.origin === OWN_ORIGIN && opaque.kind === kind && opaque.format === undefined
    ? opaque.value
    : wrapOpaque(opaque);

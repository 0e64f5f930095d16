import type { TSchema, TUnsafe } from "typebox";
import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";

/** A name that the contract does not list. The brand keeps `block.type === "text"` narrowing to the listed block. */
export type UnlistedName = string & { readonly unlisted: true };

/** Wording of the expected value, for schemas whose keywords alone would read badly. */
export const EXPECTED = "x-expected";

/** For fields that clients set to null to mean "not given". */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** An object whose content the client defines. */
export function openObject(description?: string) {
  return Type.Unsafe<Record<string, unknown>>(withoutAbsent({ type: "object", description }));
}

/** A string of which only the prefix or form is fixed; `expected` describes it. */
export function stringLike<S extends string = string>(pattern: string, expected: string): TUnsafe<S> {
  return Type.Unsafe<S>({ type: "string", pattern, [EXPECTED]: expected });
}

/** Marks an alternative that the contract does not list. Only the drop-in door accepts it (choices 3). */
export const UNLISTED = "x-unlisted";

export const unlisted = {
  [UNLISTED]: true,
  description: "Not listed here. The drop-in endpoints pass it on to a provider of this protocol.",
};

/**
 * Providers add kinds of blocks and tools faster than the contract does. At the drop-in door an unlisted kind, identified by its
 * `type`, is accepted as an open object and left for the upstream to validate. Listed kinds never match here.
 */
export function unlistedKind(listed: readonly string[]) {
  return Type.Object({ type: notOneOf(listed) }, unlisted);
}

/** The same at both doors, for what a client only sends back as received. */
export function anyOtherKind(listed: readonly string[]) {
  return Type.Object({ type: notOneOf(listed) });
}

const notOneOf = (listed: readonly string[]) =>
  Type.Unsafe<UnlistedName>({ type: "string", not: { enum: [...listed] } });

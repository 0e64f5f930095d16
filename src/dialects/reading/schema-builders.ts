import type { TSchema, TUnsafe } from "typebox";
import { Type } from "../../base/type.ts";

/** A name that the contract does not list. The brand keeps `block.type === "text"` narrowing to the listed block alone. */
export type UnlistedName = string & { readonly unlisted: true };

/** Wording of what would be right, for schemas whose keywords alone would read badly. */
export const EXPECTED = "x-expected";

/** For fields that real clients set to null when they mean "not given". */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** An object whose content is the client's own affair. */
export function openObject(description?: string) {
  return Type.Unsafe<Record<string, unknown>>({
    type: "object",
    ...(description === undefined ? {} : { description }),
  });
}

/** A string of which only the beginning or form is fixed; `expected` says it in words. */
export function stringLike<S extends string = string>(pattern: string, expected: string): TUnsafe<S> {
  return Type.Unsafe<S>({ type: "string", pattern, [EXPECTED]: expected });
}

/** Marks an alternative that the contract does not list: only the drop-in door takes it (choices 3). */
export const UNLISTED = "x-unlisted";

export const unlisted = {
  [UNLISTED]: true,
  description: "Not listed here. The drop-in endpoints pass it on to a provider of this protocol.",
};

/**
 * Providers add kinds of blocks and tools faster than the contract does. At the drop-in door one that it does not list, told
 * by its `type`, is accepted as an open object and left to the upstream to judge; listed ones never slip through here.
 */
export function unlistedKind(listed: readonly string[]) {
  return Type.Object({ type: notOneOf(listed) }, unlisted);
}

/** The same at both doors: for what a client only sends back as an answer gave it. */
export function anyOtherKind(listed: readonly string[]) {
  return Type.Object({ type: notOneOf(listed) });
}

const notOneOf = (listed: readonly string[]) =>
  Type.Unsafe<UnlistedName>({ type: "string", not: { enum: [...listed] } });

import type { TSchema } from "typebox";
import { UNLISTED } from "./schema-builders.ts";

/** The schema without alternatives that the contract does not list. Unchanged parts stay the same objects. */
export function listedOnly<S extends TSchema>(schema: S): S {
  return strictly(schema, new Map()) as S;
}

/** Shared schemas are converted once, so that they stay shared. */
function strictly(node: unknown, made: Map<object, unknown>): unknown {
  if (typeof node !== "object" || node === null) return node;
  const before = made.get(node);
  if (before !== undefined) return before;
  const after = Array.isArray(node)
    ? keepOrCopy(
        node,
        node.filter(isListed).map((item) => strictly(item, made)),
      )
    : strictObject(node, made);
  made.set(node, after);
  return after;
}

function strictObject(node: object, made: Map<object, unknown>): object {
  const descriptors = Object.getOwnPropertyDescriptors(node) as Record<string, PropertyDescriptor>;
  let changed = false;
  for (const [key, descriptor] of Object.entries(descriptors)) {
    const value = strictly(descriptor.value, made);
    changed ||= value !== descriptor.value;
    descriptors[key] = { ...descriptor, value };
  }
  // The library's markers are not enumerable and must be copied too.
  return changed ? Object.create(Object.getPrototypeOf(node), descriptors) : node;
}

const isListed = (item: unknown): boolean => !(typeof item === "object" && item !== null && UNLISTED in item);

function keepOrCopy(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return before.length === after.length && before.every((item, index) => item === after[index]) ? before : after;
}

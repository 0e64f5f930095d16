import { stringifyInOrder } from "../../wire/ordered-json.ts";

/**
 * A call's arguments as the canon's text, whether the host sent a string or a value; empty if it sent neither. Some hosts send an
 * object instead of a string, or the reverse, and some programs write an empty object as an empty list. Anything but an object is
 * kept: either the client's protocol can carry it, or the call is broken.
 */
export function argumentsText(given: unknown): string {
  if (typeof given === "string") return given;
  const isNone = given === undefined || given === null || (Array.isArray(given) && given.length === 0);
  return isNone ? "" : stringifyInOrder(given);
}

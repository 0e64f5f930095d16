import { stringifyInOrder } from "../../wire/ordered-json.ts";

/**
 * A call's arguments as the canon's text, whether the host gave a text or a value; empty where it gave neither. Hosts give the object where a
 * text is due, and the reverse, and some programs write an empty object as an empty list. What is no object stays what it is: the
 * client's protocol can carry it, or the call is broken.
 */
export function argumentsText(given: unknown): string {
  if (typeof given === "string") return given;
  const isNone = given === undefined || given === null || (Array.isArray(given) && given.length === 0);
  return isNone ? "" : stringifyInOrder(given);
}

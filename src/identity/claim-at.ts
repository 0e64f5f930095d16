import { isObject } from "../base/json.ts";

/** The claim of that name; a name that begins with a slash is a JSON pointer, such as /realm_access/roles. */
export function claimAt(claims: unknown, name: string): unknown {
  if (!name.startsWith("/")) return memberOf(claims, name);
  const steps = name.slice(1).split("/");
  return steps.reduce((value, step) => memberOf(value, step.replaceAll("~1", "/").replaceAll("~0", "~")), claims);
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

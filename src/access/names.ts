import { isPlainLine } from "../base/is-plain-line.ts";
import { GatewayError } from "../canon/error.ts";

const MAX_NAME_LENGTH = 100;

/** Checks the display name of a key or a project. */
export function checkName(path: string, name: string): string {
  if (name === "" || name.length > MAX_NAME_LENGTH || !isPlainLine(name)) {
    const message = `\`${path}\` must have 1 to ${MAX_NAME_LENGTH} characters and no control characters.`;
    throw new GatewayError("invalid_request", message, { path });
  }
  return name;
}

/** Checks the id of a new project: it needs no quotes in URLs, flags and files. */
export function checkSlug(path: string, id: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return id;
  const message = `\`${path}\` must have 1 to 63 characters: lowercase letters, digits and dashes, without a dash at the start.`;
  throw new GatewayError("invalid_request", message, { path });
}

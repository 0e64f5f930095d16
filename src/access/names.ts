import { isPlainLine } from "../base/is-plain-line.ts";
import { GatewayError } from "../canon/error.ts";

const MAX_NAME_LENGTH = 100;

/** The name of a key or a project, for people. */
export function checkName(path: string, name: string): string {
  if (name === "" || name.length > MAX_NAME_LENGTH || !isPlainLine(name)) {
    const message = `\`${path}\` must have 1 to ${MAX_NAME_LENGTH} characters, none of them a control character.`;
    throw new GatewayError("invalid_request", message, { path });
  }
  return name;
}

/** The id of a new project: a part of URLs, flags and files, so that it needs no quotes anywhere. */
export function checkSlug(path: string, id: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return id;
  const message = `\`${path}\` must have 1 to 63 lowercase letters, digits and dashes, and not begin with a dash.`;
  throw new GatewayError("invalid_request", message, { path });
}

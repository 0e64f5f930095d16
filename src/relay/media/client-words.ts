import { GatewayError } from "../../canon/error.ts";
import { FieldRefusal } from "../../media/refuse-field.ts";

/**
 * Translates an error for the client: the path of a canonical field becomes the client's field name, and a host's own code for
 * blocked content becomes the protocol's.
 */
export function inClientWords(error: GatewayError, paths: Readonly<Partial<Record<string, string>>>): GatewayError {
  const path = error.path === undefined ? undefined : (paths[error.path] ?? error.path);
  if (error.kind === "content_blocked") {
    return new GatewayError(error.kind, error.message, path === undefined ? {} : { path });
  }
  if (path === undefined) return error;
  const renamed = error.withPath(path);
  const named = !(error instanceof FieldRefusal) || error.message.startsWith(`${path}: `);
  return named ? renamed : renamed.withMessage(`${path}: ${error.message}`);
}

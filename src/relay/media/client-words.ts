import { GatewayError } from "../../canon/error.ts";
import { FieldRefusal } from "../../media/refuse-field.ts";

/**
 * The path of a canonical field is told by its name in the client's request. Each host has a code of its own for what its
 * moderation holds back; clients are told the protocol's.
 */
export function inClientWords(error: GatewayError, paths: Readonly<Partial<Record<string, string>>>): GatewayError {
  const path = error.path === undefined ? undefined : (paths[error.path] ?? error.path);
  if (error.kind === "content_blocked") {
    return new GatewayError(error.kind, error.message, path === undefined ? {} : { path });
  }
  if (path === undefined) return error;
  const told = error.withPath(path);
  const named = !(error instanceof FieldRefusal) || error.message.startsWith(`${path}: `);
  return named ? told : told.withMessage(`${path}: ${error.message}`);
}

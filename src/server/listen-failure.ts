import { GatewayError } from "../canon/error.ts";
import { portOwner } from "./port-owner.ts";

/** The flags of `serve` for the ports of two sections of the configuration. */
export const PORT_FLAGS = { server: "--port", admin: "--admin-port" } as const;

interface Wanted {
  host: string;
  port: number;
  /** The names of the two settings, as the operator knows them. */
  fields: { host: string; port: string; portFlag?: string };
}

/** Why the listener failed, if a person can fix it; any other error unchanged. */
export function listenFailure(cause: unknown, { host, port, fields }: Wanted): unknown {
  if (!(cause instanceof Error && "code" in cause)) return cause;
  if (!isOfThisMachine(host)) {
    const message = `${fields.host}: this machine has no address ${host}.`;
    return new GatewayError("internal", message, { path: fields.host, cause });
  }
  if (cause.code === "EADDRINUSE") {
    const settings = fields.portFlag === undefined ? fields.port : `${fields.port} or ${fields.portFlag}`;
    const owner = portOwner(port);
    const problem = owner === undefined ? "in use by another process" : `in use by ${owner}`;
    const message = `Port ${port} on ${host} is ${problem}. Stop it, or set ${settings} to a free port.`;
    return new GatewayError("internal", message, { path: fields.port, cause });
  }
  if (cause.code === "EACCES") {
    const message = `Port ${port} on ${host} requires elevated privileges. Use a port from 1024 up.`;
    return new GatewayError("internal", message, { path: fields.port, cause });
  }
  return cause;
}

/** For a name without an address, the runtime reports the code of an earlier failure, such as a port in use. */
function isOfThisMachine(host: string): boolean {
  try {
    void Bun.serve({ hostname: host, port: 0, fetch: () => new Response() }).stop(true);
    return true;
  } catch {
    return false;
  }
}

import { GatewayError } from "../canon/error.ts";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]", "::1"]);

/**
 * On loopback any web page that the user opens can reach the port. A foreign Host is a rebound name, a foreign Origin is
 * such a page: both are refused before anything is read (S11). Elsewhere the operator's proxy decides.
 */
export function createLoopbackGuard(
  listeningHost: string,
  publicUrl: string,
  { section, allows }: { section: "server" | "admin"; allows: (origin: string) => boolean },
): (headers: Headers) => void {
  if (!LOOPBACK.has(listeningHost)) return () => undefined;
  const known = new Set([...LOOPBACK, new URL(publicUrl).hostname]);
  /** The header of the last request that passed, which is nearly always that of the next one. */
  let passed: string | undefined;
  return (headers) => {
    const host = headers.get("host");
    if (host && host !== passed && !known.has(hostName(host))) {
      const fields = section === "server" ? "server.public_url (or server.host)" : "admin.public_url (or admin.host)";
      const message = `Host header "${host.slice(0, 80)}" is not allowed. Set ${fields} in trivium.yaml.`;
      throw new GatewayError("forbidden", message);
    }
    if (host) passed = host;
    const origin = headers.get("origin");
    if (origin && !known.has(originHost(origin)) && !allows(origin)) {
      const cure = section === "server" ? " Add it to server.cors in trivium.yaml." : "";
      throw new GatewayError("forbidden", `Origin "${origin.slice(0, 80)}" is not allowed.${cure}`);
    }
  };
}

const hostName = (host: string) => host.replace(/:\d+$/, "").toLowerCase();

function originHost(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : origin;
}

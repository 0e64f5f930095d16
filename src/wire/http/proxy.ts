import type { Endpoint } from "./endpoint.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the environment names a proxy for this URL. */
export function usesProxy(endpoint: Endpoint, environment: Environment): boolean {
  const name = endpoint.secure ? "https_proxy" : "http_proxy";
  if (!(environment[name] || environment[name.toUpperCase()])) return false;
  const exceptions = environment["no_proxy"] || environment["NO_PROXY"] || "";
  return !exceptions.split(",").some((entry) => covers(entry.trim().toLowerCase(), endpoint));
}

/** Matches `*`, a host with or without its port, or a domain and its subdomains. */
function covers(entry: string, { hostname, hostHeader }: Endpoint): boolean {
  if (entry === "*" || entry === hostname || entry === hostHeader) return true;
  const domain = entry.replace(/^\*?\.?/, "");
  return domain !== "" && (hostname === domain || hostname.endsWith(`.${domain}`));
}

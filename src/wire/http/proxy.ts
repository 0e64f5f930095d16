import type { RequestUrl } from "./request-url.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the environment names a proxy for this URL. */
export function usesProxy(requestUrl: RequestUrl, environment: Environment): boolean {
  const name = requestUrl.secure ? "https_proxy" : "http_proxy";
  if (!(environment[name] || environment[name.toUpperCase()])) return false;
  const exceptions = environment["no_proxy"] || environment["NO_PROXY"] || "";
  return !exceptions.split(",").some((entry) => covers(entry.trim().toLowerCase(), requestUrl));
}

/** Matches `*`, a host with or without its port, or a domain and its subdomains. */
function covers(entry: string, { hostname, hostHeader }: RequestUrl): boolean {
  if (entry === "*" || entry === hostname || entry === hostHeader) return true;
  const domain = entry.replace(/^\*?\.?/, "");
  return domain !== "" && (hostname === domain || hostname.endsWith(`.${domain}`));
}

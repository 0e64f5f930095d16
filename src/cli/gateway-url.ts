import { UsageError } from "./command.ts";

const DEFAULT_URL = "http://127.0.0.1:8787";

/**
 * The URL of a running gateway: `--url`, else TRIVIUM_URL, else from the configuration that was named, else the default. A
 * `trivium.yaml` in the working folder is ignored unless named: otherwise whoever put it there would receive the API key
 * (S20).
 */
export async function gatewayUrl(given: { url?: string | undefined; config?: string | undefined }): Promise<string> {
  const [source, found] = await namedUrl(given);
  if (!/^https?:\/\//.test(found) || !URL.canParse(found)) {
    throw new UsageError(`${source}: "${found}" is not a valid URL. Use a URL such as ${DEFAULT_URL}.`);
  }
  return found.replace(/\/+$/, "").replace(/\/v1$/, "");
}

async function namedUrl({ url, config }: Parameters<typeof gatewayUrl>[0]): Promise<[source: string, url: string]> {
  if (url !== undefined) return ["--url", url];
  const { TRIVIUM_URL, TRIVIUM_CONFIG } = process.env;
  if (TRIVIUM_URL) return ["TRIVIUM_URL", TRIVIUM_URL];
  const path = config ?? TRIVIUM_CONFIG;
  if (!path) return ["", DEFAULT_URL];
  // Loaded only when needed, because it is slow to load.
  const [{ readConfig }, { withSecrets }, { configSource }] = await Promise.all([
    import("../app/read-config.ts"),
    import("../app/secrets/with-secrets.ts"),
    import("./config-source.ts"),
  ]);
  const { server } = readConfig(await withSecrets({ ...configSource(path), sections: ["server"] }));
  const host = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return ["server.host", `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`];
}

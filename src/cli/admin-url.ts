import { UsageError } from "./command.ts";

const DEFAULT_URL = "http://127.0.0.1:8788";

/** The URL and secret of the Admin API of a running gateway. */
export interface AdminAccess {
  url: string;
  secret: string;
}

interface Given {
  url?: string | undefined;
  secret?: string | undefined;
  config?: string | undefined;
}

/**
 * Flags, else the environment, else the configuration that was named. A `trivium.yaml` in the working folder is ignored unless
 * named: otherwise whoever put it there would receive the secret (S20).
 */
export async function adminAccess(given: Given): Promise<AdminAccess> {
  const { TRIVIUM_ADMIN_URL, TRIVIUM_ADMIN_SECRET, TRIVIUM_CONFIG } = process.env;
  const path = given.config ?? TRIVIUM_CONFIG;
  const named = path ? await configured(path) : {};
  const url = (given.url ?? TRIVIUM_ADMIN_URL) || named.url || DEFAULT_URL;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`Invalid URL "${url}". Use a URL such as ${DEFAULT_URL}.`);
  const secret = ((given.secret ?? TRIVIUM_ADMIN_SECRET) || named.secret || "").trim();
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    const where = "The gateway prints it when it first starts, unless admin.secret is set in the configuration.";
    throw new UsageError(`No admin secret given. Set TRIVIUM_ADMIN_SECRET or pass --secret. ${where}`);
  }
  return { url: url.replace(/\/+$/, ""), secret };
}

async function configured(path: string): Promise<Partial<AdminAccess>> {
  // Loaded only when needed, because it is slow to load.
  const [{ readConfig }, { withSecrets }, { configSource }] = await Promise.all([
    import("../app/read-config.ts"),
    import("../app/secrets/with-secrets.ts"),
    import("./config-source.ts"),
  ]);
  const { host, port, secret } = readConfig(
    await withSecrets({ ...configSource(path), sections: ["server", "admin"] }),
  ).admin;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
  return secret === undefined ? { url } : { url, secret: secret.reveal() };
}

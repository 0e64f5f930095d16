import type { Config } from "./config.ts";

/**
 * Makes a configuration that is printed by accident show no password (S10). Credentials are secrets by type; the URLs of the
 * storage and of the file store are plain text that may contain one.
 */
export function hidePasswords(config: Config): Config {
  const shown = () => ({
    ...config,
    storage: withoutPassword(config.storage),
    files: withoutPassword(config.files),
  });
  return Object.defineProperties(config, {
    toJSON: { value: shown },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: shown },
  });
}

/** Everything between the scheme and the last `@`, whatever is in it, and the query, which may name a password too. */
function withoutPassword(url: string): string {
  if (!/^\w+:\/\//.test(url)) return url;
  return url.replace(/:\/\/.*@/, "://[secret]@").replace(/\?.*/, "?[secret]");
}

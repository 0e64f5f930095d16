import type { ProviderSettings } from "../config/config.ts";
import type { Authenticator } from "./credentials.ts";

const fixed = (headers: Record<string, string>): Authenticator => {
  return () => headers;
};

/** `Authorization: Bearer`, or nothing without a key: local hosts often need none. */
export const bearer = (settings: ProviderSettings): Authenticator =>
  fixed(settings.apiKey ? { authorization: `Bearer ${settings.apiKey.reveal()}` } : {});

/** The key in a provider-specific header. */
export const headerKey =
  (name: string) =>
  (settings: ProviderSettings): Authenticator =>
    fixed(settings.apiKey ? { [name]: settings.apiKey.reveal() } : {});

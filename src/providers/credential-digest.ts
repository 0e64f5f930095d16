import { createHash } from "node:crypto";
import type { ProviderSettings } from "../config/config.ts";

/** Identifies an account without revealing its secrets; stable across reloads and restarts. */
export function credentialDigest(settings: ProviderSettings, baseUrl: string): string {
  const hash = createHash("sha256").update(`${settings.kind}\n${baseUrl}\n${settings.project ?? ""}\n`);
  for (const [name, value] of Object.entries(settings) as [string, unknown][]) {
    const secret =
      typeof value === "object" && value !== null && "reveal" in value ? String((value.reveal as () => string)()) : "";
    if (secret !== "") hash.update(`${name}=${secret}\n`);
  }
  return hash
    .update(settings.credentials ?? "")
    .digest("hex")
    .slice(0, 32);
}

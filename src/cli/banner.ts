import type { App } from "../app/start-app.ts";
import { VERSION } from "../version.ts";
import type { Paint } from "./colour.ts";
import { programName } from "./program-name.ts";

type Started = Pick<
  App,
  "url" | "adminUrl" | "consoleUrl" | "publicUrl" | "models" | "tryModel" | "providers" | "missing" | "firstStart"
>;

/** At most this many missing providers are named. */
const MAX_MISSING = 3;

/** The base URL for each kind of client. */
export const baseUrls = (url: string) => ({
  openai: `${url}/v1`,
  anthropic: url,
  google: url,
  strict: { openai: `${url}/api/v1`, anthropic: `${url}/api/msg`, google: `${url}/api/genai` },
});

/** The login link is shown on a terminal, but not in a log, unless the log also gets the admin secret. */
export const shownConsole = ({ adminUrl, consoleUrl, firstStart }: Started, isTerminal: boolean): string =>
  isTerminal || firstStart.adminSecret !== undefined ? consoleUrl : adminUrl;

/** Printed when the gateway has started. */
export function banner(started: Started, paint: Paint, isTerminal: boolean): string {
  const { adminUrl, models, url, providers, firstStart, tryModel } = started;
  const reachable = reachableUrl(started.publicUrl);
  const bases = baseUrls(reachable);
  const rows: [string, string][] = [
    ["OpenAI base URL", bases.openai],
    ["Anthropic base URL", bases.anthropic],
    ["Google base URL", bases.google],
    ["Strict API base URLs", Object.values(bases.strict).join(", ")],
    ["Admin API", adminUrl],
    ["Console", consoleWords(shownConsole(started, isTerminal))],
    ["Models", `${models} available; run \`${programName()} models\` to list them`],
    ["Providers", providers.length === 0 ? "none" : providers.join(", ")],
  ];
  const missing = tellMissing(started);
  if (missing) rows.push(["Not connected", missing]);
  if (firstStart.adminSecret) rows.push(["Admin secret (shown once)", firstStart.adminSecret]);
  if (firstStart.apiKey) rows.push(["API key (shown once)", firstStart.apiKey]);
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = [
    `${paint.bold(`Trivium ${VERSION}`)} is listening on ${paint.green(url)}`,
    "",
    ...rows.map(([label, value]) => `  ${paint.dim(label.padEnd(width))}  ${value}`),
  ];
  if (firstStart.apiKey && tryModel) {
    lines.push("", "Try it:", curlLine(bases.openai, firstStart.apiKey, tryModel));
  }
  return lines.join("\n");
}

const consoleWords = (url: string): string =>
  url.includes("#") ? `${url} (valid once, for ten minutes)` : `${url} (log in with the admin secret)`;

function tellMissing({ missing }: Started): string {
  if (missing.length === 0) return "";
  const named = missing.slice(0, MAX_MISSING).map(({ kind, variables }) => `${kind} (set ${variables.join(", ")})`);
  const more = missing.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}; run \`${programName()} init\` to set them up`;
}

/** Clients cannot connect to a wildcard address; on this machine, loopback reaches it. */
const reachableUrl = (url: string): string => url.replace(/^(https?:\/\/)(?:0\.0\.0\.0|\[::\])/, "$1127.0.0.1");

function curlLine(baseUrl: string, key: string, model: string): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello, who are you?" }] });
  return `curl -N ${baseUrl}/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}

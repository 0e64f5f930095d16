import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";

/** `GET /`: the base URLs of each protocol, as a page for people who open it in a browser. */
const send: Handler = ({ request }, { publicUrl, version }) => {
  const url = publicUrl();
  const about = {
    name: "Trivium",
    version,
    base_urls: { openai: `${url}/v1`, anthropic: url, google: url },
    strict_base_urls: { openai: `${url}/api/v1`, anthropic: `${url}/api/msg`, google: `${url}/api/genai` },
    models: `${url}/v1/models`,
    openapi: `${url}/openapi.json`,
    health: `${url}/healthz`,
  };
  if (!request.headers.get("accept")?.includes("text/html")) return Response.json(about);
  return new Response(page(about), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      vary: "Accept",
    },
  });
};

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

type About = { version: string } & Record<"base_urls" | "strict_base_urls", Record<string, string>> &
  Record<"models" | "openapi" | "health", string>;

function page({ version, base_urls, models, openapi, health }: About): string {
  const names: Record<string, string> = { openai: "OpenAI", anthropic: "Anthropic", google: "Google" };
  const rows = Object.entries(base_urls).map(
    ([name, url]) => `<tr><td>${names[name] ?? name} clients</td><td><code>${escaped(url)}</code></td></tr>`,
  );
  const link = (url: string) => `<a href="${escaped(url)}">${escaped(url)}</a>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Trivium</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}td{padding:.2rem 1rem .2rem 0}</style>
<h1>Trivium ${escaped(version)}</h1>
<p>The gateway is running. Point a client at one of these base URLs, with an API key of this gateway:</p>
<table>${rows.join("")}</table>
<p>Models: ${link(models)}<br>API: ${link(openapi)}<br>Health: ${link(health)}</p>
</html>
`;
}

/** For people who open the gateway's address: not a part of the API. */
export const getRoot: ClientEndpoint = {
  method: "GET",
  paths: [{ door: "contract", path: "/", documented: [] }],
  id: "getRoot",
  summary: "Show the base URLs of each protocol",
  dialect: "chat",
  access: "open",
  answers: [],
  handle: send,
};

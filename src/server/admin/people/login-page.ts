import type { GatewayError } from "../../../canon/error.ts";

/** Why a login failed, for a browser. Nothing in it runs, whatever the issuer has returned (S14). */
export function loginPage({ message, rule }: GatewayError, cookie: string): Response {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Login failed</title>
<h1>Login failed</h1>
<p role="alert">${escaped(message)}</p>
<p><a href="/">Go to the login page</a></p>
</html>
`;
  return new Response(page, {
    status: rule.status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "set-cookie": cookie,
    },
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

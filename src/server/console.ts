import type { Route } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";

/** The console as `console/bundle.ts` makes it. */
export interface BundledConsole {
  /** The HTML of every page. */
  page: string;
  files: readonly {
    /** With a digest of the content in it. */
    name: string;
    type: string;
    /** The content in gzip, as base64. */
    gzip: string;
  }[];
}

interface ServedFile {
  type: string;
  gzip: Uint8Array<ArrayBuffer>;
}

interface ServedConsole {
  page: string;
  files: ReadonlyMap<string, ServedFile>;
}

/** The page itself reads the rest of its address. */
const PAGES = [
  "calls",
  "in-flight",
  "refused",
  "catalogue",
  "usage",
  "play",
  "models",
  "providers",
  "keys",
  "projects",
  "operations",
  "live",
  "batches",
  "files",
  "caches",
  "config",
  "exports",
  "alerts",
  "guards",
  "audit",
  "people",
  "end-users",
  "bodies",
] as const;

/** Nothing is loaded from elsewhere, no text becomes code, and no page of another origin can embed this one (S14). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
  "cache-control": "no-cache",
};

const FILE_HEADERS = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  // The name changes with the content.
  "cache-control": "public, max-age=31536000, immutable",
  vary: "Accept-Encoding",
};

/** The console's pages and files. `read` is called once, for the first request: most processes never need it. */
export function consoleRoutes(read: () => Promise<BundledConsole>): Route<Handler>[] {
  let served: Promise<ServedConsole> | undefined;
  const load = (): Promise<ServedConsole> => {
    served ??= read().then(prepare);
    // A later attempt may succeed.
    served.catch(() => (served = undefined));
    return served;
  };
  const sendPage: Handler = async (_routed, { gateway }) => {
    try {
      return new Response((await load()).page, { headers: PAGE_HEADERS });
    } catch (err) {
      gateway.log.error({ err }, "bundling the console failed");
      const text = "The console could not be bundled; see the log for the reason. The Admin API works without it.\n";
      return new Response(text, { status: 500, headers: { ...PAGE_HEADERS, "content-type": "text/plain" } });
    }
  };
  const sendFile: Handler = async ({ request, parameters }) => {
    const file = (await load()).files.get(parameters["name"] ?? "");
    if (file === undefined) return new Response("File not found.\n", { status: 404 });
    const headers = { ...FILE_HEADERS, "content-type": file.type };
    const takesGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    if (takesGzip) return new Response(file.gzip, { headers: { ...headers, "content-encoding": "gzip" } });
    return new Response(Bun.gunzipSync(file.gzip), { headers });
  };
  const open = (path: string | RegExp, handle: Handler): Route<Handler>[] =>
    (["GET", "HEAD"] as const).map((method) => ({
      method,
      path,
      access: "open",
      dialect: "chat",
      door: "contract",
      handle,
    }));
  return [
    ...open("/", sendPage),
    ...open(new RegExp(`^/(?:${PAGES.join("|")})(?:/.*)?$`), sendPage),
    ...open(/^\/assets\/(?<name>[^/]+)$/, sendFile),
  ];
}

const prepare = ({ page, files }: BundledConsole): ServedConsole => ({
  page,
  files: new Map(files.map(({ name, type, gzip }) => [name, { type, gzip: Uint8Array.fromBase64(gzip) }])),
});

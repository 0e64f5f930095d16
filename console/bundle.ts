/**
 * Bundles the console and prints it as JSON (`BundledConsole` in src/server/console.ts). It runs as a separate process so that the
 * bundler's memory is freed when it exits. `scripts/build/binary.ts` embeds the same text in the compiled program.
 */
import { join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

// File names contain a hash that covers paths relative to the working directory.
process.chdir(import.meta.dir);

const built = await Bun.build({
  entrypoints: [join(import.meta.dir, "main.tsx"), join(import.meta.dir, "styles/index.css")],
  target: "browser",
  format: "esm",
  minify: true,
  splitting: true,
  naming: "[name]-[hash].[ext]",
  define: { "process.env.NODE_ENV": '"production"' },
  publicPath: "/assets/",
  // An installed package has no tsconfig.json.
  jsx: { runtime: "automatic", importSource: "preact", development: false },
});

async function digest(bytes: Uint8Array): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 12);
}

const files: { name: string; type: string; gzip: string }[] = [];
function add(name: string, bytes: Uint8Array<ArrayBuffer>): string {
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  files.push({ name, type, gzip: Bun.gzipSync(bytes, { level: 9 }).toBase64() });
  return `/assets/${name}`;
}

const links = { script: "", style: "" };
for (const output of built.outputs) {
  const link = add(output.path.replace(/^.*\//, ""), new Uint8Array(await output.arrayBuffer()));
  if (output.kind === "entry-point" && output.path.endsWith(".js")) links.script = link;
  if (output.path.endsWith(".css")) links.style = link;
}
const icon = await Bun.file(join(import.meta.dir, "icon.svg")).bytes();
const iconLink = add(`icon-${await digest(icon)}.svg`, icon);

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Trivium</title>
<link rel="icon" href="${iconLink}">
<link rel="stylesheet" href="${links.style}">
<script type="module" src="${links.script}"></script>
</head>
<body><div id="console"></div><noscript>The console requires JavaScript. The Admin API does not.</noscript></body>
</html>
`;

process.stdout.write(JSON.stringify({ page, files }));

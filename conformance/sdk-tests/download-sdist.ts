import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INDEX = "https://pypi.org/pypi";
const TIMEOUT_MS = 120_000;

interface Release {
  info: { version: string };
  urls: { packagetype: string; url: string }[];
}

/** Downloads and unpacks the source distribution of a package, and returns its folder and version. Later runs reuse it. */
export async function downloadSdist(name: string, version?: string): Promise<{ folder: string; version: string }> {
  const index = `${INDEX}/${name}${version === undefined ? "" : `/${version}`}/json`;
  const release = (await (await download(index)).json()) as Release;
  const found = release.info.version;
  const url = release.urls.find(({ packagetype }) => packagetype === "sdist")?.url;
  if (url === undefined) throw new Error(`${name} ${found} has no source distribution`);
  const root = join(tmpdir(), "trivium-sdk-tests");
  const folder = join(root, `${name.replaceAll("-", "_")}-${found}`);
  if (!existsSync(folder)) {
    mkdirSync(root, { recursive: true });
    const archive = `${folder}.tar.gz`;
    // A mirror may write the address relative to the index.
    writeFileSync(archive, await (await download(new URL(url, index).href)).bytes());
    const { exitCode, stderr } = Bun.spawnSync(["tar", "xzf", archive, "-C", root]);
    if (exitCode !== 0) throw new Error(`tar: ${stderr.toString().slice(0, 500)}`);
  }
  return { folder, version: found };
}

async function download(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response;
}

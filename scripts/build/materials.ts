import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withoutAbsent } from "../../src/base/without-absent.ts";

interface LockedPackage {
  version?: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
  name?: string;
}

interface LockFile {
  version: string;
  packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * The bill of materials as CycloneDX 1.5, from the lock file: every package that is not only for development, including the
 * runtime. It contains no time and no random number, so that the same source gives the same list.
 */
export function materials(root: string): string {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;
  const components = Object.entries(lock.packages)
    .filter(([place, { dev }]) => place !== "" && dev !== true)
    .map(([place, { name, version = "", integrity, license }]) => {
      const shown = name ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
      const purl = `pkg:npm/${shown.replace("@", "%40")}@${version}`;
      return {
        type: "library",
        "bom-ref": purl,
        name: shown,
        version,
        purl,
        ...withoutAbsent({
          licenses: license === undefined ? undefined : [{ expression: license }],
          hashes: integrity === undefined ? undefined : [hashOf(integrity)],
        }),
      };
    });
  const own = { type: "application", "bom-ref": `trivium@${lock.version}`, name: "trivium", version: lock.version };
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component: own }, components };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

/** npm writes `sha512-<base64>`. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = "", value = ""] = integrity.split(/-(.*)/s);
  return { alg: algorithm.replace(/^sha/, "SHA-"), content: Buffer.from(value, "base64").toString("hex") };
}

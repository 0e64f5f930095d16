import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

const AT_HOME = 16;
const ELSEWHERE = 32;

/** The admin secret gives access to everything, so it must not be guessable (S21). */
export function checkSecrets({ admin }: Pick<Config, "admin">, root: MapNode, report: Report): void {
  if (admin.secret === undefined) return;
  const { length } = admin.secret.reveal();
  const least = isLoopback(admin.host) ? AT_HOME : ELSEWHERE;
  if (length >= least) return;
  const where = least === AT_HOME ? "" : ` when admin.host is ${admin.host}`;
  report(
    positionAt(root, ["admin", "secret"]),
    `admin.secret must have at least ${least} characters${where}; generate one with "openssl rand -hex 24"`,
  );
}

const isLoopback = (host: string) => /^(127\.|localhost$|\[?::1\]?$)/i.test(host);

import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

/** Clients and the operator need separate ports. A port that is left out counts too, so the defaults are filled in by now. */
export function checkListeners(
  { server, admin }: Pick<Config, "server" | "admin">,
  root: MapNode,
  report: Report,
): void {
  if (server.port === 0 || server.port !== admin.port || server.host !== admin.host) return;
  const section = root.entries.get("admin")?.node;
  const written = section?.kind === "map" && section.entries.has("port") ? "admin" : "server";
  report(
    positionAt(root, [written, "port"]),
    "server.port and admin.port must be different when both listen on the same host",
  );
}

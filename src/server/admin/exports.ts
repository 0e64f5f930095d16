import { recordAct } from "../../access/audit.ts";
import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import { EXPORT_FORMATS } from "../../canon/export-format.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";
import type { ExportState } from "../../exports/exports.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { dataAnswer, Timestamp } from "./schemas/answers.ts";

const ExportItem = Type.Object(
  {
    name: Type.String(),
    to: Type.String({ description: "A folder, or s3://bucket/prefix." }),
    format: Type.Enum(EXPORT_FORMATS),
    every_seconds: Type.Integer(),
    state: Type.Enum(["waiting", "running", "failing", "starting"]),
    lag_seconds: nullable(Type.Integer({ description: "Age of the last successful run; null before the first." })),
    rows: Type.Integer({ description: "Exported receipts. A receipt that was exported twice counts twice." }),
    files: Type.Integer(),
    last_file: nullable(Type.Object({ name: Type.String(), at: Timestamp, rows: Type.Integer() })),
    failures: Type.Integer({ description: "Failed runs since the last successful one." }),
    failing_since: nullable(Timestamp),
    error: nullable(Type.String({ description: "Why the last run failed." })),
    next_run_at: nullable(Timestamp),
  },
  { title: "Export" },
);

export const listExports = adminRoute({
  method: "GET",
  path: "/api/exports",
  id: "listExports",
  summary: "List the exports of receipts: their state, the last file, the lag and the last error.",
  roles: ["admin", "viewer"],
  answers: [json(dataAnswer("ExportList", Type.Array(ExportItem)), "In the order of the configuration.")],
  handle: async (_call, _context, { exports }) => ({ data: (await exports.read()).map(exportView) }),
});

export const runExport = adminRoute({
  method: "POST",
  path: "/api/exports/{name}/run",
  id: "runExport",
  summary: "Run an export now. The response is sent when the run has ended, or after 30 seconds.",
  roles: ["admin"],
  answers: [json(dataAnswer("ExportAnswer", ExportItem), "The export after the run.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }, { exports }) => {
    const name = parameters["name"] ?? "";
    if (!exports.states().some((one) => one.name === name)) throw noSuchExport(name);
    await recordAct(storage, { ...actorOf(operator, connection), act: "export.run", target: name }, gateway);
    await Promise.race([exports.run(name), gateway.clock.sleep(RUN_MS)]);
    const after = (await exports.read()).find((one) => one.name === name);
    if (after === undefined) throw noSuchExport(name);
    return { data: exportView(after) };
  },
});

const RUN_MS = 30_000;

function noSuchExport(name: string): GatewayError {
  const message = `There is no export ${JSON.stringify(name.slice(0, 100))}; GET /api/exports lists the names.`;
  return new GatewayError("not_found", message, { code: "export_not_found" });
}

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function exportView({ name, to, format, everyMs, stored, lagMs, isRunning }: ExportState) {
  const { rows = 0, files = 0, lastFile, failures = 0 } = stored ?? {};
  return {
    name,
    to,
    format,
    every_seconds: everyMs / 1000,
    state: stateOf({ stored, isRunning }),
    lag_seconds: lagMs === undefined ? null : Math.round(lagMs / 1000),
    rows,
    files,
    last_file: lastFile === undefined ? null : { name: lastFile.name, at: moment(lastFile.atMs), rows: lastFile.rows },
    failures,
    failing_since: moment(stored?.failingSinceMs),
    error: stored?.error ?? null,
    next_run_at: moment(stored?.dueAtMs),
  };
}

function stateOf({ stored, isRunning }: Pick<ExportState, "isRunning"> & { stored: ExportState["stored"] }): string {
  if (stored === undefined) return "starting";
  if (isRunning) return "running";
  return stored.failures > 0 ? "failing" : "waiting";
}

import { recordAct } from "../../../access/audit.ts";
import { GatewayError } from "../../../canon/error.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { dataAnswer } from "../schemas/answers.ts";
import { ExportItem } from "../schemas/export.ts";
import { exportView } from "./export-view.ts";

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

import { Type } from "../../../base/type.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { dataAnswer } from "../schemas/answers.ts";
import { ExportItem } from "../schemas/export.ts";
import { exportView } from "./export-view.ts";

export const listExports = adminRoute({
  method: "GET",
  path: "/api/exports",
  id: "listExports",
  summary: "List the exports of receipts: their state, the last file, the lag and the last error.",
  roles: ["admin", "viewer"],
  answers: [json(dataAnswer("ExportList", Type.Array(ExportItem)), "In the order of the configuration.")],
  handle: async (_call, _context, { exports }) => ({ data: (await exports.read()).map(exportView) }),
});

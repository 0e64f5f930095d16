import { expose } from "../../telemetry/text-format.ts";
import { type AdminRoute, openRoute } from "./define-route.ts";

const route = openRoute({
  method: "GET",
  path: "/metrics",
  id: "metrics",
  summary: "Show the metrics of this process, and of all workers beside it, for Prometheus.",
  answers: [{ description: "In the text format, or as OpenMetrics where it is asked for.", contentType: "text/plain" }],
  handle: async ({ request }, _context, { metrics }) => {
    const { text, contentType } = expose(await metrics.collect(), request.headers.get("accept") ?? "");
    return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
  },
});

/** For operators who read; for all with `admin.open_metrics`. */
export const metricsRoute: AdminRoute = {
  ...route,
  roles: ["admin", "viewer"],
  isOpen: ({ metrics }) => metrics.open,
};

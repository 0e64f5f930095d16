import { expose } from "../../telemetry/text-format.ts";
import { type AdminRoute, openRoute } from "./define-route.ts";

const route = openRoute({
  method: "GET",
  path: "/metrics",
  id: "metrics",
  summary: "Show the metrics of this process and all other workers, for Prometheus.",
  answers: [
    { description: "In the Prometheus text format, or as OpenMetrics if requested.", contentType: "text/plain" },
  ],
  handle: async ({ request }, _context, { metrics }) => {
    const { text, contentType } = expose(await metrics.collect(), request.headers.get("accept") ?? "");
    return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
  },
});

/** For operators with read access; for everybody with `admin.open_metrics`. */
export const metricsRoute: AdminRoute = {
  ...route,
  roles: ["admin", "viewer"],
  isOpen: ({ metrics }) => metrics.open,
};

import type { Sources } from "../base/sources.ts";
import type { Log } from "../observe/log.ts";
import type { Family } from "../telemetry/family.ts";
import { Attributes } from "../telemetry/otlp/attributes.ts";
import { OtlpExporter } from "../telemetry/otlp/exporter.ts";
import { GenAiMetrics } from "../telemetry/otlp/gen-ai-metrics.ts";
import type { Resource } from "../telemetry/otlp/payload.ts";
import { Tracing } from "../telemetry/tracing.ts";
import { VERSION } from "../version.ts";
import { otlpPost } from "./otlp-post.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";

interface TelemetryParts {
  sources: Sources;
  log: Log;
  instance: string;
  /** The gateway's own metrics, as of now. */
  collect: () => readonly Family[];
}

/** The exporter, if anything is exported. */
export interface Telemetry {
  exporter: OtlpExporter;
  /** Absent if traces are not exported. */
  tracing: Tracing | undefined;
  /** Absent if metrics are not exported. */
  genAi: GenAiMetrics | undefined;
}

export function makeTelemetry(settings: TelemetrySettings, parts: TelemetryParts): Telemetry {
  const { sources, log, instance, collect } = parts;
  const { tracesUrl, metricsUrl, metricsEveryMs, ratio, slowMs } = settings;
  const genAi = metricsUrl === undefined ? undefined : new GenAiMetrics();
  const exporter = new OtlpExporter({
    clock: sources.clock,
    post: otlpPost(settings),
    resource: resourceOf(settings, instance),
    version: VERSION,
    tracesUrl,
    metricsUrl,
    metricsEveryMs,
    // The gateway's own metrics come first, because collecting them updates the others.
    collect: () => [...collect(), ...(genAi?.families() ?? [])],
    onTrouble: (reason) => {
      if (reason === undefined) log.info("the collector accepts telemetry again");
      else log.warn({ reason }, "telemetry was dropped because the collector did not accept it");
    },
  });
  const tracing =
    tracesUrl === undefined
      ? undefined
      : new Tracing({
          random: sources.random,
          sampling: { ratio, slowMs },
          keep: (call) => exporter.add(call),
          keepRefused: (request) => exporter.addRefused(request),
        });
  return { exporter, tracing, genAi };
}

function resourceOf({ serviceName, resource }: TelemetrySettings, instance: string): Resource {
  const attributes = new Attributes();
  for (const [name, value] of Object.entries(resource)) attributes.text(name, value);
  attributes
    .text("service.name", serviceName)
    .text("service.version", VERSION)
    .text("service.instance.id", instance)
    .text("telemetry.sdk.language", "nodejs")
    .text("telemetry.sdk.name", "trivium")
    .text("telemetry.sdk.version", VERSION);
  const seen = new Map(attributes.list.map((attribute) => [attribute.key, attribute]));
  return { attributes: [...seen.values()] };
}

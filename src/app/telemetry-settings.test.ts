import { expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { telemetrySettings } from "./telemetry-settings.ts";

function settings(
  telemetry: Parameters<typeof telemetrySettings>[0]["telemetry"],
  environment: Record<string, string> = {},
) {
  const warnings: string[] = [];
  return { found: telemetrySettings({ telemetry }, environment, (message) => warnings.push(message)), warnings };
}

test("nothing is exported unless an endpoint is configured", () => {
  expect(settings({}).found).toBeUndefined();
  expect(settings({ sampleRatio: 1 }, { OTEL_SERVICE_NAME: "x" }).found).toBeUndefined();
  expect(
    settings({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: "true" }).found,
  ).toBeUndefined();
  expect(settings({ endpoint: "http://c:4318", traces: false, metrics: false }).found).toBeUndefined();
});

test("the usual variables are read", () => {
  const { found } = settings(
    {},
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://m:9000/write",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc, x-team = red",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_TIMEOUT: "3000",
      OTEL_SERVICE_NAME: "gate",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=prod",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    },
  );
  expect(found).toMatchObject({
    tracesUrl: "http://c:4318/v1/traces",
    metricsUrl: "http://m:9000/write",
    gzip: true,
    timeoutMs: 3000,
    serviceName: "gate",
    resource: { "deployment.environment.name": "prod" },
    ratio: 0.25,
  });
  const headers = Object.entries(found?.headers ?? {}).map(([name, secret]) => [name, secret.reveal()]);
  expect(headers).toEqual([
    ["authorization", "Basic abc"],
    ["x-team", "red"],
  ]);
});

test("the file wins, and the headers of the environment do not go to the file's endpoint", () => {
  const { found } = settings(
    { endpoint: "http://mine:4318", headers: { "x-own": new Secret("1") }, sampleRatio: 1, serviceName: "own" },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://other:4318",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=theirs",
      OTEL_SERVICE_NAME: "theirs",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    },
  );
  expect(found).toMatchObject({ tracesUrl: "http://mine:4318/v1/traces", ratio: 1, serviceName: "own" });
  expect(Object.keys(found?.headers ?? {})).toEqual(["x-own"]);
});

test("an unsupported protocol is reported and does not prevent the start", () => {
  const { found, warnings } = settings(
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
  );
  expect(found).toBeUndefined();
  expect(warnings[0]).toContain("is grpc, but the gateway supports only http/json");
});

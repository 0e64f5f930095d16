import { eventually } from "../../testing/eventually.ts";

/** A span as the collector has read it. */
interface ReadSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, unknown>>;
  events: readonly string[];
  status: { code?: number; message?: string };
}

interface ReadPoint {
  attributes: Readonly<Record<string, unknown>>;
  /** Of a gauge or a sum; of a histogram how many values it has. */
  value: number;
  sum?: number;
}

interface ReadMetric {
  name: string;
  unit: string;
  points: readonly ReadPoint[];
}

type Json = Record<string, unknown>;

/** A strict OTLP/HTTP collector for JSON: anything the standard does not allow is a complaint. */
export class StrictCollector {
  readonly spans: ReadSpan[] = [];
  /** Of the last request. */
  metrics: readonly ReadMetric[] = [];
  resource: Readonly<Record<string, unknown>> = {};
  schemaUrls = new Set<unknown>();
  readonly complaints: string[] = [];
  readonly headers: Headers[] = [];
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#take(request) });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  async until(isSo: () => boolean): Promise<void> {
    await eventually("what the collector has to get", isSo);
  }

  async #take(request: Request): Promise<Response> {
    this.headers.push(request.headers);
    try {
      const { pathname } = new URL(request.url);
      check(request.method === "POST", `method ${request.method}`);
      check(request.headers.get("content-type") === "application/json", "content-type");
      const bytes = new Uint8Array(await request.arrayBuffer());
      const isZipped = request.headers.get("content-encoding") === "gzip";
      const body = JSON.parse(
        new TextDecoder("utf-8", { fatal: true }).decode(isZipped ? Bun.gunzipSync(bytes) : bytes),
      );
      if (pathname === "/v1/traces") this.#readTraces(body);
      else if (pathname === "/v1/metrics") this.#readMetrics(body);
      else throw new Error(`path ${pathname}`);
    } catch (error) {
      this.complaints.push(String(error));
    }
    return Response.json({ partialSuccess: {} });
  }

  #readTraces(body: unknown): void {
    for (const { scope } of this.#scopes(body, "resourceSpans", "scopeSpans")) {
      for (const span of listOf(scope["spans"])) this.spans.push(readSpan(span));
    }
  }

  #readMetrics(body: unknown): void {
    this.metrics = this.#scopes(body, "resourceMetrics", "scopeMetrics").flatMap(({ scope }) =>
      listOf(scope["metrics"]).map(readMetric),
    );
  }

  #scopes(body: unknown, outer: string, inner: string): { scope: Json }[] {
    return listOf(members(body, [outer])[outer]).flatMap((one) => {
      const of = members(one, ["resource", "schemaUrl", inner]);
      this.resource = attributesOf(members(of["resource"], ["attributes"])["attributes"]);
      this.schemaUrls.add(of["schemaUrl"]);
      return listOf(of[inner]).map((given) => {
        const scope = members(given, ["scope", "schemaUrl", inner === "scopeSpans" ? "spans" : "metrics"]);
        members(scope["scope"], ["name", "version"]);
        return { scope };
      });
    });
  }
}

function check(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Error(`not as the standard says: ${what}`);
}

/** An object with these members and no others. */
function members(value: unknown, known: readonly string[]): Json {
  check(typeof value === "object" && value !== null && !Array.isArray(value), `an object: ${JSON.stringify(value)}`);
  for (const name of Object.keys(value)) check(known.includes(name), `member ${name}`);
  return value as Json;
}

function listOf(value: unknown): unknown[] {
  check(Array.isArray(value), `a list: ${JSON.stringify(value)}`);
  return value;
}

function textOf(value: unknown, form: RegExp, what: string): string {
  check(typeof value === "string" && form.test(value), `${what}: ${JSON.stringify(value)}`);
  return value;
}

const NANO = /^[1-9]\d{18}$/;
const msOf = (value: unknown) => Number(BigInt(textOf(value, NANO, "a time in nanoseconds")) / 1000n) / 1000;
const idOf = (value: unknown, digits: number) =>
  textOf(value, new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`), `an id of ${digits} digits`);

function anyValue(value: unknown): unknown {
  const [[kind, of] = [], ...others] = Object.entries(
    members(value, ["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue"]),
  );
  check(others.length === 0, "one value");
  if (kind === "stringValue") return textOf(of, /^[\s\S]*$/, "a text");
  if (kind === "intValue") return Number(textOf(of, /^-?\d+$/, "a whole number"));
  if (kind === "arrayValue") return listOf(members(of, ["values"])["values"]).map(anyValue);
  check(kind === "boolValue" ? typeof of === "boolean" : typeof of === "number", `${kind}: ${JSON.stringify(of)}`);
  return of;
}

function attributesOf(value: unknown): Record<string, unknown> {
  const pairs = listOf(value).map((one) => {
    const { key, value: of } = members(one, ["key", "value"]);
    return [textOf(key, /^[a-z][a-z0-9_.]*$/i, "a key"), anyValue(of)] as const;
  });
  check(new Set(pairs.map(([key]) => key)).size === pairs.length, "each key once");
  return Object.fromEntries(pairs);
}

function readSpan(value: unknown): ReadSpan {
  const span = members(value, [
    "traceId",
    "spanId",
    "parentSpanId",
    "traceState",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "events",
    "status",
  ]);
  const startMs = msOf(span["startTimeUnixNano"]);
  const endMs = msOf(span["endTimeUnixNano"]);
  check(endMs >= startMs, "an end after its start");
  check([1, 2, 3, 4, 5].includes(Number(span["kind"])) && typeof span["kind"] === "number", "a kind");
  const status = members(span["status"], ["code", "message"]);
  check(status["code"] === undefined || [0, 1, 2].includes(Number(status["code"])), "a status");
  const events = listOf(span["events"] ?? []).map((given) => {
    const event = members(given, ["timeUnixNano", "name", "attributes"]);
    msOf(event["timeUnixNano"]);
    attributesOf(event["attributes"]);
    return textOf(event["name"], /./, "a name");
  });
  return {
    traceId: idOf(span["traceId"], 32),
    spanId: idOf(span["spanId"], 16),
    ...(span["parentSpanId"] === undefined ? {} : { parentSpanId: idOf(span["parentSpanId"], 16) }),
    ...(span["traceState"] === undefined ? {} : { traceState: textOf(span["traceState"], /./, "a state") }),
    name: textOf(span["name"], /./, "a name"),
    kind: span["kind"],
    startMs,
    endMs,
    attributes: attributesOf(span["attributes"]),
    events,
    status,
  };
}

function readMetric(value: unknown): ReadMetric {
  const metric = members(value, ["name", "description", "unit", "gauge", "sum", "histogram"]);
  const [kind, ...others] = ["gauge", "sum", "histogram"].filter((name) => metric[name] !== undefined);
  check(kind !== undefined && others.length === 0, "one kind of data");
  const data = members(metric[kind], ["dataPoints", "aggregationTemporality", "isMonotonic"]);
  check(kind === "gauge" || data["aggregationTemporality"] === 2, "cumulative");
  return {
    name: textOf(metric["name"], /^[a-z][a-z0-9_.]*$/, "a name"),
    unit: textOf(metric["unit"], /./, "a unit"),
    points: listOf(data["dataPoints"]).map(kind === "histogram" ? readHistogramPoint : readNumberPoint),
  };
}

function readNumberPoint(value: unknown): ReadPoint {
  const point = members(value, ["attributes", "startTimeUnixNano", "timeUnixNano", "asDouble"]);
  check(msOf(point["startTimeUnixNano"]) <= msOf(point["timeUnixNano"]), "a time after the start");
  check(typeof point["asDouble"] === "number", "a number");
  return { attributes: attributesOf(point["attributes"]), value: point["asDouble"] };
}

function readHistogramPoint(value: unknown): ReadPoint {
  const point = members(value, [
    "attributes",
    "startTimeUnixNano",
    "timeUnixNano",
    "bucketCounts",
    "explicitBounds",
    "sum",
    "count",
  ]);
  msOf(point["timeUnixNano"]);
  const counts = listOf(point["bucketCounts"]).map((count) => Number(textOf(count, /^\d+$/, "a count")));
  const bounds = listOf(point["explicitBounds"]).map(Number);
  check(counts.length === bounds.length + 1, "one bucket more than bounds");
  check(
    bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? 0)),
    "bounds that grow",
  );
  const count = Number(textOf(point["count"], /^\d+$/, "a count"));
  check(counts.reduce((all, one) => all + one, 0) === count, "a count that is the sum of its buckets");
  check(typeof point["sum"] === "number", "a sum");
  return { attributes: attributesOf(point["attributes"]), value: count, sum: point["sum"] };
}

import { arrayAt, objectAt, stringAt } from "../../base/json.ts";
import type { ProviderHealth } from "../../server/admin/schemas/provider.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { printable } from "../printable.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const HEADER = ["provider", "credential", "model", "state", "first content", "p95", "tokens/s", "paused for"];

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "show the health of all providers",
  flags: ADMIN_FLAGS,
  run: async ({ values }) => {
    const found = (await (await connectAdmin(values)).read("/api/providers")) as ProviderHealth[];
    if (values.json) printJson(found);
    else {
      printTable(HEADER, found.flatMap(rowsOf));
      for (const line of found.flatMap(errorLines)) console.log(line);
    }
    return EXIT.ok;
  },
});

const test = defineVerb({
  name: "test",
  usage: "NAME",
  summary: "test a provider's credentials and make one small call, which is recorded in a receipt",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [name] }) => {
    if (!name) throw new UsageError("Missing provider. Pass the name of the provider to test.");
    const client = await connectAdmin(values);
    const tested = await client.change("POST", `/api/providers/${encodeURIComponent(name)}/test`);
    const ok = (tested as { ok?: unknown }).ok === true;
    if (values.json) printJson(tested);
    else for (const line of linesOf(tested)) console.log(line);
    return ok ? EXIT.ok : EXIT.failed;
  },
});

function* linesOf(tested: unknown): Generator<string> {
  for (const credential of arrayAt(tested, "credentials")) {
    const label = stringAt(credential, "label");
    const which = label === undefined ? "" : `${label}, `;
    yield `${(stringAt(credential, "state") ?? "").padEnd(11)} ${which}${stringAt(credential, "host")}: ${stringAt(credential, "detail")}`;
  }
  const call = objectAt(tested, "call");
  if (call === undefined) yield "no call made: the provider has no text model";
  else {
    const outcome = stringAt(objectAt(call, "error"), "message") ?? "answered";
    yield `${(call["ok"] === true ? "ok" : "failed").padEnd(11)} ${stringAt(call, "model")} in ${Number(call["ms"])} ms: ${outcome}`;
  }
}

/** The last errors of what is out of use. */
function errorLines({ provider, credentials }: ProviderHealth): string[] {
  return credentials.flatMap(({ label, state, since, last_error: error }) => {
    if (state === null || state === "closed" || error === null) return [];
    const which = label === null ? provider : `${provider} (${label})`;
    const status = error.status === null ? error.kind : `${error.kind}, ${error.status}`;
    return [
      `${which}: ${STATES[state]} since ${since ?? "the start"}; last error at ${error.at}: ${printable(error.text)} (${status})`,
    ];
  });
}

function rowsOf({ provider, credentials }: ProviderHealth): string[][] {
  return credentials.flatMap(({ label, models }) => {
    const start = [provider, label ?? "-"];
    if (models.length === 0) return [[...start, "-", "no calls yet", "-", "-", "-", "-"]];
    return models.map((model) => [
      ...start,
      model.model,
      STATES[model.state],
      milliseconds(model.first_content_ms),
      milliseconds(model.p95_first_content_ms),
      model.tokens_per_second === null ? "-" : model.tokens_per_second.toFixed(1),
      model.quiet_ms === 0 ? "-" : `${Math.ceil(model.quiet_ms / 1000)} s`,
    ]);
  });
}

const STATES = { closed: "healthy", half_open: "probing", open: "paused" } as const;

const milliseconds = (ms: number | null): string => (ms === null ? "-" : `${ms} ms`);

export const providers = withVerbs([list, test]);

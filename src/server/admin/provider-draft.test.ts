// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { ConfigHistory } from "../../app/admin-config.ts";
import { readConfig } from "../../app/read-config.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { system } from "../../base/system.ts";
import { PROVIDER_KINDS } from "../../providers/index.ts";
import { providersYaml } from "./provider-form.ts";
import type { CheckedProvider, ProviderForms } from "./schemas/provider-form.ts";

const asAdmin = { secret: ADMIN_SECRET };
const environment = { OPENAI_API_KEY: "sk-of-the-environment", MY_KEY: "sk-of-mine" };

/** A gateway whose Admin API reads drafts with this environment, and records what it tests. */
async function start(file = "providers: {}") {
  const tried: string[] = [];
  const read = (text: string) => readConfig({ text, cwd: "/nowhere", environment });
  const admin = await AdminHarness.start(
    {},
    {
      config: new ConfigHistory({
        started: read(file),
        read,
        build: (config) => makeSnapshot(config, environment, system, undefined),
        wallMs: system.clock.wallMs,
      }),
      probeDraft: async (yaml, name) => {
        tried.push(`${name}\n${yaml}`);
        return { host: "api.openai.com", state: "ok", detail: "key accepted" };
      },
    },
  );
  const check = async (body: object) => {
    const { status, json, text } = await admin.ask("POST", "/api/providers/check", { ...asAdmin, body });
    const error = json["error"] as { code: string; message: string } | undefined;
    return { status, text, error, data: json["data"] as CheckedProvider };
  };
  return { admin, tried, check };
}

describe("console-notes 4.1: a draft of a provider", () => {
  test("is checked, tested at its vendor's address, recorded in the audit log, and shown as the lines that declare it", async () => {
    const { admin, tried, check } = await start();
    const { status, data } = await check({ name: "my-openai", kind: "openai", fields: { api_key: "${MY_KEY}" } });
    expect([status, data]).toEqual([
      200,
      {
        yaml: "providers:\n  my-openai:\n    kind: openai\n    api_key: ${MY_KEY}\n",
        ok: true,
        problems: [],
        from_environment: [],
        credential: { host: "api.openai.com", state: "ok", detail: "key accepted" },
      },
    ]);
    expect(tried).toEqual([`my-openai\n${data.yaml}`]);
    const acts = await admin.ask("GET", "/api/audit?act=provider.check", asAdmin);
    expect(acts.text).toContain("my-openai");
    expect(acts.text + JSON.stringify(data)).not.toContain("sk-of-mine");
  });

  test.each(["sk-live-1234", "${MY_KEY:-sk-live-1234}", "Bearer ${MY_KEY}", "${MY_KEY}\nsk-live-1234", ""])(
    "S10: a secret itself is rejected and not repeated: %j",
    async (value) => {
      const { tried, check } = await start();
      const { status, error, text } = await check({ name: "one", kind: "openai", fields: { api_key: value } });
      expect([status, error?.code, text.includes("sk-live"), tried.length]).toEqual([
        400,
        "secret_not_taken",
        false,
        0,
      ]);
    },
  );

  test("S07: with its own address it is checked but not tested, so that nobody can have secrets sent to their address", async () => {
    const { tried, check } = await start();
    for (const draft of [
      { kind: "openai", fields: { api_key: "${OPENAI_API_KEY}", base_url: "https://mine.test/v1" } },
      { kind: "openai-compatible", fields: { api_key: "${OPENAI_API_KEY}", base_url: "https://mine.test/v1" } },
      {
        kind: "bedrock",
        fields: { region: "mine.test/x", access_key_id: "${MY_KEY}", secret_access_key: "${OPENAI_API_KEY}" },
      },
    ]) {
      const { status, data } = await check({ name: "one", ...draft });
      expect([status, data.credential]).toEqual([200, null]);
    }
    expect(tried).toEqual([]);
    const { error } = await check({
      name: "one",
      kind: "openai-compatible",
      fields: { base_url: "https://mine.test/${OPENAI_API_KEY}" },
    });
    expect(error?.code).toBe("reference_not_taken");
  });

  test("mistakes are reported: an unset variable, a name, a kind, a field; and nothing is tested", async () => {
    const { tried, check } = await start();
    const wrong = async (name: string, fields: object) => (await check({ name, kind: "openai", fields })).data.problems;
    expect(await wrong("one", { api_key: "${NOT_SET}" })).toEqual([expect.stringContaining("NOT_SET")]);
    expect(await wrong("one", {})).toEqual([expect.stringContaining("api_key")]);
    expect(await wrong("a b", { api_key: "${MY_KEY}" })).toEqual([expect.stringContaining("name")]);
    expect(await wrong("up-chat", { api_key: "${MY_KEY}" })).toEqual(["A provider named up-chat already exists."]);
    expect((await check({ name: "one", kind: "none", fields: {} })).error?.code).toBe("unknown_kind");
    expect((await check({ name: "one", kind: "openai", fields: { nothing: "1" } })).error?.code).toBe("unknown_field");
    expect(tried).toEqual([]);
  });

  test("if the environment declares providers, the lines include them: a section replaces them all", async () => {
    const { admin, check } = await start("{}");
    const openai = makeSnapshot(
      readConfig({ text: "{}", cwd: "/nowhere", environment }),
      environment,
      system,
      undefined,
    );
    const { gateway } = admin.gateway;
    gateway.snapshot = { ...gateway.snapshot, providers: openai.providers };
    const { data } = await check({ name: "claude", kind: "anthropic", fields: { api_key: "${MY_KEY}" } });
    expect(data).toMatchObject({ ok: true, from_environment: ["openai"] });
    expect(data.yaml).toContain("openai:\n    kind: openai\n    api_key: ${OPENAI_API_KEY}\n");
  });

  test("S14: every name and value stays text in the file", () => {
    const hostile = 'x:\n  - "y" #\u2028\t';
    const yaml = providersYaml([
      { name: hostile, kind: "openai-compatible", fields: { base_url: hostile, project: "no" } },
    ]);
    const read = Bun.YAML.parse(yaml) as { providers: Record<string, object> };
    expect(Object.keys(read.providers)).toHaveLength(1);
    expect(Object.values(read.providers)[0]).toMatchObject({ kind: "openai-compatible", project: "no" });
  });

  test("kinds have a form: their fields, which of them are secrets, and their usual variables", async () => {
    const { admin } = await start();
    const { json } = await admin.ask("GET", "/api/providers/kinds", asAdmin);
    const forms = json["data"] as ProviderForms;
    expect(forms.map(({ kind }) => kind)).toEqual([...PROVIDER_KINDS.keys()].filter((kind) => kind !== "simulator"));
    expect(forms.find(({ kind }) => kind === "azure-openai")?.fields.slice(0, 2)).toEqual([
      { name: "base_url", required: true, secret: false, variable: expect.anything() },
      { name: "api_key", required: true, secret: true, variable: expect.anything() },
    ]);
  });
});

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Glob } from "bun";
import { parse } from "yaml";
import { readConfig } from "../src/app/read-config.ts";

const root = new URL("..", import.meta.url).pathname;
const chart = `${root}deploy/helm/trivium/`;
const read = (file: string) => readFileSync(file, "utf8");
const values = parse(read(`${chart}values.yaml`)) as Record<string, unknown>;
const { version } = JSON.parse(read(`${root}package.json`)) as { version: string };

const templates = [...new Glob("**/*").scanSync(`${chart}templates`)].map((file) => read(`${chart}templates/${file}`));

/** What more than one replica needs. */
const SHARED = [
  "--set",
  "config.storage=postgres://db/trivium",
  "--set",
  "config.redis=redis://cache",
  "config.files=s3://media/of-trivium",
];

function at(path: readonly string[]): unknown {
  return path.reduce<unknown>((holder, name) => (holder as Record<string, unknown> | undefined)?.[name], values);
}

describe("the Helm chart", () => {
  test("its version is the program's, and what it copies of deploy is the same", () => {
    const about = parse(read(`${chart}Chart.yaml`)) as { version: string; appVersion: string };
    expect([about.version, about.appVersion]).toEqual([version, version]);
    expect(read(`${chart}monitoring/trivium.rules.yaml`)).toBe(read(`${root}deploy/prometheus/trivium.rules.yaml`));
    expect(read(`${chart}monitoring/trivium.json`)).toBe(read(`${root}deploy/grafana/trivium.json`));
  });

  test("every value that a template reads is there, every value is read, and the schema knows them all", () => {
    const used = templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path));
    expect(used.length).toBeGreaterThan(30);
    // What `config` has is the gateway's, and may be absent.
    const missing = used.filter((path) => !path.startsWith("config.") && at(path.split(".")) === undefined);
    expect(missing).toEqual([]);
    const unread = Object.keys(values).filter((name) => !used.some((path) => path.split(".")[0] === name));
    expect(unread).toEqual([]);
    const { properties } = JSON.parse(read(`${chart}values.schema.json`)) as { properties: object };
    expect(
      Object.keys(properties)
        .filter((name) => name !== "global")
        .sort(),
    ).toEqual(Object.keys(values).sort());
  });

  const helm = Bun.which("helm");
  // Debian has no such package, so this is no failure in CI either.
  if (helm === null) console.log("skipped: the chart is not rendered: helm not installed");

  test.skipIf(helm === null)("helm lints it, and renders it in every form", () => {
    // Without a cluster helm takes its own oldest one for it.
    const cluster = ["--kube-version", "1.33.0"];
    const all = Object.keys(values)
      .filter((name) => typeof at([name, "enabled"]) === "boolean")
      .flatMap((name) => ["--set", `${name}.enabled=true`]);
    for (const args of [
      ["lint", chart],
      ["template", "trivium", chart, ...cluster],
      ["template", "t", chart, ...cluster, ...all, ...SHARED],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync([helm ?? "", ...args]);
      expect([exitCode, exitCode === 0 ? "" : stderr.toString()]).toEqual([0, ""]);
    }
  });

  test("a volume is the default: without one, SQLite's keys and receipts are lost with the pod", () => {
    expect(at(["persistence", "enabled"])).toBe(true);
    expect((values["config"] as { storage?: string }).storage).toBeUndefined();
  });

  const rendered = (...settings: string[]) => {
    const set = settings.flatMap((setting) => ["--set", setting]);
    const { exitCode, stdout, stderr } = Bun.spawnSync([
      ...[helm ?? "", "template", "trivium", chart, "--kube-version", "1.33.0", ...set],
    ]);
    return { exitCode, text: exitCode === 0 ? stdout.toString() : stderr.toString() };
  };
  const several = ["replicaCount=3", "config.storage=postgres://db/trivium", "config.redis=redis://cache"];

  test.skipIf(helm === null)("SQLite is on a volume, in one pod that is replaced and never doubled", () => {
    const { text } = rendered();
    expect(text).toContain("kind: StatefulSet");
    expect(text).toContain("volumeClaimTemplates:");
    expect(text).not.toContain("emptyDir");
    const ephemeral = rendered("persistence.enabled=false").text;
    expect(ephemeral).toContain("kind: Deployment");
    expect(ephemeral).toContain("strategy: { type: Recreate }");
    expect(rendered("persistence.enabled=false", ...several).text).toContain("type: RollingUpdate");
  });

  test.skipIf(helm === null).each([
    ["replicaCount=3", "SQLite is for one replica"],
    ["autoscaling.enabled=true", "SQLite is for one replica"],
    ["replicaCount=3,config.storage=sqlite:/data/t.db,config.redis=redis://cache", "SQLite is for one replica"],
    ["replicaCount=2,config.storage=postgres://db/trivium", "Set config.redis to a redis:// URL"],
    ["replicaCount=2,config.storage=postgres://db/trivium,config.redis=redis://cache", "Set config.files to s3://"],
  ])("%s is refused, with what to set", (settings, sentence) => {
    const { exitCode, text } = rendered(settings);
    expect([exitCode, text]).toEqual([1, expect.stringContaining(sentence)]);
  });

  test.skipIf(helm === null)("several replicas with PostgreSQL and Redis are rendered", () => {
    expect(rendered(...several)).toMatchObject({ exitCode: 0, text: expect.stringContaining("replicas: 3") });
    expect(
      rendered("replicaCount=2", "config.storage=\x24{STORAGE}", "config.redis=\x24{REDIS}", "config.files=\x24{FILES}")
        .exitCode,
    ).toBe(0);
  });

  test("what is refused is refused by a sentence in the chart itself", () => {
    const sentences = templates.join("\n").match(/fail "[^"]+"/g) ?? [];
    expect(sentences.map((sentence) => /Set config\.(storage|redis|files)/.exec(sentence)?.[1])).toEqual([
      "storage",
      "redis",
      "files",
    ]);
  });
});

describe("the compose file", () => {
  const compose = parse(read(`${root}deploy/compose/compose.yaml`), { merge: true }) as {
    services: Record<
      string,
      {
        read_only?: boolean;
        image: string;
        volumes?: string[];
        depends_on?: Record<string, object>;
        networks?: { default?: { ipv4_address?: string } };
      }
    >;
    networks: { default: { ipam: { config: { subnet?: string }[] } } };
    volumes: Record<string, unknown>;
  };

  test("it has two gateways, PostgreSQL, Valkey and nginx; gateways cannot write but to their volumes", () => {
    expect(Object.keys(compose.services).sort()).toEqual(["gateway-1", "gateway-2", "nginx", "postgres", "valkey"]);
    for (const name of ["gateway-1", "gateway-2"]) {
      expect(compose.services[name]?.read_only).toBe(true);
      expect(Object.keys(compose.services[name]?.depends_on ?? {}).sort()).toEqual(["postgres", "valkey"]);
    }
    const named = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(":")[0] ?? "").filter((source) => !source.startsWith(".")),
    );
    expect([...new Set(named)].sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  test("each gateway keeps its address in the network of the file: nginx looks names up once, when it starts", () => {
    const [{ subnet = "" } = {}] = compose.networks.default.ipam.config;
    const addresses = ["gateway-1", "gateway-2"].map(
      (name) => compose.services[name]?.networks?.default?.ipv4_address ?? "",
    );
    expect(new Set(addresses).size).toBe(2);
    for (const address of addresses) expect(address).toStartWith(subnet.replace(/\d+\/24$/, ""));
  });

  test("its configuration is one that the gateway takes, with the variables of .env.example", () => {
    const variables = [...read(`${root}deploy/compose/.env.example`).matchAll(/^([A-Z_]+)=/gm)].map(
      ([, name = ""]) => name,
    );
    const used = [...read(`${root}deploy/compose/trivium.yaml`).matchAll(/\$\{([A-Z_]+)/g)].map(
      ([, name = ""]) => name,
    );
    expect(used.filter((name) => !variables.includes(name))).toEqual([]);
    const environment = Object.fromEntries(
      variables.map((name) => [name, "http://a-value-of-more-than-32-characters"]),
    );
    const config = readConfig({ configPath: `${root}deploy/compose/trivium.yaml`, cwd: root, environment });
    expect([config.server.host, config.storage.slice(0, 11), config.dataDir]).toEqual([
      "0.0.0.0",
      "postgres://",
      "/data",
    ]);
  });
});

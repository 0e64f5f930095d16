// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a hostile name
/** Keys of a company: many, with long and hostile names, in every state. */

interface Api {
  adminUrl: string;
  adminSecret: string;
}

export interface SeededKey {
  id: string;
  project: string;
  /** Its part of the calls. */
  share: number;
}

const TEAMS = ["search", "billing", "support", "mobile", "data", "growth", "legal", "platform", "risk"];
const USES = ["chat", "summaries", "nightly", "evaluation", "staging", "import"];

const LONG = "the-assistant-of-the-department-for-customer-relations-in-north-west-germany-with-a-name-of-one-hundred";
const HOSTILE_KEYS = [
  `"><script>alert('key')</script>`,
  "${process.env.SECRET} {{7*7}} %00 ../../etc/passwd",
  `=HYPERLINK("https://example.com","open")`,
  "🔑🔑🔑 ключ 鍵 مفتاح",
];

const DAY_MS = 86_400_000;

async function ask({ adminUrl, adminSecret }: Api, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${adminSecret}`, "content-type": "application/json" };
  const answer = await fetch(adminUrl + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return ((await answer.json()) as { data: { id: string; spent_nano_usd?: { total: number } } }).data;
}

/** Sixty keys of four projects. Some are part of the seeded calls. */
export async function seedKeys(api: Api): Promise<SeededKey[]> {
  await ask(api, "POST", "/api/projects", {
    id: "platform",
    name: "Platform engineering and internal developer tools",
  });
  await ask(api, "POST", "/api/projects", { id: "paused", name: "Paused pilot" });
  const names = [...TEAMS.flatMap((team) => USES.map((use) => `${team} ${use}`)), LONG.slice(0, 100), ...HOSTILE_KEYS];
  const keys: SeededKey[] = [];
  for (const [at, name] of names.entries()) {
    const project = ["platform", "research", "shop", "platform"][at % 4] ?? "platform";
    const settings = {
      ...(at % 5 === 1 ? { limits: { requests_per_minute: 60 * (at + 1), concurrent: 4 + (at % 9) } } : {}),
      ...(at % 7 === 2 ? { tags: ["team-a", `cost-centre:${1000 + at}`] } : {}),
      ...(at % 11 === 3 ? { models: ["anthropic/*", "openai/gpt-5*"], protocols: ["chat", "messages"] } : {}),
      ...(at === 13 ? { expires_at: new Date(Date.now() + 3.5 * DAY_MS).toISOString() } : {}),
      ...(at === 14 ? { scopes: ["keys:create"], networks: ["10.0.0.0/8"], strict: true } : {}),
      ...(at === 40 ? { project: "paused" } : {}),
    };
    const { id } = await ask(api, "POST", "/api/keys", { name, project, ...settings });
    keys.push({ id, project: at === 40 ? "paused" : project, share: at % 6 === 0 ? 1 : 0 });
  }
  await ask(api, "PATCH", "/api/projects/paused", { status: "suspended" });
  for (const at of [20, 31]) await ask(api, "POST", `/api/keys/${keys[at]?.id}/rotate`, { overlap_seconds: 80_000 });
  for (const at of [22, 33, 44]) await ask(api, "DELETE", `/api/keys/${keys[at]?.id}`);
  return keys;
}

/** How much of its total budget each of the first keys with calls has used; whatever the day is. */
const USED = [1.02, 0.93, 0.84, 0.4];

/** Sets budgets after the calls are there, so that some keys are near them. */
export async function limitSeededKeys(api: Api, keys: readonly SeededKey[]): Promise<void> {
  const busy = keys.filter(({ share }) => share > 0);
  for (const [at, used] of USED.entries()) {
    const key = busy[at];
    if (key === undefined) continue;
    const { spent_nano_usd } = await ask(api, "GET", `/api/keys/${key.id}`);
    const budget_usd_total = Math.ceil((spent_nano_usd?.total ?? 0) / used / 1_000) / 1_000_000;
    await ask(api, "PATCH", `/api/keys/${key.id}`, { limits: { budget_usd_total } });
  }
}

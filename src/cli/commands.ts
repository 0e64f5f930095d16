import type { Command, CommandAbout } from "./command.ts";

/** A command is loaded when it is called: loading the whole gateway takes half a second of CPU time. */
interface Listed extends CommandAbout {
  load(): Promise<Command>;
}

const list = (name: string, usage: string, summary: string, load: () => Promise<Command>): Listed => ({
  name,
  usage,
  summary,
  load,
});

/** The commands as the help groups them. */
export const COMMAND_GROUPS: readonly { title: string; commands: readonly Listed[] }[] = [
  {
    title: "Set up and run",
    commands: [
      list(
        "init",
        "[--yes] [--force]",
        "set up providers: prompt for API keys, check them, and write trivium.yaml and .env",
        () => import("./commands/init.ts").then(({ init }) => init),
      ),
      list("serve", "[--port PORT] [--host HOST] [--workers COUNT] [--log-level LEVEL]", "run the gateway", () =>
        import("./commands/serve.ts").then(({ serve }) => serve),
      ),
      list(
        "import",
        "litellm|bifrost|new-api FILE",
        "convert the configuration of another gateway to trivium.yaml",
        () => import("./commands/import.ts").then(({ importConfig }) => importConfig),
      ),
      list("check", "[--live]", "validate the configuration, and with --live each provider's API key", () =>
        import("./commands/check.ts").then(({ check }) => check),
      ),
      list(
        "health",
        "[--ready] [--url URL]",
        "check the health of a running gateway (exits with 0 if healthy, else 1)",
        () => import("./commands/health.ts").then(({ health }) => health),
      ),
    ],
  },
  {
    title: "Call models",
    commands: [
      list("chat", "[MODEL]", "chat with a model", () => import("./commands/chat.ts").then(({ chat }) => chat)),
      list("image", '"PROMPT" -o FILE [--model M] [--image FILE] [options]', "generate or edit images", () =>
        import("./commands/image.ts").then(({ image }) => image),
      ),
      list("video", '"PROMPT" -o FILE [options] | --operation NAME -o FILE', "generate videos", () =>
        import("./commands/video.ts").then(({ video }) => video),
      ),
      list(
        "talk",
        '[FILE.wav] [--text "TEXT"] [-o FILE] [--model M] [--protocol live]',
        "talk to a model that hears and speaks",
        () => import("./commands/talk.ts").then(({ talk }) => talk),
      ),
      list("env", "CLIENT", "print the environment variables that connect a client to the gateway", () =>
        import("./commands/env.ts").then(({ env }) => env),
      ),
    ],
  },
  {
    title: "Manage access",
    commands: [
      list(
        "keys",
        "create --name NAME | list | update ID | rotate ID | revoke ID",
        "create, list, update, rotate, and revoke API keys",
        () => import("./commands/keys.ts").then(({ keys }) => keys),
      ),
      list(
        "projects",
        "create ID | list | update ID | delete ID",
        "create, list, update, and delete projects, which group API keys",
        () => import("./commands/projects.ts").then(({ projects }) => projects),
      ),
      list(
        "end-users",
        "list | show ID | limit ID --limit NAME=NUMBER | reset ID",
        "show what end users have used, and set limits for one of them",
        () => import("./commands/end-users.ts").then(({ endUsers }) => endUsers),
      ),
      list(
        "operators",
        "create --name NAME --role ROLE | list | revoke ID",
        "create, list, and revoke operators, who can use the Admin API",
        () => import("./commands/operators.ts").then(({ operators }) => operators),
      ),
      list("sessions", "list | end ID", "list and end the sessions of operators", () =>
        import("./commands/sessions.ts").then(({ sessions }) => sessions),
      ),
      list(
        "subjects",
        "list | revoke SUBJECT --issuer URL",
        "list the subjects of clients' tokens, and revoke their tokens",
        () => import("./commands/subjects.ts").then(({ subjects }) => subjects),
      ),
    ],
  },
  {
    title: "Models and providers",
    commands: [
      list("models", "[TEXT]", "list available models", () =>
        import("./commands/models.ts").then(({ models }) => models),
      ),
      list(
        "catalogue",
        "update [--from LIST] [--apply] | list | show NUMBER | remove NUMBER",
        "update models and prices from a published list",
        () => import("./commands/catalogue.ts").then(({ catalogue }) => catalogue),
      ),
      list("prices", "check", "show the age of prices, and report missing and implausible ones", () =>
        import("./commands/prices.ts").then(({ prices }) => prices),
      ),
      list("providers", "list | test NAME", "show provider health, or test a provider", () =>
        import("./commands/providers.ts").then(({ providers }) => providers),
      ),
    ],
  },
  {
    title: "Usage and activity",
    commands: [
      list(
        "usage",
        "[--by GROUP[,GROUP]] [--days N] | export | check",
        "report usage and cost, and export receipts",
        () => import("./commands/usage.ts").then(({ usage }) => usage),
      ),
      list("receipts", "list | show ID | bodies ID", "list and show receipts, and the captured bodies of calls", () =>
        import("./commands/receipts.ts").then(({ receipts }) => receipts),
      ),
      list("calls", "list | stop ID", "list and stop the calls in flight of all processes", () =>
        import("./commands/running/calls.ts").then(({ calls }) => calls),
      ),
      list("live", "list | end ID", "list and end the open live connections of all processes", () =>
        import("./commands/running/live.ts").then(({ live }) => live),
      ),
      list("guards", "", "list the configured guards and count their verdicts", () =>
        import("./commands/guards.ts").then(({ guards }) => guards),
      ),
      list("refusals", "[--by GROUP[,GROUP]] [--reason KIND] [--key ID]", "count rejected requests", () =>
        import("./commands/refusals.ts").then(({ refusals }) => refusals),
      ),
      list("operations", "list | cancel ID", "list and cancel videos and background responses", () =>
        import("./commands/operations.ts").then(({ operations }) => operations),
      ),
      list("batches", "list | show ID | cancel ID | release", "list, show, and cancel batches; run restored ones", () =>
        import("./commands/batches.ts").then(({ batches }) => batches),
      ),
      list("files", "list | delete ID", "list and delete uploaded files", () =>
        import("./commands/files.ts").then(({ files }) => files),
      ),
      list("cache", "show --project P | clear --project P", "show and clear the cached responses of a project", () =>
        import("./answer-cache/cache.ts").then(({ cache }) => cache),
      ),
      list("caches", "list | delete ID", "list and delete caches at providers", () =>
        import("./commands/caches.ts").then(({ caches }) => caches),
      ),
      list("objects", "list | delete ID", "list and delete what clients store: files, conversations and others", () =>
        import("./commands/objects.ts").then(({ objects }) => objects),
      ),
      list("exports", "list | run NAME", "list exports of receipts, and run one now", () =>
        import("./commands/exports.ts").then(({ exports }) => exports),
      ),
      list(
        "alerts",
        "list | test [WEBHOOK] | deliver ID [WEBHOOK]",
        "list alerts, test webhooks, and redeliver an alert",
        () => import("./commands/alerts.ts").then(({ alerts }) => alerts),
      ),
      list("audit", "[--act ACT] [--limit N]", "show the audit log of administrative changes", () =>
        import("./commands/audit.ts").then(({ audit }) => audit),
      ),
      list(
        "reprice",
        "--from TIME --to TIME [--model GLOB] [--project P] [--dry-run]",
        "recalculate the cost of past calls with current prices",
        () => import("./commands/reprice.ts").then(({ reprice }) => reprice),
      ),
    ],
  },
  {
    title: "Maintain the database",
    commands: [
      list(
        "backup",
        "FOLDER [--without-files]",
        "back up a SQLite database with its journal, key and files; the gateway may be running",
        () => import("./commands/database/backup.ts").then(({ backup }) => backup),
      ),
      list("restore", "FOLDER", "restore a SQLite backup; the gateway must be stopped", () =>
        import("./commands/database/restore.ts").then(({ restore }) => restore),
      ),
      list(
        "migrate",
        "[--to postgres://…] [--without-copy]",
        "upgrade the tables of the database, or copy a SQLite database into an empty PostgreSQL database",
        () => import("./commands/database/migrate.ts").then(({ migrate }) => migrate),
      ),
      list("upgrade", "--check", "show what this version of the program would change in the database", () =>
        import("./commands/database/upgrade.ts").then(({ upgrade }) => upgrade),
      ),
      list(
        "rollback",
        "[--dry-run]",
        "put back the copy of a SQLite database from before its last upgrade; the gateway must be stopped",
        () => import("./commands/database/rollback.ts").then(({ rollback }) => rollback),
      ),
    ],
  },
  {
    title: "Other",
    commands: [
      list("sim", "[--port 8790] [--host 127.0.0.1]", "run the provider simulator as a separate server", () =>
        import("./commands/sim.ts").then(({ sim }) => sim),
      ),
      list("openapi", "", "print the OpenAPI document of the gateway", () =>
        import("./commands/openapi.ts").then(({ openapi }) => openapi),
      ),
      list("version", "", "print the version", () => import("./commands/version.ts").then(({ version }) => version)),
    ],
  },
];

/** Every command, in the order of the help. */
export const COMMANDS: readonly Listed[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);

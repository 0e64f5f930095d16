import type { Command, CommandAbout } from "./command.ts";

/** A command is loaded when it is called: the whole gateway takes half a second of processor time to load. */
interface Listed extends CommandAbout {
  load(): Promise<Command>;
}

const list = (name: string, usage: string, summary: string, load: () => Promise<Command>): Listed => ({
  name,
  usage,
  summary,
  load,
});

/** Every command, in the order of the help. */
export const COMMANDS: readonly Listed[] = [
  list("init", "[--yes] [--force]", "set up providers: ask for keys, check them, write trivium.yaml and .env", () =>
    import("./commands/init.ts").then(({ init }) => init),
  ),
  list("serve", "[--port PORT] [--host HOST] [--workers COUNT] [--log-level LEVEL]", "run the gateway", () =>
    import("./commands/serve.ts").then(({ serve }) => serve),
  ),
  list("check", "[--live]", "check the configuration; --live also tries each provider's key", () =>
    import("./commands/check.ts").then(({ check }) => check),
  ),
  list("health", "[--ready] [--url URL]", "ask a running gateway whether it is well: exit code 0 or 1", () =>
    import("./commands/health.ts").then(({ health }) => health),
  ),
  list("chat", "[MODEL]", "chat with a model of a running gateway", () =>
    import("./commands/chat.ts").then(({ chat }) => chat),
  ),
  list(
    "keys",
    "create --name NAME | list | update ID | rotate ID | revoke ID",
    "create, list, change, rotate and revoke API keys",
    () => import("./commands/keys.ts").then(({ keys }) => keys),
  ),
  list(
    "projects",
    "create ID | list | update ID | delete ID",
    "create, list, change and delete projects, which keys belong to",
    () => import("./commands/projects.ts").then(({ projects }) => projects),
  ),
  list(
    "operators",
    "create --name NAME --role ROLE | list | revoke ID",
    "create, list and revoke operators of the Admin API",
    () => import("./commands/operators.ts").then(({ operators }) => operators),
  ),
  list("models", "[TEXT]", "list available models", () => import("./commands/models.ts").then(({ models }) => models)),
  list("prices", "check", "warn of prices that are missing, or look wrong", () =>
    import("./commands/prices.ts").then(({ prices }) => prices),
  ),
  list("providers", "list | test NAME", "show the health of a running gateway's providers, or try one", () =>
    import("./commands/providers.ts").then(({ providers }) => providers),
  ),
  list(
    "receipts",
    "list … | show ID | bodies ID",
    "show what happened to calls of a running gateway, and the bodies that are kept",
    () => import("./commands/receipts.ts").then(({ receipts }) => receipts),
  ),
  list(
    "refusals",
    "[--by GROUP[,GROUP]] [--reason KIND] [--key ID]",
    "count the requests that a running gateway refused",
    () => import("./commands/refusals.ts").then(({ refusals }) => refusals),
  ),
  list("operations", "list … | cancel ID", "list or cancel a running gateway's videos and background responses", () =>
    import("./commands/operations.ts").then(({ operations }) => operations),
  ),
  list(
    "alerts",
    "list | test [WEBHOOK] | deliver ID [WEBHOOK]",
    "show what webhooks were told by a running gateway, test them, or have an alert delivered again",
    () => import("./commands/alerts.ts").then(({ alerts }) => alerts),
  ),
  list("audit", "[--act ACT] [--limit N]", "show who changed what at a running gateway", () =>
    import("./commands/audit.ts").then(({ audit }) => audit),
  ),
  list(
    "usage",
    "[--by GROUP[,GROUP]] [--days N] | export | check",
    "show what was called and what it cost; export receipts",
    () => import("./commands/usage.ts").then(({ usage }) => usage),
  ),
  list(
    "reprice",
    "--from TIME --to TIME [--model GLOB] [--project P] [--dry-run]",
    "correct what calls have cost, at the prices of now",
    () => import("./commands/reprice.ts").then(({ reprice }) => reprice),
  ),
  list("backup", "FOLDER [--files]", "copy a SQLite storage, its journal and key, while the gateway runs or not", () =>
    import("./commands/backup.ts").then(({ backup }) => backup),
  ),
  list("restore", "FOLDER", "put a backup in place of a SQLite storage; the gateway must be stopped", () =>
    import("./commands/restore.ts").then(({ restore }) => restore),
  ),
  list("migrate", "--to postgres://…", "copy a SQLite storage into an empty PostgreSQL database, row for row", () =>
    import("./commands/migrate.ts").then(({ migrate }) => migrate),
  ),
  list("env", "CLIENT", "print the settings that point a client at the gateway", () =>
    import("./commands/env.ts").then(({ env }) => env),
  ),
  list("image", '"PROMPT" -o FILE [--model M] [--image FILE] …', "create or edit images with a running gateway", () =>
    import("./commands/image.ts").then(({ image }) => image),
  ),
  list("video", '"PROMPT" -o FILE … | --operation NAME -o FILE', "create videos with a running gateway", () =>
    import("./commands/video.ts").then(({ video }) => video),
  ),
  list("sim", "[--port 8790] [--host 127.0.0.1]", "run the simulator of upstream providers by itself", () =>
    import("./commands/sim.ts").then(({ sim }) => sim),
  ),
  list("openapi", "", "print the OpenAPI document of the gateway", () =>
    import("./commands/openapi.ts").then(({ openapi }) => openapi),
  ),
  list("version", "", "print the version", () => import("./commands/version.ts").then(({ version }) => version)),
];

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isPresent } from "../../testing/is-present.ts";
import { actAtConsole } from "./acts.ts";
import { actAtCalls } from "./acts-calls.ts";
import { actOnKeys } from "./acts-keys.ts";
import { actAtSupply } from "./acts-supply.ts";
import { actAtWatch } from "./acts-watch.ts";
import { findBrowser } from "./browser.ts";
import { countClicks } from "./tasks.ts";
import { startVisit, type Visit } from "./visit.ts";
import { walkThroughPages } from "./walk.ts";
import { walkOnPhoneAndByKeyboard } from "./walk-phone.ts";

const found = findBrowser();
isPresent(found !== undefined, "the console, because no Chromium was found (apt-get install chromium)");

describe.skipIf(!found)("the console", () => {
  let started: Visit | undefined;
  const visit = (): Visit => {
    if (started === undefined) throw new Error("the browser has not started");
    return started;
  };
  beforeAll(async () => {
    started = await startVisit(found ?? "chromium");
  });
  afterAll(() => started?.end());

  test("the login link opens the overview", () => {
    const { watched, gateway } = visit();
    expect(watched.page.url()).toBe(`${gateway.url}/`);
  });

  walkThroughPages(visit);
  actOnKeys(visit);
  actAtConsole(visit);
  actAtCalls(visit);
  actAtSupply(visit);
  actAtWatch(visit);
  countClicks(visit);
  walkOnPhoneAndByKeyboard(visit);
});

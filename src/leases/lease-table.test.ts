import type { Clock } from "../base/clock.ts";
import { LeaseTable } from "./lease-table.ts";
import { LEASE_MS, type TestSource } from "./lease-world.sample.ts";
import { leaseContract } from "./leases.contract.ts";

function tableOf(clock: Clock): TestSource {
  let made = 0;
  const make = () => new LeaseTable({ leaseMs: LEASE_MS, nowMs: clock.nowMs, epoch: () => `epoch ${++made}` });
  let table = make();
  return {
    sync: async (sync) => table.sync(sync),
    flush: async () => {
      table = make();
    },
  };
}

leaseContract("a table in memory", tableOf, Number(process.env["LEASE_RUNS"] ?? 10));

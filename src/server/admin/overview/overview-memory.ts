import { KeptFor } from "../../../base/kept-for.ts";
import { PREVIOUS_KEPT_MS, type PreviousPeriods } from "../../../ledger/overview.ts";
import { OldPrices } from "./old-prices.ts";

/** What is kept between two readings of the overview. */
export class OverviewMemory {
  readonly previous: PreviousPeriods = new KeptFor(PREVIOUS_KEPT_MS);
  readonly oldPrices = new OldPrices();
}

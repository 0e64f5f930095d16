/** Reports that timed out are still being read, and no more are started in parallel. */
export class ReportsBusy extends Error {
  constructor() {
    super("Earlier reports took too long and are still running. Retry when they have finished.");
    this.name = "ReportsBusy";
  }
}

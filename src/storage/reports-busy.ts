/** Reports whose time is up are still being read, and no more are begun beside them. */
export class ReportsBusy extends Error {
  constructor() {
    super("Earlier reports took too long and are still being read. Ask again when they have ended.");
    this.name = "ReportsBusy";
  }
}

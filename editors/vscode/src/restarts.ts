// How often a server that ends by itself is started again.

const MOST = 4;
const PERIOD_MS = 3 * 60 * 1000;

/** Allows a few restarts in a while, so that a server that always crashes is left alone. */
export class Restarts {
  private times: number[] = [];

  /** Whether the server may be started again now. */
  isAllowed(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < PERIOD_MS), now];
    return this.times.length <= MOST;
  }
}

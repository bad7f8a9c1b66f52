/** The commands that a worker sends about the calls that it runs. */
import type { IRedisClient } from 'bullmq';
import { gatherWrites, scriptsOn } from './connection.ts';
import { leasePart } from './fleet-watch.ts';
import { hostBoxOf, newName, recordOf, rootOf, workerBoxOf } from './job.ts';
import { type Letter, type Mailbox, openMailbox } from './mailbox.ts';
import { claimScript, renewScript, reportScript, settleScript } from './scripts.ts';

/** The results of a claim; see `claimScript`. */
export const claimed = { gone: 0, taken: 1, late: 2, yes: 3 } as const;

/** A claim that has to be renewed. */
export interface Lease {
  readonly id: string;
  readonly claim: string;
  readonly leaseMs: number;
}

/** Milliseconds after which mailboxes expire that no one reads. */
const boxMs = 60_000;

export class Claims {
  readonly name = newName();
  readonly #client: IRedisClient;
  readonly #root: string;
  readonly #run: ReturnType<typeof scriptsOn>;
  readonly #mailbox: Mailbox;
  #count = 0;

  constructor(
    client: IRedisClient,
    prefix: string,
    queue: string,
    take: (letters: readonly Letter[]) => Promise<void>,
  ) {
    this.#client = client;
    this.#root = rootOf(prefix, queue);
    this.#run = scriptsOn(client);
    this.#mailbox = openMailbox({
      connect: () => client.duplicate({ maxRetriesPerRequest: null }),
      key: this.#box,
      take,
    });
  }

  get #box(): string {
    return workerBoxOf(this.#root, this.name);
  }

  newClaim(): string {
    return `${this.name}.${++this.#count}`;
  }

  /** Claims a call. @returns the result, and the milliseconds until it times out; -1 for never */
  async claim({ id, claim, leaseMs }: Lease): Promise<[number, number]> {
    const args = [claim, Math.ceil(leaseMs * leasePart)];
    return (await this.#run(claimScript, [recordOf(this.#root, id)], args)) as [number, number];
  }

  /** Sends texts to the host. @returns whether the worker still has the call */
  async report(
    { id, claim }: Lease,
    host: string,
    texts: readonly string[],
    first: number,
    isEnd: boolean,
  ): Promise<boolean> {
    const keys = [recordOf(this.#root, id), hostBoxOf(this.#root, host)];
    const args = [claim, id, first, isEnd ? '1' : '0', boxMs, ...texts];
    return (await this.#run(reportScript, keys, args)) === 1;
  }

  /**
   * Sends the commands of this turn of the event loop together. This costs less processor time, but
   * the host gets a report only after Redis has processed all of them.
   */
  gather(): void {
    gatherWrites(this.#client);
  }

  /** Renews leases. @returns for each of them, whether the worker still has the call */
  async renew(leases: readonly Lease[]): Promise<readonly boolean[]> {
    const args = leases.flatMap(({ id, claim, leaseMs }) => [
      id,
      claim,
      Math.ceil(leaseMs * leasePart),
    ]);
    const head = [this.#root, boxMs, this.#mailbox.next];
    const seen = (await this.#run(renewScript, [this.#box], [...head, ...args])) as unknown[];
    return seen.map((one) => one === 1);
  }

  /** Deletes the letters that were read. */
  async settle(): Promise<void> {
    await this.#run(settleScript, [this.#box], [this.#root, this.#mailbox.next]);
  }

  close(): void {
    this.#mailbox.close();
  }
}

/**
 * A ledger over random kills: what a relay accepts ends, once and alike for everybody, and what
 * must not run twice does not, whatever dies meanwhile.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pTimeout from 'p-timeout';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolResult } from '../../../../src/index.ts';
import {
  type Forwarder,
  killAll,
  type LedgerLine,
  type Running,
  startApplication,
  startForwarder,
  startNode,
} from './relay-processes.ts';
import {
  type Answered,
  agentEvents,
  ask,
  createSession,
  type SeenEvents,
  type Session,
  statusOf,
} from './relay-requests.ts';
import { demandServers, type StoreServer, stores } from './shared-stores.ts';

demandServers();

const settings = { leaseMs: 300, heartbeatMs: 500, requestTimeoutMs: 5_000 };
const fewestCalls = 50;
const seeds = Array.from(
  { length: Number(process.env.HOST_TOOLS_LEDGER_SEEDS ?? 1) },
  (_, index) => index + 1,
);
const transports = ['websocket', 'sse', 'poll'] as const;

/** The same numbers from 0 up to 1 for the same seed. */
function numbers(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Longer than anything takes here. What is not over by then never ends: better to hear what it was
 * than that the test took too long.
 */
const within = <T>(ms: number, work: Promise<T>, what: () => string): Promise<T> =>
  pTimeout(work, {
    milliseconds: ms,
    fallback: () => Promise.reject(new Error(`Still waiting after ${ms} ms: ${what()}`)),
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Call {
  readonly requestId: string;
  readonly tool: 'once' | 'again';
  readonly args: { readonly n: number; readonly ms: number };
  readonly wait: boolean;
  /** What was asked last for it, and what came of that. */
  last: string;
  /** What agents were told that it gave, by whoever told it. */
  readonly told: { readonly by: string; readonly result: ToolResult }[];
}

for (const { kind, available, whyNot, start } of stores)
  describe.skipIf(!available)(
    `a ledger of calls over random kills, on ${kind}${whyNot}`,
    { timeout: 400_000 },
    () => {
      let server: StoreServer;
      let folder: string;
      /** Two, and two again after each test. */
      const nodes: Running[] = [];

      beforeAll(async () => {
        server = await start();
        folder = await mkdtemp(join(tmpdir(), 'host-tools-ledger-'));
        nodes.push(
          ...(await Promise.all([startNode(server, settings), startNode(server, settings)])),
        );
      });
      afterAll(async () => {
        await killAll();
        await server.stop();
        await rm(folder, { recursive: true, force: true });
      });

      test.each(kind === 'Redis' ? seeds : seeds.slice(0, 1))(
        'accepted is ended, and nothing that must not runs twice (seed %i)',
        async (seed) => {
          const random = numbers(seed);
          const pick = (count: number): number => Math.floor(random() * count);
          const ledger = join(folder, `${seed}.jsonl`);
          const url = (index: number): string => nodes[index % nodes.length]?.line ?? '';
          const session: Session = await createSession(url(0));
          const forwarder: Forwarder = await startForwarder(url(0));
          const transport = transports[seed % transports.length] ?? 'sse';
          let instances = 0;
          const startOne = (): Promise<Running> =>
            startApplication({
              url: forwarder.url,
              code: session.code,
              token: session.sessionToken,
              ledger,
              transport,
              instance: `application-${++instances}`,
            });
          let application = await startOne();

          /** Asks one node after the other until one has accepted the call, or given its result. */
          const accept = async (call: Call): Promise<void> => {
            const { told, last, ...asked } = call;
            for (let at = pick(2); ; at++) {
              call.last = `asking node ${at % 2} to run it`;
              try {
                const { status, body } = await ask(url(at), session, asked);
                call.last = `node ${at % 2} was asked to run it: ${status} ${JSON.stringify(body)}`;
                if (body.result !== undefined) told.push({ by: 'request', result: body.result });
                if (status === 200 || status === 202) return;
                expect([status, body]).toEqual([503, expect.anything()]);
              } catch (error) {
                if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
                call.last = `node ${at % 2} was asked to run it: ${error}`;
              }
              await pause(50);
            }
          };
          const isEnded = async (call: Call, node: string): Promise<boolean> => {
            const { requestId, told } = call;
            call.last = `asking ${node} what became of it`;
            const { status, body } = await statusOf(node, session, requestId).catch((error) => ({
              status: 503,
              body: { error: `${error}` } as Answered['body'],
            }));
            call.last = `${node} was asked what became of it: ${status} ${JSON.stringify(body)}`;
            if (status === 404) throw new Error(`${requestId} was accepted, and is not known`);
            if (body.result !== undefined)
              told.push({ by: `status at ${node}`, result: body.result });
            return body.result !== undefined;
          };
          const inTheEnd = async (call: Call, node: () => string): Promise<void> => {
            while (!(await isEnded(call, node()))) await pause(150);
          };

          // What dies, one after the other; the calls come meanwhile.
          const calls: Call[] = [];
          const work: Promise<void>[] = [];
          let over = false;
          let dying = '';
          const chaos = async (): Promise<void> => {
            // What has died comes back while the next one dies; but one node is always there.
            let nodeIsBack: Promise<void> = Promise.resolve();
            let applicationIsBack: Promise<void> = Promise.resolve();
            const restart = async (index: number): Promise<void> => {
              await nodeIsBack;
              await nodes[index]?.kill();
              forwarder.lead(url(index + 1));
              const leadsBack = random() < 0.5;
              nodeIsBack = startNode(server, settings).then((node) => {
                nodes[index] = node;
                if (leadsBack) forwarder.lead(node.line);
              });
            };
            const replace = async (): Promise<void> => {
              await applicationIsBack;
              await application.kill();
              applicationIsBack = startOne().then((next) => {
                application = next;
              });
            };
            const away = async (): Promise<void> => {
              await server.kill();
              await pause(pick(800));
              await server.restart();
            };
            const still = async (index: number): Promise<void> => {
              await nodeIsBack;
              nodes[index]?.signal('SIGSTOP');
              await pause(500 + pick(1_500));
              nodes[index]?.signal('SIGCONT');
            };
            const kills = [
              () => restart(0),
              () => restart(1),
              () => restart(pick(2)),
              replace,
              away,
              () => still(pick(2)),
            ];
            const names = [
              'node 0',
              'node 1',
              'a node',
              'the application',
              'the store',
              'a node, for a while',
            ];
            for (let left = kills.length; left > 0; left--) {
              await pause(pick(300));
              const next = pick(left);
              dying += `${names.splice(next, 1)}, `;
              await kills.splice(next, 1)[0]?.();
            }
            dying += 'all that is to come back';
            await Promise.all([nodeIsBack, applicationIsBack]);
          };
          const states = (): string =>
            calls
              .map(({ requestId, tool, args, wait, last }) =>
                JSON.stringify([requestId, tool, args, wait, last]),
              )
              .join('\n');
          const killing = within(60_000, chaos(), () => `what dies: ${dying}`).finally(() => {
            over = true;
          });
          killing.catch(() => {});
          for (let n = 0; n < fewestCalls || !over; n++) {
            const call: Call = {
              requestId: `call-${n}`,
              tool: random() < 0.6 ? 'once' : 'again',
              args: { n, ms: pick(4) === 0 ? 400 + pick(1_200) : pick(60) },
              wait: random() < 0.5,
              last: '',
              told: [],
            };
            calls.push(call);
            work.push(accept(call));
            await pause(30 + pick(200));
          }
          await killing;
          await within(60_000, Promise.all(work), () => `calls that nobody accepts: ${states()}`);
          await within(
            60_000,
            Promise.all(calls.map((call, index) => inTheEnd(call, () => url(index)))),
            () => `calls that do not end: ${states()}`,
          );

          // Everybody is asked once more, and the whole log is told again by both nodes.
          const streams: SeenEvents[] = await within(
            60_000,
            Promise.all(nodes.map(({ line }) => agentEvents(line, session, '0'))),
            () => 'streams of events',
          );
          await within(
            60_000,
            Promise.all(calls.flatMap((call) => nodes.map(({ line }) => isEnded(call, line)))),
            () => `what became of calls: ${states()}`,
          );
          await within(
            60_000,
            Promise.all(calls.map((call) => accept(call))),
            () => `calls asked for again: ${states()}`,
          );
          for (const stream of streams)
            await expect
              .poll(() => new Set(stream.of('tool-result').map(({ data }) => data.requestId)))
              .toEqual(new Set(calls.map(({ requestId }) => requestId)));
          for (const stream of streams) {
            stream.close();
            for (const { data } of stream.of('tool-result'))
              calls
                .find(({ requestId }) => requestId === data.requestId)
                ?.told.push({ by: 'event', result: data.result as unknown as ToolResult });
          }
          await application.kill();
          await forwarder.close();

          const lines = (await readFile(ledger, 'utf8')).trim().split('\n').filter(Boolean);
          const entries = lines.map((line) => JSON.parse(line) as LedgerLine);
          const endings = new Map<string, number>();
          for (const { requestId, tool, args, told } of calls) {
            const started = entries.filter(
              ({ id, event }) => id === requestId && event === 'started',
            );
            const finished = entries.filter(
              ({ id, event }) => id === requestId && event === 'finished',
            );
            const [{ result } = expect.unreachable()] = told;
            const context =
              `${requestId} of ${tool}: ` +
              `${JSON.stringify({ started, finished, told }, null, 1)}`;
            // One result, for all who ever asked.
            expect(new Set(told.map((one) => JSON.stringify(one.result))).size, context).toBe(1);
            expect(new Set(started.map(({ instance }) => instance)).size, context).toBe(
              started.length,
            );
            if (tool === 'once') expect(started.length, context).toBeLessThanOrEqual(1);
            // A node checks the deadline and hands the call out. The application begins when it can.
            for (const { lateMs = 0 } of started) expect(lateMs, context).toBeLessThan(15_000);
            const reason = result.error?.reason === undefined ? '' : ` (${result.error.reason})`;
            const ending = result.success ? 'success' : `${result.error.code}${reason}`;
            endings.set(ending, (endings.get(ending) ?? 0) + 1);
            if (!result.success)
              expect(['executor_lost', 'timeout'], context).toContain(result.error.code);
            else {
              const { n, instance } = result.output as { n: number; instance: string };
              expect(n, context).toBe(args.n);
              // It was run by whoever is said to have run it, to its end.
              expect(
                finished.map((one) => one.instance),
                context,
              ).toContain(instance);
            }
          }
          // Kills cost some calls their result, and not all. How many depends on the machine.
          expect(endings.get('success') ?? 0, JSON.stringify([...endings])).toBeGreaterThan(0);
          if (process.env.HOST_TOOLS_LEDGER_SEEDS !== undefined)
            process.stdout.write(
              `ledger, seed ${seed}: ${calls.length} calls, ${JSON.stringify([...endings])}\n`,
            );
        },
      );
    },
  );

/**
 * Two nodes over one store, all of them processes: who is where does not matter, and what dies
 * takes nothing with it that was acknowledged.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import type { RelayTransport } from '../../../../src/surfaces/relay-client/index.ts';
import { connectClient, eras, opened } from '../../mcp/server/kit.ts';
import { on } from '../watched-store.ts';
import { heldApplication } from './held-application.ts';
import {
  killAll,
  type LedgerLine,
  type NodeOptions,
  type Running,
  startApplication,
  startNode,
} from './relay-processes.ts';
import {
  agentEvents,
  ask,
  createSession,
  ready,
  type SeenEvents,
  type Session,
  statusOf,
  toolsOf,
} from './relay-requests.ts';
import { demandServers, type StoreServer, servers } from './shared-stores.ts';

demandServers();

const settings: NodeOptions = { leaseMs: 1_500, heartbeatMs: 3_000, requestTimeoutMs: 20_000 };
const patience = { interval: 20 };
const soon = <T>(read: () => T) => expect.poll(read, patience);

for (const { kind, available, whyNot, start } of servers)
  describe.skipIf(!available)(`two nodes over one ${kind}${whyNot}`, () => {
    let server: StoreServer;
    let a: Running;
    let b: Running;
    let session: Session;
    const open = opened();

    beforeAll(async () => {
      server = await start();
      [a, b] = await Promise.all([startNode(server, settings), startNode(server, settings)]);
    });
    beforeEach(async () => {
      if (!a.alive) a = await startNode(server, settings);
      if (!b.alive) b = await startNode(server, settings);
      session = await createSession(a.line);
    });
    afterEach(() => open.close());
    afterAll(async () => {
      await killAll();
      await server.stop();
    });

    const application = (node: Running, transport?: RelayTransport) =>
      heldApplication(open, session, node.line, transport);
    async function events(node: Running, after?: string): Promise<SeenEvents> {
      const stream = await agentEvents(node.line, session, after);
      open.defer(() => stream.close());
      return stream;
    }
    const begin = (node: Running, requestId: string) =>
      ask(node.line, session, { requestId, tool: 'held', wait: false });
    /** What a call gave, once it has ended; undefined before, a failure as it is. */
    const outputOf = async (node: Running, requestId: string): Promise<unknown> => {
      const { result, error } = (await statusOf(node.line, session, requestId)).body;
      return result?.success === false ? result.error : (error ?? result?.output);
    };

    /** Which version of a request there is: it changes when another node puts its hand on it. */
    async function versions(requestId: string): Promise<() => Promise<number | undefined>> {
      const { store } = server;
      return async () => (await on(store).find(session.code, keys.request(requestId)))?.version;
    }

    test.each(['websocket', 'sse', 'poll'] as const)(
      'an application on one by %s, an agent on the other',
      async (transport) => {
        const stream = await events(b);
        const { runs } = await application(a, transport);
        await soon(() => stream.of('tool-availability-update').at(-1)?.data).toMatchObject({
          updates: { added: [{ name: 'held' }, { name: 'twice' }] },
        });
        const { status, body } = await ask(b.line, session, {
          requestId: 'r1',
          tool: 'twice',
          args: { n: 21 },
        });
        expect([status, body.result]).toEqual([
          200,
          expect.objectContaining({ success: true, output: 42 }),
        ]);
        await soon(() => stream.of('tool-result').map(({ data }) => data)).toEqual([
          { requestId: 'r1', result: body.result },
        ]);
        // Nor does it matter where an agent asks what became of a call.
        expect((await begin(b, 'r2')).status).toBe(202);
        await soon(() => runs.map(({ id }) => id)).toEqual(['r2']);
        expect((await statusOf(a.line, session, 'r2')).body).toMatchObject({ status: 'running' });
        runs[0]?.end(false);
        await soon(() => outputOf(a, 'r2')).toBe(false);
        expect(await statusOf(b.line, session, 'r2')).toEqual(
          await statusOf(a.line, session, 'r2'),
        );
      },
    );

    test.each(eras)(
      'MCP of the %s era on one sees and calls what an application on the other has, and what ' +
        'it has later',
      async (era) => {
        const { connection, twice } = await application(a);
        const client = await connectClient(
          open,
          new URL(`${b.line}/api/sessions/${session.code}/mcp`),
          era,
          {},
          {
            headers: { Authorization: `Bearer ${session.agentToken}` },
          },
        );
        const names = async (): Promise<string[]> =>
          (await client.listTools()).tools.map(({ name }) => name).sort();
        expect(await names()).toEqual(['held', 'host_time', 'twice']);
        expect((await client.callTool({ name: 'twice', arguments: { n: 4 } })).content).toEqual([
          { type: 'text', text: '8' },
        ]);
        await connection.update([
          twice,
          { ...twice, name: 'thrice', handler: ({ n }) => 3 * Number(n) },
        ]);
        // What was acknowledged is so at once, on every node.
        expect(await names()).toEqual(['host_time', 'thrice', 'twice']);
        expect((await client.callTool({ name: 'thrice', arguments: { n: 4 } })).content).toEqual([
          { type: 'text', text: '12' },
        ]);
      },
    );

    test('both nodes serve an MCP client of the 2025 era, and one alone does', async () => {
      await application(a);
      let turn = 0;
      const path = `/api/sessions/${session.code}/mcp`;
      const nodes = [a, b];
      const transport = new StreamableHTTPClientTransport(new URL(`${a.line}${path}`), {
        fetch: (_, init) => fetch(`${nodes[turn++ % nodes.length]?.line}${path}`, init),
        requestInit: { headers: { Authorization: `Bearer ${session.agentToken}` } },
      });
      const client = new Client({ name: 'agent', version: '1' });
      await client.connect(transport);
      open.defer(() => client.close());
      const twiceOf = async (n: number): Promise<unknown> =>
        (await client.callTool({ name: 'twice', arguments: { n } })).content;
      for (let n = 0; n < 5; n++)
        expect(await twiceOf(n)).toEqual([{ type: 'text', text: String(2 * n) }]);
      nodes.shift();
      expect(await twiceOf(9)).toEqual([{ type: 'text', text: '18' }]);
    });

    test('an update on one is at once what the other announces, offers and refuses', async () => {
      const { connection, twice } = await application(a);
      expect(await toolsOf(b.line, session)).toEqual(['held', 'host_time', 'twice']);
      for (let round = 0; round < 5; round++) {
        await connection.update([{ ...twice, name: `tool_${round}`, handler: () => round }]);
        expect(await toolsOf(b.line, session)).toEqual(['host_time', `tool_${round}`]);
        expect(
          (await ask(b.line, session, { requestId: `new-${round}`, tool: `tool_${round}` })).body
            .result?.output,
        ).toBe(round);
        const gone = round === 0 ? 'twice' : `tool_${round - 1}`;
        expect(
          (await ask(b.line, session, { requestId: `old-${round}`, tool: gone })).body.result,
        ).toMatchObject({ success: false });
      }
    });

    test('all sides move to the other node while a call runs', async () => {
      const { forwarder, runs, connection } = await application(a);
      const before = await events(a);
      expect((await begin(a, 'moving')).status).toBe(202);
      await soon(() => runs.length).toBe(1);
      await soon(() => before.of('connected').length).toBe(1);
      before.close();
      forwarder.lead(b.line);
      const after = await events(
        b,
        before.events.findLast(({ id }) => id !== undefined)?.id ?? '0',
      );
      runs[0]?.end('moved');
      await soon(() => after.of('tool-result').map(({ data }) => data)).toEqual([
        { requestId: 'moving', result: expect.objectContaining({ output: 'moved' }) },
      ]);
      expect(await outputOf(b, 'moving')).toBe('moved');
      await soon(() => connection.status).toBe('connected');
      expect(
        (await ask(b.line, session, { requestId: 'next', tool: 'twice', args: { n: 1 } })).body
          .result?.output,
      ).toBe(2);
      expect(runs).toHaveLength(1);
    });

    test(
      'the node that runs a call for an agent is killed: the agent asks the other one again, and ' +
        'has the one result',
      async () => {
        const { runs } = await application(b);
        const stream = await events(b);
        const lost = ask(a.line, session, { requestId: 'mid-call', tool: 'held' });
        await soon(() => runs.length).toBe(1);
        const killed = expect(lost).rejects.toThrow();
        await a.kill();
        await killed;
        const again = ask(b.line, session, { requestId: 'mid-call', tool: 'held' });
        runs[0]?.end({ once: true });
        const { status, body } = await again;
        expect([status, body.result]).toEqual([
          200,
          expect.objectContaining({ success: true, output: { once: true } }),
        ]);
        expect((await statusOf(b.line, session, 'mid-call')).body).toEqual({
          requestId: 'mid-call',
          status: 'done',
          result: body.result,
        });
        await soon(() => stream.of('tool-result').map(({ data }) => data)).toEqual([
          { requestId: 'mid-call', result: body.result },
        ]);
        expect(runs).toHaveLength(1);
      },
    );

    test('a call accepted by a killed node continues without further requests', async () => {
      const { runs } = await application(b);
      expect((await begin(a, 'accepted')).status).toBe(202);
      await a.kill();
      await soon(() => runs.length).toBe(1);
      runs[0]?.end('done');
      await soon(() => outputOf(b, 'accepted')).toBe('done');
      expect(runs).toHaveLength(1);
    });

    test('an agent that keeps asking does not keep the call from being taken over', async () => {
      const { runs } = await application(b);
      expect((await begin(a, 'nagged')).status).toBe(202);
      await soon(() => runs.length).toBe(1);
      await a.kill();
      runs[0]?.end('done');
      await soon(async () => (await begin(b, 'nagged')).body.result?.output).toBe('done');
      expect(runs).toHaveLength(1);
    });

    test.each(['websocket', 'sse', 'poll'] as const)(
      'the node of the application is killed while a call runs: its answer goes by the other ' +
        'one, by %s',
      async (transport) => {
        const { forwarder, runs } = await application(a, transport);
        const waiting = ask(b.line, session, { requestId: 'mid-call', tool: 'held' });
        await soon(() => runs.length).toBe(1);
        const gone = a.kill();
        forwarder.lead(b.line);
        await gone;
        runs[0]?.end('arrived');
        expect((await waiting).body.result).toMatchObject({ success: true, output: 'arrived' });
        expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
      },
    );

    test('the node of both sides is killed during a call, and the other one has it all', async () => {
      const { forwarder, runs, connection } = await application(a);
      expect((await begin(a, 'mid-call')).status).toBe(202);
      await soon(() => runs.length).toBe(1);
      forwarder.lead(b.line);
      await a.kill();
      runs[0]?.end('arrived');
      await soon(() => outputOf(b, 'mid-call')).toBe('arrived');
      await soon(() => connection.status).toBe('connected');
      expect(
        (await ask(b.line, session, { requestId: 'next', tool: 'twice', args: { n: 1 } })).body
          .result?.output,
      ).toBe(2);
      expect(runs).toHaveLength(1);
    });

    test('a suspended node whose call was taken over writes nothing afterwards', async () => {
      const { runs } = await application(b);
      const stream = await events(b);
      const stale = ask(a.line, session, { requestId: 'stale', tool: 'held' });
      await soon(() => runs.length).toBe(1);
      const version = await versions('stale');
      const owned = await version();
      a.signal('SIGSTOP');
      await soon(version).not.toBe(owned);
      const other = ask(b.line, session, { requestId: 'stale', tool: 'held' });
      a.signal('SIGCONT');
      runs[0]?.end('once');
      const results = [
        (await stale).body.result,
        (await other).body.result,
        (await statusOf(a.line, session, 'stale')).body.result,
      ];
      expect(results).toEqual([results[0], results[0], results[0]]);
      expect(results[0]).toMatchObject({ success: true, output: 'once' });
      await soon(() => stream.of('tool-result').map(({ data }) => data)).toEqual([
        { requestId: 'stale', result: results[0] },
      ]);
    });

    test(
      'an application is killed while calls run: the next one runs what may run twice, and ' +
        'nothing else',
      async () => {
        // They wait long for an application to come back: starting one takes a busy machine seconds.
        const patient = { ...settings, leaseMs: 20_000, requestTimeoutMs: 60_000 };
        const [node, other] = await Promise.all([
          startNode(server, patient),
          startNode(server, patient),
        ]);
        const ledger = join(await mkdtemp(join(tmpdir(), 'host-tools-two-nodes-')), 'ledger.jsonl');
        open.defer(() => rm(dirname(ledger), { recursive: true }));
        const given = {
          url: node.line,
          code: session.code,
          token: session.sessionToken,
          ledger,
          transport: 'sse' as const,
        };
        const lines = async () =>
          (await readFile(ledger, 'utf8').catch(() => ''))
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as LedgerLine);
        const first = await startApplication({ ...given, instance: 'first' });
        const args = { n: 1, ms: 60_000 };
        const [once, again] = [
          ask(node.line, session, { requestId: 'o', tool: 'once', args }),
          ask(other.line, session, { requestId: 'a', tool: 'again', args }),
        ];
        await soon(async () => (await lines()).length).toBe(2);
        await first.kill();
        const second = await startApplication({ ...given, instance: 'second' });
        expect((await again).body.result).toMatchObject({
          success: true,
          output: { n: 1, instance: 'second' },
        });
        expect((await once).body.result).toMatchObject({
          success: false,
          error: { code: 'executor_lost' },
        });
        const started = (await lines())
          .filter(({ event }) => event === 'started')
          .map(({ id, instance }) => `${id} ${instance}`);
        expect(started.sort()).toEqual(['a first', 'a second', 'o first']);
        await Promise.all([second.kill(), node.kill(), other.kill()]);
      },
    );

    test('a call whose deadline passes while the store is away never runs, and times out', async () => {
      const short = { ...settings, heartbeatMs: 20_000, requestTimeoutMs: 2_000 };
      const [c, d] = await Promise.all([startNode(server, short), startNode(server, short)]);
      open.defer(() => Promise.all([c.kill(), d.kill()]));
      const { runs } = await application(c);
      c.signal('SIGSTOP');
      expect((await begin(d, 'late')).status).toBe(202);
      // What is not in the log yet could not wait there.
      const { store } = server;
      await soon(async () =>
        (await on(store).read(session.code, 'application', 0, 100)).entries.map(
          ({ value }) => value,
        ),
      ).toContainEqual(expect.stringContaining('"late"'));
      const asked = performance.now();
      await server.kill();
      c.signal('SIGCONT');
      await soon(() => performance.now() - asked).toBeGreaterThan(short.requestTimeoutMs);
      await server.restart();
      await soon(() => outputOf(d, 'late')).toMatchObject({ code: 'timeout' });
      // What comes after it is executed, and it was not.
      await soon(
        async () =>
          (
            await ask(c.line, session, {
              requestId: `after-${performance.now()}`,
              tool: 'twice',
              args: { n: 1 },
            })
          ).body.result?.output,
      ).toBe(2);
      expect(runs).toEqual([]);
    });

    test(
      'the store is killed while a call runs and tools change: callers are told or have what they ' +
        'asked for, and nothing acknowledged is lost',
      async () => {
        const { runs, connection, twice, held } = await application(a);
        const stream = await events(b);
        expect((await begin(b, 'before')).status).toBe(202);
        await soon(() => runs.length).toBe(1);
        const waiting = ask(a.line, session, { requestId: 'waiting', tool: 'held' });
        await soon(() => runs.length).toBe(2);
        await connection.update([twice, held, { ...twice, name: 'acknowledged' }]);
        await server.kill();
        for (const node of [a, b]) {
          await soon(async () => (await ready(node.line)).body).toMatchObject({
            status: 'not_ready',
            reasons: ['store_unavailable'],
          });
          const refused = await ask(node.line, session, {
            requestId: 'refused',
            tool: 'twice',
            args: { n: 1 },
          });
          expect([refused.status, refused.body.error]).toEqual([503, 'store_unavailable']);
        }
        const late = connection.update([twice, held, { ...twice, name: 'later' }]);
        runs[0]?.end('kept');
        runs[1]?.end('waited');
        await server.restart();
        for (const node of [a, b])
          await soon(async () => (await ready(node.line)).status).toBe(200);
        await soon(() => outputOf(b, 'before')).toBe('kept');
        await late;
        expect(await toolsOf(b.line, session)).toEqual(['held', 'host_time', 'later', 'twice']);
        // Whoever was told to come again does so, and has the same.
        const { status, body } = await waiting;
        expect(status === 503 ? body.error : body.result?.output).toBe(
          status === 503 ? 'store_unavailable' : 'waited',
        );
        expect(
          (await ask(b.line, session, { requestId: 'waiting', tool: 'held' })).body.result?.output,
        ).toBe('waited');
        expect(
          (await ask(b.line, session, { requestId: 'refused', tool: 'twice', args: { n: 1 } })).body
            .result?.output,
        ).toBe(2);
        await soon(
          () => new Set(stream.of('tool-result').map(({ data }) => data.requestId)),
        ).toEqual(new Set(['before', 'waiting', 'refused']));
        expect(runs).toHaveLength(2);
      },
    );
  });

/** What open sessions keep in use on a node with the memory store. */
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { httpConnection, messageTo } from './http-connection.ts';
import { eachOf } from './latency.ts';
import { startServer, type Told } from './server-process.ts';
import {
  base,
  bearer,
  type Credentials,
  createSession,
  definition,
  register,
  registration,
} from './session.ts';

const few = quick ? 50 : 1_000;
const many = few * 10;
const tools = 100;
const atOnce = 8;

const used = ({ heap, external }: Told): number => heap + external;
const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`;

/** `remark` makes definitions of a session's own. */
const bodyOf = (remark: string): string =>
  registration(Array.from({ length: tools }, (_, index) => definition(`tool_${index}`, remark)));

export async function measure(): Promise<FamilyResult> {
  const server = await startServer('memory');
  const connections = await Promise.all(
    Array.from({ length: atOnce }, () => httpConnection(server.port)),
  );
  const made: Credentials[] = [];
  const open = async (count: number, body: (index: number) => string): Promise<void> => {
    await eachOf(count, atOnce, async (index, place) => {
      const connection = connections[place] as (typeof connections)[number];
      const credentials = await createSession(connection);
      await register(connection, credentials, body(index));
      made.push(credentials);
    });
  };
  const close = (): Promise<unknown> =>
    eachOf(made.length, atOnce, async (index, place) => {
      const { code, sessionToken } = made[index] as Credentials;
      await (connections[place] as (typeof connections)[number]).send(
        messageTo('DELETE', `${base}/${code}`, bearer(sessionToken))(),
      );
    }).then(() => made.splice(0));
  /** An agent looks at each, so that the node has a governed session for it. */
  const visit = (): Promise<unknown> =>
    eachOf(made.length, atOnce, async (index, place) => {
      const { code, agentToken } = made[index] as Credentials;
      await (connections[place] as (typeof connections)[number]).send(
        messageTo('POST', `${base}/${code}/request`, bearer(agentToken))('{"tool":"none"}'),
      );
    });

  const own = (index: number): string => bodyOf(` Of session ${index}.`);
  const same = bodyOf('');
  // What compiled code and first uses cost belongs to no session.
  await open(few, own);
  await visit();
  await close();
  const empty = await server.ask('usage');
  await open(few, own);
  const afterFew = await server.ask('usage');
  await open(many - few, (index) => own(few + index));
  const afterMany = await server.ask('usage');
  await close();
  const before = await server.ask('usage');
  await open(few, () => same);
  const alike = await server.ask('usage');
  await visit();
  const visited = await server.ask('usage');
  for (const one of connections) one.close();
  await server.close();

  const row = (what: string, from: Told, to: Told, count: number): Row => ({
    what,
    value: (used(to) - used(from)) / count / 1024,
    unit: 'KB',
    note: `resident ${kb((to.rss - from.rss) / count)}, heap ${kb((to.heap - from.heap) / count)}`,
  });
  return {
    rows: [
      {
        id: 'relay_scale',
        value: (used(afterMany) - used(empty)) / (used(afterFew) - used(empty)),
        note:
          `${quick ? `a quick run: ${many} against ${few}; ` : ''}resident ` +
          `${((afterMany.rss - empty.rss) / 1_048_576).toFixed(0)} MB`,
      },
      row(
        `a session with ${tools} tools, of ${many} whose tools are all their own`,
        empty,
        afterMany,
        many,
      ),
      row(`a session with ${tools} tools, of ${few} of one application`, before, alike, few),
      row('… and what an agent that uses it adds on its node', alike, visited, few),
    ],
  };
}

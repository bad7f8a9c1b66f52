/** Tools that change all the time: how long until an agent knows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quick } from '../harness.ts';
import type { FamilyResult } from '../targets.ts';
import { httpConnection, messageTo } from './http-connection.ts';
import { spreadOf, spreadText } from './latency.ts';
import { startServer } from './server-process.ts';
import {
  base,
  bearer,
  createSession,
  definition,
  expectStatus,
  register,
  registration,
} from './session.ts';
import { fail } from './sides.ts';
import { sseConnection } from './sse-connection.ts';

const aSecond = 100;
const seconds = quick ? 2 : 6;
const tools = 100;

export async function measure(): Promise<FamilyResult> {
  const server = await startServer('memory');
  const connections = await Promise.all(
    Array.from({ length: 8 }, () => httpConnection(server.port)),
  );
  const [first] = connections as [(typeof connections)[number]];
  const credentials = await createSession(first);
  await register(
    first,
    credentials,
    registration(Array.from({ length: tools }, (_, index) => definition(`tool_${index}`))),
  );
  const message = messageTo(
    'POST',
    `${base}/${credentials.code}/update-tools`,
    bearer(credentials.sessionToken),
  );
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  const stream = await sseConnection(
    server.port,
    `${base}/${credentials.code}/events`,
    bearer(credentials.agentToken),
    (event, data) => {
      if (event !== 'tool-availability-update') return;
      const { updates } = JSON.parse(data) as {
        updates: { added: readonly { readonly name: string }[] };
      };
      for (const { name } of updates.added) {
        const sent = sentAt.get(name);
        if (sent !== undefined) delays.push(performance.now() - sent);
        sentAt.delete(name);
      }
    },
  );
  const update = async (index: number): Promise<void> => {
    const name = `extra_${index}`;
    const removed = index < aSecond ? [] : [`extra_${index - aSecond}`];
    sentAt.set(name, performance.now());
    const reply = await (
      connections[index % connections.length] as (typeof connections)[number]
    ).send(message(JSON.stringify({ added: [definition(name)], removed, reason: 'bench' })));
    expectStatus(reply, 200);
  };
  const total = aSecond * (seconds + 1);
  const start = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < total; index++) {
    // A connection carries one at a time.
    if (index >= connections.length) await running[index - connections.length];
    await sleep(Math.max(0, start + (index * 1_000) / aSecond - performance.now()));
    const done = update(index);
    done.catch(fail);
    running.push(done);
  }
  await Promise.all(running);
  const took = performance.now() - start;
  while (sentAt.size > 0 && performance.now() - start < took + 10_000) await sleep(10);
  stream.close();
  for (const one of connections) one.close();
  await server.close();
  // The first second warms up.
  const counted = delays.slice(aSecond);
  return {
    rows: [
      {
        what: `${aSecond} changes of tools a second, until the agent has one`,
        value: spreadOf(counted).p50,
        unit: 'ms',
        note:
          `${spreadText(counted)}; ${counted.length} changes, ` +
          `${Math.round((total * 1_000) / took)} a second, ${sentAt.size} lost`,
      },
    ],
  };
}

/** When the store on PostgreSQL removes what is over: seldom, and beside the use. */
import { expect, test } from 'vitest';
import type { PostgresCommands } from '../../../src/stores/postgres/connection.ts';
import { postgresExpiry } from '../../../src/stores/postgres/expiry.ts';

function setup(random = 0) {
  const time = { now: 0 };
  const sent: unknown[] = [];
  const run = async (name: string): Promise<string> => {
    sent.push(name);
    return '0';
  };
  const expiry = postgresExpiry(
    { run } as unknown as PostgresCommands,
    () => time.now,
    () => random,
  );
  return { expiry, sent, time };
}

test('a program that goes on removes what is over every 10 s, if it uses the store', async () => {
  const { expiry, sent, time } = setup();
  expiry.used();
  expect(sent).toEqual([]);
  time.now = 10_000;
  expiry.used();
  expiry.used();
  expect(sent).toEqual(['expire']);
  await expiry.close();
  expect(sent).toEqual(['expire']);
});

test.each([
  ['one in ten programs that end before does so when it closes its store', 0.05, ['expire']],
  ['the others do not', 0.5, []],
])('%s', async (_, random, expected) => {
  const { expiry, sent } = setup(random);
  expiry.used();
  await expiry.close();
  expiry.used();
  expect(sent).toEqual(expected);
});

test('a store that nobody used asks for nothing', async () => {
  const { expiry, sent } = setup();
  await expiry.close();
  expect(sent).toEqual([]);
});

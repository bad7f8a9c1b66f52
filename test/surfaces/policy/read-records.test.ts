import { expect, test } from 'vitest';
import { backtest, readRecords } from '../../../src/surfaces/policy/index.ts';
import { pieces, registryOf } from './kit.ts';

const row = (amount: number): string => JSON.stringify({ toolName: 'refund', input: { amount } });

async function read(...parts: readonly (string | Uint8Array)[]): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const record of readRecords(pieces(...parts), { name: 'calls.jsonl' }))
    records.push(record);
  return records;
}

const two = [
  { toolName: 'refund', input: { amount: 1 } },
  { toolName: 'refund', input: { amount: 2 } },
];

test.each<[string, string]>([
  ['one record per line', `${row(1)}\n${row(2)}\n`],
  ['lines without a line break at the end', `${row(1)}\n${row(2)}`],
  ['blank lines and the line breaks of Windows', `\n\r\n${row(1)}\r\n  \n${row(2)}\r\n`],
  ['a list on one line', `[${row(1)},${row(2)}]`],
  ['a list over many lines', JSON.stringify(two, undefined, 2)],
  ['a byte order mark', `\ufeff${row(1)}\n${row(2)}`],
])('reads %s, however the text is cut', async (_, text) => {
  expect(await read(Buffer.from(text))).toEqual(two);
  expect(await read(...[...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))).toEqual(two);
});

test('reads a tape, on one line or formatted', async () => {
  const tape = {
    version: 1,
    tools: [],
    calls: [
      {
        callId: 'a',
        tool: 'refund',
        input: { amount: 1 },
        status: 'rejected',
        ran: false,
        result: {
          success: false,
          error: { code: 'policy_denied', message: 'No.', retryable: false },
        },
      },
    ],
  };
  const records = [{ callId: 'a', toolName: 'refund', input: { amount: 1 }, sessionId: 'tape' }];
  expect(await read(JSON.stringify(tape))).toEqual(records);
  expect(await read(JSON.stringify(tape, undefined, 2))).toEqual(records);
});

test('an empty text has no records', async () => {
  expect(await read('')).toEqual([]);
  expect(await read(' \n\n')).toEqual([]);
});

test.each<[string, string, string]>([
  [
    'a line that is no JSON',
    `${row(1)}\n{"toolName"\n${row(2)}`,
    'calls.jsonl: line 2: expected JSON: ',
  ],
  [
    'a line without a tool, counting blank lines',
    `${row(1)}\n\n{"input":{}}`,
    'calls.jsonl: line 3: expected `toolName` to be a string, got undefined.',
  ],
  [
    'an unknown field',
    '{"toolName":"a","input":{},"prinzipal":"x"}',
    'calls.jsonl: line 1: unknown field `prinzipal`; did you mean `principal`?',
  ],
  [
    'an item of a list',
    `[${row(1)},5]`,
    'calls.jsonl: record 1: expected an object of fields, got `5` (number).',
  ],
  [
    'another document',
    '5',
    'calls.jsonl: expected one record per line, a list of records or a tape.',
  ],
  ['text', 'hello\nthere', 'calls.jsonl: expected one record per line, or one JSON document: '],
  [
    'a malformed tape',
    '{"version":1,"tools":[],"calls":[{"callId":"a"}]}',
    'calls.jsonl: expected `/calls/0/tool` of the tape to be there, got nothing.',
  ],
  [
    'a line that is too long',
    `${row(1)}\n"${'x'.repeat(2 * 1_048_576)}"`,
    'calls.jsonl: line 2: expected at most 2097152 characters, got more.',
  ],
])('refuses %s, and names the place', async (_, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
  await expect(read(text)).rejects.toMatchObject({ code: 'invalid_file' });
});

test('refuses bytes that are no UTF-8', async () => {
  await expect(read(Uint8Array.of(0x22, 0xff, 0x22))).rejects.toThrow(
    'calls.jsonl: expected UTF-8 text, got other bytes.',
  );
});

test('a malformed record anywhere gives no result, and closes the stream', async () => {
  let closed = false;
  async function* stream() {
    try {
      yield `${row(500)}\n`;
      yield '{}\n';
      yield `${row(500)}\n`;
    } finally {
      closed = true;
    }
  }
  await expect(
    backtest(readRecords(stream()), { registry: registryOf(), after: [] }),
  ).rejects.toThrow('readRecords: line 2: expected `toolName` to be a string, got undefined.');
  expect(closed).toBe(true);
});

test('keeps no more than a line, whatever the length of the text', async () => {
  let ahead = 0;
  async function* stream() {
    for (; ahead < 50; ahead++) yield `${row(ahead)}\n`;
  }
  let read = 0;
  for await (const _ of readRecords(stream())) {
    read++;
    expect(ahead - read).toBeLessThan(2);
  }
  expect(read).toBe(50);
});

test('a document that is not one record per line is bounded', async () => {
  async function* endless() {
    yield '[';
    for (;;) yield '1,'.repeat(500_000);
  }
  const records = readRecords(endless());
  await expect(records.next()).rejects.toThrow(
    'readRecords: expected one record per line, or at most 67108864 characters.',
  );
});

test('what the stream throws is passed on', async () => {
  async function* broken() {
    yield row(1);
    throw new TypeError('away');
  }
  await expect(readRecords(broken()).next()).rejects.toThrow('away');
});

test('refuses what is no stream, such as a path', async () => {
  for (const chunks of ['calls.jsonl', null, {}])
    await expect(readRecords(chunks as never).next()).rejects.toThrow(
      'readRecords: expected a stream or another iterable of text, got ',
    );
});

test('takes a list of texts', async () => {
  expect((await readRecords([`${row(1)}\n`]).next()).value).toEqual(two[0]);
});

test('refuses an unknown option', async () => {
  await expect(readRecords(pieces(), { nam: 'x' } as never).next()).rejects.toThrow(
    'readRecords: unknown option `nam`; did you mean `name`?',
  );
});

test('takes text in the smallest pieces, also a long first line', async () => {
  const text = `\n ${JSON.stringify({ toolName: 'refund', input: { to: 'x'.repeat(200_000) } })}\n`;
  let read = 0;
  for await (const _ of readRecords([...text, ...row(1)])) read++;
  expect(read).toBe(2);
});

import { expect, test } from 'vitest';
import { linesOf } from '../../../src/cli/acp/lines.ts';

async function read(...chunks: (string | Buffer)[]) {
  const lines: [string, boolean][] = [];
  const source = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  for await (const { text, message } of linesOf(source)) lines.push([text, message !== undefined]);
  return lines;
}

test('lines are put together from chunks, with all their characters', async () => {
  const line =
    '{"jsonrpc":"2.0", "method":"x","params":{"n":1.00000000000000000001,"t":"ü\\u0000"}}\r';
  const bytes = Buffer.from(`${line}\n${line}`);
  expect(await read(bytes.subarray(0, 80), bytes.subarray(80, 81), bytes.subarray(81))).toEqual([
    [line, true],
    [line, true],
  ]);
});

test.each([
  ['an array', '[{"jsonrpc":"2.0","method":"x"}]'],
  ['a key that is there twice', '{"jsonrpc":"2.0","method":"a","method":"b"}'],
  ['such a key with an escape', '{"jsonrpc":"2.0","method":"a","m\\u0065thod":"b"}'],
  ['such a key further in', '{"jsonrpc":"2.0","method":"a","params":[{"x":1,"y":{},"x":2}]}'],
  ['no JSON', '{"jsonrpc":"2.0","method":"a"} //'],
  ['another version', '{"jsonrpc":"1.0","method":"a"}'],
  ['an id that is no safe integer', '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}'],
  ['a request without a name', '{"jsonrpc":"2.0","id":1,"method":null}'],
  ['a byte order mark', '\ufeff{"jsonrpc":"2.0","method":"a"}'],
])('no message is read from %s', async (_, line) => {
  expect(await read(line)).toEqual([[expect.any(String), false]]);
});

test('no message is read from bytes that are no UTF-8', async () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","method":"a\u00ff"}', 'latin1');
  expect(await read(bytes)).toEqual([['?', false]]);
});

test('keys of different objects may be the same, and texts may look like keys', async () => {
  const line =
    '{"jsonrpc":"2.0","method":"a","params":[{"x":1},{"x":{"x":"\\"x\\":1"}},["x","x"]]}';
  expect(await read(line)).toEqual([[line, true]]);
});

test('a line that is too long is not kept, and the next one is read', async () => {
  const chunk = Buffer.alloc(8_000_000, 97);
  const next = '{"jsonrpc":"2.0","method":"a"}';
  expect(await read(chunk, chunk, chunk, chunk, 'a\n', next)).toEqual([
    ['?', false],
    [next, true],
  ]);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/index.ts';
import { callSummary } from '../../../src/values/text/call-summary.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\p{Cs}]/u;

describe('the summary of a call', () => {
  test.each<[summary: string, tool: string, input: JsonObject]>([
    ['send_mail to eve@evil.test', 'send_mail', { to: 'eve@evil.test', subject: 'Hi', body: '…' }],
    ['send_mail to a@x.test · 2 recipients', 'send_mail', { to: ['a@x.test', 'b@x.test'] }],
    [
      'send_mail to a@x.test · 3 recipients',
      'send_mail',
      { to: ['a@x.test'], cc: 'b', bcc: ['c'] },
    ],
    [
      'send to a · 2 recipients, urgent true · 2 lines',
      'send',
      { text: 'a\nb', urgent: true, to: ['a', 'b'] },
    ],
    ['write_file src/a.ts · 80 lines', 'write_file', { path: 'src/a.ts', text: 'x\n'.repeat(80) }],
    ['refund A-18, amount 1800', 'refund', { order: 'A-18', amount: 1800 }],
    ['refund A-18, amount 1800', 'refund', { amount: 1800, order_id: 'A-18' }],
    ['copy a.txt to b.txt, force true', 'copy', { source: 'a.txt', dest: 'b.txt', force: true }],
    ['get https://x.test/', 'get', { headers: {}, url: 'https://x.test/' }],
    ['bash rm -rf /… · 2 lines', 'bash', { command: 'rm -rf /\necho done' }],
    ['read src/b.ts', 'read', { encoding: 'utf8', filePath: 'src/b.ts', limit: null }],
    ['delete 7 · 3 ids', 'delete', { ids: [7, 8, 9] }],
    ['delete 7', 'delete', { ids: [7] }],
    ['invite a@x.test · 2 attendees', 'invite', { attendees: [{ email: 'a@x.test' }, {}] }],
    ['tag x.txt · 2 items', 'tag', { file: 'x.txt', with: ['a', 'b'] }],
    ['update open, limit 5', 'update', { filter: { status: 'open', limit: 5 } }],
    ['pay amount 5', 'pay', { amount: 5 }],
    ['toggle on false', 'toggle', { on: false }],
    ['post 1,200 characters', 'post', { nothing: '', list: [], text: `${' '.repeat(1_200)}` }],
    ['ping', 'ping', {}],
    ['ping', 'ping', { nothing: null, list: [], object: {}, text: ' ' }],
  ])('is `%s`', (summary, tool, input) => {
    expect(callSummary(tool, input)).toBe(summary);
  });

  test('leaves secrets out, wherever they are', () => {
    const input = {
      key: 's3cr3t',
      login: { password: 's3cr3t', user: 'ann' },
      list: [{ token: 's3cr3t', name: 'x' }],
      text: '{"pin":"s3cr3t"}',
      'a/b~c': 's3cr3t',
    };
    const hidden = ['/key', '/login/password', '/list/0/token', '/text/pin', '/a~1b~0c'];
    expect(callSummary('t', input, hidden)).toBe('t ann');
    expect(callSummary('t', input, ['/key', '/login', '/list', '/text', '/a~1b~0c'])).toBe('t');
    expect(callSummary('t', input, [''])).toBe('t');
  });

  test('cannot be made to look like another one', () => {
    expect(callSummary('pay', { to: 'ann, amount 1 · for bob', amount: 1800 })).toBe(
      'pay to “ann, amount 1 · for bob”, amount 1800',
    );
    expect(callSummary('pay', { to: 'ann\u202etset' })).toBe('pay to ann\\u202etset');
    expect(callSummary('pay', { to: `${'a'.repeat(99)}end` })).toBe(
      `pay to ${'a'.repeat(26)}…${'a'.repeat(10)}end`,
    );
  });

  test.each<[summary: string, input: JsonObject]>([
    ['“a, b" · 2 recipients, "”', { to: 'a, b” · 2 recipients, “' }],
    ['“ann\u00a0·\u00a02 recipients”', { to: 'ann\u00a0·\u00a02 recipients' }],
    ['“ann・2 recipients”', { to: 'ann・2 recipients' }],
    ['boss@x.test… · 2 lines', { to: 'boss@x.test\nbcc: eve' }],
    ['boss@x.test… · 3 lines', { to: 'boss@x.test\r\neve', body: 'A long body\nof\nthree' }],
    ['boss@x.test · 2 recipients', { to: 'boss@x.test', message: { to: 'eve@x.test' } }],
    ['boss@x.test · 2 recipients', { TO: 'boss@x.test', to: 'eve@x.test' }],
    ['ann@x.test', { to: 'ann@x.test', email: 'ann@x.test' }],
    ['eve@x.test', { to: [{ name: 'boss@x.test', address: 'eve@x.test' }] }],
    ['x, “amount 5, to bob” 7', { to: 'x', 'amount 5, to bob': 7 }],
  ])('cannot hide where something goes: `%s`', (summary, input) => {
    expect(callSummary('send', input)).toBe(`send to ${summary}`);
  });

  test('cannot name another recipient in the words of its target', () => {
    expect(callSummary('send', { file: 'a.txt to boss@x.test', to: 'eve@x.test' })).toBe(
      'send “a.txt to boss@x.test” to eve@x.test',
    );
  });

  test('is one short visible line, whatever the input is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (input) => {
        const words = callSummary('t', input as JsonObject);
        expect(words.length).toBeLessThanOrEqual(162);
        expect(words).not.toMatch(unseen);
      }),
    );
  });

  test('takes no longer for an input of megabytes', () => {
    const from = cpuMs();
    let nested: unknown = 'x';
    for (let at = 0; at < 1_000; at++) nested = [{ a: nested }];
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, {}]));
    for (const input of [
      { text: ' \n'.repeat(1_000_000), many },
      { path: 'x'.repeat(2_000_000) },
      { [`${'aA'.repeat(500_000)}`]: 'x' },
      { list: Array.from({ length: 50_000 }, () => '') },
      { to: nested },
    ] as unknown as JsonObject[])
      callSummary('t', input);
    expect(cpuMs() - from).toBeLessThan(3_000);
  });
});

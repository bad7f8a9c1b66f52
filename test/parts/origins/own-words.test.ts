/** What the user wrote into a form, as opposed to what the form offered. */
import { describe, expect, test } from 'vitest';
import { ownWords } from '../../../src/parts/origins/own-words.ts';

const form = {
  type: 'object',
  properties: {
    to: { type: 'string', title: 'Recipient', default: ' Eve@Evil.example' },
    street: { type: 'string', default: 'Große Straße  1' },
    account: { type: 'string', default: 'DE89 3704 0044 0532 0130 00' },
    amount: { type: 'number', default: 1000 },
    day: { type: 'string', default: '2024-05-15' },
    site: { type: 'string', default: 'https://evil.example/' },
    kind: { type: 'string', oneOf: [{ const: 'a1', title: 'First kind' }] },
    tags: { type: 'array', items: { enum: ['Ｒed', 'blue'] } },
  },
};

describe('an offer that is only written differently is not the user’s word', () => {
  test.each([
    { to: 'Eve@Evil.example' },
    { to: 'eve@evil.example ' },
    { to: 'EVE@EVIL.EXAMPLE' },
    { to: 'eve@evil\u200b.example' },
    { to: 'ｅve@evil.example' },
    { to: 'eve @evil.example' },
    { to: 'mailto:eve@evil.example' },
    { street: 'GROSSE STRASSE 1' },
    { street: 'große straße 1\n' },
    { account: 'DE89370400440532013000' },
    { amount: '1,000.00' },
    { amount: 1000 },
    { day: 'May 15, 2024' },
    { site: 'https://evil.example' },
    { site: 'evil.example' },
    { kind: 'A1' },
    { kind: 'first  kind' },
    { tags: ['red', 'BLUE'] },
    { agree: true },
  ])('%j', (answers) => {
    expect(ownWords({ form, answers })).toEqual([]);
  });
});

test('other answers are', () => {
  const answers = { to: 'bob@corp.example', amount: 12, tags: ['green', 'red'], agree: false };
  expect(ownWords({ form, answers })).toEqual(['bob@corp.example', '12', 'green']);
});

test('what the user adds to an offer is, and the offer is not', () => {
  for (const to of ['eve@evil.example, bob@corp.example', 'bob@corp.example EVE@evil.example']) {
    const [text] = ownWords({ form, answers: { to } });
    expect(text).toContain('bob@corp.example');
    expect(text).not.toContain('eve@evil');
  }
  expect(ownWords({ form, answers: { to: 'steve@evil.example' } })).toEqual(['steve@evil.example']);
  expect(ownWords({ form, answers: { to: 'blueprint' } })).toEqual(['blueprint']);
});

/** What the errors of a client show of texts from outside: never the token, and codes unchanged. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectRelay } from '../../../src/surfaces/relay-client/index.ts';
import { createScrub } from '../../../src/surfaces/relay-client/relay-client-error.ts';

const token = 'Zp3vJ0a7hX2mQ9tL5kR8sW1yB4nC6dF_gE-uTiOoPlM';

describe('a message', () => {
  test('loses the token, wherever it is', () => {
    expect(createScrub(token).message(`Bearer ${token} is not ${token}.`)).toBe(
      'Bearer *** is not ***.',
    );
  });

  test.each(['t', 'se', 'not'])('keeps its words if the token is only %j', (short) => {
    const message = 'Session not found or expired';
    expect(createScrub(short).message(message)).toBe(message);
  });

  test('has at most 1000 characters, and no part of a token that was cut', () => {
    fc.assert(
      fc.property(fc.nat(1_100), (before) => {
        const text = createScrub(token).message('x'.repeat(before) + token);
        expect(text.length).toBeLessThanOrEqual(1_000);
        expect(text).not.toContain(token.slice(0, 8));
      }),
    );
  });
});

describe('a code', () => {
  test.each(['t', 'found', 'session', 'ion_not', token])('is never changed: token %j', (given) => {
    expect(createScrub(given).code('session_not_found', 'http_404')).toBe('session_not_found');
  });

  test.each([
    undefined,
    '',
    'Not Found',
    `Bearer ${token}`,
    token,
    `no_${token}`,
    'x'.repeat(65),
    'a\nb',
    '<html>',
  ])('that is none is replaced: %j', (text) => {
    expect(createScrub(token).code(text, 'http_404')).toBe('http_404');
  });
});

test('a connection with a short token is refused with the whole code and message', async () => {
  const error = 'session_not_found';
  const message = 'Session not found or expired';
  const refused = connectRelay({
    url: 'http://relay.test',
    code: 'abc',
    token: 't',
    tools: [
      { name: 'a', description: 'A.', parameters: { type: 'object' }, handler: () => undefined },
    ],
    fetch: async () => Response.json({ error, message }, { status: 404 }),
  });
  await expect(refused).rejects.toMatchObject({ code: error, message, status: 404 });
});

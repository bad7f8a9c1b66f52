/**
 * Whatever a server says: texts stay within their bounds, and each entry of a listing is a tool or
 * a failure.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundedFetch } from '../../../../src/surfaces/mcp/client/fetch.ts';
import { type ConnectedMcpClient, importMcpTools } from '../../../../src/surfaces/mcp/index.ts';
import { cleanLine, cleanText } from '../../../../src/surfaces/shared/outside-text.ts';
import { tool } from './raw-http.ts';

const listing = (tools: unknown): ConnectedMcpClient => ({
  request: async () => ({ tools }),
  getServerCapabilities: () => ({ tools: {} }),
  getServerVersion: () => ({ name: 'fuzz' }),
  getProtocolEra: () => 'legacy',
  setNotificationHandler: () => {},
  removeNotificationHandler: () => {},
  close: async () => {},
  transport: {},
});

describe('texts', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 300 });
  test('stay within their bytes, are visible, and cleaning them again changes nothing', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 200 }), (text, most) => {
        const clean = cleanText(text, most);
        expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(most);
        expect(clean).not.toMatch(
          /(?!\t|\n|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
        expect(cleanText(clean, most)).toBe(clean);
        expect(cleanLine(text, most)).not.toContain('\n');
      }),
    );
  });

  test('that fit stay as they are', () => {
    for (const text of [
      'Reads a file.',
      'Größe in €.\n\n- one\n- two\t(2)',
      '天気を教える',
      'Likes ❤️',
    ])
      expect(cleanText(text, 100)).toBe(text);
  });

  test('that do not are cut between characters, and the cut is marked', () => {
    expect(cleanText('abcdef', 5)).toBe('ab…');
    expect(cleanText('€€€', 8)).toBe('€…');
    expect(cleanText('😀😀', 7)).toBe('😀…');
  });
});

describe('listings', () => {
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        description: fc.jsonValue(),
        inputSchema: fc.jsonValue(),
        annotations: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
    fc.string({ minLength: 1 }).map((name) => tool(name)),
  );
  test('each entry is a tool or a failure, and no pins name what is not there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (tools) => {
        const imported = await importMcpTools(listing(tools));
        expect(imported.tools.length + imported.failed.length).toBe(tools.length);
        expect(Object.keys(imported.pins)).toHaveLength(imported.tools.length);
        for (const { name, reason } of imported.failed)
          expect(`${name} ${reason}`).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        await imported.close();
      }),
    );
  });
});

describe('messages over HTTP', () => {
  const fetchOf = (type: string, chunks: readonly string[]) =>
    boundedFetch(
      async () =>
        new Response(
          new ReadableStream({
            start(controller) {
              for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
              controller.close();
            },
          }),
          { headers: { 'content-type': type } },
        ),
      { maxBytes: 10 },
    );
  const read = async (type: string, chunks: readonly string[]): Promise<string> =>
    (await fetchOf(type, chunks)('http://x')).text().catch(() => 'too much');

  test.each<[string, string, readonly string[], string]>([
    ['a body that fits', 'application/json', ['12345', '67890'], '1234567890'],
    ['a body that does not', 'application/json', ['12345', '678901'], 'too much'],
    [
      'events that fit, however many',
      'text/event-stream',
      ['data:1\n\ndata:2', '\n\ndata:3\n\n', 'data:4\n', '\n'],
      'data:1\n\ndata:2\n\ndata:3\n\ndata:4\n\n',
    ],
    [
      'events with carriage returns',
      'Text/Event-Stream; charset=utf-8',
      ['data:1\r\n\r', '\ndata:2\r\n'],
      'data:1\r\n\r\ndata:2\r\n',
    ],
    ['an event that does not', 'text/event-stream', ['data:1\n', 'data:2\n'], 'too much'],
  ])('%s', async (_, type, chunks, expected) => {
    expect(await read(type, chunks)).toBe(expected);
  });
});

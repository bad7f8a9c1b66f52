import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { content, serializeOutput } from '../../src/index.ts';
import { world } from './call/world.ts';

/** Lone surrogates, and control characters but for tab, line feed and carriage return. */
const unwanted = /\p{Cs}|(?![\t\n\r])\p{Cc}/u;
const textOf = async (value: unknown): Promise<string> =>
  serializeOutput(await world().run(() => value));

describe('serializeOutput: the text that a model reads', () => {
  test.each([
    ['nothing', null, 'Success'],
    ['text as it is', 'plain "text"', 'plain "text"'],
    ['empty text', '', ''],
    ['zero', 0, '0'],
    ['false', false, 'false'],
    ['an object as JSON', { a: [1, 'x'] }, '{"a":[1,"x"]}'],
    ['an empty array', [], '[]'],
    ['emoji survive', 'done 👩‍💻 🇩🇪', 'done 👩‍💻 🇩🇪'],
    [
      'control characters go; tab, line feed and carriage return stay',
      'a\u0000b\u0007c\u001b[31md\te\nf\rg\u007fh\u009fi',
      'abc[31md\te\nf\rghi',
    ],
    ['lone surrogates are replaced', 'a\ud83db\ude00c', 'a\ufffdb\ufffdc'],
    [
      'lone surrogates are replaced in JSON',
      { 'a\ud83d': ['\ude00', '\\ud83d'] },
      '{"a\ufffd":["\ufffd","\\\\ud83d"]}',
    ],
  ])('%s', async (_, value, expected) => {
    expect(await textOf(value)).toBe(expected);
  });

  test('a failure is written as an error', async () => {
    expect(
      serializeOutput(
        await world().run(() => {
          throw new Error('disk\u0000 full');
        }),
      ),
    ).toBe('Error: disk full');
  });

  test('content: texts as they are, the rest named', async () => {
    expect(
      await textOf([
        content.text('see'),
        content.image('AAAA', 'image/png'),
        content.audio('AAAA', 'audio/wav'),
        content.resource({ uri: 'file:///a', text: 'inside' }),
        content.resource({ uri: 'file:///b', blob: 'AAAA' }),
        content.link({ uri: 'https://example.org', name: 'docs' }),
        content.link({ uri: 'https://example.org' }),
      ]),
    ).toBe(
      'see\n[image: image/png]\n[audio: audio/wav]\ninside\n[resource: file:///b]\n[link: ' +
        'docs https://example.org]\n[link: https://example.org]',
    );
  });

  test(
    'property: the text is well-formed and without control characters, and well-formed text ' +
      'without any is not touched',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: 'grapheme' }),
          async (any, good) => {
            expect(await textOf(any)).not.toMatch(unwanted);
            if (!unwanted.test(good)) expect(await textOf(good)).toBe(good);
          },
        ),
      );
    },
  );
});

/**
 * What origins cost: remembering a megabyte, and judging a call over eight. A session that uses
 * none has no record, so the rows of calls and sessions say what it pays.
 */
import { judgeInput } from '../../src/parts/origins/judge.ts';
import { outputLabels } from '../../src/parts/origins/output-labels.ts';
import { createOriginRecord } from '../../src/parts/origins/record.ts';
import { inputRoles } from '../../src/parts/origins/roles.ts';
import { compare } from '../harness.ts';
import type { FamilyResult } from '../targets.ts';

const words = (
  'please send the invoice for our project to the new account before the meeting on friday and ' +
  'tell everybody in the channel what was decided about the budget of the next quarter'
).split(' ');

/** Text as in mails: mostly common words, with names, numbers and addresses among them. */
function prose(chars: number, seed: number): string {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return (state >>> 8) % below;
  };
  const parts: string[] = [];
  for (let length = 0; length < chars; ) {
    const kind = random(100);
    const part =
      kind < 2
        ? `user${random(100_000)}@example.com,`
        : kind < 20
          ? random(10_000_000).toString(36)
          : (words[random(words.length)] as string);
    parts.push(part);
    length += part.length + 1;
  }
  return parts.join(' ');
}

const mail = { origin: 'untrusted' } as const;

function remember(texts: readonly string[]): ReturnType<typeof createOriginRecord> {
  const record = createOriginRecord({ maxChars: 2 ** 24 });
  texts.forEach((text, index) => {
    record.output(text, {
      callId: String(index),
      toolName: 'read_mail',
      labels: outputLabels(index % 2 === 0 ? mail : { origin: 'trusted' }),
    });
  });
  return record;
}

let found = 0;

export async function measure(): Promise<FamilyResult> {
  const megabyte = [prose(1_000_000, 1)];
  const [, remembered] = await compare(
    [
      {
        name: 'scan',
        run: (times) => {
          for (let index = 0; index < times; index++) found += scan(megabyte[0] as string);
        },
      },
      {
        name: 'remember',
        run: (times) => {
          for (let index = 0; index < times; index++) found += remember(megabyte).chars;
        },
      },
    ],
    { sampleMs: 40 },
  );
  const texts = Array.from({ length: 8 }, (_, index) => prose(1_000_000, index + 1));
  const record = remember(texts);
  record.said('Please pay the rent to GB29 NWBK 6016 1331 9268 19 and tell ann@example.com.');
  const input = {
    to: 'ann@example.com',
    account: 'GB29NWBK60161331926819',
    body: 'The rent is paid, see https://evil.example/x or ask user777@example.com.',
  };
  const values = ['ann@example.com', 'gb29nwbk', 'https://evil.example/x', 'user777@example.com'];
  const roles = inputRoles({});
  const [searched, judged] = await compare([
    {
      name: 'search',
      run: (times) => {
        for (let index = 0; index < times; index++)
          for (const value of values) for (const text of texts) if (text.includes(value)) found++;
      },
    },
    {
      name: 'judge',
      run: (times) => {
        for (let index = 0; index < times; index++)
          found += judgeInput(record, input, roles).length;
      },
    },
  ]);
  return {
    rows: [
      {
        id: 'origins_remember',
        value: remembered?.ratio ?? Number.NaN,
        note: `${((remembered?.ns ?? 0) / 1e6).toFixed(1)} ms`,
      },
      {
        id: 'origins_judge',
        value: (searched?.ns ?? 0) / (judged?.ns ?? Number.NaN),
        note:
          `${((searched?.ns ?? 0) / 1e3).toFixed(0)} → ${((judged?.ns ?? 0) / 1e3).toFixed(1)} ` +
          `µs${found > 0 ? '' : ', nothing found'}`,
      },
    ],
  };
}

/** Reads every character, and does nothing else. */
function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) | 0;
  return sum;
}

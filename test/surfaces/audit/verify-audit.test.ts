import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { folder, tool } from './kit.ts';

const count = 6;
let good: Buffer;
beforeAll(async () => {
  const parts: string[] = [];
  const audit = createAuditLog({ sink: (line) => void parts.push(`${line}\n`) });
  const registry = new HostToolRegistry({ now: () => 1_000 });
  registry.register(tool('t'));
  audit.attach(registry);
  const session = registry.createSession({ sessionId: 's' });
  for (let n = 0; n < count; n++) await session.call('t', { n, text: 'é"\\' });
  await audit.close();
  good = Buffer.from(parts.join(''));
});

const linesOf = (bytes: Buffer): string[] => bytes.toString('utf8').split('\n').slice(0, -1);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

async function verify(content: Buffer | string, options = {}) {
  const path = join(folder(), 'audit.jsonl');
  writeFileSync(path, content);
  return await verifyAudit(path, options);
}

describe('a log that was changed', () => {
  test('is whole before', async () => {
    expect(await verify(good)).toEqual({ ok: true, lines: count });
    expect(await verify('')).toEqual({ ok: true, lines: 0 });
  });

  test('any byte that differs is noticed at its line', async () => {
    const dir = folder();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(good.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, bits) => {
          const bytes = Buffer.from(good);
          bytes[at] = (bytes[at] as number) ^ bits;
          const line = good.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
          const path = join(dir, 'audit.jsonl');
          writeFileSync(path, bytes);
          expect(await verifyAudit(path)).toMatchObject({ ok: false, brokenAt: line });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a line that was removed, swapped, repeated or moved is noticed', async () => {
    const lines = linesOf(good);
    for (let at = 0; at < count; at++) {
      const without = lines.filter((_, index) => index !== at);
      const cut = await verify(textOf(without));
      if (at === count - 1) expect(cut).toEqual({ ok: true, lines: count - 1 });
      else expect(cut).toMatchObject({ ok: false, brokenAt: at + 1 });

      const twice = lines.toSpliced(at, 0, lines[at] as string);
      expect(await verify(textOf(twice))).toMatchObject({ ok: false, brokenAt: at + 2 });

      for (let other = at + 1; other < count; other++) {
        const swapped = [...lines];
        [swapped[at], swapped[other]] = [lines[other] as string, lines[at] as string];
        expect(await verify(textOf(swapped))).toMatchObject({ ok: false, brokenAt: at + 1 });
      }
      const added = lines.toSpliced(at, 0, '{"type":"call"}');
      expect(await verify(textOf(added))).toMatchObject({
        ok: false,
        brokenAt: at + 1,
        lines: count + 1,
        reason: 'this is not a line of an audit log',
      });
    }
  });

  test('lines that were cut off the end are noticed by the head', async () => {
    const lines = linesOf(good);
    const { seq, hash } = JSON.parse(lines[count - 1] as string);
    for (const head of [hash, { seq, hash }]) {
      expect(await verify(good, { head })).toEqual({ ok: true, lines: count });
      expect(await verify(textOf(lines.slice(0, -1)), { head })).toEqual({
        ok: false,
        lines: count - 1,
        brokenAt: count,
        reason:
          'the line of `head` is not in the log: lines were cut off its end, or its files are ' +
          'others',
      });
    }
    const early = JSON.parse(lines[1] as string).hash;
    expect((await verify(good, { head: early })).ok, 'the log has grown since').toBe(true);
    expect((await verify('', { head: { seq: 0, hash: '' } })).ok, 'an empty log').toBe(true);
  });

  test('a torn line is reported as such, and a huge one does not fill the memory', async () => {
    const torn = await verify(Buffer.concat([good, Buffer.from('{"type":')]));
    expect(torn).toMatchObject({
      ok: false,
      brokenAt: count + 1,
      reason:
        'the line is torn: its writer ended in the middle of it. Opening the log again records ' +
        'that',
    });
    expect(await verify(Buffer.alloc(70 * 1_048_576, 0x61))).toMatchObject({ ok: false, lines: 1 });
  });

  test('a missing file and invalid options are reported', async () => {
    await expect(verifyAudit(join(folder(), 'none.jsonl'))).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(verifyAudit('')).rejects.toThrow('expected `path` to be a non-empty string');
    await expect(verify(good, { head: 'x' })).rejects.toThrow(
      'verifyAudit: expected `head` to be a hash of 64 hex digits, or what `head()` of a log gave',
    );
    await expect(verify(good, { kye: 'x' })).rejects.toThrow('did you mean `key`?');
  });
});

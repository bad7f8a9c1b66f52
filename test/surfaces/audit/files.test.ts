/** The files of a log: how it is opened again, torn lines, new files, and full disks. */
import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { folder, linesIn, setup, tool } from './kit.ts';

/** A log with so many calls, closed. */
async function written(calls: number, options: object = {}) {
  const made = setup({ audit: options });
  for (let n = 0; n < calls; n++) await made.session.call('t', { n });
  await made.audit.close();
  return made;
}

test('a missing folder is made, for its owner only', async () => {
  const path = join(folder(), 'logs', 'of', 'calls', 'audit.jsonl');
  const made = setup({ audit: { path } });
  await made.session.call('t');
  await made.audit.close();
  expect(await verifyAudit(path)).toEqual({ ok: true, lines: 1 });
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

describe('a log that is opened again', () => {
  test('continues where it was, under the same key', async () => {
    const key = 'k'.repeat(32);
    const { path, session } = await written(2, { key });
    const again = createAuditLog({ path, key });
    expect(again.head().seq).toBe(2);
    again.attach(session);
    await session.call('t');
    await again.close();
    expect(await verifyAudit(path, { key })).toEqual({ ok: true, lines: 3 });
    expect(await verifyAudit(path)).toMatchObject({
      ok: false,
      brokenAt: 1,
      reason: 'the line was changed, or the key is not the one of the log',
    });
    expect(() => createAuditLog({ path })).toThrow(
      `createAuditLog: expected the last line of ${path} to be one of an audit log with this ` +
        '`key`. Look at it with `host-tools audit verify`, then move the files of the log away.',
    );
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test.each<[what: string, torn: string]>([
    ['half a line', '{"type":"call","at":17'],
    ['a line but its break', '{"a":1}'],
    ['zeros', '\0'.repeat(5_000)],
    ['half a character', '{"a":"\u00e9'],
  ])('recovers %s, and says so', async (_, torn) => {
    const { path, session } = await written(2);
    appendFileSync(path, torn);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, brokenAt: 3, lines: 3 });
    const again = createAuditLog({ path });
    again.attach(session);
    await session.call('t');
    await again.close();
    expect(await verifyAudit(path)).toEqual({ ok: true, lines: 4 });
    expect(linesIn(path)[2]).toMatchObject({
      type: 'recovered',
      seq: 3,
      torn: { bytes: Buffer.byteLength(torn), text: torn.slice(0, 4_096) },
    });
  });

  test('recovers a first line that is torn, longer than what records it', async () => {
    const path = join(folder(), 'audit.jsonl');
    writeFileSync(path, `{"type":"call","x":"${'y'.repeat(300_000)}`);
    const audit = createAuditLog({ path });
    await audit.close();
    expect(linesIn(path)).toMatchObject([{ type: 'recovered', seq: 1, prev: '', file: 1 }]);
    expect(await verifyAudit(path)).toEqual({ ok: true, lines: 1 });
  });

  test('is refused while another one writes it', async () => {
    const { path } = setup();
    expect(() => createAuditLog({ path })).toThrow(
      `createAuditLog: expected to be the only writer of \`path\`. Process ${process.pid} on`,
    );
  });

  test('takes over the lock of a process that has died, or never was this one', async () => {
    const { path } = await written(1);
    for (const lock of [
      JSON.stringify({ pid: 2 ** 30, host: (await import('node:os')).hostname(), started: '1' }),
      JSON.stringify({
        pid: process.pid,
        host: (await import('node:os')).hostname(),
        started: '1',
      }),
    ]) {
      writeFileSync(`${path}.lock`, lock);
      const audit = createAuditLog({ path });
      await audit.close();
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 1, host: 'elsewhere', started: '1' }));
    expect(() => createAuditLog({ path })).toThrow('Process 1 on elsewhere holds');
  });
});

describe('new files', () => {
  test('are begun before one is too big, under load, and the chain runs over them', async () => {
    const { path, session, audit } = setup({ audit: { rotate: { maxBytes: 4_096 } } });
    await Promise.all(Array.from({ length: 200 }, (_, n) => session.call('t', { n })));
    await audit.close();
    const check = await verifyAudit(path, { head: audit.head() });
    expect(check).toEqual({ ok: true, lines: 200 });
    let files = 1;
    while (existsSync(`${path}.${files}`)) {
      expect(readFileSync(`${path}.${files}`).length).toBeLessThanOrEqual(4_096);
      files++;
    }
    expect(files).toBeGreaterThan(10);
    expect(linesIn(`${path}.${files - 1}`)[0]).toMatchObject({ seq: 1, file: 1 });
    expect(linesIn(path)[0]).toMatchObject({ file: files });

    rmSync(`${path}.${files - 1}`);
    expect((await verifyAudit(path)).ok, 'the oldest may be deleted').toBe(true);
    rmSync(`${path}.2`);
    const gap = await verifyAudit(path);
    expect(gap).toMatchObject({
      ok: false,
      file: `${path}.1`,
      reason: 'the line does not follow the one before: lines were removed, added or moved',
    });
  });

  test('continue when the log is opened again, even after a crash during the move', async () => {
    const { path, session, audit } = setup({ audit: { rotate: { maxBytes: 1_024 } } });
    for (let n = 0; n < 10; n++) await session.call('t', { n });
    await audit.close();
    const { renameSync } = await import('node:fs');
    const { shiftFiles } = await import('../../../src/surfaces/audit/log-files.ts');
    shiftFiles(path);
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.3`, `${path}.30`);
    expect((await verifyAudit(path)).ok).toBe(false);
    renameSync(`${path}.30`, `${path}.3`);
    const again = createAuditLog({ path, rotate: { maxBytes: 1_024 } });
    again.attach(session);
    await session.call('t');
    await again.close();
    expect(await verifyAudit(path)).toEqual({ ok: true, lines: 11 });
  });

  test('are begun each day', async () => {
    let now = Date.UTC(2026, 0, 1, 23, 59);
    const { path, session, audit } = setup({
      audit: { rotate: { daily: true } },
      registry: { now: () => now },
    });
    await session.call('t');
    await session.call('t');
    now += 120_000;
    await session.call('t');
    await audit.close();
    expect([linesIn(`${path}.1`).length, linesIn(path).length]).toEqual([2, 1]);
    expect(await verifyAudit(path)).toEqual({ ok: true, lines: 3 });
  });
});

describe('a full disk', () => {
  test.skipIf(!existsSync('/dev/full'))('fails no call, unless the log is required', async () => {
    for (const required of [false, true]) {
      const path = join(folder(), 'audit.jsonl');
      symlinkSync('/dev/full', path);
      const registry = new HostToolRegistry();
      registry.register(tool('t'));
      const audit = createAuditLog({ path, required });
      audit.attach(registry);
      const result = await registry.createSession({ sessionId: 's' }).call('t');
      expect(result.error?.reason).toBe(required ? 'audit_unavailable' : undefined);
      await expect(audit.close()).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
  });
});
